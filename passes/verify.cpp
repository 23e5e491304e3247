#include "passes/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "ir/interpret/evaluation.h"
#include "passes/verify_types.h"

namespace quern {

namespace {

/// How often each thing is bound where the walk is: a node may stand at several places.
template <class T>
class Bound {
 public:
  void enter(T thing) { ++counts_[thing]; }
  void leave(T thing) {
    auto found = counts_.find(thing);
    if (--found->second == 0) counts_.erase(found);
  }
  bool contains(T thing) const { return counts_.contains(thing); }

 private:
  std::unordered_map<T, int> counts_;
};

/// Walks an expression with the names that are bound at each node.
class ScopeWalk {
 public:
  virtual ~ScopeWalk() = default;

  void walk(ExprPtr expr) {
    visit(expr,
          overloaded{[&](const VarExpr& e) { at_variable(e); },
                     [&](const DimValueExpr& e) { at_dim(e, e.dim); },
                     [&](const GlobalExpr& e) { at_dims(e, e.dims); },
                     [&](const OpCallExpr& e) {
                       children(expr);
                       at_dims(e, e.dims);
                     },
                     [&](const FnExpr& e) { function(e); }, [&](const BlockExpr& e) { block(e); },
                     [&](const MatchExpr& e) { match(e); }, [&](const CheckDimsExpr& e) { check_dims(e); },
                     [&](const ExternExpr& e) { extern_call(e); },
                     [&](const ComprehensionExpr& e) {
                       at_dims(e, e.extents);
                       within(e.vars, [&] { walk(e.body); });
                       for (ExprPtr tensor : e.scheduled) walk(tensor);
                     },
                     [&](const ReduceExpr& e) { reduction(e); }, [&](const ScanExpr& e) { reduction(e); },
                     [&](const ScatterExpr& e) { scatter(e); }, [&](const auto&) { children(expr); }});
    // What its parts open is bound from there on, and what they check is known.
    at_type(*expr, expr->type);
    at_node(expr);
  }

 protected:
  virtual void at_node(ExprPtr) {}
  virtual void free_variable(const Expr& at, const Variable* variable) = 0;
  virtual void free_dim(const Expr& at, Dim dim) = 0;
  virtual bool is_over() const { return false; }
  /// Whether this is inside of a primitive.
  bool is_closed() const { return is_closed_; }
  /// The dims that were known at run time alone, or compared there, so far.
  const std::unordered_set<Dim>& checked() const { return checked_; }

 private:
  void children(ExprPtr expr) {
    for_each_child(expr, [&](ExprPtr child) {
      if (!is_over()) walk(child);
    });
  }

  void at_variable(const VarExpr& e) {
    if (!variables_.contains(e.variable)) free_variable(e, e.variable);
  }
  void at_dim(const Expr& at, Dim dim) {
    if (!dim) return;
    for_each_var(dim, [&](Dim var) {
      if (!dims_.contains(var)) free_dim(at, var);
    });
  }
  void at_dims(const Expr& at, std::span<const Dim> dims) {
    for (Dim dim : dims) at_dim(at, dim);
  }
  void at_type(const Expr& at, Type type) {
    if (!type) return;
    auto [known, added] = vars_of_.try_emplace(type);
    if (added) known->second = scoped_dims(type);
    for (Dim var : known->second)
      if (!dims_.contains(var)) free_dim(at, var);
  }

  /// To the end of the function.
  void open(Dim dim) {
    dims_.enter(dim);
    opened_.push_back(dim);
    checked_.insert(dim);
  }

  template <class F>
  void within(std::span<const Dim> vars, const F& inside) {
    for (Dim var : vars) dims_.enter(var);
    inside();
    for (Dim var : vars) dims_.leave(var);
  }

  void function(const FnExpr& e) {
    // A primitive is a kernel: nothing reaches it but its arguments, and dims of the frame.
    Bound<const Variable*> around;
    if (e.primitive) std::swap(around, variables_);
    const bool was_closed = std::exchange(is_closed_, is_closed_ || e.primitive);
    std::vector<Dim> opened_around;
    std::swap(opened_around, opened_);
    within(e.dim_vars, [&] {
      for (const Variable* p : e.params) {
        variables_.enter(p);
        at_type(e, p->type);
      }
      walk(e.body);
      for (const Variable* p : e.params) variables_.leave(p);
    });
    for (Dim dim : opened_) dims_.leave(dim);
    std::swap(opened_around, opened_);
    if (e.primitive) std::swap(around, variables_);
    is_closed_ = was_closed;
  }

  void block(const BlockExpr& e) {
    for (const Binding& b : e.bindings) {
      if (is_over()) return;
      // A function literal sees its own name.
      const bool sees_itself = b.variable && b.value->kind == ExprKind::Fn;
      if (sees_itself) variables_.enter(b.variable);
      walk(b.value);
      if (b.variable && !sees_itself) variables_.enter(b.variable);
    }
    walk(e.result);
    for (const Binding& b : e.bindings)
      if (b.variable) variables_.leave(b.variable);
  }

  void match(const MatchExpr& e) {
    walk(e.scrutinee);
    for (const MatchArm& arm : e.arms) {
      for_each_variable(arm.pattern, [&](const Variable* v) { variables_.enter(v); });
      walk(arm.body);
      for_each_variable(arm.pattern, [&](const Variable* v) { variables_.leave(v); });
    }
  }

  void check_dims(const CheckDimsExpr& e) {
    if (e.value) walk(e.value);
    for (Dim dim : e.opened) open(dim);
    for (const DimCondition& c : e.conditions)
      for (Dim side : {c.left, c.right}) {
        at_dim(e, side);
        for_each_var(side, [&](Dim var) { checked_.insert(var); });
      }
  }

  /// Its result's shape is known when it is there: that binds the dims of its type.
  void extern_call(const ExternExpr& e) {
    children(&e);
    for (Dim var : scoped_dims(e.type))
      if (!dims_.contains(var)) open(var);
  }

  template <class Node>
  void reduction(const Node& e) {
    at_dims(e, e.extents);
    within(e.vars, [&] { walk(e.body); });
  }

  void scatter(const ScatterExpr& e) {
    walk(e.init);
    at_dims(e, e.extents);
    within(e.vars, [&] {
      for (ExprPtr index : e.indices) walk(index);
      walk(e.value);
    });
  }

  Bound<const Variable*> variables_;
  Bound<Dim> dims_;
  std::vector<Dim> opened_;  ///< in the function around
  std::unordered_set<Dim> checked_;
  bool is_closed_ = false;
  std::unordered_map<Type, std::vector<Dim>> vars_of_;
};

class Collector final : public ScopeWalk {
 public:
  FreeNames found;

 private:
  void free_variable(const Expr&, const Variable* variable) override { found.variables.insert(variable); }
  void free_dim(const Expr&, Dim dim) override { found.dims.insert(dim); }
};

class Verifier final : public ScopeWalk {
 public:
  explicit Verifier(const FreeNames& given) : given_(given) {}
  std::optional<Breach> breach;

 private:
  void at_node(ExprPtr expr) override {
    if (breach) return;
    auto* check = as<CheckDimsExpr>(expr);
    fails_before_ = fails_before_ || (check && std::ranges::any_of(check->conditions, is_false));
    if (fails_before_) return;
    if (std::string wrong = misfit(expr, checked()); !wrong.empty()) report(*expr, std::move(wrong));
  }
  void free_variable(const Expr& at, const Variable* variable) override {
    if (is_closed() || !given_.variables.contains(variable))
      report(at, fmt::format("%{} is used where it is not bound", variable->name));
  }
  void free_dim(const Expr& at, Dim dim) override {
    if (!given_.dims.contains(dim))
      report(at, fmt::format("{} is used where it is not bound", to_string(dim)));
  }
  void report(const Expr& at, std::string reason) {
    if (!breach) breach = Breach{&at, std::move(reason)};
  }
  bool is_over() const override { return breach.has_value(); }

  static bool is_false(const DimCondition& condition) {
    auto left = as_const(condition.left), right = as_const(condition.right);
    return left && right && !holds(condition.relation, *left, *right);
  }

  const FreeNames& given_;
  /// A check that cannot hold was passed: what comes after it is never evaluated, and its types are those of
  /// another shape.
  bool fails_before_ = false;
};

}  // namespace

bool is_verifying() {
  static const bool wanted = [] {
    const char* value = std::getenv("QUERN_VERIFY");
    return value && std::string_view(value) == "1";
  }();
  return wanted;
}

FreeNames free_names(ExprPtr expr) {
  Collector collector;
  collector.walk(expr);
  return std::move(collector.found);
}

std::optional<Breach> verify(ExprPtr expr, const FreeNames& given) {
  Verifier verifier(given);
  verifier.walk(expr);
  return std::move(verifier.breach);
}

}  // namespace quern
