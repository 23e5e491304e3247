#include "tests/support/metadata.h"

#include <fmt/format.h>

#include <cstdint>

#include "ir/value/tensor.h"

namespace quern {

namespace {

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string base64(std::string_view bytes) {
  std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= bytes.size() - i ? alphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// A tensor in TVM's bytes.
std::string ndarray(const HostTensor& tensor) {
  DType dtype = tensor.dtype();
  bool is_int = dtype.is_int() && dtype.code != DTypeCode::UInt;
  std::string bytes;
  append<uint64_t>(bytes, 0xDD5E40F096B4A13F);
  append<uint64_t>(bytes, 0);
  append<int32_t>(bytes, 1);
  append<int32_t>(bytes, 0);
  append<int32_t>(bytes, static_cast<int32_t>(tensor.shape().size()));
  append<uint8_t>(bytes, dtype.code == DTypeCode::BFloat ? 4 : dtype.is_float() ? 2 : is_int ? 0 : 1);
  append<uint8_t>(bytes, static_cast<uint8_t>(dtype.is_bool() ? 1 : dtype.bits));
  append<uint16_t>(bytes, dtype.lanes);
  for (int64_t extent : tensor.shape()) append<int64_t>(bytes, extent);
  size_t size = static_cast<size_t>(tensor.size()) * dtype.bytes();
  append<int64_t>(bytes, static_cast<int64_t>(size));
  bytes.append(reinterpret_cast<const char*>(tensor.data()), size);
  return bytes;
}

}  // namespace

std::string metadata_of(const ConstantPool& constants) {
  std::string nodes, numbers, arrays;
  for (size_t i = 0; i < constants.tensors().size(); ++i) {
    std::string comma = i ? ", " : "";
    numbers += comma + std::to_string(3 + i);
    nodes += fmt::format(R"(, {{"type_key": "relay.Constant", "attrs": {{"data": "{}"}}}})", i);
    arrays += comma + "\"" + base64(ndarray(*constants.tensors()[i])) + "\"";
  }
  if (numbers.empty()) return "";
  return R"(#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]}, )"
         R"({"type_key": "Array", "data": [)" +
         numbers + "]}" + nodes + R"(], "b64ndarrays": [)" + arrays + "]}\n";
}

}  // namespace quern
