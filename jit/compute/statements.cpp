#include "jit/compute/statements.h"

#include <algorithm>

namespace quern::loops {

void open_reduction(const Reduction& r, Block& body) {
  body.push_back(declare(r.local, r.accumulator, constant(reduce_identity(r.kind, r.accumulator))));
  if (r.index_local >= 0)
    body.push_back(declare(r.index_local, DType::index(), constant(Scalar::from_int(DType::index(), 0))));
}

void add_reduction(const Reduction& r, const ReductionLoop& loop, Block& body) {
  if (r.is_let) {
    for (const Reduction& nested : r.inner) add_reduction(nested, loop, body);
    body.push_back(declare(r.local, r.accumulator, r.value));
    return;
  }
  open_reduction(r, body);
  Block inner;
  for (const Reduction& nested : r.inner) add_reduction(nested, loop, inner);
  inner.push_back(make(Reduce{.local = r.local,
                              .reduce = r.kind,
                              .value = r.value,
                              .checks = r.checks,
                              .index_local = r.index_local,
                              .index_value = r.index_value}));
  for (size_t k = r.vars.size(); k-- > 0;) inner = {loop(r.vars[k], r.extents[k], std::move(inner))};
  body.insert(body.end(), inner.begin(), inner.end());
}

namespace {

constexpr int64_t kQuarters = 4;  ///< per cycle, the unit of costs

int64_t cost_of(const ApplyValue& function) {
  if (function.op == ScalarOp::Div || function.op == ScalarOp::Mod) return 4 * kQuarters;
  if (!takes_long(function)) return kQuarters / 2;
  return (function.op == ScalarOp::Pow ? 32 : 8) * kQuarters;
}

/// Quarters of a cycle for a vector of the value itself. Values that do not depend on all of `vars` are in
/// registers or in a near cache.
int64_t own_cost_of(const Value& value, const std::vector<Dim>& vars) {
  if (auto* apply = as<ApplyValue>(value)) return cost_of(*apply);
  if (as<CastValue>(value) || as<SelectValue>(value)) return kQuarters / 2;
  auto* load = as<LoadValue>(value);
  if (!load) return 0;
  const bool moves = std::ranges::all_of(vars, [&](Dim var) { return contains_var(load->offset, var); });
  return (moves ? kQuarters : 0) + (load->computed.empty() ? 0 : 16 * kQuarters);
}

int64_t cost_of(const ValuePtr& value, const std::vector<Dim>& vars) {
  int64_t cost = 0;
  for_each_value(value, [&](const Value& v) { cost += own_cost_of(v, vars); });
  return cost;
}

/// The same for all terms of a reduction; extents that depend on indices do not count.
Dim cost_of(const Reduction& r, const std::vector<Dim>& vars, const std::vector<Dim>& dims) {
  auto* product = as<ApplyValue>(r.value);
  const bool is_product =
      r.kind == ReduceKind::Sum && product && product->op == ScalarOp::Mul;  // multiply-adds
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
