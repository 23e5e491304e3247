#pragma once
// The compiled path: optimised IR, bytecode and kernels of a module, made on demand and kept.

#include <memory>
#include <string>

#include "ir/evaluation.h"
#include "ir/interpreter.h"
#include "session/session.h"

namespace quern {

class Compiler {
 public:
  explicit Compiler(Session& session);
  ~Compiler();

  /// Optimises, compiles and runs an expression whose free variables have these values.
  EvaluationResult evaluate(const Definition& definition, const Environment& values, Host& host);

  /// The text of a stage of @name's or an expression's way: "typed", a pass's name, "fused", "loops", "llvm",
  /// "asm".
  Result<std::string> stage_text(const Definition& definition, const std::string& stage);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern
