#include "jit/schedule/dot.h"

#include <utility>

#include "jit/schedule/contraction_model.h"
#include "jit/schedule/statements.h"

namespace quern::loops {

namespace {

ValuePtr apply(ScalarOp op, ValuePtr a, ValuePtr b) {
  Value v{ValueKind::Apply, a->dtype};
  v.op = op;
  v.args = {std::move(a), std::move(b)};
  return std::make_shared<const Value>(std::move(v));
}

ValuePtr cast_to(DType dtype, ValuePtr from) {
  Value v{ValueKind::Cast, dtype};
  v.args = {std::move(from)};
  return std::make_shared<const Value>(std::move(v));
}

DType other_sign(DType dtype) {
  dtype.code = dtype.is_signed() ? DTypeCode::UInt : DTypeCode::Int;
  return dtype;
}

/// The load that a factor casts to the dtype, or null.
ValuePtr load_in(const ValuePtr& factor, DType dtype) {
  const ValuePtr& load = factor->kind == ValueKind::Cast ? factor->args[0] : factor;
  return factor->dtype == dtype && load->kind == ValueKind::Load ? load : nullptr;
}

/// 128 times the sums of the left factor over the reduction, for each place of the result that it depends on;
/// negative where the other factor had a sign. `place` becomes where in the form a result finds its own.
PackedBuffer sums_of(const Computation& c, const Value& left, DType right, Dim& place) {
  const Reduction& r = c.reductions[0];
  Computation form;
  form.dims = c.dims;
  form.buffers = {c.buffers[static_cast<size_t>(left.buffer)], {"out", r.accumulator, {}, true}};
  form.locals = 1;
  Reduction sum = r;
  Value read = left;
  read.buffer = 0;
  sum.local = 0;
  sum.value = cast_to(r.accumulator, std::make_shared<const Value>(std::move(read)));
  DimMap own;
  place = dim_const(0);
  form.store_offset = dim_const(0);
  for (size_t k = 0; k < c.vars.size(); ++k) {
    if (!ContractionModel::depends(left, c.vars[k])) continue;
    form.vars.push_back(dim_var(c.vars[k]->name));
    form.extents.push_back(c.extents[k]);
    own.emplace(c.vars[k], form.vars.back());
    form.store_offset = dim_add(dim_mul(form.store_offset, c.extents[k]), form.vars.back());
    place = dim_add(dim_mul(place, c.extents[k]), c.vars[k]);
  }
  for (size_t k = 0; k < r.vars.size(); ++k) {
    sum.vars[k] = dim_var(r.vars[k]->name);
    own.emplace(r.vars[k], sum.vars[k]);
  }
  substitute(sum, own);
  form.reductions = {std::move(sum)};
  form.buffers[1].shape = form.extents;
  const int64_t added = right.is_signed() ? -128 : 128;
  form.value =
      apply(ScalarOp::Mul, value_of(0, r.accumulator), constant(Scalar::from_int(r.accumulator, added)));
  return {left.buffer, std::move(form)};
}

}  // namespace

std::optional<DotFactors> dot_factors(const ValuePtr& value, const DotIntrinsic& intrinsic) {
  if (value->kind != ValueKind::Apply || value->op != ScalarOp::Mul) return std::nullopt;
  const ValuePtr first = load_in(value->args[0], intrinsic.accumulator);
  const ValuePtr second = load_in(value->args[1], intrinsic.accumulator);
  if (!first || !second) return std::nullopt;
  if (first->dtype == intrinsic.a && second->dtype == intrinsic.b) return DotFactors{first, second};
  if (first->dtype == intrinsic.b && second->dtype == intrinsic.a) return DotFactors{second, first};
  return std::nullopt;
}

TurnedSign with_sign_turned(Computation c, const Value& left, const Value& right) {
  TurnedSign turned{std::move(c), {}};
  Computation& own = turned.computation;
  Reduction& r = own.reductions[0];
  Value sum{ValueKind::Load, r.accumulator};
  sum.buffer = static_cast<int>(own.buffers.size());
  turned.sums = sums_of(own, left, right.dtype, sum.dim);
  const DType dtype = other_sign(right.dtype);
  r.value = map_values(r.value, [&](const Value& v) -> ValuePtr {
    if (v.kind != ValueKind::Load || v.buffer != right.buffer) return nullptr;
    const ValuePtr bits = cast_to(dtype, std::make_shared<const Value>(v));
    return apply(ScalarOp::BitXor, bits, constant(Scalar::from_int(dtype, 128)));
  });
  own.buffers.push_back({own.buffers[static_cast<size_t>(left.buffer)].name + "_sums", r.accumulator,
                         turned.sums.form.extents, false});
  const ValuePtr correction = std::make_shared<const Value>(std::move(sum));
  const int local = r.local;
  own.value = map_values(own.value, [&](const Value& v) -> ValuePtr {
    if (v.kind != ValueKind::Local || v.local != local) return nullptr;
    return apply(ScalarOp::Add, std::make_shared<const Value>(v), correction);
  });
  return turned;
}

}  // namespace quern::loops
