#pragma once
// TVM's serialised NDArray, little-endian: magic, 8 bytes reserved, device type and id (int32 each), rank (int32), DLPack's dtype
// code and bits (1 byte each) and lanes (2 bytes), the extents (int64 each), the number of bytes of the data (int64), the data,
// row-major. (TVM: include/tvm/runtime/ndarray.h)

#include <cstdint>
#include <optional>

#include "ir/type/dtype.h"

namespace quern {

constexpr uint64_t kNDArrayMagic = 0xDD5E40F096B4A13F;
constexpr int32_t kMostNDArrayDims = 64;

/// Nothing for a dtype that the language lacks.
std::optional<DType> ndarray_dtype(uint8_t code, uint8_t bits, uint16_t lanes);

}  // namespace quern
