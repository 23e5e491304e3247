#include "jit/compute/residues.h"

#include <algorithm>
#include <numeric>

#include "jit/compute/statements.h"

namespace quern::loops {

namespace {

/// Loops over extents known only at run time have several variants each.
int64_t most_classes(const Computation& c) {
  const bool known =
      std::all_of(c.extents.begin(), c.extents.end(), [](Dim d) { return as_const(d).has_value(); });
  return known ? 16 : 4;
}

bool is_index(const Computation& c, Dim var) {
  const auto has = [&](const std::vector<Dim>& vars) {
    return std::count(vars.begin(), vars.end(), var) != 0;
  };
  return has(c.vars) || std::any_of(c.reductions.begin(), c.reductions.end(),
                                    [&](const Reduction& r) { return has(r.vars); });
}

/// The number of classes that eliminates all divisions of the index variable alone by constants; 1 if there
/// are none.
int64_t modulus_of(const Computation& c, Dim var, Dim extent) {
  int64_t modulus = 1;
  const auto look = [&](Dim d) {
    for_each_quotient(d, [&](Dim quotient) {
      const Dim divided = quotient->args[0];
      const auto by = as_const(quotient->args[1]);
      const auto linear = linear_in(divided, var);
      const auto factor = linear ? as_const(linear->coefficient) : std::nullopt;
      if (!by || *by < 2 || factor.value_or(0) == 0) return;
      bool alone = true;
      for_each_var(linear->rest, [&](Dim other) { alone &= !is_index(c, other); });
      // Rows of whole steps become two loops.
      const bool even = divided == var && is_const(dim_floormod(extent, dim_const(*by)), 0);
      if (alone && !even) modulus = std::lcm(modulus, *by / std::gcd(*by, *factor));
    });
  };
  for_each_dim(c, look);
  return modulus;
}

/// The number of steps of a short loop if it alone decides which terms of a sum count, as the places between the steps of a
/// strided window do; otherwise 1.
int64_t deciding_steps(const Computation& c, Dim var, Dim extent, const Facts& facts) {
  constexpr int64_t kMostSteps = 4;
  const int64_t steps = as_const(extent).value_or(1);
  if (steps < 2 || steps > kMostSteps) return 1;
  const auto decides = [&](const BoundsCheck& check) {
    if (check.computed || !contains_var(check.index, var) || holds(check, facts)) return false;
    bool alone = true;
    for_each_var(check.index, [&](Dim other) { alone &= other == var || !is_index(c, other); });
    return alone;
  };
  const auto has_one = [&](const Reduction& r) { return std::ranges::any_of(r.checks, decides); };
  return std::ranges::any_of(c.reductions, has_one) ? steps : 1;
}

/// The elements of `c` whose k-th index is `residue` modulo `modulus`.
Computation class_of(Computation c, size_t k, int64_t modulus, int64_t residue) {
  const Dim var = dim_var(c.vars[k]->name), step = dim_const(modulus);
  const DimMap here{{c.vars[k], dim_add(dim_mul(var, step), dim_const(residue))}};
  c.extents[k] = dim_floordiv(dim_add(c.extents[k], dim_const(modulus - 1 - residue)), step);
  c.vars[k] = var;
  map_dims(c, [&](Dim d) { return substitute(d, here); });
  return c;
}

/// Gives the loops fresh variables, since each loop of a kernel has its own.
void rename(Computation& c) {
  DimMap fresh;
  const auto rename_all = [&](std::vector<Dim>& vars) {
    for (Dim& var : vars) {
      const Dim own = dim_var(var->name);
      fresh.emplace(var, own);
      var = own;
    }
  };
  rename_all(c.vars);
  for (Reduction& r : c.reductions) rename_all(r.vars);
  map_dims(c, [&](Dim d) { return substitute(d, fresh); });
}

int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// Drops the first and last terms of the k-th loop for which the check fails regardless of the other indices.
void narrow(Reduction& r, size_t k, const BoundsCheck& check) {
  if (check.computed) return;
  const auto linear = linear_in(check.index, r.vars[k]);
  const auto extent = as_const(r.extents[k]), bound = as_const(check.extent);
  const auto factor = linear ? as_const(linear->coefficient) : std::nullopt;
  const auto start = linear ? as_const(linear->rest) : std::nullopt;
  if (!extent || !bound || !start || factor.value_or(0) <= 0) return;
  const int64_t first = std::max<int64_t>(0, -floor_of(*start, *factor));
  const int64_t end = std::min(*extent, floor_of(*bound - 1 - *start, *factor) + 1);
  if (first == 0 && end == *extent) return;
  const Dim var = dim_var(r.vars[k]->name);
  const DimMap here{{r.vars[k], dim_add(var, dim_const(first))}};
  r.vars[k] = var;
  substitute(r, here);
  r.extents[k] = dim_const(std::max<int64_t>(0, end - first));
}

/// Removes checks that hold for all terms of the reduction or for none.
void narrow(Reduction& r, Facts facts) {
  if (r.is_let || is_arg(r.kind)) return;
  for (size_t k = 0; k < r.vars.size(); ++k)
    for (size_t n = 0; n < r.checks.size(); ++n) narrow(r, k, BoundsCheck(r.checks[n]));
  const auto fails = [&](const BoundsCheck& check) {
    return !check.computed && (prove_less(check.index, dim_const(0), facts) ||
                               prove_less_equal(check.extent, check.index, facts));
  };
  if (is_const(dim_product(r.extents), 0) || std::ranges::any_of(r.checks, fails)) {
    r = {r.kind, {}, {}, constant(reduce_identity(r.kind, r.accumulator)), {}, r.accumulator, r.local};
    r.is_let = true;
    return;
  }
  for (size_t k = 0; k < r.vars.size(); ++k) facts.add_index(r.vars[k], r.extents[k]);
  r.value = without_checks(r.value, facts);
  std::erase_if(r.checks, [&](const BoundsCheck& check) { return holds(check, facts); });
}

Facts facts_of(const Computation& c) {
  Facts facts;
  for (size_t k = 0; k < c.vars.size(); ++k) facts.add_index(c.vars[k], c.extents[k]);
  return facts;
}

Computation narrowed(Computation c) {
  const Facts facts = facts_of(c);
  for (Reduction& r : c.reductions) narrow(r, facts);
  return c;
}

bool has_sums(const Computation& c) {
  return !std::ranges::all_of(c.reductions, [](const Reduction& r) { return r.is_let; });
}

}  // namespace

std::vector<Computation> residue_classes(const Computation& computation) {
  if (computation.running || computation.scatter || !has_sums(computation)) return {computation};
  const Facts facts = facts_of(computation);
  std::vector<int64_t> moduli;
  int64_t count = 1;
  for (size_t k = 0; k < computation.vars.size(); ++k) {
    const Dim var = computation.vars[k], extent = computation.extents[k];
    moduli.push_back(
        std::lcm(modulus_of(computation, var, extent), deciding_steps(computation, var, extent, facts)));
    count *= moduli.back();
    if (count > most_classes(computation)) return {computation};
  }
  if (count == 1) return {computation};
  std::vector<Computation> classes{computation};
  for (size_t k = 0; k < moduli.size(); ++k) {
    std::vector<Computation> finer;
    for (const Computation& c : classes) {
      // A class without terms has nothing to decide.
      if (moduli[k] > 1 && !has_sums(c)) {
        finer.push_back(c);
        continue;
      }
      for (int64_t residue = 0; residue < moduli[k]; ++residue)
        finer.push_back(narrowed(class_of(c, k, moduli[k], residue)));
    }
    classes = std::move(finer);
  }
  std::erase_if(classes, [](const Computation& c) { return is_const(dim_product(c.extents), 0); });
  if (classes.empty()) return {computation};
  for (Computation& c : classes) {
    rename(c);
    c = with_simple_loops(narrowed(std::move(c)));
  }
  return classes;
}

}  // namespace quern::loops
