#include "passes/layout/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "passes/pass.h"
#include "passes/simplify_index.h"

namespace quern {

namespace {

// The memory location of a read's element.
class MemoryPlace {
 public:
  /// With `zero_outside`, the read yields 0 out of bounds, like padding.
  MemoryPlace(const ScalarBuilder& build, const Facts& facts, bool zero_outside, std::span<const Dim> shape,
              std::vector<ExprPtr> indices, std::vector<bool> checked)
      : indices(std::move(indices)),
        checked(std::move(checked)),
        build_(build),
        facts_(facts),
        zero_outside_(zero_outside),
        shape_(shape.begin(), shape.end()) {}

  std::vector<ExprPtr> indices;
  std::vector<bool> checked;  ///< at run time, against the memory's extents
  ExprPtr inside = nullptr;   ///< a further condition for being inside the tensor; null for none

  void apply(const LayoutStep& step) {
    const std::vector<Dim>& n = step.numbers;
    if (step.primitive == LayoutPrimitive::Reorder) {
      reorder(n);
    } else {
      size_t axis = static_cast<size_t>(*as_const(n[0]));
      switch (step.primitive) {
        case LayoutPrimitive::Split: split(axis, std::span(n).subspan(1)); break;
        case LayoutPrimitive::Fuse: fuse(axis, static_cast<size_t>(*as_const(n[1]))); break;
        case LayoutPrimitive::Pad: pad(axis, n[1], n[2]); break;
        case LayoutPrimitive::Unpad: unpad(axis, n[1], n[2]); break;
        case LayoutPrimitive::Unfold: unfold(axis, n[1], n[2]); break;
        case LayoutPrimitive::Fold: {
          ExprPtr tile = settled(axis), offset = settled(axis + 1);
          replace(axis, 2, {plus(times(tile, n[2]), offset)});
          break;
        }
        case LayoutPrimitive::Reorder: break;
      }
    }
    shape_ = *shape_after(step, shape_);
  }

  // The index, which is in bounds if `inside` holds.
  ExprPtr settled(size_t axis) {
    if (checked[axis]) {
      ExprPtr index = build_.copy(indices[axis]);
      inside = build_.both(inside, build_.apply(ScalarOp::Ge, {index, build_.dim(dim_const(0))}));
      inside = build_.both(inside, build_.apply(ScalarOp::Lt, {index, build_.dim(shape_[axis])}));
      checked[axis] = false;
    }
    return indices[axis];
  }

 private:
  // Arithmetic on indices: on dims if both are, otherwise on computed values.
  ExprPtr arithmetic(ExprPtr a, ExprPtr b, Dim (*of_dims)(Dim, Dim), ScalarOp of_values) const {
    auto *x = as<DimValueExpr>(a), *y = as<DimValueExpr>(b);
    return x && y ? build_.dim(of_dims(x->dim, y->dim)) : build_.apply(of_values, {a, b});
  }
  ExprPtr plus(ExprPtr a, ExprPtr b) const { return arithmetic(a, b, dim_add, ScalarOp::Add); }
  ExprPtr plus(ExprPtr a, Dim d) const { return is_const(d, 0) ? a : plus(a, build_.dim(d)); }
  ExprPtr times(ExprPtr a, Dim d) const { return arithmetic(a, build_.dim(d), dim_mul, ScalarOp::Mul); }
  ExprPtr over(ExprPtr a, Dim d) const {
    return arithmetic(a, build_.dim(d), dim_floordiv, ScalarOp::FloorDiv);
  }
  ExprPtr modulo(ExprPtr a, Dim d) const {
    return arithmetic(a, build_.dim(d), dim_floormod, ScalarOp::FloorMod);
  }

  bool is_inside(ExprPtr index, Dim extent) const {
    auto* dim = as<DimValueExpr>(index);
    return dim && prove_nonnegative(dim->dim, facts_) && prove_less(dim->dim, extent, facts_);
  }

  void replace(size_t axis, size_t count, const std::vector<ExprPtr>& by, char check = 0) {
    auto at = static_cast<std::ptrdiff_t>(axis), end = at + static_cast<std::ptrdiff_t>(count);
    indices.erase(indices.begin() + at, indices.begin() + end);
    indices.insert(indices.begin() + at, by.begin(), by.end());
    checked.erase(checked.begin() + at, checked.begin() + end);
    checked.insert(checked.begin() + at, by.size(), check);
  }

  void reorder(const std::vector<Dim>& order) {
    std::vector<ExprPtr> new_indices;
    std::vector<bool> new_checked;
    for (Dim d : order) {
      new_indices.push_back(indices[static_cast<size_t>(*as_const(d))]);
      new_checked.push_back(checked[static_cast<size_t>(*as_const(d))]);
    }
    indices = std::move(new_indices);
    checked = std::move(new_checked);
  }

  void split(size_t axis, std::span<const Dim> inner) {
    std::vector<ExprPtr> digits;
    ExprPtr rest = settled(axis);
    for (size_t k = inner.size(); k-- > 0;) {
      digits.insert(digits.begin(), modulo(build_.copy(rest), inner[k]));
      rest = over(rest, inner[k]);
    }
    digits.insert(digits.begin(), rest);
    replace(axis, 1, digits);
  }

  void fuse(size_t axis, size_t count) {
    ExprPtr whole = settled(axis);
    for (size_t k = 1; k < count; ++k) whole = plus(times(whole, shape_[axis + k]), settled(axis + k));
    replace(axis, count, {whole});
  }

  // Reads in the padding yield its 0, without a test.
  void pad(size_t axis, Dim before, Dim after) {
    if (!zero_outside_) settled(axis);
    ExprPtr index = plus(indices[axis], before);
    Dim extent = dim_add(shape_[axis], dim_add(before, after));
    replace(axis, 1, {index}, checked[axis] && !is_inside(index, extent));
  }

  // Positions in the padding are out of bounds again.
  void unpad(size_t axis, Dim before, Dim after) {
    if (!zero_outside_) settled(axis);
    ExprPtr index = plus(indices[axis], dim_sub(dim_const(0), before));
    Dim extent = dim_sub(shape_[axis], dim_add(before, after));
    replace(axis, 1, {index}, zero_outside_ && !is_inside(index, extent));
  }

  // Among the tiles that hold the element, takes the last that begins at or before it.
  void unfold(size_t axis, Dim tile, Dim stride) {
    ExprPtr index = settled(axis);
    std::vector<Dim> after = *shape_after(
        {LayoutPrimitive::Unfold, {dim_const(static_cast<int64_t>(axis)), tile, stride}}, shape_);
    ExprPtr last = build_.dim(dim_sub(after[axis], dim_const(1)));
    ExprPtr at = arithmetic(over(index, stride), last, dim_min, ScalarOp::Min);
    ExprPtr start = times(build_.copy(at), stride);
    replace(axis, 1, {at, arithmetic(build_.copy(index), start, dim_sub, ScalarOp::Sub)});
  }

  const ScalarBuilder& build_;
  const Facts& facts_;
  const bool zero_outside_;
  std::vector<Dim> shape_;  ///< the shape before the next step
};

bool is_zero(ExprPtr expr) {
  auto* e = as<ConstExpr>(expr);
  if (!e || !e->type->dims.empty() || !e->type->dtype.has_one_lane()) return false;
  const std::byte* bytes = e->value->data();
  return std::all_of(bytes, bytes + e->type->dtype.bytes(), [](std::byte b) { return b == std::byte(0); });
}

// Replaces each read of one variable, and each other use of it.
class UsesOfTensor {
 public:
  using OfRead = std::function<ExprPtr(const ReadExpr&, const Facts&)>;
  UsesOfTensor(Arena& arena, const Variable* of, OfRead of_read, std::function<ExprPtr()> whole)
      : arena_(arena), of_(of), of_read_(std::move(of_read)), whole_(std::move(whole)) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* e = as<ComprehensionExpr>(expr)) {
      // A schedule applies only to the original indices.
      if (e->schedule) expr = arena_.make<ComprehensionExpr>(Expr{*e}, e->vars, e->extents, e->body);
      return within(expr, e->vars, e->extents);
    }
    if (auto* e = as<ReduceExpr>(expr)) return within(expr, e->vars, e->extents);
    if (auto* e = as<ScanExpr>(expr)) return within(expr, e->vars, e->extents);
    if (auto* e = as<ScatterExpr>(expr)) return within(expr, e->vars, e->extents);
    if (auto* read = as<ReadExpr>(expr)) {
      auto* tensor = as<VarExpr>(read->tensor);
      if (tensor && tensor->variable == of_) {
        std::vector<ExprPtr> indices;
        for (ExprPtr index : read->indices) indices.push_back(run(index));
        ExprPtr otherwise = read->otherwise ? run(read->otherwise) : nullptr;
        return of_read_(
            *arena_.make<ReadExpr>(Expr{*read}, read->tensor, arena_.copy(indices), read->checked, otherwise),
            facts_);
      }
    }
    auto* var = as<VarExpr>(expr);
    if (var && var->variable == of_) return whole_();
    return map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
  }

 private:
  ExprPtr within(ExprPtr binder, std::span<const Dim> vars, std::span<const Dim> extents) {
    Facts outer = facts_;
    for (size_t i = 0; i < vars.size(); ++i) facts_.add_index(vars[i], extents[i]);
    ExprPtr result = map_children(arena_, binder, [this](ExprPtr child) { return run(child); });
    facts_ = std::move(outer);
    return result;
  }

  Arena& arena_;
  const Variable* of_;
  OfRead of_read_;
  std::function<ExprPtr()> whole_;
  Facts facts_;
};

// The read at its memory location. If a test is needed, the value outside is the program's `else`; without
// one the read fails as before.
ExprPtr placed(const ScalarBuilder& build, const ReadExpr& read, ExprPtr memory, MemoryPlace place) {
  if (place.inside && !read.otherwise) {
    place.indices[0] = build.choose(place.inside, place.indices[0], build.dim(dim_const(-1)));
    place.checked[0] = true;
  }
  bool any = std::count(place.checked.begin(), place.checked.end(), true) > 0;
  ExprPtr made =
      build.arena().make<ReadExpr>(Expr{read}, memory, build.arena().copy(place.indices),
                                   build.arena().copy(place.checked), any ? read.otherwise : nullptr);
  return place.inside && read.otherwise ? build.choose(place.inside, made, build.copy(read.otherwise)) : made;
}

MemoryPlace place_of(const ScalarBuilder& build, const Layout& layout, const ReadExpr& read,
                     const Facts& facts) {
  MemoryPlace place(build, facts, read.otherwise && is_zero(read.otherwise), read.tensor->type->dims,
                    {read.indices.begin(), read.indices.end()}, {read.checked.begin(), read.checked.end()});
  for (const LayoutStep& step : layout.steps) place.apply(step);
  return place;
}

std::vector<Dim> fresh_vars(size_t count, std::string_view name) {
  std::vector<Dim> vars;
  for (size_t k = 0; k < count; ++k) vars.push_back(dim_var(name));
  return vars;
}

ExprPtr condition_of(const ScalarBuilder& build, const StoredElement& at) {
  ExprPtr all = nullptr;
  for (Dim d : at.nonnegative) all = build.both(all, build.is_nonnegative(d));
  return all;
}

const FnExpr* function_of(Arena& arena, const FnExpr& like, const std::vector<const Variable*>& params,
                          ExprPtr body) {
  std::vector<Type> types;
  types.reserve(params.size());
  for (const Variable* param : params) types.push_back(param->type);
  return arena.make<FnExpr>(Expr{ExprKind::Fn, function_type(types, body->type), like.origin},
                            arena.copy(params), like.dim_vars, body, like.primitive, like.attributes);
}

Result<Done> over_known_dims(const FnExpr& function) {
  if (function.dim_vars.empty()) return Done{};
  return Failure{"a layout is chosen for a function of known dims"};
}

// `let whole = …; body` if something other than a read uses it.
struct Whole {
  const Variable* variable = nullptr;
  ExprPtr use(Arena& arena, Type type) {
    if (!variable) variable = make_variable(arena, "whole", type);
    return read_of(arena, variable, {});
  }
};

}  // namespace

ExprPtr stored(const ScalarBuilder& build, ExprPtr tensor, const Layout& layout) {
  std::vector<Dim> shape = *stored_shape(layout, tensor->type->dims), vars = fresh_vars(shape.size(), "p");
  StoredElement at = element_at(layout, tensor->type->dims, vars);
  return build.comprehension(vars, shape,
                             build.where(condition_of(build, at), build.read(tensor, at.indices)));
}

ExprPtr restored(const ScalarBuilder& build, ExprPtr memory, const Layout& layout,
                 std::span<const Dim> shape) {
  std::vector<Dim> vars = fresh_vars(shape.size(), "i");
  std::vector<ExprPtr> indices;
  Facts facts;
  for (size_t k = 0; k < vars.size(); ++k) {
    indices.push_back(build.dim(vars[k]));
    facts.add_index(vars[k], shape[k]);
  }
  MemoryPlace place(build, facts, false, shape, indices, std::vector<bool>(vars.size(), 0));
  for (const LayoutStep& step : layout.steps) place.apply(step);
  return build.comprehension(vars, shape, build.read_at(memory, place.indices));
}

Result<const FnExpr*> with_param_stored(const PassContext& context, const FnExpr& function, size_t k,
                                        const Layout& layout) {
  if (auto known = over_known_dims(function); !known) return known.error();
  Arena& arena = context.arena;
  ScalarBuilder build(arena, function.origin);
  const Variable* param = function.params[k];
  auto shape = stored_shape(layout, param->type->dims);
  if (!shape) return shape.error();
  const Variable* memory = make_variable(arena, param->name, tensor_type(*shape, param->type->dtype));
  Whole whole;
  ExprPtr body =
      UsesOfTensor(
          arena, param,
          [&](const ReadExpr& read, const Facts& facts) {
            return placed(build, read, read_of(arena, memory, {}), place_of(build, layout, read, facts));
          },
          [&] { return whole.use(arena, param->type); })
          .run(function.body);
  if (whole.variable)
    body = block_of(
        arena, {{whole.variable, restored(build, read_of(arena, memory, {}), layout, param->type->dims)}},
        body, body->origin);
  std::vector<const Variable*> params(function.params.begin(), function.params.end());
  params[k] = memory;
  return as<FnExpr>(simplify_index(context, function_of(arena, function, params, body)));
}

namespace {

// A tensor's value in its layout: an index expression over the memory locations, if its elements are
// independent.
ExprPtr stored_value(const ScalarBuilder& build, ExprPtr value, const Layout& layout) {
  Arena& arena = build.arena();
  auto* e = as<ComprehensionExpr>(value);
  if (!e || as<ScatterExpr>(e->body)) {
    const Variable* plain = make_variable(arena, "plain", value->type);
    ExprPtr result = stored(build, read_of(arena, plain, {}), layout);
    return block_of(arena, {{plain, value}}, result, result->origin);
  }
  std::vector<Dim> shape = *stored_shape(layout, e->extents), vars = fresh_vars(shape.size(), "p");
  StoredElement at = element_at(layout, e->extents, vars);
  DimMap element;
  for (size_t k = 0; k < e->vars.size(); ++k) element.emplace(e->vars[k], at.indices[k]);
  return build.comprehension(vars, shape, build.where(condition_of(build, at), build.copy(e->body, element)));
}

// Removes the binding of a variable that only the block's result reads, and returns its value; otherwise
// nothing.
std::optional<ExprPtr> only_value(std::vector<Binding>& bindings, const Variable* variable) {
  auto at = std::ranges::find(bindings, variable, &Binding::variable);
  if (at == bindings.end()) return std::nullopt;
  for (auto later = at + 1; later != bindings.end(); ++later)
    if (std::ranges::count(free_variables(later->value), variable)) return std::nullopt;
  ExprPtr value = at->value;
  bindings.erase(at);
  return value;
}

}  // namespace

Result<const FnExpr*> with_result_stored(const PassContext& context, const FnExpr& function, size_t k,
                                         const Layout& layout) {
  if (auto known = over_known_dims(function); !known) return known.error();
  Arena& arena = context.arena;
  ScalarBuilder build(arena, function.origin);
  auto* block = as<BlockExpr>(function.body);
  std::vector<Binding> bindings;
  if (block) bindings.assign(block->bindings.begin(), block->bindings.end());
  ExprPtr result = block ? block->result : function.body;
  std::vector<ExprPtr> fields{result};
  auto* tuple = as<TupleExpr>(result);
  if (tuple) fields.assign(tuple->fields.begin(), tuple->fields.end());
  if (k >= fields.size() || !fields[k]->type->is_tensor())
    return Failure{fmt::format("the function has no tensor {} as result", k)};
  if (auto shape = stored_shape(layout, fields[k]->type->dims); !shape) return shape.error();
  auto* var = as<VarExpr>(fields[k]);
  bool once = !tuple && var;
  std::optional<ExprPtr> value = once ? only_value(bindings, var->variable) : std::nullopt;
  fields[k] = stored_value(build, value.value_or(fields[k]), layout);
  if (tuple) fields = {build.tuple(fields)};
  std::vector<const Variable*> params(function.params.begin(), function.params.end());
  return as<FnExpr>(simplify_index(
      context,
      function_of(arena, function, params, block_of(arena, bindings, fields[0], fields[0]->origin))));
}

// --- store_at

namespace {

std::vector<Dim> without(std::span<const Dim> dims, size_t axis) {
  std::vector<Dim> left(dims.begin(), dims.end());
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  return left;
}

Layout slot_at(size_t axis) {
  return {{{LayoutPrimitive::Pad, {dim_const(static_cast<int64_t>(axis)), dim_const(0), dim_const(1)}}}};
}

}  // namespace

ExprPtr stored_at(const ScalarBuilder& build, ExprPtr host, ExprPtr guest, size_t axis) {
  std::vector<Dim> shape = *stored_shape(slot_at(axis), host->type->dims),
                   vars = fresh_vars(shape.size(), "p");
  Dim room = dim_sub(dim_sub(shape[axis], dim_const(2)), vars[axis]);
  return build.comprehension(vars, shape,
                             build.choose(build.is_nonnegative(room), build.read(host, vars),
                                          build.read(guest, without(vars, axis))));
}

ExprPtr guest_of(const ScalarBuilder& build, ExprPtr memory, size_t axis) {
  std::vector<Dim> shape = without(memory->type->dims, axis), vars = fresh_vars(shape.size(), "i"), at = vars;
  at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), dim_sub(memory->type->dims[axis], dim_const(1)));
  return build.comprehension(vars, shape, build.read(memory, at));
}

ExprPtr host_of(const ScalarBuilder& build, ExprPtr memory, size_t axis) {
  std::vector<Dim> shape(memory->type->dims.begin(), memory->type->dims.end());
  shape[axis] = dim_sub(shape[axis], dim_const(1));
  return restored(build, memory, slot_at(axis), shape);
}

Result<const FnExpr*> with_param_stored_at(const PassContext& context, const FnExpr& function, size_t guest,
                                           size_t host, size_t axis) {
  if (auto known = over_known_dims(function); !known) return known.error();
  Arena& arena = context.arena;
  ScalarBuilder build(arena, function.origin);
  const Variable *small = function.params[guest], *large = function.params[host];
  if (axis >= large->type->dims.size() ||
      without(large->type->dims, axis) !=
          std::vector<Dim>(small->type->dims.begin(), small->type->dims.end()) ||
      small->type->dtype != large->type->dtype)
    return Failure{fmt::format("store_at: {} is not {} without axis {}", to_string(small->type),
                               to_string(large->type), axis)};
  Type type = tensor_type(*stored_shape(slot_at(axis), large->type->dims), large->type->dtype);
  const Variable* memory = make_variable(arena, large->name, type);
  Whole whole_host, whole_guest;
  // Beyond the host lies its guest, so the host's reads are tested against its own extent.
  auto of_host = [&](const ReadExpr& read, const Facts& facts) {
    MemoryPlace place(build, facts, false, large->type->dims, {read.indices.begin(), read.indices.end()},
                      {read.checked.begin(), read.checked.end()});
    place.settled(axis);
    return placed(build, read, read_of(arena, memory, {}), std::move(place));
  };
  auto of_guest = [&](const ReadExpr& read, const Facts& facts) {
    MemoryPlace place(build, facts, false, small->type->dims, {read.indices.begin(), read.indices.end()},
                      {read.checked.begin(), read.checked.end()});
    auto at = static_cast<std::ptrdiff_t>(axis);
    place.indices.insert(place.indices.begin() + at, build.dim(large->type->dims[axis]));
    place.checked.insert(place.checked.begin() + at, false);
    return placed(build, read, read_of(arena, memory, {}), std::move(place));
  };
  ExprPtr body = UsesOfTensor(arena, large, of_host, [&] {
                   return whole_host.use(arena, large->type);
                 }).run(function.body);
  body = UsesOfTensor(arena, small, of_guest, [&] { return whole_guest.use(arena, small->type); }).run(body);
  std::vector<Binding> bindings;
  if (whole_host.variable)
    bindings.push_back({whole_host.variable, host_of(build, read_of(arena, memory, {}), axis)});
  if (whole_guest.variable)
    bindings.push_back({whole_guest.variable, guest_of(build, read_of(arena, memory, {}), axis)});
  std::vector<const Variable*> params(function.params.begin(), function.params.end());
  params[host] = memory;
  params.erase(params.begin() + static_cast<std::ptrdiff_t>(guest));
  return as<FnExpr>(simplify_index(
      context, function_of(arena, function, params, block_of(arena, bindings, body, body->origin))));
}

}  // namespace quern
