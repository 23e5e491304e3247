#pragma once
// A system of quasi-affine equations over bounded integers, solved by substitution. Internal to
// passes/gradient/preimage.cpp.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/dim/dim.h"

namespace quern {

constexpr int kNoBox = -1;
constexpr int kRemainder = 1 << 20;  ///< of a remainder: the narrowest box

/// `value` >= 0.
struct SystemConstraint {
  Dim value;
  int box = kNoBox;      ///< the position of the variable that it bounds
  bool implied = false;  ///< by the conjunction of others
};

class IndexSystem {
 public:
  /// Over variables with their extents, outermost first, which is the order of elimination.
  IndexSystem(std::span<const Dim> vars, std::span<const Dim> extents, const Facts& facts);

  /// d == 0 and d >= 0. Their divisors are positive and free of the variables.
  void add_equation(Dim d);
  void add_nonnegative(Dim d);

  /// Substitutes until no equation contains an unknown; false with a `reason` if no step applies.
  bool solve();
  const std::string& reason() const { return reason_; }
  /// After `solve`: no values satisfy it.
  bool impossible() const { return impossible_; }

  /// The unknowns that remain free, the values of the variables in terms of them, and the conditions on them.
  std::span<const Dim> unknowns() const { return unknowns_; }
  const DimMap& values() const { return values_; }
  std::span<const SystemConstraint> nonnegative() const { return nonnegative_; }
  std::span<const Dim> zero() const { return zero_; }
  const Facts& facts() const { return facts_; }

 private:
  /// The terms of an equation: coefficients of the unknowns, in their order, and the rest.
  struct Row {
    std::vector<Dim> coefficients;
    Dim rest;
  };
  std::optional<Row> row(Dim equation) const;
  Dim linear(Dim d);
  bool step();
  bool settle(size_t equation, const Row& row);
  bool divide(size_t equation, const Row& row);
  bool take_digits(size_t equation, const Row& row);
  bool take_digits(size_t equation, const Row& row, Dim base);
  bool eliminate();
  bool reduce(const Row& row);
  void substitute_unknown(Dim var, Dim value);

  std::vector<Dim> unknowns_;
  std::vector<Dim> equations_;
  std::vector<SystemConstraint> nonnegative_;
  std::vector<Dim> zero_;
  DimMap values_;
  Facts facts_;
  std::string reason_;
  bool impossible_ = false;
};

}  // namespace quern
