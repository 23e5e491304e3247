#pragma once
// Matches: patterns, their variables, and what the arms cover.

#include <span>
#include <string>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class Matches : public WalkPart {
 public:
  Matches(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr match(SyntaxPtr s, Type wanted);

 private:
  struct PatternWalk {
    size_t first_local;  ///< of the variables that the pattern has bound so far
    bool sound;          ///< nothing was reported that makes its coverage meaningless
  };
  std::vector<DraftBinding> open_locals(size_t first, SyntaxPtr at);
  // patterns.cpp
  PatternPtr pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr wildcard(SyntaxPtr s, Type type);
  PatternPtr variable_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr constructor_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr tuple_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr parts_pattern(SyntaxPtr s, const Pattern& head, std::span<const Type> types, PatternWalk& walk);
  void report_unknown_constructor(SyntaxPtr s);
  // cover.cpp
  void check_coverage(SyntaxPtr s, const std::vector<MatchArm>& arms, bool partial, Type type);
  void report_at_word(DiagnosticKind kind, SyntaxPtr match, std::string message);
};

}  // namespace quern
