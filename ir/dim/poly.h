#pragma once
// Internal to ir/dim: dims as polynomials, and construction of raw nodes.
//
// A dim is a sum of terms, a term an int64 coefficient times a sorted list of atoms. Terms are ordered by
// degree and then by the creation order of their atoms (graded lexicographic, greatest first), an order that
// multiplication preserves; so division with remainder by a polynomial terminates, and the constant comes
// last. Where a coefficient would overflow or a product would have too many terms, the operation stays a raw
// Sum or Product node that counts as one atom.

#include <optional>
#include <span>
#include <vector>

#include "ir/dim/dim.h"

namespace quern::dim_detail {

struct Term {
  int64_t coefficient = 0;
  std::vector<Dim> atoms;
};
/// Sorted, no two terms over the same atoms, no coefficient 0.
using Poly = std::vector<Term>;

/// The hash-consed node with exactly these parts; applies no rule.
Dim make_node(DimKind kind, int64_t value, std::span<const Dim> args);
/// `a + b` and `a * b` unnormalised, for where the normal form cannot be computed.
Dim make_raw_sum(Dim a, Dim b);
Dim make_raw_product(Dim a, Dim b);
/// Neither a constant nor a sum or product of smaller parts.
bool is_atom(Dim d);
/// Its value is one of its operands'.
inline bool is_choice(Dim d) {
  return d->kind == DimKind::Min || d->kind == DimKind::Max || d->kind == DimKind::Broadcast;
}
/// Nothing can be proved about these.
inline bool is_open(Dim d) { return d->has_any || d->has_infer; }

Poly to_poly(Dim d);
Dim from_poly(const Poly& poly);
Dim from_term(const Term& term);

std::optional<Poly> poly_add(const Poly& a, const Poly& b);
std::optional<Poly> poly_mul(const Poly& a, const Poly& b);

/// a == quotient*b + remainder, where no term of the remainder can be reduced by b's leading term. Nothing on
/// overflow or if it would take too many steps.
struct PolyDivision {
  Poly quotient;
  Poly remainder;
};
std::optional<PolyDivision> poly_divide(const Poly& a, const Poly& b);

/// `term` divided by `factor`, if that is exact.
std::optional<Term> divide_term(const Term& term, const Term& factor);
/// The greatest term that divides both; its coefficient is positive.
Term term_gcd(const Term& a, const Term& b);
/// The greatest term that divides every term of the (non-empty) polynomial.
Term content(const Poly& poly);
/// The polynomial divided by a term that divides each of its terms.
Poly divide_exactly(const Poly& poly, const Term& factor);

/// a - b, if that is a constant.
std::optional<int64_t> constant_difference(Dim a, Dim b);
inline int64_t constant_part(const Poly& poly) {
  return !poly.empty() && poly.back().atoms.empty() ? poly.back().coefficient : 0;
}

/// Rounds towards minus infinity; nothing on division by zero and on overflow.
std::optional<int64_t> checked_floordiv(int64_t a, int64_t b);
std::optional<int64_t> checked_floormod(int64_t a, int64_t b);
std::optional<int64_t> checked_add(int64_t a, int64_t b);
std::optional<int64_t> checked_mul(int64_t a, int64_t b);
/// The positive greatest common divisor; 1 if it does not fit int64.
int64_t gcd(int64_t a, int64_t b);

/// `d` with every node that is a key replaced by its image (also inside other nodes), canonical again.
Dim replace_nodes(Dim d, const DimMap& map);
/// The canonical dim of this kind over these operands, as the public constructors make it.
Dim rebuild(Dim like, std::span<const Dim> args);

}  // namespace quern::dim_detail
