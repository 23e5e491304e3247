#include "passes/gradient/preimage.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/base/proof_budget.h"
#include "passes/gradient/index_system.h"

namespace quern {

namespace {

constexpr size_t kMostCases = 64;       ///< of min and max
constexpr int64_t kMostSteps = 12'000;  ///< of proofs, per read
constexpr int64_t kLargestModulus = 64;

/// A variable of a solved system between its bounds.
struct Bounds {
  std::vector<std::pair<Dim, const SystemConstraint*>> lower, upper;
};

// The extents and guards of the free variables of a solved system.
class Ranges {
 public:
  Ranges(const IndexSystem& system, std::span<const Dim> targets, Facts facts)
      : system_(system), facts_(std::move(facts)) {
    for (Dim target : targets) for_each_var(target, [this](Dim var) { moving_.push_back(var); });
  }

  /// Nothing if a variable has no bounds.
  std::optional<Preimage> run() {
    std::vector<SystemConstraint> open(system_.nonnegative().begin(), system_.nonnegative().end());
    std::vector<Dim> free(system_.unknowns().begin(), system_.unknowns().end());
    // From last to first: the bounds of each in terms of the preceding ones.
    std::vector<std::vector<SystemConstraint>> of(free.size());
    std::vector<SystemConstraint> left = open;
    for (size_t i = free.size(); i-- > 0;) {
      auto [with, without] = split(left, free[i]);
      of[i] = with;
      left = without;
      project(free[i], with, left);
    }
    for (const SystemConstraint& c : system_.nonnegative())
      if (std::ranges::none_of(free, [&](Dim x) { return contains_var(c.value, x); }))
        guards_.push_back(c.value);
    for (size_t i = 0; i < free.size(); ++i)
      if (!range(free[i], of[i])) return std::nullopt;
    return result();
  }
  /// Extents that depend on the targets.
  std::vector<Dim> ragged;

 private:
  using Constraints = std::vector<SystemConstraint>;

  static std::pair<Constraints, Constraints> split(const Constraints& all, Dim var) {
    std::pair<Constraints, Constraints> parts;
    for (const SystemConstraint& c : all)
      (contains_var(c.value, var) ? parts.first : parts.second).push_back(c);
    return parts;
  }

  // Fourier-Motzkin: what the bounds of `var` imply for the others. Needed to bound these, otherwise
  // redundant.
  static void project(Dim var, const Constraints& with, Constraints& left) {
    constexpr size_t kMost = 64;
    for (const SystemConstraint& a : with)
      for (const SystemConstraint& b : with) {
        auto low = linear_in(a.value, var), high = linear_in(b.value, var);
        auto up = low ? as_const(low->coefficient) : std::nullopt;
        auto down = high ? as_const(high->coefficient) : std::nullopt;
        if (!up || !down || *up <= 0 || *down >= 0 || left.size() >= kMost) continue;
        Dim sum = dim_add(dim_mul(low->rest, dim_const(-*down)), dim_mul(high->rest, dim_const(*up)));
        if (!as_const(sum)) left.push_back({sum, kNoBox, true});
      }
  }

  bool moves(Dim d) const {
    return std::ranges::any_of(moving_, [&](Dim var) { return contains_var(d, var); });
  }

  bool range(Dim var, const Constraints& constraints) {
    Bounds bounds;
    Constraints now;
    for (const SystemConstraint& c : constraints) {
      SystemConstraint here = c;
      here.value = substitute(c.value, shift_);
      now.push_back(here);
    }
    for (const SystemConstraint& c : now) {
      auto linear = linear_in(c.value, var);
      if (!linear) return false;
      if (prove_less(dim_const(0), linear->coefficient, system_.facts()))
        bounds.lower.emplace_back(dim_sub(dim_const(0), dim_floordiv(linear->rest, linear->coefficient)), &c);
      else if (prove_less(linear->coefficient, dim_const(0), system_.facts()))
        bounds.upper.emplace_back(dim_floordiv(linear->rest, dim_sub(dim_const(0), linear->coefficient)), &c);
      else
        return false;
    }
    if (bounds.lower.empty() || bounds.upper.empty()) return false;
    Dim from = nullptr, count = nullptr;
    const SystemConstraint *low = nullptr, *high = nullptr;
    choose(bounds, from, count, low, high);
    Dim fresh = dim_var(var->name);
    if (!from) {
      from = bounds.lower[0].first;
      Dim last = bounds.upper[0].first;
      for (const auto& [d, _] : bounds.lower) from = dim_max(from, d);
      for (const auto& [d, _] : bounds.upper) last = dim_min(last, d);
      count = dim_max(dim_const(0), dim_add(dim_sub(last, from), dim_const(1)));
      ragged.push_back(count);
    } else {
      count = dim_max(dim_const(0), count);
    }
    count = simplify(count, facts_);
    shift_.insert_or_assign(var, dim_add(fresh, from));
    for (auto& [_, image] : shift_) image = substitute(image, DimMap{{var, dim_add(fresh, from)}});
    facts_.add_index(fresh, count);
    vars_.push_back(fresh);
    extents_.push_back(count);
    if (low)
      for (const SystemConstraint& c : now)
        if (&c != low && &c != high && !c.implied) guards_.push_back(c.value);
    return true;
  }

  // Chooses bounds whose distance depends neither on the element nor on other variables: the closest ones or,
  // if that is unknown, those of the innermost variable (of a window rather than an axis). None if narrower
  // bounds with varying distance exist: a sum over a whole axis would be long.
  void choose(const Bounds& bounds, Dim& from, Dim& count, const SystemConstraint*& low,
              const SystemConstraint*& high) {
    auto box = [](const SystemConstraint* a, const SystemConstraint* b) { return std::min(a->box, b->box); };
    int narrowest = kNoBox;
    for (const auto& [a, lower] : bounds.lower)
      for (const auto& [b, upper] : bounds.upper) {
        Dim distance = dim_add(dim_sub(b, a), dim_const(1));
        if (moves(distance)) distance = simplify(distance, facts_);
        if (moves(distance) || std::ranges::any_of(vars_, [&](Dim v) { return contains_var(distance, v); })) {
          narrowest = std::max(narrowest, box(lower, upper));
          continue;
        }
        bool better = !count || prove_less(distance, count, facts_);
        if (!better && !prove_less_equal(count, distance, facts_))
          better = box(lower, upper) > box(low, high);
        if (better) std::tie(from, count, low, high) = std::tuple(a, distance, lower, upper);
      }
    if (count && !is_const(count, 1) && narrowest > box(low, high)) {
      from = count = nullptr;
      low = high = nullptr;
    }
  }

  Preimage result() {
    Preimage out{vars_, extents_, {}, {}, {}};
    for (const auto& [var, value] : system_.values())
      out.values.emplace(var, simplify(substitute(value, shift_), facts_));
    for (Dim d : system_.zero()) {
      Dim now = simplify(substitute(d, shift_), facts_);
      if (!is_const(now, 0)) out.zero.push_back(now);
    }
    for (Dim d : guards_) {
      Dim now = substitute(d, shift_);
      if (!prove_nonnegative(now, facts_)) out.nonnegative.push_back(now);
    }
    return out;
  }

  const IndexSystem& system_;
  Facts facts_;
  std::vector<Dim> moving_;  ///< the variables of the targets
  std::vector<Dim> vars_, extents_, guards_;
  DimMap shift_;  ///< each free variable as its lower bound plus a variable from 0
};

bool is_empty(const Preimage& part) {
  auto negative = [](Dim d) { return as_const(d) && *as_const(d) < 0; };
  return std::ranges::any_of(part.zero, [](Dim d) { return as_const(d) && *as_const(d) != 0; }) ||
         std::ranges::any_of(part.nonnegative, negative) ||
         std::ranges::any_of(part.extents, [](Dim d) { return is_const(d, 0); });
}

// The first min or max of unknowns; null if there is none.
Dim find_choice(Dim d, std::span<const Dim> unknowns) {
  for (Dim arg : d->args)
    if (Dim found = find_choice(arg, unknowns)) return found;
  bool choice = d->kind == DimKind::Min || d->kind == DimKind::Max;
  if (!choice) return nullptr;
  return std::ranges::any_of(unknowns, [&](Dim var) { return contains_var(d, var); }) ? d : nullptr;
}

Dim find_choice(const ReadSite& site) {
  for (const auto* list : {&site.indices, &site.zero, &site.nonnegative, &site.extents})
    for (Dim d : *list)
      if (Dim found = find_choice(d, site.vars)) return found;
  return nullptr;
}

void replace_in(ReadSite& site, Dim from, Dim to) {
  DimMap map{{from, to}};
  for (auto* list : {&site.indices, &site.zero, &site.nonnegative, &site.extents})
    for (Dim& d : *list) d = substitute(d, map);
}

// `v < min(a, b) - c` becomes `v < a - c` and `v < b - c`, without case distinction.
ReadSite with_plain_ranges(ReadSite site) {
  for (size_t k = 0; k < site.vars.size(); ++k) {
    Dim choice = find_choice(site.extents[k], site.vars);
    if (!choice || choice->kind != DimKind::Min) continue;
    Dim least = dim_var("least"), extent = substitute(site.extents[k], DimMap{{choice, least}});
    auto linear = linear_in(extent, least);
    if (!linear || as_const(linear->coefficient).value_or(0) <= 0 || contains_var(linear->rest, least))
      continue;
    auto at = [&](Dim operand) { return substitute(extent, DimMap{{least, operand}}); };
    site.extents[k] = at(choice->args[0]);
    for (Dim operand : choice->args.subspan(1))
      site.nonnegative.push_back(dim_sub(dim_sub(at(operand), dim_const(1)), site.vars[k]));
  }
  return site;
}

// The site without min and max: one disjoint site per possible choice of operands.
bool without_choices(const ReadSite& site, const Facts& facts, std::vector<ReadSite>& cases) {
  if (cases.size() > kMostCases) return false;
  Dim choice = find_choice(site);
  if (!choice) {
    cases.push_back(site);
    return true;
  }
  for (size_t k = 0; k < choice->args.size(); ++k) {
    ReadSite one = site;
    bool possible = true;
    for (size_t l = 0; l < choice->args.size(); ++l) {
      if (l == k) continue;
      Dim gap = choice->kind == DimKind::Min ? dim_sub(choice->args[l], choice->args[k])
                                             : dim_sub(choice->args[k], choice->args[l]);
      // Among equal operands, the first is chosen.
      if (l < k) gap = dim_sub(gap, dim_const(1));
      possible = possible && !prove_less(gap, dim_const(0), facts);
      if (!prove_nonnegative(gap, facts)) one.nonnegative.push_back(gap);
    }
    if (!possible) continue;
    replace_in(one, choice, choice->args[k]);
    if (!without_choices(one, facts, cases)) return false;
  }
  return true;
}

// Solves each case of the site; false with a reason if one cannot be solved.
bool solve_cases(const ReadSite& given, std::span<const Dim> targets, const Facts& facts, std::string& reason,
                 const std::function<void(Preimage, const std::vector<Dim>&)>& use) {
  const ProofBudget budget(kMostSteps);
  const ReadSite site = with_plain_ranges(given);
  std::vector<ReadSite> cases;
  Facts inside = facts;
  // A range with a choice must keep the condition of its choice, since nothing else enforces it.
  for (size_t k = 0; k < site.vars.size(); ++k)
    if (find_choice(site.extents[k], site.vars))
      inside.add_nonnegative(site.vars[k]);
    else
      inside.add_index(site.vars[k], site.extents[k]);
  if (!without_choices(site, inside, cases))
    return reason = "its indices choose among too many values", false;
  for (const ReadSite& one : cases) {
    IndexSystem system(one.vars, one.extents, facts);
    for (Dim d : one.nonnegative) system.add_nonnegative(d);
    for (Dim d : one.zero) system.add_equation(d);
    for (size_t k = 0; k < targets.size(); ++k) system.add_equation(dim_sub(one.indices[k], targets[k]));
    if (!system.solve()) return reason = system.reason(), false;
    if (system.impossible()) continue;
    Ranges ranges(system, targets, facts);
    auto part = ranges.run();
    if (!part) return reason = "a variable of it has no bounds that an extent could be made of", false;
    if (budget.is_spent()) return reason = "its index equations take too many steps", false;
    if (!is_empty(*part)) use(std::move(*part), ranges.ragged);
  }
  return true;
}

// Calls `use` with each division by a constant in a dim: dividend and divisor.
void divisions(Dim d, const std::function<void(Dim, int64_t)>& use) {
  if (d->kind == DimKind::FloorDiv || d->kind == DimKind::FloorMod)
    if (auto by = as_const(d->args[1])) use(d->args[0], *by);
  for (Dim arg : d->args) divisions(arg, use);
}

}  // namespace

PreimageResult preimage(const ReadSite& site, std::span<const Dim> targets, const Facts& facts) {
  std::vector<Preimage> parts;
  std::string reason;
  bool solved = solve_cases(site, targets, facts, reason, [&](Preimage part, const std::vector<Dim>&) {
    parts.push_back(std::move(part));
  });
  if (!solved) return Unsolvable{reason};
  return parts;
}

std::vector<int64_t> residue_moduli(const ReadSite& site, std::span<const Dim> targets, const Facts& facts) {
  std::vector<int64_t> moduli(targets.size(), 1);
  auto collect = [&](Dim d) {
    divisions(d, [&](Dim divided, int64_t by) {
      for (size_t k = 0; k < targets.size(); ++k) {
        auto linear = linear_in(divided, targets[k]);
        auto factor = linear ? as_const(linear->coefficient) : std::nullopt;
        if (!factor || *factor == 0 || by <= 1) continue;
        int64_t modulus = std::lcm(moduli[k], by / std::gcd(by, *factor));
        if (modulus <= kLargestModulus) moduli[k] = modulus;
      }
    });
  };
  std::string reason;
  bool solved =
      solve_cases(site, targets, facts, reason, [&](const Preimage& part, const std::vector<Dim>& ragged) {
        for (Dim d : part.zero) collect(d);
        for (Dim d : ragged) collect(d);
      });
  if (!solved) std::ranges::fill(moduli, 1);
  return moduli;
}

}  // namespace quern
