#pragma once
// Which values the arms of a match cover (L. Maranget, Warnings for pattern matching, Journal of Functional
// Programming 17(3), 2007): missing cases are section 5's algorithm I, arms that nothing reaches section 3's
// usefulness.

#include <cstddef>
#include <string>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

struct Coverage {
  /// Values that no pattern matches, as patterns: `Cons(_, Nil)`. A few of them where there are many; none
  /// where every value is matched.
  std::vector<std::string> missing;
  /// Patterns, by number, that match nothing that those before them do not.
  std::vector<size_t> unreachable;
  /// The patterns are more entangled than is worth looking at (the problem is NP-complete); the rest says
  /// nothing.
  bool undecided = false;
};

/// What patterns of one type, tried in order, cover.
Coverage coverage_of(const std::vector<PatternPtr>& patterns);

}  // namespace quern
