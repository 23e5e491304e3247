#pragma once
// Dims as they are written in the language.

#include <concepts>
#include <optional>
#include <string>

#include "ir/dim/dim.h"

namespace quern {

inline Dim c(int64_t value) { return dim_const(value); }

/// Arithmetic on dims as it is written in the language.
struct E {
  Dim dim;
  E(Dim d) : dim(d) {}
  E(int64_t value) : dim(dim_const(value)) {}
  E(int value) : dim(dim_const(value)) {}
  // A template, so that the built-in arithmetic of pointers is no candidate.
  template <std::same_as<Dim> T>
  operator T() const {
    return dim;
  }
};
inline E operator+(E a, E b) { return dim_add(a, b); }
inline E operator-(E a, E b) { return dim_sub(a, b); }
inline E operator*(E a, E b) { return dim_mul(a, b); }
inline E operator/(E a, E b) { return dim_floordiv(a, b); }
inline E operator%(E a, E b) { return dim_floormod(a, b); }
inline E min(E a, E b) { return dim_min(a, b); }
inline E max(E a, E b) { return dim_max(a, b); }
inline E broadcast(E a, E b) { return dim_broadcast(a, b); }
inline bool same(E a, E b) { return a.dim == b.dim; }
inline std::string text(E e) { return to_string(e.dim); }

inline std::optional<int64_t> nothing(Dim) { return std::nullopt; }

}  // namespace quern
