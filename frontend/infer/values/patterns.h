#pragma once
// Patterns: of the arms of a match, and of a `let`.

#include <optional>
#include <span>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

/// A walk over one pattern.
struct PatternWalk {
  size_t first_local;  ///< first of the variables that the pattern has bound so far
  bool sound;          ///< no diagnostic makes its coverage meaningless
};

class Patterns : public WalkPart {
 public:
  Patterns(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// The pattern for values of a type; its variables are in scope from here on.
  PatternPtr pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  /// The pattern of a `let` for values of a type; reports one that does not match all of them.
  PatternPtr of_let(SyntaxPtr let, Type type);
  /// Binds the variables of a `let` pattern, the locals from `first` on, each to its part of the value, with
  /// each `?` opened as for parameters.
  void bind_parts(PatternPtr pattern, DraftPtr whole, size_t first, std::vector<DraftBinding>& bindings);

 private:
  PatternPtr wildcard(SyntaxPtr s, Type type);
  PatternPtr variable_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr constructor_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr tuple_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr parts_pattern(std::span<const SyntaxPtr> written, const Pattern& head,
                           std::span<const Type> types, PatternWalk& walk);
  std::optional<std::vector<SyntaxPtr>> in_order_of(SyntaxPtr s, const DataConstructor& constructor,
                                                    const Note& declared);
  void report_unknown_constructor(SyntaxPtr s);
  DraftPtr part(PatternPtr pattern, const Variable* variable, DraftPtr whole);
  DraftPtr field_by_match(const Pattern& pattern, size_t field, DraftPtr whole);
};

}  // namespace quern
