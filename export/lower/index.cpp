#include "export/lower/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "export/lower/element_ops.h"
#include "export/lower/read_axes.h"
#include "import/text/refusal.h"

namespace quern::onnx {

namespace {

using import_text::Refusal;

/// A part of an index expression, for all points of the variables around it: a tensor with an axis for each of them, or of rank 0.
struct Part {
  Name name;
  std::vector<bool>
      varies;  ///< for each variable, whether its axis has the variable's extent; else it is 1. Empty: rank 0
};

class IndexLowering {
 public:
  explicit IndexLowering(Lowering& lowering) : to_(lowering) {}

  Name whole(const ComprehensionExpr& elements) {
    space_.add(elements.vars, elements.extents);
    const Part part = lower(elements.body);
    const bool is_full =
        part.varies.size() == space_.size() && std::ranges::all_of(part.varies, std::identity());
    if (is_full) return part.name;
    return graph().node("Expand", {part.name, to_.extents().shape(space_.extents, graph())});
  }

 private:
  GraphWriter& graph() { return to_.graph(); }
  size_t rank() const { return space_.size(); }

  Part lower(ExprPtr expr) {
    if (const auto* constant = as<ConstExpr>(expr)) {
      if (!constant->value->shape().empty()) throw Refusal("a vector stands in an index expression");
      return {graph().tensor(std::const_pointer_cast<HostTensor>(constant->value), "constant"), {}};
    }
    if (const auto* dim = as<DimValueExpr>(expr)) return of_dim(dim->dim);
    if (const auto* scalar = as<ScalarExpr>(expr)) return of_scalar(*scalar);
    if (const auto* choice = as<IfExpr>(expr)) {
      const Part condition = lower(choice->condition);
      const bool was_guarded = std::exchange(is_guarded_, true);
      const Part a = lower(choice->then_arm), b = lower(choice->else_arm);
      is_guarded_ = was_guarded;
      return joined(graph().node("Where", {condition.name, a.name, b.name}), {condition, a, b});
    }
    if (const auto* block = as<BlockExpr>(expr)) {
      for (const Binding& binding : block->bindings)
        if (binding.variable) locals_.insert_or_assign(binding.variable, lower(binding.value));
      return lower(block->result);
    }
    if (const auto* local = as<VarExpr>(expr)) {
      const auto known = locals_.find(local->variable);
      if (known != locals_.end()) return known->second;
      return {to_.tensor(expr), {}};
    }
    if (const auto* read = as<ReadExpr>(expr)) return of_read(*read);
    if (const auto* reduce = as<ReduceExpr>(expr)) return of_reduction(*reduce);
    if (expr->kind == ExprKind::Scan) throw Refusal("ONNX has no running results of this kind");
    if (expr->kind == ExprKind::Scatter) throw Refusal("ONNX has no scatter of this kind");
    throw Refusal("this part of an index expression has no counterpart in ONNX");
  }

  Part joined(Name name, std::initializer_list<Part> operands) {
    Part result{std::move(name), {}};
    for (const Part& operand : operands) {
      if (operand.varies.empty()) continue;
      result.varies.resize(rank(), false);
      for (size_t k = 0; k < rank(); ++k) result.varies[k] = result.varies[k] || operand.varies[k];
    }
    return result;
  }

  // --- dims as values

  Part of_dim(Dim dim) {
    if (!space_.is_in(dim)) return {to_.extents().value(dim, graph()), {}};
    if (dim->kind == DimKind::Var) return of_variable(*space_.place_of(dim));
    std::vector<Part> args;
    for (Dim arg : dim->args) args.push_back(of_dim(arg));
    auto two = [&](const Part& a, const Part& b) {
      return joined(integer_op(graph(), dim->kind, a.name, b.name), {a, b});
    };
    Part all = args[0];
    for (size_t k = 1; k < args.size(); ++k) all = two(all, args[k]);
    if (dim->kind != DimKind::Product || dim->value == 1) return all;
    return joined(graph().node("Mul", {all.name, graph().integer(dim->value)}), {all});
  }

  Part of_variable(size_t place) {
    const Name range = graph().node(
        "Range",
        {graph().integer(0), to_.extents().value(space_.extents[place], graph()), graph().integer(1)});
    std::vector<int64_t> shape(rank(), 1);
    shape[place] = -1;
    Part part{graph().node("Reshape", {range, graph().ints(shape)}), std::vector<bool>(rank(), false)};
    part.varies[place] = true;
    return part;
  }

  // --- functions of single elements

  Part of_scalar(const ScalarExpr& scalar) {
    std::vector<Part> args;
    std::vector<Name> names;
    for (ExprPtr arg : scalar.args) {
      args.push_back(lower(arg));
      names.push_back(args.back().name);
    }
    const DType from = scalar.args[0]->type->dtype;
    Name name = scalar.is_cast ? cast_to(graph(), names[0], from, scalar.type->dtype)
                               : element_op(graph(), scalar.op, names, from);
    return args.size() == 1 ? joined(std::move(name), {args[0]})
                            : joined(std::move(name), {args[0], args[1]});
  }

  // --- reads

  Part of_read(const ReadExpr& read) {
    if (const auto axes = read_axes(read, space_)) {
      const AxesOfRead found = sliced(read, *axes);
      return with_all_axes(found);
    }
    if (auto rows = rows_at(read)) return *rows;
    return gathered(read);
  }

  /// The tensor of a read along whole axes, which are in the order of its variables.
  struct AxesOfRead {
    Name name;
    std::vector<size_t> places;  ///< the variable of each axis, rising
    std::vector<bool> varies;    ///< of each axis
  };

  /// Positions along an axis, with an axis for each of these variables.
  struct Positions {
    size_t axis;
    Name name;
    std::vector<size_t> places;
  };

  AxesOfRead sliced(const ReadExpr& read, const std::vector<ReadAxis>& axes,
                    const std::optional<Positions>& positions = std::nullopt) {
    Name name = slices(to_.tensor(read.tensor), axes);
    std::vector<std::pair<size_t, bool>> left;
    for (size_t axis = axes.size(); axis-- > 0;) {
      if (positions && positions->axis == axis) {
        name = graph().node("Gather", {name, positions->name}, {{"axis", static_cast<int64_t>(axis)}});
        std::vector<std::pair<size_t, bool>> theirs;
        for (const size_t place : positions->places) theirs.emplace_back(place, true);
        left.insert(left.begin(), theirs.begin(), theirs.end());
      } else if (!axes[axis].place) {
        const Name at = to_.extents().value(axes[axis].start, graph());
        name = graph().node("Gather", {name, at}, {{"axis", static_cast<int64_t>(axis)}});
      } else {
        left.insert(left.begin(), {*axes[axis].place, axes[axis].varies});
      }
    }
    std::vector<int64_t> order(left.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int64_t k) { return left[static_cast<size_t>(k)].first; });
    if (!std::ranges::is_sorted(order)) name = graph().node("Transpose", {name}, {{"perm", order}});
    AxesOfRead result{name, {}, {}};
    for (const int64_t k : order) {
      result.places.push_back(left[static_cast<size_t>(k)].first);
      result.varies.push_back(left[static_cast<size_t>(k)].second);
    }
    return result;
  }

  Name slices(Name name, const std::vector<ReadAxis>& axes) {
    std::vector<Name> starts, ends;
    std::vector<int64_t> sliced, steps;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const ReadAxis& read = axes[axis];
      if (!read.place || read.is_whole) continue;
      const Dim extent = space_.extents[*read.place];
      starts.push_back(to_.extents().vector(read.start, graph()));
      Dim last = dim_add(read.start, dim_mul(dim_const(read.step), dim_sub(extent, dim_const(1))));
      Dim end = dim_add(last, dim_const(read.step > 0 ? 1 : -1));
      const bool is_before_first = read.step < 0 && is_const(end, -1);
      ends.push_back(to_.extents().vector(is_before_first ? dim_const(kBeforeFirst) : end, graph()));
      sliced.push_back(static_cast<int64_t>(axis));
      steps.push_back(read.step);
    }
    if (sliced.empty()) return name;
    auto joined_ints = [&](const std::vector<Name>& parts) {
      return parts.size() == 1 ? parts[0] : graph().node("Concat", parts, {{"axis", int64_t{0}}});
    };
    return graph().node("Slice", {std::move(name), joined_ints(starts), joined_ints(ends),
                                  graph().ints(sliced), graph().ints(steps)});
  }

  Part with_all_axes(const AxesOfRead& found) {
    Part part{found.name, std::vector<bool>(rank(), false)};
    for (size_t k = 0; k < found.places.size(); ++k) part.varies[found.places[k]] = found.varies[k];
    std::vector<int64_t> absent;
    for (size_t k = 0; k < rank(); ++k)
      if (std::ranges::find(found.places, k) == found.places.end()) absent.push_back(static_cast<int64_t>(k));
    if (found.places.empty()) return {found.name, {}};
    if (!absent.empty()) part.name = graph().node("Unsqueeze", {part.name, graph().ints(absent)});
    return part;
  }

  /// Slices at positions along one axis, through whose other axes the read goes as through a whole tensor: `Gather`.
  std::optional<Part> rows_at(const ReadExpr& read) {
    std::optional<size_t> moved;
    for (size_t axis = 0; axis < read.indices.size(); ++axis) {
      if (as<DimValueExpr>(read.indices[axis])) continue;
      if (moved || read.otherwise) return std::nullopt;
      moved = axis;
    }
    if (!moved || is_guarded_) return std::nullopt;
    auto axes = read_axes(read, space_, moved);
    if (!axes) return std::nullopt;
    Positions positions = positions_at(*moved, read.indices[*moved]);
    for (const ReadAxis& axis : *axes)
      if (axis.place && std::ranges::find(positions.places, *axis.place) != positions.places.end())
        return std::nullopt;
    return with_all_axes(sliced(read, *axes, positions));
  }

  Positions positions_at(size_t axis, ExprPtr index) {
    const Part part = lower(index);
    Positions positions{axis, cast_to(graph(), part.name, index->type->dtype, DType::int64()), {}};
    std::vector<int64_t> still;
    for (size_t k = 0; k < part.varies.size(); ++k)
      if (part.varies[k])
        positions.places.push_back(k);
      else
        still.push_back(static_cast<int64_t>(k));
    if (!still.empty()) positions.name = graph().squeezed(positions.name, still);
    return positions;
  }

  /// Element by element, at indices kept within the tensor: what an arm that is not taken reads must not fail.
  Part gathered(const ReadExpr& read) {
    const Type type = read.tensor->type;
    std::vector<Part> indices;
    Part inside;
    for (size_t axis = 0; axis < read.indices.size(); ++axis) {
      Part index = lower(read.indices[axis]);
      index.name = cast_to(graph(), index.name, read.indices[axis]->type->dtype, DType::int64());
      const Name extent = to_.extents().value(type->dims[axis], graph());
      const Name last = graph().node("Sub", {extent, graph().integer(1)});
      if (read.checked[axis] && read.otherwise) inside = both(inside, within(index, extent));
      index.name = graph().node("Min", {graph().node("Max", {index.name, graph().integer(0)}), last});
      indices.push_back(std::move(index));
    }
    Part elements = indices.empty() ? Part{to_.tensor(read.tensor), {}} : at_points(read, indices);
    if (!read.otherwise || inside.name.empty()) return elements;
    const Part otherwise = lower(read.otherwise);
    return joined(graph().node("Where", {inside.name, elements.name, otherwise.name}),
                  {inside, elements, otherwise});
  }

  Part within(const Part& index, const Name& extent) {
    const Name above = graph().node("GreaterOrEqual", {index.name, graph().integer(0)});
    return joined(graph().node("And", {above, graph().node("Less", {index.name, extent})}), {index});
  }
  Part both(const Part& a, const Part& b) {
    return a.name.empty() ? b : joined(graph().node("And", {a.name, b.name}), {a, b});
  }

  Part at_points(const ReadExpr& read, const std::vector<Part>& indices) {
    Part result{"", std::vector<bool>(rank(), false)};
    for (const Part& index : indices) result = joined("", {result, index});
    std::vector<Dim> extents;
    for (size_t k = 0; k < rank(); ++k)
      extents.push_back(result.varies[k] ? space_.extents[k] : dim_const(1));
    const Name shape = to_.extents().shape(extents, graph());
    std::vector<Name> columns;
    for (const Part& index : indices) {
      const Name all = graph().node("Expand", {index.name, shape});
      columns.push_back(graph().node("Unsqueeze", {all, graph().ints({-1})}));
    }
    const Name points =
        columns.size() == 1 ? columns[0] : graph().node("Concat", columns, {{"axis", int64_t{-1}}});
    result.name = graph().node("GatherND", {to_.tensor(read.tensor), points});
    return result;
  }

  // --- reductions

  Part of_reduction(const ReduceExpr& reduce) {
    const size_t outer = rank();
    for (Dim extent : reduce.extents)
      if (space_.is_in(extent)) throw Refusal("the extent of a reduction depends on an index");
    space_.add(reduce.vars, reduce.extents);
    Part result;
    if (auto product = as_product(reduce, outer)) {
      result = std::move(*product);
    } else {
      Part body = lower(reduce.body);
      body.name = with_reduced_axes(body, outer);
      std::vector<int64_t> axes;
      for (size_t k = outer; k < rank(); ++k) axes.push_back(static_cast<int64_t>(k));
      result.name = reduction(graph(), reduce.reduce, body.name, axes, reduce.body->type->dtype);
      body.varies.resize(rank(), false);
      result.varies.assign(body.varies.begin(), body.varies.begin() + static_cast<std::ptrdiff_t>(outer));
    }
    space_.drop(reduce.vars.size());
    return result;
  }

  /// A tensor of full rank, whose reduced axes have their extents.
  Name with_reduced_axes(const Part& body, size_t outer) {
    bool is_full = body.varies.size() == rank();
    std::vector<Dim> extents(outer, dim_const(1));
    for (size_t k = outer; k < rank(); ++k) {
      is_full = is_full && body.varies[k];
      extents.push_back(space_.extents[k]);
    }
    return is_full ? body.name : graph().node("Expand", {body.name, to_.extents().shape(extents, graph())});
  }

  /// A sum of products of reads along whole axes, as an `Einsum`.
  std::optional<Part> as_product(const ReduceExpr& reduce, size_t outer) {
    std::vector<const ReadExpr*> factors;
    if (reduce.reduce != ReduceKind::Sum || rank() > 26 || !factors_of(reduce.body, factors) ||
        factors.size() < 2)
      return std::nullopt;
    std::vector<std::vector<ReadAxis>> axes;
    std::vector<bool> used(rank(), false);
    for (const ReadExpr* factor : factors) {
      auto found = read_axes(*factor, space_);
      if (!found) return std::nullopt;
      for (const ReadAxis& axis : *found) {
        if (axis.place && !axis.varies) return std::nullopt;
        if (axis.place) used[*axis.place] = true;
      }
      axes.push_back(std::move(*found));
    }
    for (size_t k = outer; k < rank(); ++k)
      if (!used[k]) return std::nullopt;
    std::string equation, result;
    std::vector<Name> operands;
    for (size_t i = 0; i < factors.size(); ++i) {
      const AxesOfRead operand = sliced(*factors[i], axes[i]);
      operands.push_back(operand.name);
      if (i > 0) equation += ",";
      for (const size_t place : operand.places) equation += static_cast<char>('a' + place);
    }
    AxesOfRead made;
    for (size_t k = 0; k < outer; ++k) {
      if (!used[k]) continue;
      result += static_cast<char>('a' + k);
      made.places.push_back(k);
      made.varies.push_back(true);
    }
    made.name = graph().node("Einsum", operands, {{"equation", equation + "->" + result}});
    return at_rank(made, outer);
  }

  Part at_rank(const AxesOfRead& made, size_t outer) {
    const size_t reduced = rank() - outer;
    const IndexSpace inner = space_;
    space_.drop(reduced);
    Part part = with_all_axes(made);
    space_ = inner;
    return part;
  }

  Lowering& to_;
  IndexSpace space_;
  std::unordered_map<const Variable*, Part> locals_;
  bool is_guarded_ = false;  ///< in an arm, which ONNX computes whether it is taken or not
};

}  // namespace

Name lower_index(Lowering& lowering, const ComprehensionExpr& elements) {
  return IndexLowering(lowering).whole(elements);
}

}  // namespace quern::onnx
