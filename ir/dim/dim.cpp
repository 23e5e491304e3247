#include "ir/dim/dim.h"

#include <algorithm>
#include <utility>

#include "ir/dim/poly.h"

namespace quern {

using namespace dim_detail;

// --- construction ----------------------------------------------------------------------------------------

namespace {

Dim make_binary(DimKind kind, Dim a, Dim b) {
  Dim args[] = {a, b};
  return make_node(kind, 0, args);
}

Dim negate(Dim d) { return dim_mul(d, dim_const(-1)); }

/// a / b == whole + dividend / divisor and a % b == scale*(dividend % divisor) + offset.
struct Reduction {
  Dim whole;
  Dim dividend;
  Dim divisor;
  Dim scale;
  Dim offset;
};

/// Extracts the terms of the dividend that the divisor divides. False if that cannot be computed.
bool take_out_multiples(Reduction& r) {
  std::optional<PolyDivision> division = poly_divide(to_poly(r.dividend), to_poly(r.divisor));
  if (!division) return false;
  r.whole = dim_add(r.whole, from_poly(division->quotient));
  r.dividend = from_poly(division->remainder);
  return true;
}

/// Cancels a factor of dividend and divisor: (g*x) / (g*y) = x / y, and for a constant divisor also (g*x + c)
/// / (g*k) = (x + c/g) / k. True if something was cancelled.
bool cancel_common_factor(Reduction& r) {
  Poly dividend = to_poly(r.dividend);
  Poly divisor = to_poly(r.divisor);
  int64_t constant = constant_part(dividend);
  if (as_const(r.divisor) && constant != 0) dividend.pop_back();
  if (dividend.empty() || divisor.empty()) return false;
  Term factor = term_gcd(content(dividend), content(divisor));
  if (factor.atoms.empty() && factor.coefficient == 1) return false;
  int64_t kept = 0;
  Dim reduced = from_poly(divide_exactly(dividend, factor));
  if (as_const(r.divisor)) {
    kept = *checked_floormod(constant, factor.coefficient);
    reduced = dim_add(reduced, dim_const(*checked_floordiv(constant, factor.coefficient)));
  }
  r.dividend = reduced;
  r.divisor = from_poly(divide_exactly(divisor, factor));
  r.offset = dim_add(r.offset, dim_mul(r.scale, dim_const(kept)));
  r.scale = dim_mul(r.scale, from_term(factor));
  return true;
}

Reduction reduce_division(Dim a, Dim b) {
  Reduction r{dim_const(0), a, b, dim_const(1), dim_const(0)};
  Poly divisor = to_poly(b);
  // A divisor of several terms keeps its sign: it is unknown here which of `h - r` and `r - h` is positive.
  if (divisor.size() == 1 && divisor.front().coefficient < 0) {
    r.dividend = negate(a);
    r.divisor = negate(b);
    r.scale = dim_const(-1);
  }
  while (take_out_multiples(r) && cancel_common_factor(r)) {
  }
  return r;
}

/// A dim that is exactly d % m for a constant m.
struct ModAtom {
  Dim dividend;
  int64_t divisor;
};
std::optional<ModAtom> as_mod_by_const(Dim d) {
  if (d->kind != DimKind::FloorMod || !as_const(d->args[1]) || d->args[1]->value <= 0) return std::nullopt;
  return ModAtom{d->args[0], d->args[1]->value};
}

/// (x/a + c) / b = (x + a*c) / (a*b) for positive constants a, b. Null if the dividend has another form.
Dim merge_nested_division(Dim dividend, int64_t b) {
  Poly poly = to_poly(dividend);
  int64_t c = constant_part(poly);
  if (c != 0) poly.pop_back();
  if (poly.size() != 1 || poly.front().coefficient != 1 || poly.front().atoms.size() != 1) return nullptr;
  Dim inner = poly.front().atoms.front();
  if (inner->kind != DimKind::FloorDiv || !as_const(inner->args[1]) || inner->args[1]->value <= 0)
    return nullptr;
  std::optional<int64_t> divisor = checked_mul(inner->args[1]->value, b);
  if (!divisor) return nullptr;
  Dim shifted = dim_add(inner->args[0], dim_mul(inner->args[1], dim_const(c)));
  return dim_floordiv(shifted, dim_const(*divisor));
}

/// The dividend of a mod by m with each c*(x % k), where m divides k, replaced by c*x: the same modulo m.
Dim unwrap_nested_mods(Dim dividend, int64_t m) {
  Dim out = dividend;
  for (const Term& term : to_poly(dividend)) {
    if (term.atoms.size() != 1) continue;
    std::optional<ModAtom> mod = as_mod_by_const(term.atoms.front());
    if (!mod || mod->divisor % m != 0) continue;
    out = dim_add(dim_sub(out, from_term(term)), dim_mul(dim_const(term.coefficient), mod->dividend));
  }
  return out;
}

/// The other atoms of a product; nothing if `atom` is none of them.
std::optional<Atoms> without_atom(Atoms atoms, Dim atom) {
  const auto at = std::ranges::find(atoms, atom);
  if (at == atoms.end()) return std::nullopt;
  atoms.erase(at);
  return atoms;
}

/// The sum with c*(a % k) + c*k*(a / k), for a positive constant k, replaced by c*a where two terms are such a pair. A flat
/// index that a shape splits into coordinates is a flat index again where these address memory. Null if there is none.
Dim with_joined_index(const Poly& sum) {
  for (const Term& term : sum)
    for (Dim atom : term.atoms) {
      const std::optional<ModAtom> mod = as_mod_by_const(atom);
      const std::optional<int64_t> scale = mod ? checked_mul(term.coefficient, mod->divisor) : std::nullopt;
      if (!scale) continue;
      const Dim quotient = dim_floordiv(mod->dividend, dim_const(mod->divisor));
      const Atoms factors = *without_atom(term.atoms, atom);
      const auto other = std::ranges::find_if(sum, [&](const Term& t) {
        return t.coefficient == *scale && without_atom(t.atoms, quotient) == factors;
      });
      if (other == sum.end()) continue;
      Poly rest;
      for (const Term& t : sum)
        if (&t != &term && &t != &*other) rest.push_back(t);
      return dim_add(from_poly(rest), dim_mul(from_term({term.coefficient, factors}), mod->dividend));
    }
  return nullptr;
}

/// The atom that the term consists of, if it is of this kind; else null.
Dim lone(const Term& term, DimKind kind) {
  const Dim atom = term.atoms.size() == 1 ? term.atoms.front() : nullptr;
  return atom && atom->kind == kind ? atom : nullptr;
}

/// The sum with min(a, b) + max(s - a, s - b) replaced by s: the first of n elements and the others are
/// min(n, 1) + max(n - 1, 0). Null if there is none.
Dim with_joined_pair(const Poly& sum) {
  for (const Term& low : sum) {
    const Dim min = lone(low, DimKind::Min);
    if (!min || min->args.size() != 2) continue;
    for (const Term& high : sum) {
      const Dim max = lone(high, DimKind::Max);
      if (!max || max->args.size() != 2 || high.coefficient != low.coefficient) continue;
      const Dim a = min->args[0], b = min->args[1], c = max->args[0], d = max->args[1];
      const Dim straight = dim_add(a, c), across = dim_add(a, d);
      const Dim both = straight == dim_add(b, d) ? straight : across == dim_add(b, c) ? across : nullptr;
      if (!both) continue;
      Poly rest;
      for (const Term& term : sum)
        if (&term != &low && &term != &high) rest.push_back(term);
      return dim_add(from_poly(rest), dim_mul(dim_const(low.coefficient), both));
    }
  }
  return nullptr;
}

Dim joined(const Poly& sum) {
  if (const Dim pair = with_joined_pair(sum)) return pair;
  if (const Dim index = with_joined_index(sum)) return index;
  return from_poly(sum);
}

bool is_any(Dim a, Dim b) { return a->has_any || b->has_any; }

}  // namespace

Dim dim_const(int64_t value) { return make_node(DimKind::Const, value, {}); }

Dim dim_any() { return make_node(DimKind::Any, 0, {}); }

Dim dim_add(Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  if (is_const(a, 0)) return b;
  if (is_const(b, 0)) return a;
  std::optional<Poly> sum = poly_add(to_poly(a), to_poly(b));
  return sum ? joined(*sum) : make_raw_sum(a, b);
}

Dim dim_sub(Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  if (a == b) return dim_const(0);
  if (is_const(b, 0)) return a;
  std::optional<Poly> minus = is_const(a, 0) ? std::nullopt : scaled(to_poly(b), -1);
  std::optional<Poly> difference = minus ? poly_add(to_poly(a), *minus) : std::nullopt;
  return difference ? joined(*difference) : dim_add(a, negate(b));
}

Dim dim_mul(Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  if (is_const(a, 1)) return b;
  if (is_const(b, 1)) return a;
  std::optional<Poly> product = poly_mul(to_poly(a), to_poly(b));
  return product ? from_poly(*product) : make_raw_product(a, b);
}

Dim dim_floordiv(Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  if (is_const(b, 0)) return make_binary(DimKind::FloorDiv, a, b);
  if (as_const(a) && as_const(b)) {
    std::optional<int64_t> quotient = checked_floordiv(a->value, b->value);
    return quotient ? dim_const(*quotient) : make_binary(DimKind::FloorDiv, a, b);
  }
  Reduction r = reduce_division(a, b);
  if (is_const(r.divisor, 1)) return dim_add(r.whole, r.dividend);
  if (is_const(r.dividend, 0)) return r.whole;
  if (as_const(r.divisor) && r.divisor->value > 0) {
    int64_t divisor = r.divisor->value;
    // Constants remain in [0, divisor).
    if (as_const(r.dividend) && r.dividend->value >= 0 && r.dividend->value < divisor) return r.whole;
    if (std::optional<ModAtom> mod = as_mod_by_const(r.dividend); mod && mod->divisor <= divisor)
      return r.whole;
    if (Dim merged = merge_nested_division(r.dividend, divisor)) return dim_add(r.whole, merged);
  }
  return dim_add(r.whole, make_binary(DimKind::FloorDiv, r.dividend, r.divisor));
}

Dim dim_floormod(Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  if (is_const(b, 0)) return make_binary(DimKind::FloorMod, a, b);
  if (as_const(a) && as_const(b)) return dim_const(*checked_floormod(a->value, b->value));
  Reduction r = reduce_division(a, b);
  auto with_remainder = [&](Dim remainder) { return dim_add(dim_mul(r.scale, remainder), r.offset); };
  if (is_const(r.divisor, 1) || is_const(r.dividend, 0)) return with_remainder(dim_const(0));
  if (as_const(r.divisor) && r.divisor->value > 0) {
    int64_t divisor = r.divisor->value;
    if (as_const(r.dividend) && r.dividend->value >= 0 && r.dividend->value < divisor) {
      return with_remainder(r.dividend);
    }
    if (std::optional<ModAtom> mod = as_mod_by_const(r.dividend); mod && mod->divisor <= divisor) {
      return with_remainder(r.dividend);
    }
    Dim unwrapped = unwrap_nested_mods(r.dividend, divisor);
    if (unwrapped != r.dividend) return with_remainder(dim_floormod(unwrapped, r.divisor));
  }
  return with_remainder(make_binary(DimKind::FloorMod, r.dividend, r.divisor));
}

namespace {

/// min(a, b) if their difference is constant; for max, `sign` is -1.
Dim decided(Dim a, Dim b, int sign) {
  std::optional<int64_t> difference = constant_difference(a, b);
  if (!difference) return nullptr;
  return (*difference <= 0) == (sign > 0) ? a : b;
}

void add_extreme_operand(std::vector<Dim>& operands, Dim operand, int sign) {
  for (Dim& other : operands) {
    if (Dim winner = decided(operand, other, sign)) {
      other = winner;
      return;
    }
  }
  operands.push_back(operand);
}

Dim make_extreme(DimKind kind, Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  const int sign = kind == DimKind::Min ? 1 : -1;
  const DimKind dual = kind == DimKind::Min ? DimKind::Max : DimKind::Min;
  std::vector<Dim> operands;
  for (Dim side : {a, b}) {
    if (side->kind != kind) {
      add_extreme_operand(operands, side, sign);
      continue;
    }
    for (Dim arg : side->args) add_extreme_operand(operands, arg, sign);
  }
  // max(a, min(a, b)) = a.
  auto absorbed = [&](Dim operand) {
    return operand->kind == dual && std::any_of(operands.begin(), operands.end(), [&](Dim other) {
             return std::ranges::find(operand->args, other) != operand->args.end();
           });
  };
  std::vector<Dim> kept;
  std::ranges::copy_if(operands, std::back_inserter(kept), [&](Dim operand) { return !absorbed(operand); });
  if (kept.size() == 1) return kept.front();
  std::ranges::sort(kept, {}, &DimNode::order);
  return make_node(kind, 0, kept);
}

void collect_broadcast_operands(Dim d, std::vector<Dim>& out) {
  if (d->kind == DimKind::Broadcast) {
    for (Dim arg : d->args) collect_broadcast_operands(arg, out);
  } else if (!is_const(d, 1) && std::ranges::find(out, d) == out.end()) {
    out.push_back(d);
  }
}

}  // namespace

Dim dim_min(Dim a, Dim b) { return make_extreme(DimKind::Min, a, b); }
Dim dim_max(Dim a, Dim b) { return make_extreme(DimKind::Max, a, b); }

Dim dim_broadcast(Dim a, Dim b) {
  if (is_any(a, b)) return dim_any();
  std::vector<Dim> operands;
  collect_broadcast_operands(a, operands);
  collect_broadcast_operands(b, operands);
  if (operands.empty()) return dim_const(1);
  // Broadcasting is associative and commutative: one nesting represents all.
  std::ranges::sort(operands, {}, &DimNode::order);
  Dim out = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) out = make_binary(DimKind::Broadcast, out, operands[i]);
  return out;
}

Dim dim_product(std::span<const Dim> dims) {
  Dim out = dim_const(1);
  for (Dim d : dims) out = dim_mul(out, d);
  return out;
}

}  // namespace quern
