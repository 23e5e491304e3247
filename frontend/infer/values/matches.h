#pragma once
// Matches, and the coverage of their arms.

#include <string>
#include <vector>

#include "frontend/infer/values/patterns.h"

namespace quern {

class Matches : public WalkPart {
 public:
  Matches(Parts& parts, Walk& walk, Patterns& patterns) : WalkPart(parts, walk), patterns_(patterns) {}

  DraftPtr match(SyntaxPtr s, Type wanted);

 private:
  std::vector<DraftBinding> open_locals(size_t first, SyntaxPtr at);
  void check_coverage(SyntaxPtr s, const std::vector<MatchArm>& arms, bool partial, Type type);
  void report_at_word(DiagnosticKind kind, SyntaxPtr match, std::string message);

  Patterns& patterns_;
};

}  // namespace quern
