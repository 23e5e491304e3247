#pragma once
// What `assert_close` and `assert_equal` compare.

#include <optional>
#include <string>

#include "ir/value/value.h"

namespace quern {

/// How far values may differ: |actual - expected| <= atol + rtol * |expected|.
struct Tolerance {
  double rtol, atol;
};

/// "" where two values of one type agree: in every element within the tolerance, or exactly without one (NaN
/// equals NaN either way; integers and bools are exact always). Else what differs, in lines: how many
/// elements and the worst of them with its place, then both values.
std::string difference_of_values(const Value& actual, const Value& expected,
                                 std::optional<Tolerance> tolerance);

}  // namespace quern
