#include "session/compiler.h"

namespace quern {
struct Compiler::Impl {};
Compiler::Compiler(Session&, ModuleId) {}
Compiler::~Compiler() = default;
EvaluationResult Compiler::evaluate(const Definition&, const Environment&, Host&) { return EvaluationError{"no", {}, {}}; }
Result<std::string> Compiler::stage_text(const Definition&, const std::string&) { return Failure{"no"}; }
}  // namespace quern
