#include "jit/compute/statements.h"

#include <algorithm>

namespace quern::loops {

StmtPtr make(Stmt stmt) { return std::make_shared<const Stmt>(std::move(stmt)); }
ValuePtr make(Value value) { return std::make_shared<const Value>(std::move(value)); }

ValuePtr index_value(Dim dim) {
  Value v{ValueKind::Index, DType::index()};
  v.dim = dim;
  return make(std::move(v));
}

ValuePtr constant(const Scalar& scalar) {
  Value v{ValueKind::Const, scalar.dtype};
  v.constant = scalar;
  return make(std::move(v));
}

ValuePtr value_of(int local, DType dtype) {
  Value v{ValueKind::Local, dtype};
  v.local = local;
  return make(std::move(v));
}

ValuePtr apply(ScalarOp op, ValuePtr a, ValuePtr b) {
  Value v{ValueKind::Apply, result_dtype(op, a->dtype)};
  v.op = op;
  v.args = {std::move(a), std::move(b)};
  return make(std::move(v));
}

ValuePtr truth_of(const std::vector<BoundsCheck>& checks) {
  ValuePtr all;
  for (const BoundsCheck& check : checks) {
    const ValuePtr index = check.computed ? check.computed : index_value(check.index);
    const ValuePtr inside = apply(ScalarOp::And, apply(ScalarOp::Le, index_value(dim_const(0)), index),
                                  apply(ScalarOp::Lt, index, index_value(check.extent)));
    all = all ? apply(ScalarOp::And, all, inside) : inside;
  }
  return all;
}

StmtPtr serial_loop(Dim var, Dim extent, Block body) {
  Stmt loop{StmtKind::For};
  loop.var = var;
  loop.extent = extent;
  loop.body = std::move(body);
  return make(std::move(loop));
}

StmtPtr unrolled_loop(Dim var, int64_t extent, Block body) {
  Stmt loop{StmtKind::For};
  loop.var = var;
  loop.extent = dim_const(extent);
  loop.loop = LoopKind::Unroll;
  loop.width = static_cast<int>(extent);
  loop.body = std::move(body);
  return make(std::move(loop));
}

StmtPtr loop_in_lanes(Dim var, Dim extent, int64_t width, int64_t most, Block body) {
  Stmt loop{StmtKind::For};
  loop.var = var;
  loop.extent = extent;
  loop.loop = LoopKind::Vectorize;
  loop.width = static_cast<int>(width);
  loop.unrolled = true;
  if (!as_const(extent)) loop.most = most;
  loop.body = std::move(body);
  return make(std::move(loop));
}

void declare(int local, DType dtype, ValuePtr first, Block& body) {
  Stmt stmt{StmtKind::Declare};
  stmt.local = local;
  stmt.dtype = dtype;
  stmt.value = std::move(first);
  body.push_back(make(std::move(stmt)));
}

void open_reduction(const Reduction& r, Block& body) {
  declare(r.local, r.accumulator, constant(reduce_identity(r.kind, r.accumulator)), body);
  if (r.index_local >= 0)
    declare(r.index_local, DType::index(), constant(Scalar::from_int(DType::index(), 0)), body);
}

void add_reduction(const Reduction& r, const ReductionLoop& loop, Block& body) {
  if (r.is_let) {
    for (const Reduction& nested : r.inner) add_reduction(nested, loop, body);
    return declare(r.local, r.accumulator, r.value, body);
  }
  open_reduction(r, body);
  Block inner;
  for (const Reduction& nested : r.inner) add_reduction(nested, loop, inner);
  Stmt reduce{StmtKind::Reduce};
  reduce.local = r.local;
  reduce.dtype = r.accumulator;
  reduce.reduce = r.kind;
  reduce.value = r.value;
  reduce.checks = r.checks;
  reduce.index_local = r.index_local;
  reduce.index_value = r.index_value;
  inner.push_back(make(std::move(reduce)));
  for (size_t k = r.vars.size(); k-- > 0;) inner = {loop(r.vars[k], r.extents[k], std::move(inner))};
  body.insert(body.end(), inner.begin(), inner.end());
}

namespace {

constexpr int64_t kQuarters = 4;  ///< of a cycle, in which costs are

int64_t cost_of(ScalarOp op) {
  if (op == ScalarOp::Pow) return 32 * kQuarters;
  if (op == ScalarOp::Div || op == ScalarOp::Mod) return 4 * kQuarters;
  return info(op).signature == ScalarSignature::Float ? 8 * kQuarters : kQuarters / 2;
}

/// Quarters of a cycle for a vector of the value. What does not depend on all of `vars` is in registers or
/// near.
int64_t cost_of(const ValuePtr& value, const std::vector<Dim>& vars) {
  int64_t cost = 0;
  for_each_value(value, [&](const Value& v) {
    const bool moves = v.dim && std::ranges::all_of(vars, [&](Dim var) { return contains_var(v.dim, var); });
    if (v.kind == ValueKind::Load) cost += moves ? kQuarters : 0;
    if (v.kind == ValueKind::Load && !v.computed.empty()) cost += 16 * kQuarters;
    if (v.kind == ValueKind::Apply) cost += cost_of(v.op);
    if (v.kind == ValueKind::Cast || v.kind == ValueKind::Select) cost += kQuarters / 2;
  });
  return cost;
}

/// The same of all terms of a reduction; extents that depend on indices do not count.
Dim cost_of(const Reduction& r, const std::vector<Dim>& vars, const std::vector<Dim>& dims) {
  const bool is_product = r.kind == ReduceKind::Sum && r.value->kind == ValueKind::Apply &&
                          r.value->op == ScalarOp::Mul;  // multiply-adds
  Dim cost = dim_const(cost_of(r.value, vars) + (is_product ? 0 : kQuarters / 2));
  for (const Reduction& inner : r.inner) cost = dim_add(cost, cost_of(inner, vars, dims));
  for (const Dim extent : r.extents) {
    bool is_known = true;
    for_each_var(extent, [&](Dim var) { is_known &= std::ranges::count(dims, var) != 0; });
    if (is_known) cost = dim_mul(cost, extent);
  }
  return cost;
}

}  // namespace

Dim work_of(const Computation& c) {
  constexpr int64_t kVectorBytes = 64, kStore = 2 * kQuarters;
  std::vector<Dim> vars;
  for (size_t k = 0; k < c.vars.size(); ++k)
    if (!is_const(c.extents[k], 1)) vars.push_back(c.vars[k]);
  Dim cost = dim_const(cost_of(c.value, vars) + kStore);
  for (const Reduction& r : c.reductions) cost = dim_add(cost, cost_of(r, vars, c.dims));
  for (const RunningResult& r : c.running_results) cost = dim_add(cost, dim_const(cost_of(r.value, vars)));
  const auto bytes = static_cast<int64_t>(c.buffers[static_cast<size_t>(output_of(c.buffers))].dtype.bytes());
  return dim_floordiv(dim_mul(cost, dim_product(c.extents)),
                      dim_const(kQuarters * std::max<int64_t>(kVectorBytes / bytes, 1)));
}

}  // namespace quern::loops
