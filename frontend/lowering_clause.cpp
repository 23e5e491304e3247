#include "frontend/lowering_clause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/inference.h"

namespace quern {

namespace {

/// A function's body as an intrinsic's sum of products.
class DotForm {
 public:
  explicit DotForm(const FnExpr& fn) : fn_(fn) {}

  bool has_shapes(DotIntrinsic& dot) const {
    if (fn_.params.size() != 3) return false;
    const auto extents = [&](size_t k) {
      std::vector<int64_t> found;
      for (const Dim d : fn_.params[k]->type->dims) found.push_back(as_const(d).value_or(0));
      return found;
    };
    const std::vector<int64_t> sums = extents(0), a = extents(1);
    const auto is_small = [](int64_t extent) { return extent >= 2 && extent <= 64; };
    if (sums.size() != 1 || a.size() != 2 || a[0] != sums[0] || extents(2) != a ||
        !std::ranges::all_of(a, is_small))
      return false;
    dot.lanes = static_cast<int>(a[0]);
    dot.group = static_cast<int>(a[1]);
    dot.accumulator = fn_.params[0]->type->dtype;
    dot.a = fn_.params[1]->type->dtype;
    dot.b = fn_.params[2]->type->dtype;
    return true;
  }

  bool adds_products(const DotIntrinsic& dot) const {
    const auto* body = as<ComprehensionExpr>(fn_.body);
    const auto* sum = body && body->vars.size() == 1 ? as<ScalarExpr>(body->body) : nullptr;
    if (!sum || sum->is_cast || sum->op != ScalarOp::Add) return false;
    const bool first = is_read(sum->args[0], 0, body->vars);
    if (!first && !is_read(sum->args[1], 0, body->vars)) return false;
    const auto* reduce = as<ReduceExpr>(sum->args[first ? 1 : 0]);
    if (!reduce || reduce->reduce != ReduceKind::Sum || reduce->vars.size() != 1 ||
        !is_const(reduce->extents[0], dot.group))
      return false;
    const auto* product = as<ScalarExpr>(reduce->body);
    if (!product || product->is_cast || product->op != ScalarOp::Mul) return false;
    const std::array<Dim, 2> at{body->vars[0], reduce->vars[0]};
    const ExprPtr x = uncast(product->args[0]), y = uncast(product->args[1]);
    return (is_read(x, 1, at) && is_read(y, 2, at)) || (is_read(x, 2, at) && is_read(y, 1, at));
  }

 private:
  static ExprPtr uncast(ExprPtr e) {
    const auto* cast = as<ScalarExpr>(e);
    return cast && cast->is_cast ? cast->args[0] : e;
  }
  bool is_read(ExprPtr e, size_t param, std::span<const Dim> indices) const {
    const auto* read = as<ReadExpr>(e);
    const auto* tensor = read ? as<VarExpr>(read->tensor) : nullptr;
    return tensor && tensor->variable == fn_.params[param] &&
           std::ranges::equal(read->indices, indices, [](ExprPtr index, Dim dim) {
             const auto* value = as<DimValueExpr>(index);
             return value && value->dim == dim;
           });
  }

  const FnExpr& fn_;
};

}  // namespace

SyntaxPtr lowering_clause(SyntaxPtr op) {
  if (!op->is(SyntaxKind::Op)) return nullptr;
  const auto clauses = op->child(3)->children;
  const auto found =
      std::ranges::find_if(clauses, [](SyntaxPtr clause) { return clause->is(SyntaxKind::LoweringClause); });
  return found == clauses.end() ? nullptr : *found;
}

std::optional<DotIntrinsic> dot_intrinsic_of(const Declaration& op, SyntaxPtr clause, Scope& scope,
                                             Diagnostics& diagnostics) {
  const auto report = [&](std::string message) {
    diagnostics.push_back(
        {DiagnosticKind::InvalidLowering, {{op.id, clause->id}, {}}, std::move(message), {}});
    return std::nullopt;
  };
  DotIntrinsic dot{op.name, std::string(clause->text), std::string(clause->child(0)->text)};
  const auto is_number = [](SyntaxPtr type) {
    return type && type->is(SyntaxKind::TensorType) &&
           (type->child(0)->is(SyntaxKind::Tuple) || type->child(0)->is(SyntaxKind::Paren)) &&
           std::ranges::all_of(type->child(0)->children, [](SyntaxPtr d) { return d->is(SyntaxKind::Int); });
  };
  const bool numbers = std::ranges::all_of(params_of(op.syntax)->children, [&](SyntaxPtr p) {
    return p->is(SyntaxKind::TensorParam) && is_number(p->child(0));
  });
  const auto instance =
      numbers ? make_instance(make_request(op, SignatureBinding()), scope, diagnostics) : nullptr;
  if (instance && (!instance->function || has_errors(diagnostics))) return std::nullopt;
  const bool shaped = instance && DotForm(*instance->function).has_shapes(dot);
  if (!shaped)
    return report(
        fmt::format("an intrinsic takes tensors whose shapes are numbers, `%acc: Tensor[(16,), …], %a: "
                    "Tensor[(16, 4), …], %b: Tensor[(16, 4), …]`: `{}` has others",
                    op.name));
  if (!DotForm(*instance->function).adds_products(dot))
    return report(
        fmt::format("what an intrinsic does is written `[i] => %acc[i] + sum[r < {}] cast<{}>(%a[i, r]) * "
                    "cast<{}>(%b[i, r])`",
                    dot.group, to_string(dot.accumulator), to_string(dot.accumulator)));
  return dot;
}

}  // namespace quern
