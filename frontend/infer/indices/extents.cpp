#include "frontend/infer/indices/extents.h"

#include <fmt/format.h>

#include "ir/expr/computed_extent.h"
#include "ir/extern/kernels.h"

namespace quern {

namespace {

/// `%k`, `%net.size`, `%sizes[0]`.
bool is_value(SyntaxPtr s) {
  while (s->is(SyntaxKind::Index)) s = s->child(0);
  return is_operand(s);
}

}  // namespace

void Extents::open(SyntaxPtr syntax, ComputedExtents& extents) {
  if (!syntax) return;
  if (is_value(syntax)) {
    if (!extents.find(syntax))
      if (auto dim = opened(syntax, extents)) extents.dims.emplace_back(syntax, *dim);
    return;
  }
  // The length of a list, whatever its items are.
  if (syntax->is(SyntaxKind::Call) && syntax->child(0)->text == "len") return;
  for (SyntaxPtr part : syntax->children) open(part, extents);
}

// Nothing for a tuple, whose members have positions; null after a diagnostic.
std::optional<Dim> Extents::opened(SyntaxPtr operand, ComputedExtents& extents) {
  DraftPtr value = infer(operand);
  Type type = resolve(value->type);
  if (type->kind == TypeKind::Tuple) return std::nullopt;
  if (type->kind == TypeKind::Infer) {
    unifier_.unify(type, scalar_type(DType::int32()));
    type = resolve(type);
  }
  if (type->is_error()) return Dim();
  const bool is_literal =
      type->is_scalar() && type->dtype.is_infer() && unifier_.class_of(type->dtype) != DTypeClass::Float;
  if (!type->is_scalar() ||
      !(is_literal || type->dtype.is_int() || type->dtype.is_index() || type->dtype.is_var())) {
    report(DiagnosticKind::TypeMismatch, operand,
           fmt::format("an extent is one integer, and this is {}", unifier_.describe(type)),
           names_.origin_of(value));
    return Dim();
  }
  const Type carrier = tensor_type(std::vector{dim_any(), dim_const(0)}, DType::boolean());
  Arena& nodes = drafts_.arena();
  ExternExpr computed;
  computed.kernel = kExtentKernel;
  computed.attributes = nodes.make<ExternAttributes>(std::vector<std::pair<std::string, StaticValue>>());
  DraftPtr call = drafts_.form(origin(operand), carrier, computed, {value});
  const Dim dim = checks_.open(operand->text.empty() ? "extent" : operand->text);
  const Type exact = tensor_type(std::vector{dim, dim_const(0)}, DType::boolean());
  DraftPtr check =
      drafts_.form(origin(operand), exact, CheckDimsExpr{.opened = drafts_.copy(std::vector{dim})}, {call});
  extents.bindings.push_back({drafts_.variable("extent", exact), check});
  return dim;
}

DraftPtr Extents::bound(SyntaxPtr s, const ComputedExtents& extents, DraftPtr value) {
  return extents.bindings.empty() ? value : drafts_.block(origin(s), extents.bindings, value);
}

}  // namespace quern
