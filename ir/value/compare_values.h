#pragma once
// The comparison of `assert_close` and `assert_equal`.

#include <optional>
#include <string>

#include "ir/value/value.h"

namespace quern {

/// How far values may differ: |actual - expected| <= atol + rtol * |expected|.
struct Tolerance {
  double rtol, atol;
};

/// "" if two values of one type agree: every element within the tolerance, or exactly without one (NaN equals
/// NaN either way; integers and bools always compare exactly). Otherwise lines that describe the difference:
/// how many elements differ and the worst one with its position, then both values.
std::string difference_of_values(const Value& actual, const Value& expected,
                                 std::optional<Tolerance> tolerance);

}  // namespace quern
