#pragma once
// Which values the arms of a match cover (L. Maranget, Warnings for pattern matching, Journal of Functional
// Programming 17(3), 2007): missing cases use section 5's algorithm I, unreachable arms section 3's
// usefulness.

#include <cstddef>
#include <string>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

struct Coverage {
  /// Values that no pattern matches, as patterns: `Cons(_, Nil)`. Only a few if there are many; none if the
  /// match is exhaustive.
  std::vector<std::string> missing;
  /// Patterns, by index, that match only values that earlier ones match.
  std::vector<size_t> unreachable;
  /// The patterns are too entangled to analyse (the problem is NP-complete); the other fields are
  /// meaningless.
  bool undecided = false;
};

/// The coverage of patterns of one type, tried in order.
Coverage coverage_of(const std::vector<PatternPtr>& patterns);

}  // namespace quern
