#include "session/intrinsics.h"

#include <fmt/format.h>

#include "frontend/instance/lowering_clause.h"
#include "jit/codegen/codegen.h"
#include "session/session_impl.h"

namespace quern {

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

const DotIntrinsics& Session::dot_intrinsics() {
  if (impl_->dot_intrinsics) return *impl_->dot_intrinsics;
  DotIntrinsics found;
  ModuleScope scope = ModuleScope::for_instances(*impl_, Impl::kLibrary);
  for (const DeclarationId id : impl_->all_of(Impl::kLibrary, PieceKind::Op)) {
    // Few ops have one: the others are not parsed for it.
    if (impl_->piece_text.get(id).find("lowering \"") == std::string::npos) continue;
    const Declaration& op = impl_->tree(id);
    Diagnostics problems;
    SyntaxPtr clause = lowering_clause(op.syntax);
    auto dot = clause ? dot_intrinsic_of(op, clause, scope, problems) : std::nullopt;
    if (dot) found.push_back(std::make_shared<const DotIntrinsic>(std::move(*dot)));
  }
  return impl_->dot_intrinsics.emplace(std::move(found));
}

}  // namespace quern
