#include "jit/nest/dot.h"

#include <algorithm>
#include <utility>

#include "jit/compute/statements.h"
#include "jit/nest/contraction_model.h"

namespace quern::loops {

namespace {

DType other_sign(DType dtype) {
  dtype.code = dtype.is_signed() ? DTypeCode::UInt : DTypeCode::Int;
  return dtype;
}

/// The load that a factor casts to the dtype, or null.
LoadPtr load_in(const ValuePtr& factor, DType dtype) {
  auto* cast = as<CastValue>(factor);
  return factor->dtype == dtype ? as_shared<LoadValue>(cast ? cast->value : factor) : nullptr;
}

int add_form(TurnedSign& turned, int tensor, Computation form) {
  std::vector<Buffer>& buffers = turned.computation.buffers;
  const std::string name = buffers[static_cast<size_t>(tensor)].name + "_sums";
  form.buffers[0].is_output = false;
  form.buffers[1].shape = form.extents;
  buffers.push_back({fresh_name(buffers, name), form.buffers[1].dtype, form.extents, false});
  turned.forms.push_back({tensor, std::move(form)});
  return static_cast<int>(buffers.size()) - 1;
}

bool is_multiple(Dim d, Dim of) { return dim_mul(dim_floordiv(d, of), of) == d; }

/// Sums rows of the read's tensor along `grouped`, if the reduction has more loops and each read is of such a
/// row. The read becomes one of the sums.
void add_row_sums(TurnedSign& turned, LoadValue& read, Dim grouped) {
  const Computation& c = turned.computation;
  const Reduction& r = c.reductions[0];
  const Dim length = r.extents[static_cast<size_t>(std::ranges::find(r.vars, grouped) - r.vars.begin())];
  const Buffer& tensor = c.buffers[static_cast<size_t>(read.buffer)];
  const Dim begin = dim_sub(read.offset, grouped), size = dim_product(tensor.shape);
  const bool in_rows = is_multiple(begin, length) && is_multiple(size, length) &&
                       std::ranges::all_of(read.checks, [&](const BoundsCheck& check) {
                         return check.stride && is_multiple(check.stride, length);
                       });
  if (r.vars.size() < 2 || !in_rows) return;
  const Dim row = dim_var("row"), along = dim_var(grouped->name);
  Computation form;
  form.dims = c.dims;
  form.buffers = {tensor, {"out", r.accumulator, {}, true}};
  form.locals = 1;
  form.vars = {row};
  form.extents = {dim_floordiv(size, length)};
  Reduction sum{ReduceKind::Sum, {along}, {length}};
  sum.accumulator = r.accumulator;
  sum.value = cast_to(load_of(0, read.dtype, dim_add(dim_mul(row, length), along)), r.accumulator);
  form.reductions = {std::move(sum)};
  form.value = value_of(0, r.accumulator);
  form.store_offset = row;
  read.dtype = r.accumulator;
  read.buffer = add_form(turned, read.buffer, std::move(form));
  read.offset = dim_floordiv(begin, length);
  read.indices.clear();  // they refer to axes of the summed tensor
  for (BoundsCheck& check : read.checks) check.stride = dim_floordiv(check.stride, length);
  if (read.otherwise) read.otherwise = constant(Scalar::from_int(read.dtype, 0));
}

/// Adds a form with 128 times the left factor's sums over the reduction, per result index that it depends on;
/// negative if the other factor was signed. Returns the load of a result's sum.
ValuePtr add_sums(TurnedSign& turned, LoadValue read, bool is_signed, Dim grouped) {
  const int tensor = read.buffer;
  add_row_sums(turned, read, grouped);
  const int from = std::exchange(read.buffer, 0);
  const Computation& c = turned.computation;
  const Reduction& r = c.reductions[0];
  Computation form;
  form.dims = c.dims;
  form.buffers = {c.buffers[static_cast<size_t>(from)], {"out", r.accumulator, {}, true}};
  form.locals = 1;
  DimMap own;
  Dim place = dim_const(0);
  form.store_offset = dim_const(0);
  for (size_t k = 0; k < c.vars.size(); ++k) {
    if (!ContractionModel::depends(read, c.vars[k])) continue;
    form.vars.push_back(dim_var(c.vars[k]->name));
    form.extents.push_back(c.extents[k]);
    own.emplace(c.vars[k], form.vars.back());
    form.store_offset = dim_add(dim_mul(form.store_offset, c.extents[k]), form.vars.back());
    place = dim_add(dim_mul(place, c.extents[k]), c.vars[k]);
  }
  Reduction sum{ReduceKind::Sum, {}, {}};
  for (size_t k = 0; k < r.vars.size(); ++k) {
    if (from != tensor && r.vars[k] == grouped) continue;
    sum.vars.push_back(dim_var(r.vars[k]->name));
    sum.extents.push_back(r.extents[k]);
    own.emplace(r.vars[k], sum.vars.back());
  }
  sum.checks = r.checks;
  sum.accumulator = r.accumulator;
  sum.value = cast_to(make(std::move(read)), r.accumulator);
  substitute(sum, own);
  form.reductions = {std::move(sum)};
  form.value = apply(ScalarOp::Mul, {value_of(0, r.accumulator),
                                     constant(Scalar::from_int(r.accumulator, is_signed ? -128 : 128))});
  const DType dtype = r.accumulator;
  return load_of(add_form(turned, from, std::move(form)), dtype, place);
}

}  // namespace

std::optional<DotFactors> dot_factors(const ValuePtr& value, const DotIntrinsic& intrinsic) {
  auto* product = as<ApplyValue>(value);
  if (!product || product->op != ScalarOp::Mul) return std::nullopt;
  const LoadPtr first = load_in(product->args[0], intrinsic.accumulator);
  const LoadPtr second = load_in(product->args[1], intrinsic.accumulator);
  if (!first || !second) return std::nullopt;
  if (first->dtype == intrinsic.a && second->dtype == intrinsic.b) return DotFactors{first, second};
  if (first->dtype == intrinsic.b && second->dtype == intrinsic.a) return DotFactors{second, first};
  return std::nullopt;
}

std::optional<DotFactors> matrix_factors(const ValuePtr& value, const DotIntrinsic& intrinsic,
                                         const std::vector<Dim>& rows, const std::vector<Dim>& columns) {
  auto factors = dot_factors(value, intrinsic);
  if (!factors) return std::nullopt;
  const auto depends = [](const LoadPtr& load, const std::vector<Dim>& vars) {
    return std::ranges::any_of(vars, [&](Dim var) { return ContractionModel::depends(*load, var); });
  };
  if (depends(factors->a, columns)) std::swap(factors->a, factors->b);
  const bool are_in_order = factors->a->dtype == intrinsic.a && factors->b->dtype == intrinsic.b &&
                            !depends(factors->a, columns) && !depends(factors->b, rows);
  return are_in_order ? factors : std::nullopt;
}

TurnedSign with_sign_turned(Computation computation, const LoadValue& left, const LoadValue& right,
                            Dim grouped) {
  TurnedSign turned{std::move(computation), {}};
  const ValuePtr sums = add_sums(turned, left, right.dtype.is_signed(), grouped);
  Computation& own = turned.computation;
  Reduction& r = own.reductions[0];
  const DType dtype = other_sign(right.dtype);
  r.value = replace<LoadValue>(r.value, [&](const LoadValue& load) -> ValuePtr {
    if (load.buffer != right.buffer) return nullptr;
    return apply(ScalarOp::BitXor, {cast_to(make(load), dtype), constant(Scalar::from_int(dtype, 128))});
  });
  const int local = r.local;
  own.value = replace<LocalValue>(own.value, [&](const LocalValue& v) -> ValuePtr {
    return v.local == local ? apply(ScalarOp::Add, {make(v), sums}) : nullptr;
  });
  return turned;
}

}  // namespace quern::loops
