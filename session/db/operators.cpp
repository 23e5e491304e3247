// Operators: their instances, their own mistakes, and the intrinsics that the library declares.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/instance/lowering_clause.h"
#include "jit/codegen/codegen.h"
#include "session/db/module_scope.h"

namespace quern {

namespace {

// Checks an op's clause `lowering`: its form, and that LLVM has the intrinsic.
Diagnostics check_lowering(const Declaration& op, Scope& scope) {
  Diagnostics found;
  SyntaxPtr clause = lowering_clause(op.syntax);
  const auto dot = clause ? dot_intrinsic_of(op, clause, scope, found) : std::nullopt;
  if (!dot || can_call(*dot)) return found;
  const std::string of_vectors = fmt::format(
      "LLVM has no intrinsic `{}` that adds to {} of {} the products of {} neighbours, {} and {}", dot->llvm,
      dot->lanes, to_string(dot->accumulator), dot->group, to_string(dot->a), to_string(dot->b));
  const std::string of_matrices = fmt::format(
      "LLVM has no intrinsic `{}` that multiplies {} rows of {} groups of {} {} by {} columns of {}: a "
      "register "
      "has at most 16 rows of 16 groups of 32 bits",
      dot->llvm, dot->rows, dot->steps, dot->group, to_string(dot->a), dot->lanes, to_string(dot->b));
  found.push_back({DiagnosticKind::InvalidLowering,
                   {{op.id, clause->id}, {}},
                   dot->is_of_matrices() ? of_matrices : of_vectors,
                   {}});
  return found;
}

}  // namespace

InstanceResult Database::define_instance(const InstanceKey& key) {
  ModuleScope scope = ModuleScope::for_instances(*this, key.module);
  InstanceResult result;
  if (engine.cancelled()) return result;
  result.instance = make_instance(key.request, scope, result.diagnostics);
  return result;
}

std::shared_ptr<const LateInstance> Database::make_late_instance(const InstanceKey& key) {
  return std::make_shared<LateInstance>(*instance_head(key.request), key);
}

std::shared_ptr<const OpInstance> Database::linked(const OpInstance& called) {
  std::shared_ptr<const OpInstance> as_called(std::shared_ptr<const void>(), &called);
  if (!called.late) return as_called;
  const auto& found = instance(key_of_late(called)).instance;
  return found ? found : as_called;
}

bool Database::late_calls_are_sound(const Inferred& inferred) {
  return std::ranges::all_of(inferred.late_calls, [&](const LateCall& call) {
    const auto& found = instance(key_of_late(*call.instance)).instance;
    return found && found->function;
  });
}

Diagnostics Database::check_one_operator(DeclarationId id) {
  if (!parses_whole(id)) return {};
  ModuleScope scope = ModuleScope::for_instances(*this, declarations[id].module);
  Diagnostics found = check_operator(tree(id), scope);
  if (found.empty()) found = check_lowering(tree(id), scope);
  return found;
}

DotIntrinsics Database::find_dot_intrinsics(ModuleId module) {
  DotIntrinsics found;
  ModuleScope scope = ModuleScope::for_instances(*this, module);
  for (const DeclarationId id : all_of(module, PieceKind::Op)) {
    // Few ops have one; the others need not be parsed for it.
    if (text_of_declaration(id).find("lowering \"") == std::string::npos) continue;
    const Declaration& op = tree(id);
    Diagnostics problems;
    SyntaxPtr clause = lowering_clause(op.syntax);
    auto dot = clause ? dot_intrinsic_of(op, clause, scope, problems) : std::nullopt;
    if (dot) found.push_back(std::make_shared<const DotIntrinsic>(std::move(*dot)));
  }
  return found;
}

}  // namespace quern
