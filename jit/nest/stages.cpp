// The primitives of a nest that put tensors into scratch memory, or inline their computation into readers.

#include <fmt/format.h>

#include <algorithm>

#include "jit/compute/statements.h"
#include "jit/nest/nest.h"

namespace quern::loops {

namespace {

/// A copy of a buffer over fresh index variables; out of bounds it is `otherwise`.
Computation copy_of(const Nest& nest, int buffer, const Scalar& otherwise) {
  const Buffer& tensor = nest.computation().buffers[static_cast<size_t>(buffer)];
  LoadValue v{tensor.dtype, buffer, dim_const(0)};
  Computation copy;
  for (size_t a = 0; a < tensor.shape.size(); ++a) {
    const Dim stride = dim_product(std::span(tensor.shape).subspan(a + 1));
    copy.vars.push_back(dim_var(fmt::format("{}{}", tensor.name, a)));
    copy.extents.push_back(tensor.shape[a]);
    v.offset = dim_add(v.offset, dim_mul(copy.vars[a], stride));
    v.checks.push_back({copy.vars[a], nullptr, tensor.shape[a], stride});
  }
  v.indices = copy.vars;
  v.otherwise = constant(otherwise);
  copy.value = make(std::move(v));
  copy.store_offset = dim_const(0);
  return copy;
}

/// The padding value, if all padded reads agree; otherwise an unused zero.
Scalar padding_of(const Computation& c, int buffer) {
  const DType dtype = c.buffers[static_cast<size_t>(buffer)].dtype;
  std::optional<Scalar> padding;
  bool same = true;
  for_each<LoadValue>(c, [&](const LoadValue& load) {
    if (load.buffer != buffer || !load.otherwise) return;
    auto* known = as<ConstValue>(load.otherwise);
    same &= known && padding.value_or(known->constant) == known->constant;
    if (known) padding = known->constant;
  });
  return padding && same ? *padding : Scalar::from_int(dtype, 0);
}

/// Replaces reads of a buffer by the computation of its elements.
class Inliner {
 public:
  Inliner(int buffer, const Computation& stage, int& locals)
      : buffer_(buffer), stage_(stage), locals_(locals) {}

  void into(Computation& c) {
    for (Reduction& r : c.reductions) into(r);
    c.value = into(c.value, c.reductions);
  }

 private:
  void into(Reduction& r) {
    for (Reduction& inner : r.inner) into(inner);
    for (BoundsCheck& check : r.checks) check.computed = into(check.computed, r.inner);
    r.value = into(r.value, r.inner);
    r.index_value = into(r.index_value, r.inner);
  }

  /// `before` is evaluated before the value.
  ValuePtr into(const ValuePtr& value, std::vector<Reduction>& before) {
    return replace<LoadValue>(value, [&](const LoadValue& load) {
      return load.buffer == buffer_ ? instance(load, before) : nullptr;
    });
  }

  ValuePtr instance(const LoadValue& read, std::vector<Reduction>& before) {
    Computation c = stage_;
    DimMap at;
    for (size_t a = 0; a < c.vars.size(); ++a) at.emplace(c.vars[a], read.indices[a]);
    std::unordered_map<int, int> fresh;
    for (Reduction& r : c.reductions) own_names(r, at, fresh);
    map_dims(c, [&](Dim d) { return quern::substitute(d, at); });
    replace<LocalValue>(c, [&](const LocalValue& v) { return value_of(fresh.at(v.local), v.dtype); });
    if (!read.checks.empty())
      replace<LoadValue>(c, [&](const LoadValue& load) { return only_inside(load, read.checks); });
    ValuePtr value = c.value;
    if (!c.reductions.empty()) {
      Reduction let{ReduceKind::Sum, {}, {}};
      let.is_let = true;
      let.inner = std::move(c.reductions);
      let.value = value;
      let.accumulator = value->dtype;
      let.local = locals_++;
      value = value_of(let.local, let.accumulator);
      before.push_back(std::move(let));
    }
    if (read.checks.empty()) return value;
    return make(SelectValue{read.dtype, truth_of(read.checks), value, into(read.otherwise, before)});
  }

  /// Gives the reduction fresh index variables and locals.
  void own_names(Reduction& r, DimMap& at, std::unordered_map<int, int>& fresh) {
    for (Dim& var : r.vars) {
      const Dim own = dim_var(var->name);
      at.emplace(var, own);
      var = own;
    }
    r.local = fresh[r.local] = locals_++;
    if (r.index_local >= 0) r.index_local = fresh[r.index_local] = locals_++;
    for (Reduction& inner : r.inner) own_names(inner, at, fresh);
  }

  /// A load performed only if the checks hold.
  static ValuePtr only_inside(const LoadValue& load, const std::vector<BoundsCheck>& checks) {
    LoadValue guarded = *as<LoadValue>(map_children(load, [&](const ValuePtr& child) {
      return replace<LoadValue>(child, [&](const LoadValue& inner) { return only_inside(inner, checks); });
    }));
    if (!guarded.otherwise) guarded.otherwise = constant(Scalar::from_int(load.dtype, 0));
    guarded.checks.insert(guarded.checks.begin(), checks.begin(), checks.end());
    return make(std::move(guarded));
  }

  int buffer_;
  const Computation& stage_;
  int& locals_;
};

bool has_traps(const Computation& c) {
  bool found = false;
  for_each<CheckedValue>(c, [&](const CheckedValue& v) { found |= v.trap > 0; });
  return found;
}

bool reads(const Computation& c, int buffer) {
  bool found = false;
  for_each<LoadValue>(c, [&](const LoadValue& load) { found |= load.buffer == buffer; });
  return found;
}

}  // namespace

// --- buffers ---------------------------------------------------------------------------------------

/// Scratch buffers come after all others.
int Nest::first_scratch() const {
  const auto first =
      std::find_if(c_.buffers.begin(), c_.buffers.end(), [](const Buffer& b) { return b.is_scratch; });
  return static_cast<int>(first - c_.buffers.begin());
}

void Nest::renumber_buffers(int from, int by) {
  const auto renumber = [&](int& buffer) { buffer += buffer >= from ? by : 0; };
  const FieldMap in_values([&](role::Buffer, int& buffer) { renumber(buffer); });
  map_values(c_, in_values);
  for (Fill& fill : fills_) {
    renumber(fill.buffer);
    renumber(fill.scratch);
    map_values(fill.value, in_values);
  }
  for (Prefetched& prefetched : prefetched_) renumber(prefetched.buffer);
  renumber(written_scratch_);
}

void Nest::insert_buffer(int at, Buffer buffer) {
  renumber_buffers(at, 1);
  c_.buffers.insert(c_.buffers.begin() + at, std::move(buffer));
}

void Nest::remove_buffer(int buffer) {
  renumber_buffers(buffer + 1, -1);
  c_.buffers.erase(c_.buffers.begin() + buffer);
}

int Nest::add_scratch(const std::string& name, DType dtype) {
  Buffer buffer{fresh_name(c_.buffers, name), dtype, {}};
  buffer.is_scratch = true;
  c_.buffers.push_back(std::move(buffer));
  return static_cast<int>(c_.buffers.size()) - 1;
}

// --- primitives ------------------------------------------------------------------------------------

/// Checks that all reads of the buffer have indices along its axes.
Result<Done> Nest::reads_are_known(int buffer) const {
  const Buffer& tensor = c_.buffers[static_cast<size_t>(buffer)];
  size_t found = 0, known = 0;
  for_each<LoadValue>(c_, [&](const LoadValue& load) {
    if (load.buffer != buffer) return;
    ++found;
    known += load.computed.empty() && load.indices.size() == tensor.shape.size() ? 1 : 0;
  });
  if (found == 0) return Failure{fmt::format("`{}` is not read", tensor.name)};
  if (known < found) return Failure{fmt::format("where `{}` is read is known at run time only", tensor.name)};
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::CacheRead>(const LoopStep& step) {
  const std::string& tensor = step.words[0];
  const auto buffer = std::find_if(c_.buffers.begin(), c_.buffers.end(),
                                   [&](const Buffer& b) { return b.name == tensor && !b.is_output; });
  if (buffer == c_.buffers.end()) return Failure{fmt::format("there is no buffer `{}`", tensor)};
  const int index = static_cast<int>(buffer - c_.buffers.begin());
  for (const Fill& fill : fills_)
    if ((fill.buffer == index && fill.loop != kBeforeAll) || (fill.scratch == index && fill.is_copy))
      return Failure{fmt::format("`{}` is in scratch memory already", tensor)};
  if (auto known = reads_are_known(index); !known) return known;
  Fill fill{index, 0, step.loops[0][0], copy_of(*this, index, padding_of(c_, index)), true};
  fill.scratch = add_scratch(tensor + "_cache", buffer->dtype);
  fills_.push_back(std::move(fill));
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::CacheWrite>(const LoopStep& step) {
  const LoopId loop = step.loops[0][0];
  if (at(loop).owner != kResult) return Failure{fmt::format("`{}` is of a reduction", name(loop))};
  const Buffer output = c_.buffers[static_cast<size_t>(output_of(c_.buffers))];
  if (written_ != kNoLoop) return Failure{fmt::format("`{}` is in scratch memory already", output.name)};
  written_ = loop;
  written_scratch_ = add_scratch(output.name + "_cache", output.dtype);
  return Done{};
}

/// The element of `fills_` that computes the stage.
Result<int> Nest::stage_of(const std::string& name) const {
  for (size_t k = 0; k < fills_.size(); ++k)
    if (!fills_[k].is_copy && c_.buffers[static_cast<size_t>(fills_[k].buffer)].name == name)
      return static_cast<int>(k);
  return Failure{fmt::format("there is no stage `{}`", name)};
}

template <>
Result<Done> Nest::change<Primitive::ComputeAt>(const LoopStep& step) {
  const LoopId loop = step.loops[0][0];
  auto stage = stage_of(step.words[0]);
  if (!stage) return stage.error();
  Fill& fill = fills_[static_cast<size_t>(*stage)];
  for (const Fill& other : fills_)
    if (reads(other.value, fill.buffer))
      return Failure{fmt::format("`{}` is read by `{}` too, which is not inside of `{}`", step.words[0],
                                 c_.buffers[static_cast<size_t>(other.scratch)].name, name(loop))};
  if (auto known = reads_are_known(fill.buffer); !known) return known;
  fill.loop = loop;
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Inline>(const LoopStep& step) {
  const std::string& tensor = step.words[0];
  auto stage = stage_of(tensor);
  if (!stage) return stage.error();
  const Fill fill = fills_[static_cast<size_t>(*stage)];
  std::vector<Computation*> readers{&c_};
  for (Fill& other : fills_) {
    if (other.is_copy && other.buffer == fill.buffer)
      return Failure{fmt::format("`{}` is read from scratch memory", tensor)};
    readers.push_back(&other.value);
  }
  bool is_padded = false, is_known = true;
  for (const Computation* reader : readers)
    for_each<LoadValue>(*reader, [&](const LoadValue& load) {
      if (load.buffer != fill.buffer) return;
      is_padded |= !load.checks.empty();
      is_known &= load.computed.empty() && load.indices.size() == fill.value.vars.size() && load.trap == 0;
    });
  if (!is_known) return Failure{fmt::format("where `{}` is read is known at run time only", tensor)};
  if (is_padded && has_traps(fill.value))
    return Failure{fmt::format("`{}` is read with padding, and may stop the kernel", tensor)};
  const Parts parts = this->parts();
  const bool in_tile = !parts.tile.empty() || !parts.memory.empty();
  if (in_tile && !fill.value.reductions.empty() && reads(c_, fill.buffer))
    return Failure{
        fmt::format("`{}` is a reduction, and a tile is of one reduction and of nothing else", tensor)};
  for (Computation* reader : readers) Inliner(fill.buffer, fill.value, c_.locals).into(*reader);
  fills_.erase(fills_.begin() + *stage);
  remove_buffer(fill.buffer);
  return Done{};
}

}  // namespace quern::loops
