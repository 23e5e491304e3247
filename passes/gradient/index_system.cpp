#include "passes/gradient/index_system.h"

#include <algorithm>
#include <numeric>

namespace quern {

namespace {

Dim negated(Dim d) { return dim_sub(dim_const(0), d); }

bool contains_any(Dim d, std::span<const Dim> vars) {
  return std::ranges::any_of(vars, [&](Dim var) { return contains_var(d, var); });
}

// The innermost division that contains one of the variables; null if there is none.
Dim find_division(Dim d, std::span<const Dim> vars) {
  for (Dim arg : d->args)
    if (Dim found = find_division(arg, vars)) return found;
  bool division = d->kind == DimKind::FloorDiv || d->kind == DimKind::FloorMod;
  return division && contains_any(d, vars) ? d : nullptr;
}

bool is_unit(Dim d) { return is_const(d, 1) || is_const(d, -1); }

}  // namespace

IndexSystem::IndexSystem(std::span<const Dim> vars, std::span<const Dim> extents, const Facts& facts)
    : unknowns_(vars.begin(), vars.end()), facts_(facts) {
  for (Dim var : vars) values_.emplace(var, var);
  for (size_t i = 0; i < vars.size(); ++i) facts_.add_index(vars[i], extents[i]);
  for (size_t i = 0; i < vars.size(); ++i) {
    int box = static_cast<int>(i);
    nonnegative_.push_back({vars[i], box});
    Dim last = linear(dim_sub(extents[i], dim_const(1)));
    nonnegative_.push_back({dim_sub(last, vars[i]), box});
  }
}

void IndexSystem::add_equation(Dim d) { equations_.push_back(linear(d)); }
void IndexSystem::add_nonnegative(Dim d) { nonnegative_.push_back({linear(d)}); }

// Eliminates divisions of unknowns: e = m q + r, 0 <= r < m. The quotient and the remainder of one division
// share q and r.
Dim IndexSystem::linear(Dim d) {
  while (Dim division = find_division(d, unknowns_)) {
    Dim divided = division->args[0], by = division->args[1];
    if (contains_any(by, unknowns_)) {
      reason_ = "it divides by a variable";
      return d;
    }
    Dim q = dim_var("q"), r = dim_var("r");
    facts_.add_index(r, by);
    unknowns_.push_back(q);
    unknowns_.push_back(r);
    DimMap parts{{dim_floordiv(divided, by), q}, {dim_floormod(divided, by), r}};
    d = substitute(d, parts);
    for (Dim& e : equations_) e = substitute(e, parts);
    for (SystemConstraint& c : nonnegative_) c.value = substitute(c.value, parts);
    equations_.push_back(dim_sub(dim_sub(divided, dim_mul(by, q)), r));
    nonnegative_.push_back({r, kRemainder});
    nonnegative_.push_back({dim_sub(dim_sub(by, dim_const(1)), r), kRemainder});
  }
  return d;
}

std::optional<IndexSystem::Row> IndexSystem::row(Dim equation) const {
  Row out{{}, equation};
  for (Dim x : unknowns_) {
    auto linear = linear_in(out.rest, x);
    if (!linear || contains_any(linear->coefficient, unknowns_)) return std::nullopt;
    out.coefficients.push_back(linear->coefficient);
    out.rest = linear->rest;
  }
  return out;
}

bool IndexSystem::solve() {
  constexpr int kMostSteps = 200;
  if (!reason_.empty()) return false;
  for (int i = 0; i < kMostSteps && !equations_.empty() && !impossible_; ++i)
    if (!step()) return false;
  if (!equations_.empty() && !impossible_) reason_ = "its index equations take too many steps";
  return reason_.empty();
}

// Lossless steps first: equations without unknowns, common divisors, digits of a mixed radix; then
// substitution of an unknown with a unit coefficient; then a step of Euclid's algorithm, which produces one.
bool IndexSystem::step() {
  std::vector<Row> rows;
  for (Dim e : equations_) {
    auto r = row(e);
    if (!r) return reason_ = "an index is not linear in the index variables", false;
    rows.push_back(std::move(*r));
  }
  for (size_t i = 0; i < rows.size(); ++i)
    if (settle(i, rows[i]) || divide(i, rows[i])) return true;
  for (size_t i = 0; i < rows.size(); ++i)
    if (take_digits(i, rows[i])) return true;
  if (eliminate()) return true;
  for (const Row& r : rows)
    if (reduce(r)) return true;
  reason_ = "the index variables have factors that are known only at run time";
  return false;
}

// An equation without unknowns is a condition.
bool IndexSystem::settle(size_t equation, const Row& row) {
  if (!std::ranges::all_of(row.coefficients, [](Dim c) { return is_const(c, 0); })) return false;
  Dim d = simplify(row.rest, facts_);
  if (auto value = as_const(d))
    impossible_ |= *value != 0;
  else
    zero_.push_back(d);
  equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(equation));
  return true;
}

// m (a + b) + c == 0: c is a multiple of m.
bool IndexSystem::divide(size_t equation, const Row& row) {
  Dim by = nullptr;
  int64_t common = 0;
  for (Dim c : row.coefficients) {
    if (is_const(c, 0)) continue;
    if (auto value = as_const(c))
      common = std::gcd(common, *value);
    else
      by = c;
  }
  if (by && common != 0) return false;
  if (!by) {
    if (common == 1) return false;
    by = dim_const(common);
  }
  Dim divided = dim_const(0);
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    Dim part = dim_floordiv(row.coefficients[k], by);
    if (dim_mul(part, by) != row.coefficients[k]) return false;
    divided = dim_add(divided, dim_mul(part, unknowns_[k]));
  }
  Dim remainder = simplify(dim_floormod(row.rest, by), facts_);
  if (auto value = as_const(remainder))
    impossible_ |= *value != 0;
  else
    zero_.push_back(remainder);
  equations_[equation] = dim_add(divided, dim_floordiv(row.rest, by));
  return true;
}

bool IndexSystem::take_digits(size_t equation, const Row& row) {
  return std::ranges::any_of(row.coefficients, [&](Dim c) {
    if (is_const(c, 0) || is_unit(c)) return false;
    bool negative = as_const(c) ? *as_const(c) < 0 : c->kind == DimKind::Product && c->value < 0;
    return take_digits(equation, row, negative ? negated(c) : c);
  });
}

// m a + b == w with 0 <= b < m: a is the quotient of w and b the remainder.
bool IndexSystem::take_digits(size_t equation, const Row& row, Dim base) {
  Dim high = dim_const(0), low = dim_const(0);
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    Dim c = row.coefficients[k], part = dim_floordiv(c, base);
    if (dim_mul(part, base) == c)
      high = dim_add(high, dim_mul(part, unknowns_[k]));
    else
      low = dim_add(low, dim_mul(c, unknowns_[k]));
  }
  Dim last = dim_sub(base, dim_const(1));
  bool up = prove_nonnegative(low, facts_) && prove_less_equal(low, last, facts_);
  bool down =
      !up && prove_less_equal(low, dim_const(0), facts_) && prove_nonnegative(dim_add(low, last), facts_);
  if (!up && !down) return false;
  Dim whole = up ? negated(row.rest) : row.rest;
  if (down) {
    high = negated(high);
    low = negated(low);
  }
  equations_[equation] = dim_sub(high, simplify(dim_floordiv(whole, base), facts_));
  equations_.push_back(dim_sub(low, simplify(dim_floormod(whole, base), facts_)));
  return true;
}

// Eliminates the outermost unknown with a unit coefficient, so that the remaining ranges are windows, not
// axes.
bool IndexSystem::eliminate() {
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    Dim x = unknowns_[k];
    for (size_t i = 0; i < equations_.size(); ++i) {
      auto linear = linear_in(equations_[i], x);
      if (!linear || !is_unit(linear->coefficient)) continue;
      Dim value = is_const(linear->coefficient, 1) ? negated(linear->rest) : linear->rest;
      equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(i));
      unknowns_.erase(unknowns_.begin() + static_cast<std::ptrdiff_t>(k));
      substitute_unknown(x, value);
      return true;
    }
  }
  return false;
}

// The unknown with the smallest coefficient absorbs multiples of the others, which reduces their
// coefficients.
bool IndexSystem::reduce(const Row& row) {
  size_t smallest = unknowns_.size();
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    auto c = as_const(row.coefficients[k]);
    if (!c) return false;
    if (*c == 0) continue;
    if (smallest == unknowns_.size() || std::abs(*c) < std::abs(*as_const(row.coefficients[smallest])))
      smallest = k;
  }
  if (smallest == unknowns_.size()) return false;
  Dim x = unknowns_[smallest], y = dim_var(x->name), value = y;
  for (size_t k = 0; k < unknowns_.size(); ++k)
    if (k != smallest)
      value = dim_sub(value,
                      dim_mul(dim_floordiv(row.coefficients[k], row.coefficients[smallest]), unknowns_[k]));
  if (value == y) return false;
  unknowns_[smallest] = y;
  substitute_unknown(x, value);
  return true;
}

void IndexSystem::substitute_unknown(Dim var, Dim value) {
  DimMap map{{var, value}};
  for (Dim& e : equations_) e = substitute(e, map);
  for (SystemConstraint& c : nonnegative_) c.value = substitute(c.value, map);
  for (auto& [_, image] : values_) image = substitute(image, map);
}

}  // namespace quern
