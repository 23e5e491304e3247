#include "frontend/infer/indices/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "ir/extern/kernels.h"

namespace quern {

namespace {

bool is_known(SyntaxPtr position) { return position->is(SyntaxKind::Int) || position->is(SyntaxKind::Name); }

/// `[0, -1]`: positions known at compile time.
bool is_known_list(SyntaxPtr item) {
  return item->is(SyntaxKind::List) && std::ranges::all_of(item->children, is_known);
}

}  // namespace

DraftPtr Slices::slice(SyntaxPtr s) {
  DraftPtr tensor = infer(s->child(0));
  // A position not known at compile time is a rank-0 integer computed at run time.
  std::vector<DraftPtr> computed(s->children.size(), nullptr);
  ComputedExtents bounds;
  for (size_t i = 1; i < s->children.size(); ++i) {
    SyntaxPtr item = s->children[i];
    if (item->is(SyntaxKind::Slice)) {
      extents_.open(item->child(0), bounds);
      extents_.open(item->child(1), bounds);
    }
    if (item->is(SyntaxKind::Slice) || item->is(SyntaxKind::Ellipsis) || is_known(item) ||
        is_known_list(item))
      continue;
    if (item->is(SyntaxKind::Spread) || item->is(SyntaxKind::BroadcastSpread)) {
      report(DiagnosticKind::InvalidIndexExpression, item,
             "a pack of indices stands inside an index expression, `[..i < shape] => %x[..i]`");
      return error(s);
    }
    computed[i] = infer(item);
  }
  auto* waiting = drafts_.make<SliceDraft>(origin(s), unifier_.fresh_type(), tensor, drafts_.copy(computed));
  TypeEnv names = names_.env;
  relations_.relate(s, waiting, "the tensor", [=, this] { return attempt(s, *waiting, names, bounds); });
  return extents_.bound(s, bounds, waiting);
}

bool Slices::attempt(SyntaxPtr s, SliceDraft& waiting, const TypeEnv& names, const WrittenExtents& bounds) {
  Type type = resolve(waiting.tensor->type);
  if (type->kind == TypeKind::Infer) return false;
  for (DraftPtr c : waiting.computed)
    if (c && resolve(c->type)->kind == TypeKind::Infer) return false;
  uint32_t outer = std::exchange(context_.declaration, waiting.origin.declaration);
  TypeEnv outer_env = std::exchange(names_.env, names);
  waiting.replacement = type->is_error() ? nullptr : slice_of(s, waiting, bounds);
  names_.env = std::move(outer_env);
  context_.declaration = outer;
  assignments_.becomes(s, &waiting, waiting.replacement ? waiting.replacement->type : error_type());
  return true;
}

// `first:last:step` against an axis; nothing after a diagnostic.
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

/// The bracket item for an axis, if any, and its draft if it is computed.
struct Slices::Item {
  SyntaxPtr syntax = nullptr;
  DraftPtr computed = nullptr;
};

/// The reads of a slice, axis by axis, and the axes of its result.
struct Slices::Axes {
  const WrittenExtents* bounds = nullptr;
  std::vector<Dim> vars, extents;
  std::vector<IndexOperand> operands;
  std::vector<ExprPtr> indices;
  std::vector<bool> checked;  ///< by axis of the tensor: whether the index is checked at run time
  SyntaxPtr list = nullptr;   ///< the only list of positions
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

/// `.0` instead of `[0]`; `%t[-1]`, `%t[0i64]` and positions past the last field have no such spelling.
std::vector<Fix> field_in_place_of(Place bracketed, SyntaxPtr item, size_t fields) {
  bracketed.part = Part::Bracketed;
  size_t field = 0;
  const char* last = item->text.data() + item->text.size();
  auto [end, error] = std::from_chars(item->text.data(), last, field);
  if (error != std::errc() || end != last || field >= fields) return {};
  return {{fmt::format("write `.{}`", field), {{bracketed, fmt::format(".{}", field)}}}};
}

}  // namespace

// The axes that have a position.
size_t Slices::positions_in(SyntaxPtr s, const SliceDraft& slice) {
  size_t count = 0;
  for (size_t i = 1; i < s->children.size(); ++i)
    if (!s->child(i)->is(SyntaxKind::Ellipsis)) count += axes_of(slice.computed[i]);
  return count;
}

bool Slices::can_be_sliced(SyntaxPtr s, const SliceDraft& slice, Type type) {
  DraftPtr tensor = slice.tensor;
  const auto ellipses = std::ranges::count(s->children, SyntaxKind::Ellipsis, &Syntax::kind);
  const size_t positions = positions_in(s, slice);
  if (!type->is_tensor()) {
    report(DiagnosticKind::TypeMismatch, s,
           fmt::format("what stands in brackets reads a tensor or a tuple, and this is {}{}",
                       unifier_.describe(type),
                       s->child(0)->is(SyntaxKind::GlobalName) ? "; type arguments stand in `<…>`" : ""),
           names_.origin_of(tensor));
    // The function's result type is no longer needed.
    if (type->kind == TypeKind::Function && resolve(type->result())->kind == TypeKind::Infer)
      unifier_.unify(type->result(), error_type());
    return false;
  }
  if (ellipses > 1) {
    report(
        DiagnosticKind::RankMismatch, s,
        "`...` stands for all axes that have no position, so there is one of it at most; write `:` for the "
        "others");
    return false;
  }
  if (positions <= type->dims.size()) return true;
  report(DiagnosticKind::RankMismatch, s,
         fmt::format("{} position{} for {}", positions, positions == 1 ? "" : "s", unifier_.describe(type)),
         names_.origin_of(tensor));
  return false;
}

// A position known at compile time; a negative one counts from the end.
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

// A position computed at run time, as an index, or a list of positions, over which an axis of the result
// runs; null if it is neither.
ExprPtr Slices::computed_position(SyntaxPtr item, DraftPtr position, Axes& axes) {
  Type type = resolve(position->type);
  if (type->is_error()) return nullptr;
  const bool is_list = type->is_tensor() && type->dims.size() == 1;
  DType dtype = type->is_scalar() || is_list ? resolve(type->dtype) : DType::float32();
  bool literal = dtype.is_infer() && unifier_.class_of(dtype) != DTypeClass::Float;
  if (literal) dtype = DType::int32();
  if ((!dtype.is_int() && !dtype.is_index()) || dtype.is_vector()) {
    report(DiagnosticKind::TypeMismatch, item,
           item->text == "None"
               ? "`None` adds no axis: `expand_dims(%x, axis=1)` adds one before the axis 1"
               : fmt::format("a position has to be an integer, or a list of them (rank 1), or a mask, not {}",
                             unifier_.describe(type)));
    return nullptr;
  }
  if (is_list) {
    DraftPtr exact = checks_.opened(position, type, "positions");
    if (exact != position) type = exact->type;
    return listed_position(item, exact, tensor_type(type->dims, dtype), axes);
  }
  axes.operands.push_back({item, position, drafts_.operand(position, type)});
  return as_index(item, axes.operands.back().read, {}, dtype);
}

bool Slices::is_mask(DraftPtr position) {
  const Type type = resolve(position->type);
  return type->is_tensor() && !type->dims.empty() && resolve(type->dtype) == DType::boolean();
}

// How many axes a position reads along: a mask has a dimension for each.
size_t Slices::axes_of(DraftPtr position) {
  return position && is_mask(position) ? resolve(position->type)->dims.size() : 1;
}

// The positions at which a mask holds.
bool Slices::add_mask(SyntaxPtr item, DraftPtr mask, Axes& axes) {
  mask = checks_.opened(mask, resolve(mask->type), "mask");
  const std::span<const Dim> extents = resolve(mask->type)->dims;
  const CheckSite site{mask, origin(item), origin(item),
                       [] { return std::string("a mask has the extent of its axis"); }};
  for (size_t k = 0; k < extents.size(); ++k) {
    const Dim extent = axes.operands[0].read->type->dims[axes.indices.size() + k];
    const CheckSite outer = std::exchange(checks_.site, site);
    const bool fits = unifier_.unify(extents[k], extent);
    checks_.site = outer;
    if (fits) continue;
    report(DiagnosticKind::RankMismatch, item,
           fmt::format("a mask has the extent of its axis, which is {}, and this has {}", to_string(extent),
                       to_string(extents[k])));
    return false;
  }
  const Dim rank = dim_const(static_cast<int64_t>(extents.size()));
  const Type found = tensor_type(std::vector{dim_any(), rank}, DType::int32());
  Arena& nodes = drafts_.arena();
  ExternExpr where;
  where.kernel = nodes.copy(std::string_view("argwhere"));
  where.attributes = nodes.make<ExternAttributes>(std::vector<std::pair<std::string, StaticValue>>());
  DraftPtr positions = checks_.opened(drafts_.form(origin(item), found, where, {mask}), found, "mask");
  axes.operands.push_back({item, positions, drafts_.operand(positions, positions->type)});
  const Dim each = axes.running(positions->type->dims[0]);
  for (size_t k = 0; k < extents.size(); ++k) {
    const Dim axis = dim_const(static_cast<int64_t>(k));
    axes.indices.push_back(as_index(item, axes.operands.back().read, {each, axis}, DType::int32()));
    axes.checked.push_back(true);
  }
  return true;
}

/// An element of an integer tensor, as an index.
ExprPtr Slices::as_index(SyntaxPtr item, ExprPtr positions, const std::vector<Dim>& at, DType dtype) {
  Arena& nodes = drafts_.arena();
  std::vector<ExprPtr> indices;
  indices.reserve(at.size());
  for (Dim index : at)
    indices.push_back(
        nodes.make<DimValueExpr>(Expr{ExprKind::DimValue, scalar_type(DType::index()), origin(item)}, index));
  static constexpr bool kUnchecked[] = {false, false};
  ExprPtr element =
      nodes.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(dtype), origin(item)}, positions,
                           nodes.copy(indices), std::span(kUnchecked).first(indices.size()), nullptr);
  return nodes.make<ScalarExpr>(Expr{ExprKind::Scalar, scalar_type(DType::index()), origin(item)},
                                ScalarOp::Add, true, nodes.copy(std::vector<ExprPtr>{element}));
}

ExprPtr Slices::listed_position(SyntaxPtr item, DraftPtr list, Type type, Axes& axes) {
  if (SyntaxPtr other = std::exchange(axes.list, item)) {
    report(DiagnosticKind::RankMismatch, item,
           "only one axis is read at a list of positions: write one after the other, `%x[[0, 1]][:, [2, 3]]`",
           {{place(other), "this is the other list"}});
    return nullptr;
  }
  axes.operands.push_back({item, list, drafts_.operand(list, type)});
  return as_index(item, axes.operands.back().read, {axes.running(type->dims[0])}, type->dtype);
}

// `[0, -1]`; for an axis of unknown extent, the list is computed at run time.
ExprPtr Slices::known_list(SyntaxPtr item, DraftPtr tensor, size_t axis, Axes& axes, bool& checked) {
  Statics statics = names_.evaluator();
  std::vector<Dim> positions;
  for (SyntaxPtr each : item->children) {
    auto at = known_position(each, tensor, axis, statics);
    if (!at) return nullptr;
    positions.push_back(*at);
  }
  const Dim extent = resolve(tensor->type)->dims[axis];
  const auto is_inside = [&](Dim at) {
    return prove_nonnegative(at, axes.facts) && prove_less(at, extent, axes.facts);
  };
  // An empty list prints as a tensor without a literal.
  checked = positions.empty() || !std::ranges::all_of(positions, is_inside);
  const bool small =
      std::ranges::all_of(positions, [](Dim at) { return as_const(at).value_or(INT64_MAX) <= INT32_MAX; });
  const std::vector<Dim> shape{dim_const(static_cast<int64_t>(positions.size()))};
  const Type type = tensor_type(shape, small ? DType::int32() : DType::int64());
  return listed_position(item, list_of(item, positions, type), type, axes);
}

DraftPtr Slices::list_of(SyntaxPtr item, const std::vector<Dim>& positions, Type type) {
  if (std::ranges::all_of(positions, [](Dim at) { return as_const(at).has_value(); })) {
    TensorPtr list = HostTensor::make(type->dtype, {static_cast<int64_t>(positions.size())});
    for (size_t i = 0; i < positions.size(); ++i)
      fill_element(*list, static_cast<int64_t>(i), Scalar::from_int(type->dtype, *as_const(positions[i])));
    return drafts_.form(origin(item), type, ConstExpr{.value = list});
  }
  // `[k < 3] => if (k == 0) { 0 } else { if (k == 1) { n - 1 } else { … } }`
  Arena& nodes = drafts_.arena();
  const Dim var = dim_var("k");
  auto index = [&](Dim dim) {
    return nodes.make<DimValueExpr>(Expr{ExprKind::DimValue, scalar_type(DType::index()), origin(item)}, dim);
  };
  auto element = [&](Dim at) {
    return nodes.make<ScalarExpr>(Expr{ExprKind::Scalar, scalar_type(type->dtype), origin(item)},
                                  ScalarOp::Add, true, nodes.copy(std::vector<ExprPtr>{index(at)}));
  };
  ExprPtr body = element(positions.back());
  for (size_t k = positions.size() - 1; k-- > 0;) {
    ExprPtr here = nodes.make<ScalarExpr>(
        Expr{ExprKind::Scalar, scalar_type(DType::boolean()), origin(item)}, ScalarOp::Eq, false,
        nodes.copy(std::vector<ExprPtr>{index(var), index(dim_const(static_cast<int64_t>(k)))}));
    body =
        nodes.make<IfExpr>(Expr{ExprKind::If, body->type, origin(item)}, here, element(positions[k]), body);
  }
  const std::vector<Dim> vars{var};
  ExprPtr made = nodes.make<ComprehensionExpr>(Expr{ExprKind::Comprehension, type, origin(item)},
                                               nodes.copy(vars), nodes.copy(type->dims), body);
  return drafts_.index(origin(item), type, {}, made);
}

bool Slices::add_axis(SyntaxPtr s, DraftPtr tensor, size_t axis, const Item& position, Axes& axes) {
  const Dim extent = resolve(tensor->type)->dims[axis];
  SyntaxPtr item = position.syntax;
  if (position.computed && is_mask(position.computed)) return add_mask(item, position.computed, axes);
  if (position.computed || (item && is_known_list(item))) {
    bool checked = true;
    axes.indices.push_back(position.computed ? computed_position(item, position.computed, axes)
                                             : known_list(item, tensor, axis, axes, checked));
    axes.checked.push_back(checked);
    return axes.indices.back() != nullptr;
  }
  Statics statics = names_.evaluator(axes.bounds);
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

// Items by axis of the tensor; `...` stands for the remaining axes.
std::vector<Slices::Item> Slices::items_of(SyntaxPtr s, const SliceDraft& slice, size_t rank) {
  std::vector<Item> items;
  for (size_t i = 1; i < s->children.size(); ++i) {
    if (s->child(i)->is(SyntaxKind::Ellipsis))
      items.resize(items.size() + rank - positions_in(s, slice));
    else
      items.insert(items.end(), axes_of(slice.computed[i]), {s->child(i), slice.computed[i]});
  }
  items.resize(rank);
  return items;
}

DraftPtr Slices::slice_of(SyntaxPtr s, const SliceDraft& slice, const WrittenExtents& bounds) {
  DraftPtr tensor = slice.tensor;
  Type type = resolve(tensor->type);
  if (type->kind == TypeKind::Tuple) {
    bool numbered = s->children.size() == 2 && s->child(1)->is(SyntaxKind::Int);
    if (!numbered) return member_of(s, tensor);
    report(DiagnosticKind::TupleIndexed, s, "a field of a tuple is read with a point: `%t.0`",
           names_.origin_of(tensor), field_in_place_of(place(s->child(1)), s->child(1), type->args.size()));
    return nullptr;
  }
  if (!can_be_sliced(s, slice, type)) return nullptr;
  Axes axes;
  axes.bounds = &bounds;
  axes.operands.push_back({s->child(0), tensor, drafts_.operand(tensor, type)});
  const std::vector<Item> items = items_of(s, slice, type->dims.size());
  while (axes.indices.size() < items.size())
    if (!add_axis(s, tensor, axes.indices.size(), items[axes.indices.size()], axes)) return nullptr;
  Arena& nodes = drafts_.arena();
  ExprPtr element =
      nodes.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(type->dtype), origin(s)}, axes.operands[0].read,
                           nodes.copy(axes.indices), nodes.copy(axes.checked), nullptr);
  Type result = tensor_type(axes.extents, type->dtype);
  ExprPtr made = nodes.make<ComprehensionExpr>(Expr{ExprKind::Comprehension, result, origin(s)},
                                               nodes.copy(axes.vars), nodes.copy(axes.extents), element);
  return drafts_.index(origin(s), result, axes.operands, made);
}

}  // namespace quern
