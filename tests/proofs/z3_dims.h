#pragma once
// Dims as terms of Z3, over the integers without bounds, and questions about them.

#include <z3++.h>

#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/ir/dim/dim_tree.h"

namespace quern {

/// What Z3 says of a claim. `Unknown` is within a limit of work that Z3 counts, so that an answer does not
/// depend on the machine.
enum class Verdict { Holds, Fails, Unknown };
inline void PrintTo(Verdict verdict, std::ostream* out) {
  constexpr const char* names[] = {"Holds", "Fails", "Unknown"};
  *out << names[static_cast<size_t>(verdict)];
}

class Z3Dims {
 public:
  /// The value of an expression, and where it has one: no divisor is 0 and what is broadcast fits.
  struct Meaning {
    z3::expr value;
    z3::expr defined;
  };

  Meaning of(const Tree& tree) {
    if (tree.kind == DimKind::Const) return {constant(tree.value), yes()};
    if (tree.kind == DimKind::Var) return {variable(tree.var), yes()};
    Meaning right = of(tree.args[1]);
    if (tree.kind == DimKind::Sum && tree.value < 0) right.value = -right.value;
    return combine(tree.kind, of(tree.args[0]), right);
  }

  Meaning of(Dim d) {
    if (d->kind == DimKind::Const) return {constant(d->value), yes()};
    if (d->kind == DimKind::Var) return {variable(d), yes()};
    Meaning out = of(d->args.front());
    for (Dim arg : d->args.subspan(1)) out = combine(d->kind, out, of(arg));
    if (d->kind == DimKind::Product) out.value = constant(d->value) * out.value;
    return out;
  }

  /// a / b == q for a b other than 0: the one integer that leaves a remainder between 0 and the divisor.
  static z3::expr is_quotient(const z3::expr& a, const z3::expr& b, const z3::expr& q) {
    const z3::expr remainder = a - b * q;
    return implies(b > 0, 0 <= remainder && remainder < b) && implies(b < 0, b < remainder && remainder <= 0);
  }

  /// `left == right`, and `right` has a value. That a quotient is one is said without it: Z3 is then spared
  /// products of unknowns.
  z3::expr same(const Tree& left, const Meaning& right) {
    if (left.kind != DimKind::FloorDiv) return right.defined && sorted(of(left).value - right.value) == 0;
    return right.defined && is_quotient(of(left.args[0]).value, of(left.args[1]).value, right.value);
  }

  /// Takes `q`, which was seen to be the quotient, for it from here on.
  void learn_quotient(const Tree& division, const z3::expr& q) {
    Division& known = divide(of(division.args[0]).value, of(division.args[1]).value);
    assume(known.quotient == q);
    known.quotient = q;
  }

  z3::expr yes() { return context_.bool_val(true); }
  z3::expr constant(int64_t value) { return context_.int_val(value); }

  /// Every integer is looked at, but for what is assumed.
  void assume(const z3::expr& condition) { assumed_.push_back(condition); }
  /// The facts, with their default: a variable that nothing is said of is >= 0.
  void assume(std::span<const Fact> told) {
    for (const Fact& fact : told) assume(holds(fact));
    default_lower_ = true;
    for (const Fact& fact : told) {
      if (fact.kind == Fact::Kind::Lower) bounded_.insert(fact.a.var);
    }
  }

  z3::expr holds(const Fact& fact) {
    Meaning a = of(fact.a);
    Meaning b = of(fact.b);
    z3::expr defined = a.defined && b.defined;
    switch (fact.kind) {
      case Fact::Kind::Index: return defined && a.value >= 0 && a.value < b.value;
      case Fact::Kind::Lower:
      case Fact::Kind::NonNegative: return defined && a.value >= b.value;
      case Fact::Kind::Equal: return defined && a.value == b.value;
    }
    return yes();
  }

  /// Whether `claim` is true wherever all that is assumed is.
  Verdict follows(const z3::expr& claim, unsigned limit) {
    // Without the tactics that Z3 would choose by itself, which take longer to start than most claims to
    // prove.
    z3::solver solver =
        (z3::tactic(context_, "simplify") & z3::tactic(context_, "solve-eqs") & z3::tactic(context_, "smt"))
            .mk_solver();
    solver.set("rlimit", limit);
    for (const z3::expr& condition : assumed_) solver.add(condition);
    if (default_lower_) {
      for (const auto& [var, value] : variables_) {
        if (!bounded_.contains(var)) solver.add(value >= 0);
      }
    }
    solver.add(!claim);
    switch (solver.check()) {
      case z3::unsat: return Verdict::Holds;
      case z3::unknown: return Verdict::Unknown;
      case z3::sat: break;
    }
    model_ = solver.get_model();
    return Verdict::Fails;
  }

  /// The values of the variables where the last claim failed.
  std::string counterexample() const {
    std::string out;
    for (const auto& [var, value] : variables_) {
      out +=
          (out.empty() ? "" : ", ") + std::string(var->name) + " = " + model_->eval(value, true).to_string();
    }
    return out;
  }

 private:
  struct Division {
    z3::expr dividend, divisor, quotient;
  };

  z3::expr variable(Dim var) {
    auto found = variables_.find(var);
    if (found != variables_.end()) return found->second;
    std::string name = std::string(var->name) + "!" + std::to_string(var->value);
    return variables_.emplace(var, context_.int_const(name.c_str())).first->second;
  }

  Meaning combine(DimKind kind, const Meaning& a, const Meaning& b) {
    const z3::expr defined = (a.defined && b.defined).simplify();
    switch (kind) {
      case DimKind::Sum: return {a.value + b.value, defined};
      case DimKind::Product: return {a.value * b.value, defined};
      case DimKind::FloorDiv: return {divide(a.value, b.value).quotient, defined && b.value != 0};
      case DimKind::FloorMod:
        return {a.value - b.value * divide(a.value, b.value).quotient, defined && b.value != 0};
      case DimKind::Min:
      case DimKind::Max:
      case DimKind::Broadcast: return choose(kind, sorted(a.value), sorted(b.value), defined);
      case DimKind::Const:
      case DimKind::Var:
      case DimKind::Any:
      case DimKind::Infer: break;
    }
    return a;
  }

  /// In one order of the operands, which leaves less to be proved. Where a broadcast has a value it commutes.
  Meaning choose(DimKind kind, z3::expr a, z3::expr b, const z3::expr& defined) {
    if (a.id() > b.id()) std::swap(a, b);
    if (kind == DimKind::Min) return {ite(a <= b, a, b), defined};
    if (kind == DimKind::Max) return {ite(a >= b, a, b), defined};
    return {ite(a == 1, b, a), defined && (a == b || a == 1 || b == 1)};
  }

  /// As a polynomial, in one order of its terms.
  z3::expr sorted(const z3::expr& e) {
    z3::params options(context_);
    options.set("som", true);
    return e.simplify(options);
  }

  /// Z3's own division rounds by the sign of the divisor. Here a quotient is an integer of which no more is
  /// known than `is_quotient`; by 0 any will do.
  Division& divide(const z3::expr& dividend, const z3::expr& divisor) {
    const z3::expr a = sorted(dividend);
    const z3::expr b = sorted(divisor);
    // A term is never made twice.
    const std::pair key(a.id(), b.id());
    if (auto found = divisions_.find(key); found != divisions_.end()) return found->second;
    const std::string name = "quotient" + std::to_string(divisions_.size());
    const z3::expr q = context_.int_const(name.c_str());
    assume(is_quotient(a, b, q));
    return divisions_.emplace(key, Division{a, b, q}).first->second;
  }

  struct ByOrder {
    bool operator()(Dim a, Dim b) const { return a->order < b->order; }
  };

  z3::context context_;
  std::map<Dim, z3::expr, ByOrder> variables_;
  std::map<std::pair<unsigned, unsigned>, Division> divisions_;
  std::vector<z3::expr> assumed_;
  bool default_lower_ = false;
  std::set<Dim, ByOrder> bounded_;
  std::optional<z3::model> model_;
};

}  // namespace quern
