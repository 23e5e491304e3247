// Consequences of the facts without search: lower bounds of variables and of whole dims, and hypotheses.

#include <algorithm>
#include <limits>
#include <map>

#include "ir/dim/prover.h"

namespace quern {

using namespace dim_detail;

namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();
constexpr size_t kMaxDegree = 5;

/// For an extent that is at least 1: max(0, e) is e.
Dim without_clamp(Dim extent) {
  if (extent->kind != DimKind::Max) return extent;
  Dim out = nullptr;
  for (Dim arg : extent->args) {
    if (as_const(arg) && arg->value <= 0) continue;
    out = out ? dim_max(out, arg) : arg;
  }
  return out ? out : extent;
}

}  // namespace

Dim tighten(Dim p) {
  int64_t divisor = 0;
  for (const TermView term : Terms(p)) {
    if (!term.atoms.empty()) divisor = gcd(divisor, term.coefficient);
    if (divisor == 1) return p;
  }
  if (divisor == 0) return p;
  Poly poly = to_poly(p);
  int64_t constant = constant_part(poly);
  if (constant != 0) poly.pop_back();
  Dim rest = from_poly(divide_exactly(poly, Term{divisor, {}}));
  return dim_add(rest, dim_const(*checked_floordiv(constant, divisor)));
}

// --- facts -----------------------------------------------------------------------------------------------

Facts::Answers& Facts::answers() const {
  if (!answers_) answers_ = std::make_shared<Answers>();
  return *answers_;
}

void Facts::add_index(Dim var, Dim extent) {
  answers_ = nullptr;
  extents_[var] = without_clamp(extent);
}

void Facts::add_lower(Dim var, int64_t lower) {
  answers_ = nullptr;
  auto [at, inserted] = lowers_.emplace(var, lower);
  if (!inserted) at->second = std::max(at->second, lower);
}

void Facts::add_nonnegative(Dim d) {
  answers_ = nullptr;
  nonnegative_.push_back(d);
}

const Dim* Facts::extent_of(Dim var) const {
  auto found = extents_.find(var);
  return found == extents_.end() ? nullptr : &found->second;
}

int64_t Facts::lower_of(Dim var) const {
  auto found = lowers_.find(var);
  if (found == lowers_.end()) return 0;
  return extents_.contains(var) ? std::max<int64_t>(found->second, 0) : found->second;
}

DimProver::DimProver(const Facts& facts) : facts_(facts) {
  const DimArena::Use use(arena_);
  // In creation order, so that a proof does not depend on node addresses.
  std::vector<std::pair<Dim, Dim>> indices(facts.extents_.begin(), facts.extents_.end());
  std::ranges::sort(indices, {}, [](const auto& index) { return index.first->order; });
  for (const auto& [var, extent] : indices) assume_evaluated(extent);
  for (const auto& [var, extent] : indices) assume_positive(extent);
  for (Dim d : facts.nonnegative_) assume_evaluated(d);
  for (Dim d : facts.nonnegative_) assume_nonnegative(d);
}

void DimProver::assume_evaluated(Dim d) {
  if ((d->kind == DimKind::FloorDiv || d->kind == DimKind::FloorMod) && d->args[1]->kind == DimKind::Var &&
      lower(d->args[1]) == 0) {
    raise_lower(d->args[1], 1);
  }
  for (Dim arg : d->args) assume_evaluated(arg);
}

void DimProver::raise_lower(Dim var, int64_t bound) {
  auto [at, inserted] = lowers_.emplace(var, bound);
  if (!inserted) at->second = std::max(at->second, bound);
  atom_lowers_.clear();
}

void DimProver::assume_positive(Dim extent) {
  if (extent->kind == DimKind::Const) return;
  Poly poly = to_poly(extent);
  if (extent->kind == DimKind::Min || extent->kind == DimKind::Broadcast) {
    // Operands of a broadcast are equal or 1.
    for (Dim arg : extent->args) assume_positive(arg);
  } else if (poly.size() == 1 && poly.front().coefficient > 0 && poly.front().atoms.size() > 1 &&
             std::ranges::all_of(poly.front().atoms,
                                 [&](Dim atom) { return lower(atom).value_or(-1) >= 0; })) {
    for (Dim atom : poly.front().atoms) assume_positive(atom);
  } else {
    assume_nonnegative(dim_sub(extent, dim_const(1)));
  }
}

void DimProver::assume_nonnegative(Dim d) {
  d = tighten(d);
  Poly poly = to_poly(d);
  int64_t constant = constant_part(poly);
  if (constant != 0) poly.pop_back();
  if (poly.size() == 1 && poly.front().coefficient == 1 && poly.front().atoms.size() == 1 &&
      constant > kUnbounded) {
    Dim atom = poly.front().atoms.front();
    if (atom->kind == DimKind::Var) raise_lower(atom, -constant);
    // e/k >= -c is e >= -c*k.
    if (atom->kind == DimKind::FloorDiv && is_positive_divisor(atom->args[1], kMaxProofDepth)) {
      assume_nonnegative(dim_add(atom->args[0], dim_mul(dim_const(constant), atom->args[1])));
    }
  }
  if (!as_const(d) && !d->has_any && std::ranges::find(hypotheses_, d) == hypotheses_.end())
    hypotheses_.push_back(d);
}

// --- bounds without search -------------------------------------------------------------------------------

namespace {

std::optional<int64_t> times(std::optional<int64_t> a, int64_t b) { return a ? checked_mul(*a, b) : a; }

}  // namespace

std::optional<int64_t> DimProver::lower(Dim d) { return lower_of_terms(Terms(d), 1); }

/// Of the terms times `scale`. Writes each atom as its lower bound plus a nonnegative rest; if all coefficients
/// are then nonnegative, the constant is a bound.
std::optional<int64_t> DimProver::lower_of_terms(const auto& terms, int64_t scale) {
  bool is_plain = true;  // no two terms have parts over the same atoms, but for the constants
  for (const TermView term : terms) {
    if (term.atoms.size() > kMaxDegree) return std::nullopt;
    for (Dim atom : term.atoms) {
      const std::optional<int64_t> low = lower_of_atom(atom);
      if (!low) return std::nullopt;
      is_plain = is_plain && (*low == 0 || term.atoms.size() == 1);
    }
  }
  if (!is_plain) return lower_of_expanded(terms, scale);
  int64_t sum = 0;
  for (const TermView term : terms) {
    const std::optional<int64_t> coefficient = checked_mul(term.coefficient, scale);
    if (!coefficient || (*coefficient < 0 && !term.atoms.empty())) return std::nullopt;
    std::optional<int64_t> least = coefficient;
    for (Dim atom : term.atoms) least = times(least, *lower_of_atom(atom));
    const std::optional<int64_t> added = least ? checked_add(sum, *least) : std::nullopt;
    if (!added) return std::nullopt;
    sum = *added;
  }
  return sum;
}

std::optional<int64_t> DimProver::lower_of_expanded(const auto& terms, int64_t scale) {
  std::map<Atoms, int64_t> shifted;
  for (const TermView term : terms) {
    const std::optional<int64_t> coefficient = checked_mul(term.coefficient, scale);
    if (!coefficient) return std::nullopt;
    std::vector<Term> parts = {{*coefficient, {}}};
    for (Dim atom : term.atoms) {
      const int64_t low = *lower_of_atom(atom);
      const size_t count = parts.size();
      for (size_t i = 0; i < count; ++i) {
        std::optional<int64_t> scaled = checked_mul(parts[i].coefficient, low);
        if (!scaled) return std::nullopt;
        if (*scaled != 0) parts.push_back({*scaled, parts[i].atoms});
        parts[i].atoms.push_back(atom);
      }
    }
    for (const Term& part : parts) {
      int64_t& sum = shifted[part.atoms];
      std::optional<int64_t> added = checked_add(sum, part.coefficient);
      if (!added) return std::nullopt;
      sum = *added;
    }
  }
  for (const auto& [atoms, coefficient] : shifted) {
    if (!atoms.empty() && coefficient < 0) return std::nullopt;
  }
  return shifted[{}];
}

std::optional<int64_t> DimProver::lower_of_atom(Dim atom) {
  if (auto found = atom_lowers_.find(atom); found != atom_lowers_.end()) return found->second;
  std::optional<int64_t> out;
  switch (atom->kind) {
    case DimKind::Var: {
      int64_t low = facts_.lower_of(atom);
      if (auto found = lowers_.find(atom); found != lowers_.end()) low = std::max(low, found->second);
      if (low != kUnbounded) out = low;
      break;
    }
    case DimKind::FloorDiv: {
      std::optional<int64_t> low = lower(atom->args[0]);
      std::optional<int64_t> divisor = lower(atom->args[1]);
      if (!low || !divisor || *divisor < 0) break;
      out = *low >= 0 ? 0 : *low;
      if (as_const(atom->args[1])) out = checked_floordiv(*low, atom->args[1]->value);
      break;
    }
    case DimKind::FloorMod:
      if (lower(atom->args[1]).value_or(-1) >= 0) out = 0;
      break;
    case DimKind::Min:
    case DimKind::Broadcast:
      out = std::numeric_limits<int64_t>::max();
      for (Dim arg : atom->args) {
        std::optional<int64_t> low = lower(arg);
        out = out && low ? std::optional(std::min(*out, *low)) : std::nullopt;
      }
      break;
    case DimKind::Max:
      for (Dim arg : atom->args) {
        std::optional<int64_t> low = lower(arg);
        if (low && (!out || *low > *out)) out = low;
      }
      break;
    case DimKind::Const:
    case DimKind::Any:
    case DimKind::Infer:
    case DimKind::Sum:
    case DimKind::Product: break;
  }
  atom_lowers_[atom] = out;
  return out;
}

DimProver::Sign DimProver::sign_of(const Poly& poly) {
  if (lower_of_terms(poly, 1).value_or(-1) >= 0) return Sign::NonNegative;
  if (lower_of_terms(poly, -1).value_or(-1) >= 0) return Sign::NonPositive;
  return Sign::Unknown;
}

bool DimProver::is_nonnegative(const Term& term) {
  return lower_of_terms(std::span(&term, 1), 1).value_or(-1) >= 0;
}

}  // namespace quern
