#include "frontend/instance/lowering_clause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/infer/infer.h"

namespace quern {

namespace {

/// Matches a function's body with an intrinsic's sum of products.
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
    const std::vector<int64_t> sums = extents(0), a = extents(1), b = extents(2);
    const auto are_small = [](const std::vector<int64_t>& all) {
      return std::ranges::all_of(all, [](int64_t extent) { return extent >= 2 && extent <= 64; });
    };
    const bool of_vectors = sums.size() == 1 && a.size() == 2 && a[0] == sums[0] && b == a;
    const bool of_matrices = sums.size() == 2 && a.size() == 3 && b.size() == 3 && a[0] == sums[0] &&
                             b == std::vector<int64_t>{a[1], sums[1], a[2]};
    if ((!of_vectors && !of_matrices) || !are_small(a) || !are_small(b)) return false;
    dot.lanes = static_cast<int>(sums.back());
    dot.group = static_cast<int>(a.back());
    if (of_matrices) {
      dot.rows = static_cast<int>(a[0]);
      dot.steps = static_cast<int>(a[1]);
    }
    dot.accumulator = fn_.params[0]->type->dtype;
    dot.a = fn_.params[1]->type->dtype;
    dot.b = fn_.params[2]->type->dtype;
    return true;
  }

  bool adds_products(const DotIntrinsic& dot) const {
    const auto* body = as<ComprehensionExpr>(fn_.body);
    const size_t axes = dot.is_of_matrices() ? 2 : 1;
    const auto* sum = body && body->vars.size() == axes ? as<ScalarExpr>(body->body) : nullptr;
    if (!sum || sum->is_cast || sum->op != ScalarOp::Add) return false;
    const bool first = is_read(sum->args[0], 0, body->vars);
    if (!first && !is_read(sum->args[1], 0, body->vars)) return false;
    const auto* reduce = as<ReduceExpr>(sum->args[first ? 1 : 0]);
    if (!reduce || reduce->reduce != ReduceKind::Sum || reduce->vars.size() != axes ||
        !is_const(reduce->extents.back(), dot.group) ||
        (dot.is_of_matrices() && !is_const(reduce->extents[0], dot.steps)))
      return false;
    const auto* product = as<ScalarExpr>(reduce->body);
    if (!product || product->is_cast || product->op != ScalarOp::Mul) return false;
    const Dim column = body->vars.back(), r = reduce->vars.back();
    std::vector<Dim> in_a{column, r}, in_b = in_a;
    if (dot.is_of_matrices()) {
      in_a = {body->vars[0], reduce->vars[0], r};
      in_b = {reduce->vars[0], column, r};
    }
    const ExprPtr x = uncast(product->args[0]), y = uncast(product->args[1]);
    return (is_read(x, 1, in_a) && is_read(y, 2, in_b)) || (is_read(x, 2, in_b) && is_read(y, 1, in_a));
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
                    "Tensor[(16, 4), …], %b: Tensor[(16, 4), …]`, or, of matrices, `%acc: Tensor[(16, 16), "
                    "…], %a: Tensor[(16, 8, 4), …], %b: Tensor[(8, 16, 4), …]`: `{}` has others",
                    op.name));
  if (!DotForm(*instance->function).adds_products(dot)) {
    const std::string dtype = to_string(dot.accumulator);
    const std::string vectors = fmt::format(
        "[i] => %acc[i] + sum[r < {}] cast<{}>(%a[i, r]) * cast<{}>(%b[i, r])", dot.group, dtype, dtype);
    const std::string matrices = fmt::format(
        "[i, j] => %acc[i, j] + sum[k < {}, r < {}] cast<{}>(%a[i, k, r]) * cast<{}>(%b[k, j, r])", dot.steps,
        dot.group, dtype, dtype);
    return report(
        fmt::format("what an intrinsic does is written `{}`", dot.is_of_matrices() ? matrices : vectors));
  }
  return dot;
}

}  // namespace quern
