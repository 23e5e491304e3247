// Slices in ordinary code: `%x[0]`, `%x[:, 1:]`, `%x[::2]`, `%x[-1]`, `%x[%i]` become comprehensions over the
// tensor.

#include <fmt/format.h>

#include "frontend/inference.h"

namespace quern {

ExprPtr Inference::slice(SyntaxPtr s) {
  ExprPtr tensor = infer(s->child(0));
  // A position that is not known at compile time is a rank-0 integer computed at run time.
  std::vector<ExprPtr> computed(s->children.size(), nullptr);
  for (size_t i = 1; i < s->children.size(); ++i) {
    SyntaxPtr item = s->children[i];
    if (item->is(SyntaxKind::Slice) || item->is(SyntaxKind::Int)) continue;
    if (item->is(SyntaxKind::Spread) || item->is(SyntaxKind::BroadcastSpread))
      return not_yet(item, "a pack outside an index expression");
    if (item->is(SyntaxKind::Name)) continue;
    computed[i] = infer(item);
  }
  ExprPtr waiting = error(s, unifier.fresh_type());
  uint32_t declaration = declaration_;
  TypeEnv names = env;
  relate(s, waiting, "the tensor", [=, this] {
    Type type = resolve(tensor->type);
    if (type->kind == TypeKind::Infer || (type->is_tensor() && resolve(type->dtype).is_infer())) return false;
    for (ExprPtr c : computed)
      if (c && resolve(c->type)->kind == TypeKind::Infer) return false;
    uint32_t outer = std::exchange(declaration_, declaration);
    TypeEnv outer_env = std::exchange(env, names);
    ExprPtr result = type->is_error() ? nullptr : slice_of(s, tensor, computed);
    env = std::move(outer_env);
    declaration_ = outer;
    becomes(s, waiting, result ? result->type : error_type());
    if (result) replacements_[waiting] = result;
    return true;
  });
  return waiting;
}

namespace {

// A bound of a slice against its axis: counted from the end when negative, and kept within 0 … extent.
Dim clamp(Dim bound, Dim extent) {
  if (auto c = as_const(bound); c && *c < 0) bound = dim_add(bound, extent);
  return dim_min(dim_max(bound, dim_const(0)), extent);
}

}  // namespace

ExprPtr Inference::slice_of(SyntaxPtr s, ExprPtr tensor, const std::vector<ExprPtr>& computed) {
  Type type = resolve(tensor->type);
  if (type->kind == TypeKind::Tuple) {
    SyntaxPtr item = s->child(1);
    std::vector<Fix> fixes;
    if (s->children.size() == 2 && item->is(SyntaxKind::Int) && item->text[0] != '-') {
      Place bracketed = place(item);
      bracketed.part = Part::Bracketed;
      fixes.push_back({fmt::format("write `.{}`", item->text), {{bracketed, "." + std::string(item->text)}}});
    }
    report(DiagnosticKind::TupleIndexed, s, "a field of a tuple is read with a point: `%t.0`",
           origin_of(tensor), std::move(fixes));
    return nullptr;
  }
  if (!type->is_tensor() || s->children.size() - 1 > type->dims.size()) {
    report(DiagnosticKind::RankMismatch, s,
           fmt::format("{} position{} for {}", s->children.size() - 1, s->children.size() == 2 ? "" : "s",
                       unifier.describe(type)),
           origin_of(tensor));
    return nullptr;
  }
  StaticEvaluator statics = evaluator();
  std::vector<Dim> vars, extents;
  std::vector<ExprPtr> indices;
  std::vector<char> checked;
  Facts facts;
  auto dim_index = [&](Dim d) {
    return drafts_.make<DimValueExpr>(Expr{ExprKind::DimValue, scalar_type(DType::index()), origin(s)}, d);
  };
  auto running = [&](Dim extent) {
    vars.push_back(dim_var(fmt::format("i{}", vars.size())));
    extents.push_back(extent);
    facts.add_index(vars.back(), extent);
    return vars.back();
  };
  for (size_t axis = 0; axis < type->dims.size(); ++axis) {
    Dim extent = type->dims[axis];
    SyntaxPtr item = s->child(axis + 1);
    Dim at = nullptr;
    bool whole =
        !item || (item->is(SyntaxKind::Slice) && !item->child(0) && !item->child(1) && !item->child(2));
    if (whole) {
      at = running(extent);
    } else if (item->is(SyntaxKind::Slice)) {
      auto bound = [&](SyntaxPtr node, Dim missing) {
        return node ? statics.dim(node, env.statics) : std::optional<Dim>(missing);
      };
      auto step = bound(item->child(2), dim_const(1));
      if (!step || as_const(*step).value_or(0) <= 0) {
        report(DiagnosticKind::SliceStep, item, "the step of a slice has to be a known positive integer");
        return nullptr;
      }
      auto first = bound(item->child(0), dim_const(0)), last = bound(item->child(1), extent);
      if (!first || !last) return nullptr;
      Dim begin = clamp(*first, extent), end = item->child(1) ? clamp(*last, extent) : extent;
      Dim count = dim_floordiv(dim_add(dim_sub(end, begin), dim_sub(*step, dim_const(1))), *step);
      at = dim_add(begin, dim_mul(running(dim_max(count, dim_const(0))), *step));
    } else if (!computed[axis + 1]) {
      auto position = statics.dim(item, env.statics);
      if (!position) return nullptr;
      at = *position;
      if (auto c = as_const(at); c && *c < 0) at = dim_add(at, extent);
      auto size = as_const(extent), c = as_const(at);
      if (size && c && (*c < 0 || *c >= *size)) {
        report(DiagnosticKind::ReadOutOfBounds, item,
               fmt::format("position {} is outside dimension {} of {}", to_string(*position), axis,
                           to_string(type)),
               origin_of(tensor));
        return nullptr;
      }
    } else {
      Type index = resolve(computed[axis + 1]->type);
      DType dtype = index->is_scalar() ? resolve(index->dtype) : DType::float32();
      if (dtype.is_infer()) dtype = DType::int32();
      if (!dtype.is_int() && !dtype.is_index()) {
        report(DiagnosticKind::TypeMismatch, item,
               fmt::format("a position has to be a rank-0 integer, not {}", to_string(index)));
        return nullptr;
      }
      ExprPtr element =
          drafts_.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(dtype), origin(item)}, computed[axis + 1],
                                 std::span<const ExprPtr>(), std::span<const bool>(), nullptr);
      indices.push_back(
          drafts_.make<ScalarExpr>(Expr{ExprKind::Scalar, scalar_type(DType::index()), origin(item)},
                                   ScalarOp::Add, true, drafts_.copy(std::vector<ExprPtr>{element})));
      checked.push_back(1);
      continue;
    }
    indices.push_back(dim_index(at));
    checked.push_back(!(prove_nonnegative(at, facts) && prove_less(at, extent, facts)));
  }
  auto flags = drafts_.copy(checked);
  std::span<const bool> check_flags(reinterpret_cast<const bool*>(flags.data()), flags.size());
  ExprPtr element = drafts_.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(type->dtype), origin(s)}, tensor,
                                           drafts_.copy(indices), check_flags, nullptr);
  return drafts_.make<ComprehensionExpr>(
      Expr{ExprKind::Comprehension, tensor_type(extents, type->dtype), origin(s)}, drafts_.copy(vars),
      drafts_.copy(extents), element);
}

}  // namespace quern
