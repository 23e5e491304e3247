#pragma once
// Internal to ir/dim: dims as polynomials, and construction of raw nodes.
//
// A dim is a sum of terms, a term an int64 coefficient times a sorted list of atoms. Terms are ordered by
// degree and then by the creation order of their atoms (graded lexicographic, greatest first), an order that
// multiplication preserves; so division with remainder by a polynomial terminates, and the constant comes
// last. Where a coefficient would overflow or a product would have too many terms, the operation stays a raw
// Sum or Product node that counts as one atom.

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <span>
#include <vector>

#include "ir/dim/dim.h"

namespace quern::dim_detail {

/// The factors of a term. There are rarely more than a few, which need no memory of their own.
class Atoms {
 public:
  using value_type = Dim;

  Atoms() = default;
  Atoms(std::initializer_list<Dim> atoms) : Atoms(std::span(atoms)) {}
  explicit Atoms(std::span<const Dim> atoms) : size_(atoms.size()) {
    if (size_ <= few_.size())
      std::ranges::copy(atoms, few_.begin());
    else
      many_.assign(atoms.begin(), atoms.end());
  }

  void push_back(Dim atom) {
    if (size_ == few_.size()) many_.assign(few_.begin(), few_.end());
    if (size_ < few_.size())
      few_[size_] = atom;
    else
      many_.push_back(atom);
    ++size_;
  }
  void erase(const Dim* at) {
    std::copy(at + 1, end(), data() + (at - begin()));
    shrink(size_ - 1);
  }
  void erase_all(Dim atom) {
    shrink(static_cast<size_t>(std::remove(data(), data() + size_, atom) - data()));
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Dim front() const { return *begin(); }
  const Dim* begin() const { return size_ > few_.size() ? many_.data() : few_.data(); }
  const Dim* end() const { return begin() + size_; }

  friend bool operator==(const Atoms& a, const Atoms& b) { return std::ranges::equal(a, b); }
  friend auto operator<=>(const Atoms& a, const Atoms& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                  std::compare_three_way());
  }

 private:
  Dim* data() { return size_ > few_.size() ? many_.data() : few_.data(); }
  void shrink(size_t size) {
    if (size_ > few_.size() && size <= few_.size()) {
      std::copy_n(many_.begin(), size, few_.begin());
      many_.clear();
    } else if (size_ > few_.size()) {
      many_.resize(size);
    }
    size_ = size;
  }

  size_t size_ = 0;
  std::array<Dim, 3> few_;
  std::vector<Dim> many_;  ///< all of them, where they are more
};

struct Term {
  int64_t coefficient = 0;
  Atoms atoms;
};
/// Sorted, no two terms over the same atoms, no coefficient 0.
using Poly = std::vector<Term>;

/// A term that is part of a dim.
struct TermView {
  int64_t coefficient = 0;
  std::span<const Dim> atoms;

  TermView(int64_t c, std::span<const Dim> a) : coefficient(c), atoms(a) {}
  TermView(const Term& term) : coefficient(term.coefficient), atoms(term.atoms) {}
  explicit operator Term() const { return {coefficient, Atoms(atoms)}; }
};

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

/// The terms of a dim in their order, read where they are; it has to outlive what they give.
class Terms {
 public:
  explicit Terms(Dim d) : whole_(d), is_sum_(d->kind == DimKind::Sum && !is_atom(d)) {}
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  struct Iterator {
    const Dim* at;
    TermView operator*() const { return of(*at); }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  /// An operand of a canonical sum is a single term.
  Iterator begin() const { return {is_sum_ ? whole_->args.data() : &whole_}; }
  Iterator end() const { return {begin().at + size()}; }
  size_t size() const { return is_sum_ ? whole_->args.size() : is_const(whole_, 0) ? 0 : 1; }

 private:
  static TermView of(const Dim& term);

  const Dim whole_;
  const bool is_sum_;
};

Poly to_poly(Dim d);
Dim from_poly(const Poly& poly);
Dim from_term(const Term& term);

std::optional<Poly> poly_add(const Poly& a, const Poly& b);
std::optional<Poly> poly_mul(const Poly& a, const Poly& b);
std::optional<Poly> scaled(Poly poly, int64_t factor);

/// a == quotient*b + remainder, where no term of the remainder can be reduced by b's leading term. Nothing on
/// overflow or if it would take too many steps.
struct PolyDivision {
  Poly quotient;
  Poly remainder;
};
std::optional<PolyDivision> poly_divide(const Poly& a, const Poly& b);

/// `term` divided by `factor`, if that is exact.
std::optional<Term> divide_term(TermView term, TermView factor);
/// The greatest term that divides both; its coefficient is positive.
Term term_gcd(TermView a, TermView b);
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
