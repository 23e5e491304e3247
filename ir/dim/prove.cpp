#include <algorithm>

#include "ir/dim/prover.h"

namespace quern {

using namespace dim_detail;

namespace {

constexpr int kFuel = 300;

std::vector<Dim> atoms_of(Dim d) {
  std::vector<Dim> out;
  for (const TermView term : Terms(d)) {
    for (Dim atom : term.atoms) {
      if (std::ranges::find(out, atom) == out.end()) out.push_back(atom);
    }
  }
  return out;
}

/// `p` with the atom replaced as a factor of terms, but not inside other atoms.
Dim replace_factor(Dim p, Dim atom, Dim value) {
  Dim out = dim_const(0);
  Poly kept;  // added once: there may be many
  for (const TermView term : Terms(p)) {
    const auto power = std::ranges::count(term.atoms, atom);
    if (power == 0) kept.push_back(Term(term));
    if (power == 0 || is_const(value, 0)) continue;
    Dim factor = value;
    for (auto i = power; i > 1; --i) factor = dim_mul(factor, value);
    Term rest(term);
    rest.atoms.erase_all(atom);
    out = dim_add(out, dim_mul(from_term(rest), factor));
  }
  return dim_add(from_poly(kept), out);
}

Dim first_choice_inside(Dim d) {
  if (is_choice(d)) return d;
  for (Dim arg : d->args) {
    if (Dim found = first_choice_inside(arg)) return found;
  }
  return nullptr;
}

}  // namespace

// --- bounds ----------------------------------------------------------------------------------------------

bool DimProver::is_positive_divisor(Dim d, int depth) {
  if (as_const(d)) return d->value > 0;
  // Not 0, since the quotient has a value.
  return lower(d).value_or(-1) >= 0 || prove(d, depth + 8);
}

DimProver::Split DimProver::split(Dim p, Dim atom) {
  std::vector<Poly> powers;
  for (const TermView term : Terms(p)) {
    size_t power = static_cast<size_t>(std::ranges::count(term.atoms, atom));
    if (power == 0) continue;
    if (powers.size() < power) powers.resize(power);
    powers[power - 1].emplace_back(term).atoms.erase_all(atom);
  }
  Split out{Sign::Unknown, powers.size() <= 1, dim_const(0)};
  if (powers.empty()) return out;
  out.coefficient = from_poly(powers.front());
  out.sign = sign_of(powers.back());
  for (const Poly& power : std::span(powers).first(powers.size() - 1)) {
    if (!power.empty() && sign_of(power) != out.sign) out.sign = Sign::Unknown;
  }
  // Powers of an atom that may be negative are not monotone.
  if (!out.linear && lower(atom).value_or(-1) < 0) out.sign = Sign::Unknown;
  return out;
}

Dim DimProver::upper_of_index(Dim var) const {
  const Dim* extent = facts_.extent_of(var);
  return extent ? dim_sub(*extent, dim_const(1)) : nullptr;
}

/// An upper (or lower) bound of `e` with fewer index variables; `e` itself if none is found.
Dim DimProver::bound(Dim e, bool upper, int depth) {
  for (int round = 0; round < 8 && depth < kMaxProofDepth; ++round) {
    Dim before = e;
    for (Dim atom : atoms_of(e)) {
      Split parts = split(e, atom);
      if (parts.sign == Sign::Unknown) continue;
      const bool up = (parts.sign == Sign::NonNegative) == upper;
      Dim limit = nullptr;
      if (facts_.extent_of(atom)) {
        limit = up ? upper_of_index(atom) : dim_const(0);
      } else if (atom->kind == DimKind::FloorMod && is_positive_divisor(atom->args[1], depth)) {
        limit = up ? dim_sub(atom->args[1], dim_const(1)) : dim_const(0);
      } else if (atom->kind == DimKind::FloorDiv && parts.linear &&
                 is_positive_divisor(atom->args[1], depth)) {
        limit = dim_floordiv(bound(atom->args[0], up, depth + 8), atom->args[1]);
      }
      if (limit && limit != atom) e = replace_factor(e, atom, limit);
    }
    if (e == before) break;
  }
  return e;
}

// --- the search ------------------------------------------------------------------------------------------

bool DimProver::nonnegative(Dim d) {
  if (is_open(d)) return false;
  const DimArena::Use use(arena_);
  fuel_ = kFuel;
  tried_.clear();
  return prove(d, 0);
}

bool DimProver::less_equal(Dim a, Dim b) {
  const DimArena::Use use(arena_);
  return nonnegative(dim_sub(b, a));
}

bool DimProver::in_range(Dim d, Dim bound) {
  const DimArena::Use use(arena_);
  return nonnegative(d) && nonnegative(dim_sub(dim_sub(bound, d), dim_const(1)));
}

bool DimProver::prove(Dim p, int depth) {
  if (fuel_ <= 0 || depth > kMaxProofDepth || !ProofBudget::take()) return false;
  --fuel_;
  p = tighten(p);
  if (as_const(p)) return p->value >= 0;
  if (lower(p).value_or(-1) >= 0) return true;
  if (!tried_.emplace(p, context_).second) return false;
  return prove_without_hypotheses(p, depth) || use_hypothesis(p, depth);
}

bool DimProver::prove_without_hypotheses(Dim p, int depth) {
  const std::vector<Dim> atoms = atoms_of(p);
  if (Dim index = choose_index(p, atoms)) return eliminate_index(p, index, depth);
  for (Dim atom : atoms) {
    if (atom->kind == DimKind::FloorDiv && eliminate_floordiv(p, atom, depth)) return true;
  }
  for (Dim atom : atoms) {
    if (atom->kind == DimKind::FloorMod && eliminate_floormod(p, atom, depth)) return true;
  }
  for (Dim atom : atoms) {
    if (is_choice(atom)) return eliminate_choice(p, atom, depth);
  }
  for (Dim atom : atoms) {
    if (Dim inner = first_choice_inside(atom)) return prove_each_case(p, inner, depth);
  }
  for (Dim atom : atoms) {
    if (facts_.extent_of(atom) && eliminate_index(p, atom, depth)) return true;
  }
  return false;
}

/// An index variable that occurs in no other atom and in no other variable's extent: its elimination is
/// lossless.
Dim DimProver::choose_index(Dim p, const std::vector<Dim>& atoms) const {
  for (Dim var : atoms) {
    if (!facts_.extent_of(var)) continue;
    bool free = std::ranges::none_of(atoms, [&](Dim other) {
      if (other == var) return false;
      const Dim* extent = facts_.extent_of(other);
      return contains_var(other, var) || (extent && contains_var(*extent, var));
    });
    Linear parts = linear_in(p, var).value_or(Linear{nullptr, nullptr});
    if (free && parts.coefficient) return var;
  }
  return nullptr;
}

bool DimProver::eliminate_index(Dim p, Dim var, int depth) {
  const Split parts = split(p, var);
  Dim at_start = replace_factor(p, var, dim_const(0));
  if (parts.sign == Sign::NonNegative) return prove(at_start, depth + 1);
  Dim at_end = replace_factor(p, var, upper_of_index(var));
  if (parts.sign == Sign::NonPositive) return prove(at_end, depth + 1);
  // Linear on an interval: minimal at one of its ends.
  return parts.linear && prove(at_start, depth + 1) && prove(at_end, depth + 1);
}

/// e / k, if that is 0 or -1.
std::optional<Dim> DimProver::small_quotient(Dim dividend, Dim divisor, int depth) {
  Dim last = dim_sub(dim_sub(divisor, dim_const(1)), dividend);
  if (prove(dividend, depth) && prove(last, depth)) return dim_const(0);
  Dim below = dim_sub(dim_const(-1), dividend);
  if (prove(below, depth) && prove(dim_add(dividend, divisor), depth)) return dim_const(-1);
  return std::nullopt;
}

bool DimProver::eliminate_floordiv(Dim p, Dim atom, int depth) {
  Dim dividend = atom->args[0];
  Dim divisor = atom->args[1];
  if (!is_positive_divisor(divisor, depth)) return false;
  if (std::optional<Dim> value = small_quotient(dividend, divisor, depth + 4)) {
    return prove(replace_factor(p, atom, *value), depth + 1);
  }
  const Split parts = split(p, atom);
  Dim rounded = dim_sub(dividend, dim_floormod(dividend, divisor));
  if (parts.linear) {
    std::optional<PolyDivision> exact = poly_divide(to_poly(parts.coefficient), to_poly(divisor));
    if (exact && exact->remainder.empty()) {
      Dim rest = replace_factor(p, atom, dim_const(0));
      if (prove(dim_add(rest, dim_mul(from_poly(exact->quotient), rounded)), depth + 1)) return true;
    }
  }
  if (parts.sign != Sign::Unknown) {
    const bool upper = parts.sign == Sign::NonPositive;
    Dim limit = dim_floordiv(bound(dividend, upper, depth), divisor);
    if (limit != atom && prove(replace_factor(p, atom, limit), depth + 1)) return true;
  }
  if (!parts.linear) return false;
  // k*p + k - 1 >= 0 implies p >= 0 for integers.
  Dim rest = dim_mul(replace_factor(p, atom, dim_const(0)), divisor);
  Dim scaled = dim_add(rest, dim_mul(parts.coefficient, rounded));
  return prove(dim_add(scaled, dim_sub(divisor, dim_const(1))), depth + 4);
}

bool DimProver::eliminate_floormod(Dim p, Dim atom, int depth) {
  Dim divisor = atom->args[1];
  if (!is_positive_divisor(divisor, depth)) return false;
  const Split parts = split(p, atom);
  Dim at_zero = replace_factor(p, atom, dim_const(0));
  if (parts.sign == Sign::NonNegative) return prove(at_zero, depth + 1);
  Dim at_last = replace_factor(p, atom, dim_sub(divisor, dim_const(1)));
  if (parts.sign == Sign::NonPositive) {
    if (prove(at_last, depth + 1)) return true;
    // e % k <= e for e >= 0.
    return prove(atom->args[0], depth + 4) && prove(replace_factor(p, atom, atom->args[0]), depth + 1);
  }
  return parts.linear && prove(at_zero, depth + 1) && prove(at_last, depth + 1);
}

/// min, max and broadcast equal one of their operands.
bool DimProver::eliminate_choice(Dim p, Dim atom, int depth) {
  const Sign sign = split(p, atom).sign;
  const bool any_operand_bounds = (atom->kind == DimKind::Min && sign == Sign::NonPositive) ||
                                  (atom->kind == DimKind::Max && sign == Sign::NonNegative);
  if (any_operand_bounds) {
    for (Dim arg : atom->args) {
      if (prove(replace_factor(p, atom, arg), depth + 1)) return true;
    }
  }
  return prove_each_case(p, atom, depth);
}

bool DimProver::prove_each_case(Dim p, Dim choice, int depth) {
  for (Dim winner : choice->args) {
    std::vector<Dim> known;
    for (Dim other : choice->args) {
      if (other == winner || choice->kind == DimKind::Broadcast) continue;
      known.push_back(choice->kind == DimKind::Min ? dim_sub(other, winner) : dim_sub(winner, other));
    }
    if (!prove_assuming(replace_nodes(p, {{choice, winner}}), known, depth + 1)) return false;
  }
  return true;
}

bool DimProver::prove_assuming(Dim p, const std::vector<Dim>& nonnegative, int depth) {
  const size_t count = hypotheses_.size();
  const int context = context_;
  for (Dim d : nonnegative) {
    d = tighten(d);
    if (as_const(d) && d->value < 0) {
      hypotheses_.resize(count);
      return true;  // the case does not occur
    }
    if (!as_const(d)) hypotheses_.push_back(d);
  }
  context_ = ++last_context_;
  const bool proved = prove(p, depth);
  hypotheses_.resize(count);
  context_ = context;
  return proved;
}

/// p >= 0 follows from s*p - t*h >= 0 for a known h >= 0, a positive s and a nonnegative t; s and t are
/// chosen to cancel a negative term of p.
bool DimProver::use_hypothesis(Dim p, int depth) {
  const std::vector<Dim> all = hypotheses_;
  const int context = context_;
  for (size_t at = 0; at < all.size(); ++at) {
    for (const TermView goal : Terms(p)) {
      if (goal.coefficient >= 0 || goal.atoms.empty()) continue;
      for (const TermView known : Terms(all[at])) {
        if (known.coefficient >= 0 || known.atoms.empty()) continue;
        std::optional<Term> monomial = divide_term({1, goal.atoms}, {1, known.atoms});
        if (!monomial || !is_nonnegative(*monomial)) continue;
        const int64_t common = gcd(goal.coefficient, known.coefficient);
        Dim s = dim_const(-(known.coefficient / common));
        Dim t = dim_mul(dim_const(-(goal.coefficient / common)), from_term(*monomial));
        // Each hypothesis is used once per path.
        hypotheses_.erase(hypotheses_.begin() + static_cast<std::ptrdiff_t>(at));
        context_ = ++last_context_;
        const bool proved = prove(dim_sub(dim_mul(p, s), dim_mul(t, all[at])), depth + 8);
        hypotheses_ = all;
        context_ = context;
        if (proved) return true;
      }
    }
  }
  return false;
}

// --- questions -------------------------------------------------------------------------------------------

namespace {

bool follows(const Goal& goal, const Facts& facts) {
  DimArena arena;
  const DimArena::Use use(arena);
  Dim d = goal.less ? dim_sub(goal.more, goal.less) : goal.more;
  if (goal.gap != 0) d = dim_sub(d, dim_const(goal.gap));
  if (is_open(d)) return false;
  DimProver prover(facts);
  prover.assume_evaluated(d);
  if (prover.nonnegative(d)) return true;
  // The search above handles products; the decision procedure for linear arithmetic is complete.
  Dim negative = dim_sub(dim_const(-1), d);
  return prove_impossible({}, {{negative}}, facts);
}

bool prove(const Goal& goal, const Facts& facts) {
  const auto search = [&] { return follows(goal, facts); };
  if (is_open(goal.more) || (goal.less && is_open(goal.less))) return search();
  return facts.answers().proved.of(goal, search);
}

}  // namespace

bool prove_nonnegative(Dim d, const Facts& facts) { return prove({d, nullptr, 0}, facts); }
bool prove_less(Dim a, Dim b, const Facts& facts) { return prove({b, a, 1}, facts); }
bool prove_less_equal(Dim a, Dim b, const Facts& facts) { return prove({b, a, 0}, facts); }

}  // namespace quern
