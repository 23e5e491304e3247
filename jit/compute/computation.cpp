// Substitution of dims in computations and their values.

#include <algorithm>

#include "ir/base/result.h"
#include "jit/compute/computation.h"

namespace quern::loops {

void for_each_value(const Reduction& r, const ValueVisitor& visit) {
  for (const BoundsCheck& c : r.checks) for_each_value(c.computed, visit);
  for_each_value(r.value, visit);
  for_each_value(r.index_value, visit);
  for (const Reduction& inner : r.inner) for_each_value(inner, visit);
}

void for_each_value(const Computation& c, const ValueVisitor& visit) {
  for (const Reduction& r : c.reductions) for_each_value(r, visit);
  for_each_value(c.value, visit);
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

void substitute(Reduction& reduction, const DimMap& map) {
  map_dims(reduction, [&map](Dim d) { return quern::substitute(d, map); });
}

void for_each_dim(const Reduction& r, const DimVisitor& visit) {
  for (const Dim extent : r.extents) visit(extent);
  for (const BoundsCheck& c : r.checks) for_each_dim(c, visit);
  for_each_dim(r.value, visit);
  for_each_dim(r.index_value, visit);
  for (const Reduction& inner : r.inner) for_each_dim(inner, visit);
}

void for_each_dim(const Computation& c, const DimVisitor& visit) {
  for (const Reduction& r : c.reductions) for_each_dim(r, visit);
  for_each_dim(c.value, visit);
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

/// Whether computing the offsets of a load may stop the kernel.
bool has_stopping_place(const LoadValue& load) {
  const auto stops = [](const Value& v) {
    auto* checked = as<CheckedValue>(v);
    return checked && checked->trap > 0;
  };
  return std::ranges::any_of(load.computed,
                             [&](const ComputedOffset& offset) { return any_of(offset.index, stops); });
}

/// Whether a non-computed check proves the load out of bounds.
bool is_outside(const LoadValue& load, const Facts& facts) {
  return std::ranges::any_of(load.checks, [&](const BoundsCheck& check) {
    return !check.computed && (prove_less(check.index, dim_const(0), facts) ||
                               prove_less_equal(check.extent, check.index, facts));
  });
}

/// Implements `without_checks`, except for offsets of loads and computed checks.
struct WithoutChecks {
  const Facts& facts;

  ValuePtr operator()(const ValuePtr& value) const {
    if (!value) return nullptr;
    auto* load = as<LoadValue>(value);
    if (load && load->otherwise && is_outside(*load, facts) && !has_stopping_place(*load))
      return (*this)(load->otherwise);
    return visit(*value, [this](const auto& node) { return this->image(node); });
  }
  template <class Node>
  ValuePtr image(Node node) const {
    for_each_field(*this, node);
    if constexpr (std::is_same_v<Node, LoadValue>)
      if (node.checks.empty()) node.otherwise = nullptr;
    return make(std::move(node));
  }

  void operator()(role::Child, ValuePtr& child) const { child = (*this)(child); }
  void operator()(role::Child, std::vector<ValuePtr>& children) const {
    for (ValuePtr& child : children) child = (*this)(child);
  }
  void operator()(role::Otherwise, ValuePtr& otherwise) const { otherwise = (*this)(otherwise); }
  void operator()(role::Checks, std::vector<BoundsCheck>& checks) const {
    std::erase_if(checks, [this](const BoundsCheck& check) { return holds(check, facts); });
  }
  template <class Role, class T>
  void operator()(Role, const T&) const {}
};

}  // namespace

ValuePtr without_checks(const ValuePtr& value, const Facts& facts) { return WithoutChecks{facts}(value); }

int output_of(const std::vector<Buffer>& buffers) {
  const auto output =
      std::find_if(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.is_output; });
  QUERN_CHECK(output != buffers.end());
  return static_cast<int>(output - buffers.begin());
}

namespace {

/// The least number by which the index alone is divided, and which divides its extent; 0 for none.
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

/// Removes or splits a loop: `vars` and `extents` are those of the result or of a reduction of `c`.
bool simplify_loop(Computation& c, std::vector<Dim>& vars, std::vector<Dim>& extents, size_t k) {
  const auto extent = as_const(extents[k]);
  const Dim var = vars[k];
  if (!extent) return false;
  if (*extent == 1) {
    vars.erase(vars.begin() + static_cast<ptrdiff_t>(k));
    extents.erase(extents.begin() + static_cast<ptrdiff_t>(k));
    const DimMap gone{{var, dim_const(0)}};
    map_dims(c, [&](Dim d) { return quern::substitute(d, gone); });
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
