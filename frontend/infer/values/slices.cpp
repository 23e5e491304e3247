#include "frontend/infer/values/slices.h"

#include <fmt/format.h>

#include <charconv>

namespace quern {

DraftPtr Slices::slice(SyntaxPtr s) {
  DraftPtr tensor = infer(s->child(0));
  // A position that is not known at compile time is a rank-0 integer computed at run time.
  std::vector<DraftPtr> computed(s->children.size(), nullptr);
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
  auto* waiting = drafts_.make<SliceDraft>(origin(s), unifier_.fresh_type(), tensor, drafts_.copy(computed));
  TypeEnv names = names_.env;
  relations_.relate(s, waiting, "the tensor", [=, this] { return attempt(s, *waiting, names); });
  return waiting;
}

bool Slices::attempt(SyntaxPtr s, SliceDraft& waiting, const TypeEnv& names) {
  Type type = resolve(waiting.tensor->type);
  if (type->kind == TypeKind::Infer) return false;
  for (DraftPtr c : waiting.computed)
    if (c && resolve(c->type)->kind == TypeKind::Infer) return false;
  uint32_t outer = std::exchange(context_.declaration, waiting.origin.declaration);
  TypeEnv outer_env = std::exchange(names_.env, names);
  waiting.replacement = type->is_error() ? nullptr : slice_of(s, waiting);
  names_.env = std::move(outer_env);
  context_.declaration = outer;
  assignments_.becomes(s, &waiting, waiting.replacement ? waiting.replacement->type : error_type());
  return true;
}

// `first:last:step` against an axis; nothing where it was reported.
std::optional<SliceRange> Slices::range_of(SyntaxPtr item, Dim extent, Statics& statics) {
  auto step_dim = item->child(2) ? statics.dim(item->child(2), names_.env.statics) : dim_const(1);
  auto step = step_dim ? as_const(*step_dim) : std::nullopt;
  if (step_dim && step.value_or(0) == 0)
    report(DiagnosticKind::SliceStep, item->child(2),
           fmt::format("the step of a slice is a known integer other than 0, not {}", to_string(*step_dim)));
  if (step.value_or(0) == 0) return std::nullopt;
  std::optional<Dim> bounds[2];
  for (size_t i : {0, 1}) {
    if (!item->child(i)) continue;
    bounds[i] = statics.dim(item->child(i), names_.env.statics);
    if (!bounds[i]) return std::nullopt;
  }
  return slice_range(bounds[0], bounds[1], *step, extent);
}

// `%xs[k]` where %xs is a tuple and k a compile-time integer.
DraftPtr Slices::member_of(SyntaxPtr s, DraftPtr tuple) {
  Type type = resolve(tuple->type);
  if (s->children.size() != 2 || s->child(1)->is(SyntaxKind::Slice)) {
    report(DiagnosticKind::RankMismatch, s, "a member of a tuple has one position: `%xs[0]` or `%xs.0`");
    return nullptr;
  }
  auto position = names_.evaluator().dim(s->child(1), names_.env.statics);
  if (!position) return nullptr;
  auto k = as_const(*position);
  auto count = static_cast<int64_t>(type->args.size());
  if (k && *k < 0) *k += count;
  if (!k || *k < 0 || *k >= count) {
    report(DiagnosticKind::UnknownField, s->child(1),
           k ? fmt::format("{} has no field {}", unifier_.describe(type), to_string(*position))
             : fmt::format("which field of a tuple is meant has to be known at compile time, not {}",
                           to_string(*position)),
           names_.origin_of(tuple));
    return nullptr;
  }
  auto field = static_cast<uint32_t>(*k);
  return drafts_.form(origin(s), type->args[field], FieldExpr{.index = field}, {tuple});
}

/// What a slice reads, axis by axis, and the axes of what it gives.
struct Slices::Axes {
  std::vector<Dim> vars, extents;
  std::vector<IndexOperand> operands;
  std::vector<ExprPtr> indices;
  std::vector<char> checked;  ///< by axis of the tensor: whether the index is looked at when it runs
  Facts facts;

  /// The index of another axis of the result.
  Dim running(Dim extent) {
    vars.push_back(dim_var(fmt::format("i{}", vars.size())));
    extents.push_back(extent);
    facts.add_index(vars.back(), extent);
    return vars.back();
  }
};

namespace {

/// `.0` in the place of `[0]`; `%t[-1]`, `%t[0i64]` and what is past the last field have no such spelling.
std::vector<Fix> field_in_place_of(Place bracketed, SyntaxPtr item, size_t fields) {
  bracketed.part = Part::Bracketed;
  size_t field = 0;
  const char* last = item->text.data() + item->text.size();
  auto [end, error] = std::from_chars(item->text.data(), last, field);
  if (error != std::errc() || end != last || field >= fields) return {};
  return {{fmt::format("write `.{}`", field), {{bracketed, fmt::format(".{}", field)}}}};
}

}  // namespace

bool Slices::can_be_sliced(SyntaxPtr s, DraftPtr tensor, Type type) {
  const size_t positions = s->children.size() - 1;
  if (!type->is_tensor()) {
    report(DiagnosticKind::TypeMismatch, s,
           fmt::format("what stands in brackets reads a tensor or a tuple, and this is {}{}",
                       unifier_.describe(type),
                       s->child(0)->is(SyntaxKind::GlobalName) ? "; type arguments stand in `<…>`" : ""),
           names_.origin_of(tensor));
    // What the function gives back is not asked for any more.
    if (type->kind == TypeKind::Function && resolve(type->result())->kind == TypeKind::Infer)
      unifier_.unify(type->result(), error_type());
    return false;
  }
  if (positions <= type->dims.size()) return true;
  report(DiagnosticKind::RankMismatch, s,
         fmt::format("{} position{} for {}", positions, positions == 1 ? "" : "s", unifier_.describe(type)),
         names_.origin_of(tensor));
  return false;
}

// A position that is known at compile time; a negative one counts from the end.
std::optional<Dim> Slices::known_position(SyntaxPtr item, DraftPtr tensor, size_t axis, Statics& statics) {
  const Type type = resolve(tensor->type);
  const Dim extent = type->dims[axis];
  auto position = statics.dim(item, names_.env.statics);
  if (!position) return std::nullopt;
  Dim at = *position;
  if (auto c = as_const(at); c && *c < 0) at = dim_add(at, extent);
  auto size = as_const(extent), c = as_const(at);
  if (!size || !c || (*c >= 0 && *c < *size)) return at;
  report(
      DiagnosticKind::ReadOutOfBounds, item,
      fmt::format("position {} is outside dimension {} of {}", to_string(*position), axis, to_string(type)),
      names_.origin_of(tensor));
  return std::nullopt;
}

// A position that is computed when the program runs, as an index; null where it is no integer.
ExprPtr Slices::computed_position(SyntaxPtr item, DraftPtr position, Axes& axes) {
  Type type = resolve(position->type);
  if (type->is_error()) return nullptr;
  DType dtype = type->is_scalar() ? resolve(type->dtype) : DType::float32();
  bool literal = dtype.is_infer() && unifier_.class_of(dtype) != DTypeClass::Float;
  if (literal) dtype = DType::int32();
  if ((!dtype.is_int() && !dtype.is_index()) || dtype.is_vector()) {
    report(DiagnosticKind::TypeMismatch, item,
           fmt::format("a position has to be a rank-0 integer, not {}", unifier_.describe(type)));
    return nullptr;
  }
  axes.operands.push_back({item, position, drafts_.operand(position, type)});
  Arena& nodes = drafts_.arena();
  ExprPtr element =
      nodes.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(dtype), origin(item)}, axes.operands.back().read,
                           std::span<const ExprPtr>(), std::span<const bool>(), nullptr);
  return nodes.make<ScalarExpr>(Expr{ExprKind::Scalar, scalar_type(DType::index()), origin(item)},
                                ScalarOp::Add, true, nodes.copy(std::vector<ExprPtr>{element}));
}

bool Slices::add_axis(SyntaxPtr s, DraftPtr tensor, size_t axis, DraftPtr computed, Axes& axes) {
  const Dim extent = resolve(tensor->type)->dims[axis];
  SyntaxPtr item = s->child(axis + 1);
  if (computed) {
    axes.indices.push_back(computed_position(item, computed, axes));
    axes.checked.push_back(1);
    return axes.indices.back() != nullptr;
  }
  Statics statics = names_.evaluator();
  std::optional<Dim> at;
  if (!item || (item->is(SyntaxKind::Slice) && !item->child(0) && !item->child(1) && !item->child(2))) {
    at = axes.running(extent);
  } else if (item->is(SyntaxKind::Slice)) {
    if (auto range = range_of(item, extent, statics))
      at = dim_add(range->first, dim_mul(axes.running(range->count), dim_const(range->step)));
  } else {
    at = known_position(item, tensor, axis, statics);
  }
  if (!at) return false;
  axes.indices.push_back(drafts_.arena().make<DimValueExpr>(
      Expr{ExprKind::DimValue, scalar_type(DType::index()), origin(s)}, *at));
  axes.checked.push_back(!(prove_nonnegative(*at, axes.facts) && prove_less(*at, extent, axes.facts)));
  return true;
}

DraftPtr Slices::slice_of(SyntaxPtr s, const SliceDraft& slice) {
  DraftPtr tensor = slice.tensor;
  DraftSpan computed = slice.computed;
  Type type = resolve(tensor->type);
  if (type->kind == TypeKind::Tuple) {
    bool numbered = s->children.size() == 2 && s->child(1)->is(SyntaxKind::Int);
    if (!numbered) return member_of(s, tensor);
    report(DiagnosticKind::TupleIndexed, s, "a field of a tuple is read with a point: `%t.0`",
           names_.origin_of(tensor), field_in_place_of(place(s->child(1)), s->child(1), type->args.size()));
    return nullptr;
  }
  if (!can_be_sliced(s, tensor, type)) return nullptr;
  Axes axes;
  axes.operands.push_back({s->child(0), tensor, drafts_.operand(tensor, type)});
  for (size_t axis = 0; axis < type->dims.size(); ++axis)
    if (!add_axis(s, tensor, axis, axis + 1 < computed.size() ? computed[axis + 1] : nullptr, axes))
      return nullptr;
  Arena& nodes = drafts_.arena();
  auto flags = nodes.copy(axes.checked);
  std::span<const bool> check_flags(reinterpret_cast<const bool*>(flags.data()), flags.size());
  ExprPtr element =
      nodes.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(type->dtype), origin(s)}, axes.operands[0].read,
                           nodes.copy(axes.indices), check_flags, nullptr);
  Type result = tensor_type(axes.extents, type->dtype);
  ExprPtr made = nodes.make<ComprehensionExpr>(Expr{ExprKind::Comprehension, result, origin(s)},
                                               nodes.copy(axes.vars), nodes.copy(axes.extents), element);
  return drafts_.index(origin(s), result, axes.operands, made);
}

}  // namespace quern
