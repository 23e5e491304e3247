#pragma once
// Expressions over dims as they are written, and facts as they are told: no rule is applied to a tree, where
// the dim that is made of it is canonical.

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/dim/dim.h"

namespace quern {

struct Tree {
  DimKind kind = DimKind::Const;
  int64_t value = 0;  ///< Const: the constant; Sum: -1 where the second operand is subtracted
  Dim var = nullptr;  ///< Var
  std::vector<Tree> args;

  template <std::integral T>
  Tree(T constant) : value(constant) {}
  Tree(Dim variable) : kind(DimKind::Var), var(variable) {}
  Tree(DimKind kind, Tree a, Tree b, int64_t value = 0) : kind(kind), value(value) {
    args.push_back(std::move(a));
    args.push_back(std::move(b));
  }

  friend Tree operator+(const Tree& a, const Tree& b) { return {DimKind::Sum, a, b}; }
  friend Tree operator-(const Tree& a, const Tree& b) { return {DimKind::Sum, a, b, -1}; }
  friend Tree operator*(const Tree& a, const Tree& b) { return {DimKind::Product, a, b}; }
  friend Tree operator/(const Tree& a, const Tree& b) { return {DimKind::FloorDiv, a, b}; }
  friend Tree operator%(const Tree& a, const Tree& b) { return {DimKind::FloorMod, a, b}; }
  friend Tree min(const Tree& a, const Tree& b) { return {DimKind::Min, a, b}; }
  friend Tree max(const Tree& a, const Tree& b) { return {DimKind::Max, a, b}; }
  friend Tree broadcast(const Tree& a, const Tree& b) { return {DimKind::Broadcast, a, b}; }

  /// Every operation in parentheses of its own.
  friend std::string text(const Tree& tree) {
    if (tree.kind == DimKind::Const) return std::to_string(tree.value);
    if (tree.kind == DimKind::Var) return std::string(tree.var->name);
    auto infix = [&](const char* op) { return "(" + text(tree.args[0]) + op + text(tree.args[1]) + ")"; };
    auto call = [&](const char* name) {
      return name + ("(" + text(tree.args[0])) + ", " + text(tree.args[1]) + ")";
    };
    switch (tree.kind) {
      case DimKind::Sum: return infix(tree.value < 0 ? " - " : " + ");
      case DimKind::Product: return infix(" * ");
      case DimKind::FloorDiv: return infix(" / ");
      case DimKind::FloorMod: return infix(" % ");
      case DimKind::Min: return call("min");
      case DimKind::Max: return call("max");
      case DimKind::Broadcast: return call("broadcast");
      case DimKind::Const:
      case DimKind::Var:
      case DimKind::Any:
      case DimKind::Infer: break;
    }
    return {};
  }
};

/// The canonical dim.
inline Dim dim_of(const Tree& tree) {
  if (tree.kind == DimKind::Const) return dim_const(tree.value);
  if (tree.kind == DimKind::Var) return tree.var;
  Dim a = dim_of(tree.args[0]);
  Dim b = dim_of(tree.args[1]);
  switch (tree.kind) {
    case DimKind::Sum: return tree.value < 0 ? dim_sub(a, b) : dim_add(a, b);
    case DimKind::Product: return dim_mul(a, b);
    case DimKind::FloorDiv: return dim_floordiv(a, b);
    case DimKind::FloorMod: return dim_floormod(a, b);
    case DimKind::Min: return dim_min(a, b);
    case DimKind::Max: return dim_max(a, b);
    case DimKind::Broadcast: return dim_broadcast(a, b);
    case DimKind::Const:
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer: break;
  }
  return nullptr;
}

/// With constants in the place of variables.
inline Tree substitute(const Tree& tree, std::span<const std::pair<Tree, int64_t>> constants) {
  for (const auto& [var, value] : constants) {
    if (tree.kind == DimKind::Var && tree.var == var.var) return value;
  }
  Tree out = tree;
  for (Tree& arg : out.args) arg = substitute(arg, constants);
  return out;
}

/// The value where `lookup` gives the value of each variable; nothing where an operation has none. Overflow
/// is the caller's to exclude.
inline std::optional<int64_t> value_of(const Tree& tree, const std::function<int64_t(Dim)>& lookup) {
  if (tree.kind == DimKind::Const) return tree.value;
  if (tree.kind == DimKind::Var) return lookup(tree.var);
  std::optional<int64_t> a = value_of(tree.args[0], lookup);
  std::optional<int64_t> b = value_of(tree.args[1], lookup);
  if (!a || !b) return std::nullopt;
  auto floor = [&] { return *a / *b - (*a % *b != 0 && (*a < 0) != (*b < 0) ? 1 : 0); };
  if ((tree.kind == DimKind::FloorDiv || tree.kind == DimKind::FloorMod) && *b == 0) return std::nullopt;
  switch (tree.kind) {
    case DimKind::Sum: return tree.value < 0 ? *a - *b : *a + *b;
    case DimKind::Product: return *a * *b;
    case DimKind::FloorDiv: return floor();
    case DimKind::FloorMod: return *a - floor() * *b;
    case DimKind::Min: return std::min(*a, *b);
    case DimKind::Max: return std::max(*a, *b);
    case DimKind::Broadcast:
      if (*a != *b && *a != 1 && *b != 1) return std::nullopt;
      return *a == 1 ? *b : *a;
    case DimKind::Const:
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer: break;
  }
  return std::nullopt;
}

// --- facts -------------------------------------------------------------------------------------------------

/// One fact as it is told to `Facts`.
struct Fact {
  enum class Kind { Index, Lower, NonNegative, Equal };
  Kind kind;
  Tree a;  ///< Index, Lower: the variable
  Tree b;  ///< Index: the extent; Lower: the bound; NonNegative: 0
};

inline Fact index(const Tree& var, const Tree& extent) { return {Fact::Kind::Index, var, extent}; }
inline Fact lower(const Tree& var, int64_t bound) { return {Fact::Kind::Lower, var, bound}; }
inline Fact nonnegative(const Tree& d) { return {Fact::Kind::NonNegative, d, 0}; }
inline Fact equal(const Tree& a, const Tree& b) { return {Fact::Kind::Equal, a, b}; }

inline Facts facts_of(std::span<const Fact> told) {
  Facts out;
  for (const Fact& fact : told) {
    switch (fact.kind) {
      case Fact::Kind::Index: out.add_index(fact.a.var, dim_of(fact.b)); break;
      case Fact::Kind::Lower: out.add_lower(fact.a.var, fact.b.value); break;
      case Fact::Kind::NonNegative: out.add_nonnegative(dim_of(fact.a)); break;
      case Fact::Kind::Equal:
        out.add_nonnegative(dim_sub(dim_of(fact.a), dim_of(fact.b)));
        out.add_nonnegative(dim_sub(dim_of(fact.b), dim_of(fact.a)));
        break;
    }
  }
  return out;
}

inline std::string text(std::span<const Fact> told) {
  std::string out;
  for (const Fact& fact : told) {
    constexpr const char* relations[] = {" < ", " >= ", " >= ", " == "};
    out +=
        (out.empty() ? "" : ", ") + text(fact.a) + relations[static_cast<size_t>(fact.kind)] + text(fact.b);
  }
  return out;
}

}  // namespace quern
