#include "ir/dim/poly.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace quern::dim_detail {

namespace {

constexpr size_t kMaxTerms = 512;
constexpr int kMaxDivisionSteps = 128;

bool by_order(Dim a, Dim b) { return a->order < b->order; }

/// Greatest first: higher degree, then the earlier atom at the first difference.
std::weak_ordering compare_monomials(const Atoms& a, const Atoms& b) {
  if (a.size() != b.size()) return b.size() <=> a.size();
  const auto [x, y] = std::ranges::mismatch(a, b);
  return x == a.end() ? std::weak_ordering::equivalent : (*x)->order <=> (*y)->order;
}

/// Sorts and merges; nothing on overflow.
std::optional<Poly> normalise(Poly terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare_monomials(a.atoms, b.atoms) < 0; });
  Poly out;
  for (Term& term : terms) {
    if (!out.empty() && out.back().atoms == term.atoms) {
      std::optional<int64_t> sum = checked_add(out.back().coefficient, term.coefficient);
      if (!sum) return std::nullopt;
      out.back().coefficient = *sum;
      continue;
    }
    if (!out.empty() && out.back().coefficient == 0) out.pop_back();
    out.push_back(std::move(term));
  }
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  return out;
}

std::optional<Term> multiply_terms(const Term& a, const Term& b) {
  std::optional<int64_t> coefficient = checked_mul(a.coefficient, b.coefficient);
  if (!coefficient) return std::nullopt;
  Term out{*coefficient, {}};
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), std::back_inserter(out.atoms),
             by_order);
  return out;
}

/// The atoms of `a` without those of `b`; nothing unless `b` is contained in `a`.
std::optional<Atoms> divide_atoms(std::span<const Dim> a, std::span<const Dim> b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end(), by_order)) return std::nullopt;
  Atoms rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest), by_order);
  return rest;
}

/// How often `lead` goes into `term`. Constants are floored, so that their remainder lies in [0, divisor);
/// other coefficients are truncated, so that `(h - r) / 2` stays as written.
std::optional<Term> leading_quotient(const Term& term, const Term& lead) {
  std::optional<Atoms> atoms = divide_atoms(term.atoms, lead.atoms);
  if (!atoms) return std::nullopt;
  std::optional<int64_t> quotient = checked_floordiv(term.coefficient, lead.coefficient);
  if (!quotient) return std::nullopt;
  bool exact = *quotient * lead.coefficient == term.coefficient;
  if (!exact && !term.atoms.empty() && *quotient < 0) ++*quotient;
  if (*quotient == 0) return std::nullopt;
  return Term{*quotient, std::move(*atoms)};
}

}  // namespace

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

std::optional<int64_t> checked_floordiv(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<int64_t> checked_floormod(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int64_t gcd(int64_t a, int64_t b) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  return a == kMin || b == kMin ? 1 : std::gcd(a, b);
}

bool is_atom(Dim d) {
  switch (d->kind) {
    case DimKind::Const: return false;
    case DimKind::Sum: return d->value != 0;
    case DimKind::Product: return !std::all_of(d->args.begin(), d->args.end(), is_atom);
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer:
    case DimKind::FloorDiv:
    case DimKind::FloorMod:
    case DimKind::Min:
    case DimKind::Max:
    case DimKind::Broadcast: return true;
  }
  return true;
}

Dim make_raw_sum(Dim a, Dim b) {
  Dim args[] = {a, b};
  std::sort(std::begin(args), std::end(args), by_order);
  // The value only distinguishes a raw sum from a canonical one.
  return make_node(DimKind::Sum, 1, args);
}

Dim make_raw_product(Dim a, Dim b) {
  Dim args[] = {a, b};
  std::sort(std::begin(args), std::end(args), by_order);
  return make_node(DimKind::Product, 1, args);
}

TermView Terms::of(const Dim& term) {
  if (term->kind == DimKind::Const) return {term->value, {}};
  if (is_atom(term)) return {1, {&term, 1}};
  return {term->value, term->args};
}

Poly to_poly(Dim d) {
  Poly out;
  const Terms terms(d);
  out.reserve(terms.size());
  for (const TermView term : terms) out.push_back(Term(term));
  return out;
}

Dim from_term(const Term& term) {
  if (term.atoms.empty()) return dim_const(term.coefficient);
  if (term.atoms.size() == 1 && term.coefficient == 1) return term.atoms.front();
  return make_node(DimKind::Product, term.coefficient, std::span(term.atoms));
}

Dim from_poly(const Poly& poly) {
  if (poly.empty()) return dim_const(0);
  if (poly.size() == 1) return from_term(poly.front());
  std::vector<Dim> args;
  args.reserve(poly.size());
  for (const Term& term : poly) args.push_back(from_term(term));
  return make_node(DimKind::Sum, 0, args);
}

std::optional<Poly> poly_add(const Poly& a, const Poly& b) {
  if (a.size() + b.size() > kMaxTerms) return std::nullopt;
  Poly out;
  out.reserve(a.size() + b.size());
  auto x = a.begin(), y = b.begin();
  while (x != a.end() && y != b.end()) {
    const auto order = compare_monomials(x->atoms, y->atoms);
    if (order != 0) {
      out.push_back(order < 0 ? *x++ : *y++);
      continue;
    }
    const std::optional<int64_t> sum = checked_add(x->coefficient, y->coefficient);
    if (!sum) return std::nullopt;
    if (*sum != 0) out.push_back({*sum, x->atoms});
    ++x, ++y;
  }
  out.insert(out.end(), x, a.end());
  out.insert(out.end(), y, b.end());
  return out;
}

std::optional<Poly> poly_mul(const Poly& a, const Poly& b) {
  if (a.size() * b.size() > kMaxTerms) return std::nullopt;
  Poly terms;
  for (const Term& x : a) {
    for (const Term& y : b) {
      std::optional<Term> product = multiply_terms(x, y);
      if (!product) return std::nullopt;
      terms.push_back(std::move(*product));
    }
  }
  return normalise(std::move(terms));
}

std::optional<Poly> scaled(Poly poly, int64_t factor) {
  for (Term& term : poly) {
    const std::optional<int64_t> product = checked_mul(term.coefficient, factor);
    if (!product) return std::nullopt;
    term.coefficient = *product;
  }
  return poly;
}

std::optional<PolyDivision> poly_divide(const Poly& a, const Poly& b) {
  if (b.empty()) return std::nullopt;
  PolyDivision out{{}, a};
  int steps = 0;
  // A step changes the term it reduces and adds only lesser ones, so a single walk covers every term.
  for (size_t i = 0; i < out.remainder.size();) {
    std::optional<Term> quotient = leading_quotient(out.remainder[i], b.front());
    if (!quotient) {
      ++i;
      continue;
    }
    if (++steps > kMaxDivisionSteps) return std::nullopt;
    Term negated = *quotient;
    std::optional<int64_t> minus = checked_mul(negated.coefficient, -1);
    if (!minus) return std::nullopt;
    negated.coefficient = *minus;
    std::optional<Poly> subtracted = poly_mul(Poly{negated}, b);
    std::optional<Poly> remainder = subtracted ? poly_add(out.remainder, *subtracted) : std::nullopt;
    std::optional<Poly> total = poly_add(out.quotient, Poly{*quotient});
    if (!remainder || !total) return std::nullopt;
    out = {std::move(*total), std::move(*remainder)};
  }
  return out;
}

std::optional<Term> divide_term(TermView term, TermView factor) {
  std::optional<int64_t> remainder = checked_floormod(term.coefficient, factor.coefficient);
  std::optional<int64_t> quotient = checked_floordiv(term.coefficient, factor.coefficient);
  if (!quotient || remainder != 0) return std::nullopt;
  std::optional<Atoms> atoms = divide_atoms(term.atoms, factor.atoms);
  if (!atoms) return std::nullopt;
  return Term{*quotient, std::move(*atoms)};
}

Term term_gcd(TermView a, TermView b) {
  Term out{gcd(a.coefficient, b.coefficient), {}};
  std::set_intersection(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                        std::back_inserter(out.atoms), by_order);
  return out;
}

Term content(const Poly& poly) {
  Term out = term_gcd(poly.front(), poly.front());
  for (const Term& term : poly) out = term_gcd(out, term);
  return out;
}

Poly divide_exactly(const Poly& poly, const Term& factor) {
  Poly out;
  for (const Term& term : poly) out.push_back(*divide_term(term, factor));
  return out;
}

std::optional<int64_t> constant_difference(Dim a, Dim b) {
  Poly x = to_poly(a);
  Poly y = to_poly(b);
  std::optional<int64_t> minus = checked_mul(constant_part(y), -1);
  if (!minus) return std::nullopt;
  std::optional<int64_t> difference = checked_add(constant_part(x), *minus);
  for (Poly* poly : {&x, &y}) {
    if (!poly->empty() && poly->back().atoms.empty()) poly->pop_back();
  }
  auto same = [](const Term& s, const Term& t) {
    return s.coefficient == t.coefficient && s.atoms == t.atoms;
  };
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), same) ? difference : std::nullopt;
}

}  // namespace quern::dim_detail
