#pragma once
// Calls of functions: positional arguments and their mismatches.

#include <optional>
#include <string>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class FunctionCalls : public WalkPart {
 public:
  FunctionCalls(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr call(SyntaxPtr s);

 private:
  /// The arguments of a call with their syntax.
  struct Arguments {
    std::vector<DraftPtr> values;
    std::vector<SyntaxPtr> at;
  };
  std::optional<Arguments> arguments_of(SyntaxPtr call, Type callee);
  DraftPtr call_unknown(SyntaxPtr s, DraftPtr function, Type type, const std::string& name,
                        const Arguments& args);
  DraftPtr wrong_count(SyntaxPtr s, Type type, const std::string& name, size_t given);
  void assign_arguments(SyntaxPtr call, DraftPtr function, const std::string& name, Type type,
                        const Arguments& args);
  void report_argument(SyntaxPtr call, DraftPtr function, const std::string& name, Type wanted,
                       const Arguments& args, size_t i);
  const Declaration* declaration_of(SyntaxPtr callee);
};

}  // namespace quern
