#pragma once
// Elements as C++ numbers: the arithmetic of nodes whose dtype is fixed at construction.

#include <bit>
#include <cstdint>

#include "ir/interpret/nodes.h"

namespace quern::interpreter {

/// Bits of an element of type T, and back. Integers are unsigned here so that they wrap.
template <class T>
T value_of(uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}
template <class T>
uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

struct AddOp {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct SubOp {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct MulOp {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};

/// Calls `f` with a value of the C++ type that computes `dtype` exactly as `apply` does, if there is one.
template <class F>
NodePtr with_plain_type(DType dtype, const F& f) {
  if (dtype == DType::float32()) return f(float{});
  if (dtype == DType::float64()) return f(double{});
  bool integer = dtype.is_int() || dtype.is_index();
  if (integer && dtype.bits == 32) return f(uint32_t{});
  if (integer && dtype.bits == 64) return f(uint64_t{});
  return nullptr;
}

}  // namespace quern::interpreter
