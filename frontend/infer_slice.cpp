// Slices in ordinary code: `%x[0]`, `%x[:, 1:]`, `%x[::2]`, `%x[-1]`, `%x[%i]` become comprehensions over the
// tensor.

#include <fmt/format.h>

#include <charconv>

#include "frontend/inference.h"

namespace quern {

ExprPtr Inference::slice(SyntaxPtr s) {
  ExprPtr tensor = infer(s->child(0));
  // A position that is not known at compile time is a rank-0 integer computed at run time.
  std::vector<ExprPtr> computed(s->children.size(), nullptr);
  for (size_t i = 1; i < s->children.size(); ++i) {
    SyntaxPtr item = s->children[i];
    if (item->is(SyntaxKind::Slice) || item->is(SyntaxKind::Int)) continue;
    if (item->is(SyntaxKind::Spread) || item->is(SyntaxKind::BroadcastSpread)) {
      report(DiagnosticKind::InvalidIndexExpression, item,
             "a pack of indices stands inside an index expression, `[..i < shape] => %x[..i]`");
      return error(s);
    }
    if (item->is(SyntaxKind::Name)) continue;
    computed[i] = infer(item);
  }
  ExprPtr waiting = error(s, unifier.fresh_type());
  uint32_t declaration = declaration_;
  TypeEnv names = env;
  relate(s, waiting, "the tensor", [=, this] {
    Type type = resolve(tensor->type);
    if (type->kind == TypeKind::Infer) return false;
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

// `first:last:step` against an axis; nothing where it was reported.
std::optional<SliceRange> Inference::range_of(SyntaxPtr item, Dim extent, Statics& statics) {
  auto step_dim = item->child(2) ? statics.dim(item->child(2), env.statics) : dim_const(1);
  auto step = step_dim ? as_const(*step_dim) : std::nullopt;
  if (step_dim && step.value_or(0) == 0)
    report(DiagnosticKind::SliceStep, item->child(2),
           fmt::format("the step of a slice is a known integer other than 0, not {}", to_string(*step_dim)));
  if (step.value_or(0) == 0) return std::nullopt;
  std::optional<Dim> bounds[2];
  for (size_t i : {0, 1}) {
    if (!item->child(i)) continue;
    bounds[i] = statics.dim(item->child(i), env.statics);
    if (!bounds[i]) return std::nullopt;
  }
  return slice_range(bounds[0], bounds[1], *step, extent);
}

// `%xs[k]` where %xs is a tuple and k a compile-time integer.
ExprPtr Inference::member_of(SyntaxPtr s, ExprPtr tuple) {
  Type type = resolve(tuple->type);
  if (s->children.size() != 2 || s->child(1)->is(SyntaxKind::Slice)) {
    report(DiagnosticKind::RankMismatch, s, "a member of a tuple has one position: `%xs[0]` or `%xs.0`");
    return nullptr;
  }
  auto position = evaluator().dim(s->child(1), env.statics);
  if (!position) return nullptr;
  auto k = as_const(*position);
  auto count = static_cast<int64_t>(type->args.size());
  if (k && *k < 0) *k += count;
  if (!k || *k < 0 || *k >= count) {
    report(DiagnosticKind::UnknownField, s->child(1),
           k ? fmt::format("{} has no field {}", unifier.describe(type), to_string(*position))
             : fmt::format("which field of a tuple is meant has to be known at compile time, not {}",
                           to_string(*position)),
           origin_of(tuple));
    return nullptr;
  }
  auto field = static_cast<uint32_t>(*k);
  return drafts_.make<FieldExpr>(Expr{ExprKind::Field, type->args[field], origin(s)}, tuple, field,
                                 std::string_view());
}

ExprPtr Inference::slice_of(SyntaxPtr s, ExprPtr tensor, const std::vector<ExprPtr>& computed) {
  Type type = resolve(tensor->type);
  bool numbered = s->children.size() == 2 && s->child(1)->is(SyntaxKind::Int);
  if (type->kind == TypeKind::Tuple && !numbered) return member_of(s, tensor);
  if (type->kind == TypeKind::Tuple) {
    SyntaxPtr item = s->child(1);
    std::vector<Fix> fixes;
    size_t field = 0;
    auto [end, error] = std::from_chars(item->text.data(), item->text.data() + item->text.size(), field);
    // `%t[-1]`, `%t[0i64]` and what is past the last field have no such spelling.
    if (error == std::errc() && end == item->text.data() + item->text.size() && field < type->args.size()) {
      Place bracketed = place(item);
      bracketed.part = Part::Bracketed;
      fixes.push_back({fmt::format("write `.{}`", field), {{bracketed, fmt::format(".{}", field)}}});
    }
    report(DiagnosticKind::TupleIndexed, s, "a field of a tuple is read with a point: `%t.0`",
           origin_of(tensor), std::move(fixes));
    return nullptr;
  }
  if (!type->is_tensor()) {
    report(DiagnosticKind::TypeMismatch, s,
           fmt::format("what stands in brackets reads a tensor or a tuple, and this is {}{}",
                       unifier.describe(type),
                       s->child(0)->is(SyntaxKind::GlobalName) ? "; type arguments stand in `<…>`" : ""),
           origin_of(tensor));
    // What the function gives back is not asked for any more.
    if (type->kind == TypeKind::Function && resolve(type->result())->kind == TypeKind::Infer)
      unifier.unify(type->result(), error_type());
    return nullptr;
  }
  if (s->children.size() - 1 > type->dims.size()) {
    report(DiagnosticKind::RankMismatch, s,
           fmt::format("{} position{} for {}", s->children.size() - 1, s->children.size() == 2 ? "" : "s",
                       unifier.describe(type)),
           origin_of(tensor));
    return nullptr;
  }
  Statics statics = evaluator();
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
      auto range = range_of(item, extent, statics);
      if (!range) return nullptr;
      at = dim_add(range->first, dim_mul(running(range->count), dim_const(range->step)));
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
      if (index->is_error()) return nullptr;
      DType dtype = index->is_scalar() ? resolve(index->dtype) : DType::float32();
      bool literal = dtype.is_infer() && unifier.class_of(dtype) != DTypeClass::Float;
      if (literal) dtype = DType::int32();
      if ((!dtype.is_int() && !dtype.is_index()) || dtype.is_vector()) {
        report(DiagnosticKind::TypeMismatch, item,
               fmt::format("a position has to be a rank-0 integer, not {}", unifier.describe(index)));
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
