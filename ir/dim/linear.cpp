// Translates questions about dims to integer linear arithmetic (ir/dim/omega.h): nonlinear monomials become
// unknowns, floordiv and floormod by a constant become a quotient with bounds, and min, max and broadcast
// become one case per operand.

#include <algorithm>
#include <functional>
#include <map>

#include "ir/dim/arena.h"
#include "ir/dim/omega.h"
#include "ir/dim/poly.h"

namespace quern {

using namespace dim_detail;

namespace {

constexpr size_t kMaxCases = 64;

Dim innermost_choice(Dim d) {
  for (Dim arg : d->args)
    if (Dim found = innermost_choice(arg)) return found;
  return is_choice(d) ? d : nullptr;
}

/// Dims that are 0 and dims that are >= 0.
struct System {
  std::vector<Dim> zero, nonnegative;
};

/// The system as constraints over numbered unknowns.
class Linearizer {
 public:
  explicit Linearizer(const Facts& facts) : facts_(facts) {}

  Feasibility solve(const System& system) {
    for (Dim d : system.zero) equalities_.push_back(row(d));
    for (Dim d : system.nonnegative) inequalities_.push_back(row(d));
    return overflow_ ? Feasibility::Unknown
                     : integers_satisfy(std::move(equalities_), std::move(inequalities_));
  }

 private:
  LinearConstraint row(Dim d) {
    LinearConstraint out;
    for (const TermView term : Terms(d)) {
      if (term.atoms.empty()) {
        out.constant = term.coefficient;
        continue;
      }
      size_t at = unknown(term.atoms);
      if (out.coefficients.size() <= at) out.coefficients.resize(at + 1);
      out.coefficients[at] = term.coefficient;
    }
    return out;
  }

  size_t unknown(std::span<const Dim> atoms) {
    auto [entry, added] = unknowns_.try_emplace(Atoms(atoms), unknowns_.size());
    const size_t number = entry->second;
    if (!added) return number;
    if (atoms.size() == 1)
      describe(atoms.front(), number);
    else if (std::ranges::all_of(atoms, [&](Dim atom) { return is_nonnegative(atom); }))
      at_least(number, 0);
    return number;
  }

  bool is_nonnegative(Dim atom) const {
    if (atom->kind == DimKind::Var) return facts_.lower_of(atom) >= 0;
    bool by_constant = atom->kind == DimKind::FloorMod && as_const(atom->args[1]).value_or(0) > 0;
    bool of_nonnegative = atom->kind == DimKind::FloorDiv && is_atom(atom->args[0]) &&
                          is_nonnegative(atom->args[0]) && as_const(atom->args[1]).value_or(0) > 0;
    return by_constant || of_nonnegative;
  }

  void at_least(size_t number, int64_t bound) {
    LinearConstraint lower;
    lower.coefficients.resize(number + 1);
    lower.coefficients[number] = 1;
    if (bound == INT64_MIN) return;
    lower.constant = -bound;
    inequalities_.push_back(std::move(lower));
  }

  /// Adds the facts about a single unknown.
  void describe(Dim atom, size_t number) {
    if (atom->kind == DimKind::Var) {
      at_least(number, facts_.lower_of(atom));
      if (const Dim* extent = facts_.extent_of(atom))
        inequalities_.push_back(row(dim_sub(dim_sub(*extent, dim_const(1)), atom)));
      return;
    }
    bool quotient = atom->kind == DimKind::FloorDiv || atom->kind == DimKind::FloorMod;
    auto divisor = quotient ? as_const(atom->args[1]) : std::nullopt;
    if (!divisor || *divisor <= 0) return;
    // dividend = divisor * quotient + remainder, 0 <= remainder < divisor.
    auto subtract = [&](LinearConstraint& from, size_t unknown, int64_t factor) {
      if (from.coefficients.size() <= unknown) from.coefficients.resize(unknown + 1);
      overflow_ |= __builtin_sub_overflow(from.coefficients[unknown], factor, &from.coefficients[unknown]);
    };
    if (atom->kind == DimKind::FloorMod) {
      Dim rounded = dim_mul(dim_floordiv(atom->args[0], atom->args[1]), atom->args[1]);
      LinearConstraint rest = row(dim_sub(atom->args[0], rounded));
      subtract(rest, number, 1);
      equalities_.push_back(std::move(rest));
      at_least(number, 0);
      LinearConstraint below;
      below.constant = *divisor - 1;
      subtract(below, number, 1);
      inequalities_.push_back(std::move(below));
      return;
    }
    LinearConstraint remainder = row(atom->args[0]);
    subtract(remainder, number, *divisor);
    LinearConstraint below = remainder;
    for (int64_t& c : below.coefficients) c = -c;
    overflow_ |= __builtin_sub_overflow(*divisor - 1, below.constant, &below.constant);
    inequalities_.push_back(std::move(remainder));
    inequalities_.push_back(std::move(below));
  }

  const Facts& facts_;
  std::map<Atoms, size_t> unknowns_;
  std::vector<LinearConstraint> equalities_, inequalities_;
  bool overflow_ = false;
};

/// Whether no integers satisfy the system. `cases` bounds the number of cases examined.
bool impossible(const System& system, const Facts& facts, size_t& cases) {
  Dim choice = nullptr;
  for (const std::vector<Dim>* list : {&system.zero, &system.nonnegative})
    for (Dim d : *list)
      if (!choice) choice = innermost_choice(d);
  if (!choice) return cases-- > 0 && Linearizer(facts).solve(system) == Feasibility::Infeasible;
  for (Dim winner : choice->args) {
    if (cases == 0) return false;
    System one;
    DimMap image{{choice, winner}};
    for (Dim d : system.zero) one.zero.push_back(replace_nodes(d, image));
    for (Dim d : system.nonnegative) one.nonnegative.push_back(replace_nodes(d, image));
    for (Dim other : choice->args)
      if (other != winner && choice->kind != DimKind::Broadcast)
        one.nonnegative.push_back(choice->kind == DimKind::Min ? dim_sub(other, winner)
                                                               : dim_sub(winner, other));
    if (!impossible(one, facts, cases)) return false;
  }
  return true;
}

}  // namespace

bool prove_impossible(std::span<const Dim> zero, std::span<const Dim> nonnegative, const Facts& facts) {
  DimArena arena;
  const DimArena::Use use(arena);
  System system{{zero.begin(), zero.end()}, {nonnegative.begin(), nonnegative.end()}};
  for (Dim d : facts.nonnegative()) system.nonnegative.push_back(d);
  if (std::ranges::any_of(system.zero, is_open) || std::ranges::any_of(system.nonnegative, is_open))
    return false;
  size_t cases = kMaxCases;
  return impossible(system, facts, cases);
}

bool prove_different(Dim a, Dim b, const Facts& facts) {
  DimArena arena;
  const DimArena::Use use(arena);
  Dim difference = dim_sub(a, b);
  if (auto constant = as_const(difference)) return *constant != 0;
  return prove_impossible({{difference}}, {}, facts);
}

bool prove_equal(Dim a, Dim b, const Facts& facts) {
  return a == b || (prove_less_equal(a, b, facts) && prove_less_equal(b, a, facts));
}

}  // namespace quern
