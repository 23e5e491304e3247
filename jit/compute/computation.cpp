// Computations and their values with other dims in them.

#include <algorithm>

#include "ir/base/result.h"
#include "jit/compute/computation.h"

namespace quern::loops {

void for_each_value(const ValuePtr& value, const std::function<void(const Value&)>& visit) {
  if (!value) return;
  visit(*value);
  for (const ValuePtr& arg : value->args) for_each_value(arg, visit);
  for (const ComputedOffset& c : value->computed) for_each_value(c.index, visit);
  for (const BoundsCheck& c : value->checks) for_each_value(c.computed, visit);
  for_each_value(value->otherwise, visit);
}

void for_each_value(const Reduction& r, const std::function<void(const Value&)>& visit) {
  for (const BoundsCheck& c : r.checks) for_each_value(c.computed, visit);
  for_each_value(r.value, visit);
  for_each_value(r.index_value, visit);
  for (const Reduction& inner : r.inner) for_each_value(inner, visit);
}

ValuePtr map_values(const ValuePtr& value, const ValueFunction& f) {
  if (!value) return nullptr;
  if (ValuePtr other = f(*value)) return other;
  Value v = *value;
  for (ValuePtr& arg : v.args) arg = map_values(arg, f);
  for (ComputedOffset& c : v.computed) c.index = map_values(c.index, f);
  for (BoundsCheck& c : v.checks) c.computed = map_values(c.computed, f);
  v.otherwise = map_values(v.otherwise, f);
  return std::make_shared<const Value>(std::move(v));
}

void map_values(Reduction& reduction, const ValueFunction& f) {
  for (BoundsCheck& check : reduction.checks) check.computed = map_values(check.computed, f);
  reduction.value = map_values(reduction.value, f);
  reduction.index_value = map_values(reduction.index_value, f);
  for (Reduction& inner : reduction.inner) map_values(inner, f);
}

void map_values(Computation& c, const ValueFunction& f) {
  for (Reduction& r : c.reductions) map_values(r, f);
  c.value = map_values(c.value, f);
}

ValuePtr map_dims(const ValuePtr& value, const DimFunction& f) {
  if (!value) return nullptr;
  Value v = *value;
  if (v.dim) v.dim = f(v.dim);
  for (Dim& index : v.indices) index = f(index);
  for (ValuePtr& arg : v.args) arg = map_dims(arg, f);
  for (ComputedOffset& c : v.computed) c = {map_dims(c.index, f), f(c.stride)};
  for (BoundsCheck& c : v.checks) c = map_dims(c, f);
  v.otherwise = map_dims(v.otherwise, f);
  return std::make_shared<const Value>(std::move(v));
}

BoundsCheck map_dims(BoundsCheck check, const DimFunction& f) {
  if (check.index) check.index = f(check.index);
  check.computed = map_dims(check.computed, f);
  check.extent = f(check.extent);
  return check;
}

void map_dims(Reduction& reduction, const DimFunction& f) {
  for (Dim& extent : reduction.extents) extent = f(extent);
  for (BoundsCheck& check : reduction.checks) check = map_dims(check, f);
  reduction.value = map_dims(reduction.value, f);
  reduction.index_value = map_dims(reduction.index_value, f);
  for (Reduction& inner : reduction.inner) map_dims(inner, f);
}

void map_dims(Computation& c, const DimFunction& f) {
  for (Reduction& r : c.reductions) map_dims(r, f);
  c.value = map_dims(c.value, f);
  c.store_offset = f(c.store_offset);
}

namespace {

DimFunction substitution(const DimMap& map) {
  return [&map](Dim d) { return substitute(d, map); };
}

}  // namespace

ValuePtr substitute(const ValuePtr& value, const DimMap& map) { return map_dims(value, substitution(map)); }
BoundsCheck substitute(BoundsCheck check, const DimMap& map) {
  return map_dims(std::move(check), substitution(map));
}
void substitute(Reduction& reduction, const DimMap& map) { map_dims(reduction, substitution(map)); }

namespace {

struct DimVisitor {
  const std::function<void(Dim)>& visit;

  void value(const ValuePtr& value) const {
    for_each_value(value, [&](const Value& v) {
      if (v.dim) visit(v.dim);
      for (const ComputedOffset& c : v.computed) visit(c.stride);
      checks(v.checks);
    });
  }
  void checks(const std::vector<BoundsCheck>& checks) const {
    for (const BoundsCheck& c : checks) {
      if (c.index) visit(c.index);
      visit(c.extent);
    }
  }
  void reduction(const Reduction& r) const {
    for (const Dim extent : r.extents) visit(extent);
    checks(r.checks);
    for (const BoundsCheck& c : r.checks) value(c.computed);
    value(r.value);
    value(r.index_value);
    for (const Reduction& inner : r.inner) reduction(inner);
  }
};

}  // namespace

void for_each_dim(const Computation& c, const std::function<void(Dim)>& visit) {
  const DimVisitor visitor{visit};
  for (const Reduction& r : c.reductions) visitor.reduction(r);
  visitor.value(c.value);
  visit(c.store_offset);
}

void for_each_quotient(Dim d, const std::function<void(Dim)>& visit) {
  if (d->kind == DimKind::FloorDiv || d->kind == DimKind::FloorMod) visit(d);
  for (const Dim arg : d->args) for_each_quotient(arg, visit);
}

bool contains(const std::vector<BoundsCheck>& checks, const BoundsCheck& check) {
  return std::any_of(checks.begin(), checks.end(), [&](const BoundsCheck& c) {
    return c.index == check.index && c.computed == check.computed && c.extent == check.extent;
  });
}

bool holds(const BoundsCheck& check, const Facts& facts) {
  return !check.computed && prove_nonnegative(check.index, facts) &&
         prove_less(check.index, check.extent, facts);
}

namespace {

/// Whether the kernel may stop where the places of a read are computed.
bool has_stopping_place(const Value& read) {
  bool stops = false;
  const auto look = [&](const Value& v) { stops |= v.trap > 0; };
  for (const ComputedOffset& offset : read.computed) for_each_value(offset.index, look);
  return stops;
}

}  // namespace

ValuePtr without_checks(const ValuePtr& value, const Facts& facts) {
  if (!value) return nullptr;
  Value v = *value;
  v.otherwise = without_checks(v.otherwise, facts);
  for (const BoundsCheck& check : v.checks) {
    if (check.computed) continue;
    const bool fails =
        prove_less(check.index, dim_const(0), facts) || prove_less_equal(check.extent, check.index, facts);
    if (fails && v.otherwise && !has_stopping_place(v)) return v.otherwise;
  }
  std::erase_if(v.checks, [&](const BoundsCheck& check) { return holds(check, facts); });
  if (v.checks.empty()) v.otherwise = nullptr;
  for (ValuePtr& arg : v.args) arg = without_checks(arg, facts);
  return std::make_shared<const Value>(std::move(v));
}

int output_of(const std::vector<Buffer>& buffers) {
  const auto output =
      std::find_if(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.is_output; });
  QUERN_CHECK(output != buffers.end());
  return static_cast<int>(output - buffers.begin());
}

namespace {

/// The least number that the index is divided by alone, and that divides its extent; 0 for none.
int64_t divisor_of(const Computation& c, Dim var, int64_t extent) {
  int64_t least = 0;
  for_each_dim(c, [&](Dim d) {
    for_each_quotient(d, [&](Dim q) {
      const auto by = as_const(q->args[1]);
      if (q->args[0] != var || !by || *by < 2 || *by >= extent || extent % *by != 0) return;
      least = least == 0 ? *by : std::min(least, *by);
    });
  });
  return least;
}

/// One loop less, or one more: `vars` and `extents` are those of the result or of a reduction of `c`.
bool simplify_loop(Computation& c, std::vector<Dim>& vars, std::vector<Dim>& extents, size_t k) {
  const auto extent = as_const(extents[k]);
  const Dim var = vars[k];
  if (!extent) return false;
  if (*extent == 1) {
    vars.erase(vars.begin() + static_cast<ptrdiff_t>(k));
    extents.erase(extents.begin() + static_cast<ptrdiff_t>(k));
    const DimMap gone{{var, dim_const(0)}};
    map_dims(c, substitution(gone));
    return true;
  }
  const int64_t by = divisor_of(c, var, *extent);
  if (by == 0) return false;
  const Dim outer = dim_var(var->name), inner = dim_var(var->name);
  Facts facts;
  facts.add_index(outer, dim_const(*extent / by));
  facts.add_index(inner, dim_const(by));
  const DimMap parts{{var, dim_add(dim_mul(outer, dim_const(by)), inner)}};
  vars[k] = outer;
  extents[k] = dim_const(*extent / by);
  vars.insert(vars.begin() + static_cast<ptrdiff_t>(k) + 1, inner);
  extents.insert(extents.begin() + static_cast<ptrdiff_t>(k) + 1, dim_const(by));
  map_dims(c, [&](Dim d) { return contains_var(d, var) ? simplify(substitute(d, parts), facts) : d; });
  return true;
}

}  // namespace

Computation with_simple_loops(Computation c) {
  if (c.running || c.scatter) return c;
  for (size_t k = 0; k < c.vars.size();)
    if (!simplify_loop(c, c.vars, c.extents, k)) ++k;
  for (size_t r = 0; r < c.reductions.size(); ++r) {
    if (is_arg(c.reductions[r].kind)) continue;
    for (size_t k = 0; k < c.reductions[r].vars.size();) {
      std::vector<Dim> vars = c.reductions[r].vars, extents = c.reductions[r].extents;
      if (!simplify_loop(c, vars, extents, k)) {
        ++k;
        continue;
      }
      c.reductions[r].vars = std::move(vars);
      c.reductions[r].extents = std::move(extents);
    }
  }
  return c;
}

}  // namespace quern::loops
