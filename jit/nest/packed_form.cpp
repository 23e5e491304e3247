// The `pack` of a nest: makes a form of a tensor and replaces the tensor's reads by reads of the form.

#include <fmt/format.h>

#include <algorithm>

#include "jit/compute/statements.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// Axes: loops of the nest, the steps of size `width` of the loop across, more loops, and the lanes of a
/// step. With a group, the last of these loops is replaced by its steps of that size, and the elements of a
/// step follow each lane.
class PackedForm {
 public:
  PackedForm(const Nest& nest, const Buffer& tensor, int64_t width) : nest_(nest), width_(dim_const(width)) {
    form_.buffers = {tensor, {"out", tensor.dtype, {}, true}};
    form_.buffers[0].is_output = false;
    form_.dims = nest.c_.dims;
  }

  void add_loops(const LoopIds& loops) {
    for (const LoopId loop : loops) {
      const Nest::Loop& l = loop_at(loop);
      set_roots(loop, add_axis(nest_.name(loop), l.extent));
      place_ = dim_add(dim_mul(place_, l.extent), l.symbol);
      indices_.push_back(l.symbol);
    }
  }
  void add_steps(LoopId across) {
    const Nest::Loop& l = loop_at(across);
    const Dim steps = dim_floordiv(dim_add(l.extent, dim_sub(width_, dim_const(1))), width_);
    step_ = add_axis("tile", steps);
    indices_.push_back(dim_floordiv(l.symbol, width_));
    place_ = dim_add(dim_mul(place_, steps), indices_.back());
  }
  void add_groups(LoopId loop, int64_t group) {
    const Nest::Loop& l = loop_at(loop);
    const Dim steps = dim_floordiv(dim_add(l.extent, dim_const(group - 1)), dim_const(group));
    group_ = add_axis(nest_.name(loop), steps);
    indices_.push_back(dim_floordiv(l.symbol, dim_const(group)));
    place_ = dim_add(dim_mul(place_, steps), indices_.back());
  }
  void add_members(LoopId loop, int64_t group) {
    const Nest::Loop& l = loop_at(loop);
    const Dim size = dim_const(group), member = add_axis("member", size);
    indices_.push_back(dim_floormod(l.symbol, size));
    place_ = dim_add(dim_mul(place_, size), indices_.back());
    const Dim index = dim_add(dim_mul(group_, size), member);
    here_.emplace(l.symbol, index);
    if (!is_const(dim_floormod(l.extent, size), 0)) padding_.push_back({index, nullptr, l.extent, nullptr});
  }
  void add_lanes(LoopId across) {
    const Nest::Loop& l = loop_at(across);
    const Dim lane = add_axis("lane", width_);
    indices_.push_back(dim_floormod(l.symbol, width_));
    place_ = dim_add(dim_mul(place_, width_), indices_.back());
    across_ = dim_add(dim_mul(step_, width_), lane);
    set_roots(across, across_);
    if (!is_const(dim_floormod(l.extent, width_), 0))
      padding_.push_back({across_, nullptr, l.extent, nullptr});
  }

  /// The computation of the form's elements from those that `read` reads, given as `taken`; nothing if it
  /// depends on other loops.
  std::optional<Computation> made_of(const LoadValue& read, const ValuePtr& taken) {
    LoadValue from = read;
    from.buffer = 0;
    from.offset = quern::substitute(read.offset, here_);
    from.indices.clear();
    bool known = true;
    for_each_var(from.offset, [&](Dim var) {
      known &= std::count(form_.vars.begin(), form_.vars.end(), var) != 0 ||
               std::count(form_.dims.begin(), form_.dims.end(), var) != 0;
    });
    if (!known) return std::nullopt;
    from.checks = padding_;
    from.otherwise = padding_.empty() ? nullptr : constant(Scalar::from_int(from.dtype, 0));
    ValuePtr element = make(std::move(from));
    form_.value = replace<LoadValue>(taken, [&](const LoadValue&) { return element; });
    form_.buffers[1].shape = form_.extents;
    form_.buffers[1].dtype = taken->dtype;
    form_.store_offset = dim_const(0);
    for (size_t k = 0; k < form_.vars.size(); ++k)
      form_.store_offset = dim_add(dim_mul(form_.store_offset, form_.extents[k]), form_.vars[k]);
    return form_;
  }
  /// The nest's read position in the form.
  Dim place() const { return place_; }
  const std::vector<Dim>& indices() const { return indices_; }

 private:
  const Nest::Loop& loop_at(LoopId loop) const { return nest_.at(loop); }

  Dim add_axis(std::string_view name, Dim extent) {
    form_.vars.push_back(dim_var(name));
    form_.extents.push_back(extent);
    return form_.vars.back();
  }

  /// Sets the indices of the loops that a loop consists of; of itself where it is not fused.
  void set_roots(LoopId loop, Dim index) {
    LoopIds roots;
    nest_.roots_of(loop, roots);
    Dim rest = index;
    for (size_t k = roots.size(); k-- > 0;) {
      const Nest::Loop& root = loop_at(roots[k]);
      here_.emplace(root.symbol, k == 0 ? rest : dim_floormod(rest, root.extent));
      rest = dim_floordiv(rest, root.extent);
    }
  }

  const Nest& nest_;
  Dim width_, step_ = nullptr, across_ = nullptr, group_ = nullptr;
  Computation form_;
  DimMap here_;  ///< the nest's loop indices in terms of the form
  Dim place_ = dim_const(0);
  std::vector<Dim> indices_;  ///< along the form's axes
  std::vector<BoundsCheck> padding_;
};

namespace {

/// Whether the value is a load of the buffer, or a function of one element of it that is no larger.
bool is_of_element(const Value& v, int buffer, DType dtype) {
  if (auto* load = as<LoadValue>(v)) return load->buffer == buffer;
  if (v.dtype.bytes() > dtype.bytes()) return false;
  if (auto* cast = as<CastValue>(v)) return is_of_element(*cast->value, buffer, dtype);
  auto* apply = as<ApplyValue>(v);
  if (!apply) return false;
  const auto is_const = [](const ValuePtr& arg) { return as<ConstValue>(arg) != nullptr; };
  const auto varies = std::ranges::find_if_not(apply->args, is_const);
  return varies != apply->args.end() && std::all_of(varies + 1, apply->args.end(), is_const) &&
         is_of_element(**varies, buffer, dtype);
}

}  // namespace

std::string fresh_name(const std::vector<Buffer>& buffers, const std::string& wanted) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == name; });
  };
  std::string name = wanted;
  for (int copy = 2; taken(name); ++copy) name = fmt::format("{}_{}", wanted, copy);
  return name;
}

/// The only read of a buffer in reductions; nothing if there are several, or dims do not prove it in bounds. What is
/// read after a reduction is read from the buffer itself.
std::optional<LoadValue> Nest::only_read(int buffer) const {
  std::optional<LoadValue> read;
  int reads = 0;
  const auto look = [&](const LoadValue& load) {
    if (load.buffer != buffer) return;
    read.emplace(load);
    ++reads;
  };
  for (const Reduction& r : c_.reductions) for_each<LoadValue>(r.value, look);
  return reads == 1 && read->computed.empty() && read->checks.empty() ? read : std::nullopt;
}

template <>
Result<Done> Nest::change<Primitive::Pack>(const LoopStep& step) {
  const bool grouped = step.numbers.size() == 2;
  const std::string& tensor = step.words[0];
  const auto output = c_.buffers.begin() + output_of(c_.buffers);
  const auto buffer =
      std::find_if(c_.buffers.begin(), output, [&](const Buffer& b) { return b.name == tensor; });
  if (buffer == output) return Failure{fmt::format("there is no buffer `{}`", tensor)};
  const int index = static_cast<int>(buffer - c_.buffers.begin());
  const DType buffer_dtype = buffer->dtype;
  for (const LoopIds& group : step.loops)
    for (const LoopId loop : group)
      if (!at(loop).extent) return Failure{fmt::format("`{}` is a part of a split", name(loop))};
  const std::optional<LoadValue> read = only_read(index);
  if (!read || c_.reductions.size() != 1)
    return Failure{fmt::format("`{}` is not read in one place, inside of its bounds, by dims", tensor)};

  PackedForm packed(*this, *buffer, step.numbers[0]);
  const LoopId across = step.loops[2][0];
  LoopIds inner = step.loops[3];
  const LoopId last = grouped ? inner.back() : kNoLoop;
  if (grouped) inner.pop_back();
  packed.add_loops(step.loops[1]);
  packed.add_steps(across);
  packed.add_loops(inner);
  if (grouped) packed.add_groups(last, step.numbers[1]);
  packed.add_lanes(across);
  if (grouped) packed.add_members(last, step.numbers[1]);
  ValuePtr taken = make(*read);
  map_values(c_.reductions[0].value, [&](const Value& v) -> ValuePtr {
    if (!is_of_element(v, index, buffer_dtype)) return nullptr;
    taken = visit(v, [](const auto& node) -> ValuePtr { return make(node); });
    return taken;
  });
  auto form = packed.made_of(*read, taken);
  if (!form) return Failure{fmt::format("`{}` is read along other loops too", tensor)};
  const int to = first_scratch();
  insert_buffer(to, {fresh_name(c_.buffers, tensor + "_packed"), taken->dtype, form->extents, false});
  LoadValue element = *read;
  element.dtype = taken->dtype;
  element.buffer = to;
  element.offset = packed.place();
  element.indices = packed.indices();
  const ValuePtr there = make(std::move(element));
  const ValueFunction read_form = [&](const Value& v) {
    return is_of_element(v, index, buffer_dtype) ? there : nullptr;
  };
  for (Reduction& r : c_.reductions) map_values(r, read_form);
  packed_.push_back({index, std::move(*form)});
  return Done{};
}

}  // namespace quern::loops
