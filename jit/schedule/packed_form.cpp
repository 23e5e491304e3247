// The `pack` of a nest: a form of a tensor, and reads of it in the place of those of the tensor.

#include <fmt/format.h>

#include <algorithm>

#include "jit/schedule/nest.h"
#include "jit/schedule/statements.h"

namespace quern::loops {

/// Axes: loops of the nest, the steps of `width` of the loop across, more loops, and the lanes of a step.
class PackedForm {
 public:
  PackedForm(const Nest& nest, const Buffer& tensor, int64_t width) : nest_(nest), width_(dim_const(width)) {
    form_.buffers = {tensor, {"out", tensor.dtype, {}, true}};
    form_.buffers[0].is_output = false;
    form_.dims = nest.c_.dims;
  }

  void add_loops(const std::vector<int>& loops) {
    for (const int loop : loops) {
      const Nest::Loop& l = loop_at(loop);
      here_.emplace(l.symbol, add_axis(l.name, l.extent));
      place_ = dim_add(dim_mul(place_, l.extent), l.symbol);
      indices_.push_back(l.symbol);
    }
  }
  void add_steps(int across) {
    const Nest::Loop& l = loop_at(across);
    const Dim steps = dim_floordiv(dim_add(l.extent, dim_sub(width_, dim_const(1))), width_);
    step_ = add_axis("tile", steps);
    indices_.push_back(dim_floordiv(l.symbol, width_));
    place_ = dim_add(dim_mul(place_, steps), indices_.back());
  }
  void add_lanes(int across) {
    const Nest::Loop& l = loop_at(across);
    const Dim lane = add_axis("lane", width_);
    indices_.push_back(dim_floormod(l.symbol, width_));
    place_ = dim_add(dim_mul(place_, width_), indices_.back());
    across_ = dim_add(dim_mul(step_, width_), lane);
    set_roots(across);
    if (!is_const(dim_floormod(l.extent, width_), 0)) padding_ = {{across_, nullptr, l.extent, nullptr}};
  }

  /// What the form has of what `read` reads of the tensor; nothing where that is known inside of other loops
  /// only.
  std::optional<Computation> made_of(const Value& read) {
    Value from = read;
    from.buffer = 0;
    from.dim = quern::substitute(read.dim, here_);
    from.indices.clear();
    bool known = true;
    for_each_var(from.dim, [&](Dim var) {
      known &= std::count(form_.vars.begin(), form_.vars.end(), var) != 0 ||
               std::count(form_.dims.begin(), form_.dims.end(), var) != 0;
    });
    if (!known) return std::nullopt;
    from.checks = padding_;
    from.otherwise = padding_.empty() ? nullptr : constant(Scalar::from_int(from.dtype, 0));
    form_.value = std::make_shared<const Value>(std::move(from));
    form_.buffers[1].shape = form_.extents;
    form_.store_offset = dim_const(0);
    for (size_t k = 0; k < form_.vars.size(); ++k)
      form_.store_offset = dim_add(dim_mul(form_.store_offset, form_.extents[k]), form_.vars[k]);
    return form_;
  }
  /// Where in the form the nest reads.
  Dim place() const { return place_; }
  const std::vector<Dim>& indices() const { return indices_; }

 private:
  const Nest::Loop& loop_at(int loop) const { return nest_.table_[static_cast<size_t>(loop)]; }

  Dim add_axis(std::string_view name, Dim extent) {
    form_.vars.push_back(dim_var(name));
    form_.extents.push_back(extent);
    return form_.vars.back();
  }

  /// The indices of the loops that the loop across is made of.
  void set_roots(int across) {
    std::vector<int> roots;
    nest_.roots_of(across, roots);
    Dim rest = across_;
    for (size_t k = roots.size(); k-- > 0;) {
      const Nest::Loop& root = loop_at(roots[k]);
      here_.emplace(root.symbol, k == 0 ? rest : dim_floormod(rest, root.extent));
      rest = dim_floordiv(rest, root.extent);
    }
  }

  const Nest& nest_;
  Dim width_, step_ = nullptr, across_ = nullptr;
  Computation form_;
  DimMap here_;  ///< indices of the nest's loops in the form
  Dim place_ = dim_const(0);
  std::vector<Dim> indices_;  ///< along its axes
  std::vector<BoundsCheck> padding_;
};

/// The one read of a buffer, in a reduction or after it; null where there are none or more, or it is not
/// inside of its bounds by dims.
ValuePtr Nest::only_read(int buffer) const {
  ValuePtr read;
  int reads = 0;
  const auto look = [&](const Value& v) {
    if (v.kind != ValueKind::Load || v.buffer != buffer) return;
    read = std::make_shared<const Value>(v);
    ++reads;
  };
  for (const Reduction& r : c_.reductions) for_each_value(r.value, look);
  for_each_value(c_.value, look);
  return reads == 1 && read->computed.empty() && read->checks.empty() ? read : nullptr;
}

Result<Done> Nest::pack(const ScheduleStep& step) {
  if (step.loops.size() != 4 || step.loops[0].size() != 1 || step.numbers.size() != 1 ||
      step.numbers[0] < 1 || step.loops[2].size() != 1)
    return Failure{"takes a buffer, the width of a tile, and three groups of loops: `pack(b, 32; ; j; k)`"};
  const std::string& name = step.loops[0][0];
  const auto output = c_.buffers.begin() + output_of(c_.buffers);
  const auto buffer =
      std::find_if(c_.buffers.begin(), output, [&](const Buffer& b) { return b.name == name; });
  if (buffer == output) return Failure{fmt::format("there is no buffer `{}`", name)};
  const int index = static_cast<int>(buffer - c_.buffers.begin());
  const DType buffer_dtype = buffer->dtype;
  std::vector<int> groups[3];
  for (size_t g = 0; g < 3; ++g) {
    auto loops = find_all(step.loops[g + 1]);
    if (!loops) return loops.error();
    for (const int loop : *loops)
      if (!table_[static_cast<size_t>(loop)].extent)
        return Failure{fmt::format("`{}` is a part of a split", table_[static_cast<size_t>(loop)].name)};
    groups[g] = std::move(*loops);
  }
  const ValuePtr read = only_read(index);
  if (!read || c_.reductions.size() != 1)
    return Failure{fmt::format("`{}` is not read in one place, inside of its bounds, by dims", name)};

  PackedForm packed(*this, *buffer, step.numbers[0]);
  packed.add_loops(groups[0]);
  packed.add_steps(groups[1][0]);
  packed.add_loops(groups[2]);
  packed.add_lanes(groups[1][0]);
  auto form = packed.made_of(*read);
  if (!form) return Failure{fmt::format("`{}` is read along other loops too", name)};
  const int to = first_scratch();
  insert_buffer(to, {fresh_name(name + "_packed"), buffer_dtype, form->extents, false});
  const ValueFunction read_form = [&](const Value& v) -> ValuePtr {
    if (v.kind != ValueKind::Load || v.buffer != index) return nullptr;
    Value copy = v;
    copy.buffer = to;
    copy.dim = packed.place();
    copy.indices = packed.indices();
    return std::make_shared<const Value>(std::move(copy));
  };
  for (Reduction& r : c_.reductions) map_values(r, read_form);
  packed_.push_back({index, std::move(*form)});
  return Done{};
}

}  // namespace quern::loops
