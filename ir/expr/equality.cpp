#include "ir/expr/equality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "ir/value/tensor.h"

namespace quern {

namespace {

/// Compares in steps, so that nothing recurses however deep the expressions are.
class Comparison {
 public:
  std::optional<std::string> run(ExprPtr a, ExprPtr b) {
    later(a, b);
    while (!pairs_.empty() && !difference_) {
      auto [left, right] = pairs_.back();
      pairs_.pop_back();
      pair(left, right);
    }
    for (auto [left, right] : std::exchange(bound_types_, {}))
      if (!difference_) types(left, right);
    return difference_;
  }

  std::optional<std::string> run(std::span<const ModulePart> a, std::span<const ModulePart> b) {
    check(a.size() == b.size(), "numbers of declarations");
    for (size_t i = 0; i < a.size() && !difference_; ++i) {
      check(!a[i].definition == !b[i].definition && !a[i].variable == !b[i].variable,
            "kinds of declarations");
      if (!a[i].definition) continue;
      if (!difference_) run(*a[i].definition, *b[i].definition, a[i].variable);
      if (difference_) difference_ = a[i].definition->name + ": " + *difference_;
      if (a[i].variable) variables_[a[i].variable] = b[i].variable;
    }
    return difference_;
  }

  std::optional<std::string> run(const Definition& a, const Definition& b, bool renamed = false) {
    check(renamed || a.name == b.name, "names", a.name, b.name);
    bind(a.scheme.dim_vars, b.scheme.dim_vars);
    check(a.scheme.type_vars.size() == b.scheme.type_vars.size(), "type variables");
    for (size_t i = 0; !difference_ && i < a.scheme.type_vars.size(); ++i)
      take_type_vars(a.scheme.type_vars[i], b.scheme.type_vars[i]);
    if (!difference_) types(a.scheme.type, b.scheme.type);
    return difference_ ? difference_ : run(a.body, b.body);
  }

 private:
  template <class... Shown>
  void check(bool equal, std::string_view what, const Shown&... shown) {
    if (equal || difference_) return;
    difference_ = fmt::format("different {}", what);
    if constexpr (sizeof...(Shown) == 2) *difference_ += fmt::format(": {} and {}", shown...);
  }

  void later(ExprPtr a, ExprPtr b) { pairs_.emplace_back(a, b); }
  void later(std::span<const ExprPtr> a, std::span<const ExprPtr> b) {
    check(a.size() == b.size(), "numbers of parts");
    for (size_t i = std::min(a.size(), b.size()); i-- > 0;) later(a[i], b[i]);
  }

  void pair(ExprPtr a, ExprPtr b) {
    if (!a || !b) return check(a == b, "presence of a part");
    check(a->kind == b->kind, "kinds", to_string(a->kind), to_string(b->kind));
    if (difference_) return;
    visit(a, [&](const auto& node) {
      using Node = std::remove_cvref_t<decltype(node)>;
      parts(node, static_cast<const Node&>(*b));
    });
    // A function's type is over what the function binds.
    types(a->type, b->type);
  }

  // --- what is bound and what is free
  void bind(const Variable* a, const Variable* b) {
    check((a == nullptr) == (b == nullptr), "bindings");
    if (difference_ || !a) return;
    variables_[a] = b;
    check(a->graph == b->graph, "kinds of variables", a->name, b->name);
    bound_types_.emplace_back(a->type, b->type);
  }
  void bind(std::span<const Dim> a, std::span<const Dim> b) {
    check(a.size() == b.size(), "numbers of dims");
    for (size_t i = 0; !difference_ && i < a.size(); ++i)
      renaming_.dims[a[i]] = b[i], taken_dims_.insert(b[i]);
  }
  void variables(const Variable* a, const Variable* b) {
    auto [known, free] = variables_.try_emplace(a, b);
    check(known->second == b && (!free || a->name == b->name), "variables", a->name, b->name);
    if (free) types(a->type, b->type);
  }

  void types(Type a, Type b) {
    if (a == b || difference_) return;
    if (!a || !b) return check(false, "presence of a type");
    for_each_dim_var(a, [&](Dim var) { take_free(var, [&](auto visit) { for_each_dim_var(b, visit); }); });
    take_type_vars(a, b);
    check(substitute(a, renaming_) == b, "types", to_string(a), to_string(b));
  }
  /// A type variable of a function literal corresponds to what stands in its place, a variable as well.
  void take_type_vars(Type a, Type b) {
    if (a->kind == TypeKind::Var && b->kind == TypeKind::Var && !renaming_.types.contains(a)) {
      if (taken_types_.insert(b).second) renaming_.types.emplace(a, b);
      return;
    }
    for (size_t i = 0; i < std::min(a->args.size(), b->args.size()); ++i)
      take_type_vars(a->args[i], b->args[i]);
  }
  void dims(Dim a, Dim b) {
    if (a == b || difference_) return;
    for_each_var(a, [&](Dim var) { take_free(var, [&](auto visit) { for_each_var(b, visit); }); });
    check(substitute(a, renaming_.dims) == b, "dims", to_string(a), to_string(b));
  }
  void dims(std::span<const Dim> a, std::span<const Dim> b) {
    check(a.size() == b.size(), "numbers of dims");
    for (size_t i = 0; !difference_ && i < a.size(); ++i) dims(a[i], b[i]);
  }
  /// A dim that nothing binds corresponds to one of the same name: the first that no other one does, since
  /// each reading of a reference opens dims of its own.
  template <class ForEachOther>
  void take_free(Dim var, ForEachOther for_each_other) {
    if (renaming_.dims.contains(var)) return;
    for_each_other([&](Dim other) {
      if (other->name != var->name || renaming_.dims.contains(var)) return;
      if (taken_dims_.insert(other).second) renaming_.dims.emplace(var, other);
    });
  }

  // --- the parts of each kind
  void parts(const ConstExpr& a, const ConstExpr& b) {
    bool same = a.value->dtype() == b.value->dtype() && a.value->shape() == b.value->shape() &&
                std::memcmp(a.value->data(), b.value->data(), a.value->bytes()) == 0;
    check(same, "constants", to_string(*a.value), to_string(*b.value));
  }
  void parts(const VarExpr& a, const VarExpr& b) { variables(a.variable, b.variable); }
  void parts(const GlobalExpr& a, const GlobalExpr& b) {
    check(a.name == b.name, "functions", a.name, b.name);
    dims(a.dims, b.dims);
    check(a.types.size() == b.types.size(), "numbers of type arguments");
    for (size_t i = 0; !difference_ && i < a.types.size(); ++i) types(a.types[i], b.types[i]);
  }
  void parts(const OpCallExpr& a, const OpCallExpr& b) {
    check(a.instance->key == b.instance->key, "operators", a.instance->key, b.instance->key);
    dims(a.dims, b.dims);
    schedules(a.schedule, b.schedule);
    later(a.args, b.args);
  }
  void schedules(const ScheduleClause* a, const ScheduleClause* b) {
    check(!a == !b, "presence of a schedule");
    if (a && b)
      check(a->schedule == b->schedule, "schedules", to_clause(a->schedule), to_clause(b->schedule));
  }
  void parts(const CallExpr& a, const CallExpr& b) {
    later(a.args, b.args);
    later(a.callee, b.callee);
  }
  void parts(const FnExpr& a, const FnExpr& b) {
    check(a.primitive == b.primitive, "marks of a kernel");
    bind(a.dim_vars, b.dim_vars);
    check(a.params.size() == b.params.size(), "numbers of parameters");
    for (size_t i = 0; !difference_ && i < a.params.size(); ++i) bind(a.params[i], b.params[i]);
    later(a.body, b.body);
  }
  void parts(const BlockExpr& a, const BlockExpr& b) {
    check(a.bindings.size() == b.bindings.size(), "numbers of bindings");
    later(a.result, b.result);
    for (size_t i = std::min(a.bindings.size(), b.bindings.size()); i-- > 0;) {
      bind(a.bindings[i].variable, b.bindings[i].variable);
      later(a.bindings[i].value, b.bindings[i].value);
    }
  }
  void parts(const IfExpr& a, const IfExpr& b) {
    later(a.else_arm, b.else_arm);
    later(a.then_arm, b.then_arm);
    later(a.condition, b.condition);
  }
  void patterns(PatternPtr a, PatternPtr b) {
    check(a->kind == b->kind && a->parts.size() == b->parts.size(), "patterns");
    if (difference_) return;
    constructors(a->constructor, b->constructor);
    bind(a->variable, b->variable);
    types(a->type, b->type);
    for (size_t i = 0; !difference_ && i < a->parts.size(); ++i) patterns(a->parts[i], b->parts[i]);
  }
  void parts(const MatchExpr& a, const MatchExpr& b) {
    check(a.partial == b.partial && a.arms.size() == b.arms.size(), "matches");
    for (size_t i = 0; !difference_ && i < a.arms.size(); ++i) {
      patterns(a.arms[i].pattern, b.arms[i].pattern);
      later(a.arms[i].body, b.arms[i].body);
    }
    later(a.scrutinee, b.scrutinee);
  }
  void parts(const RefExpr& a, const RefExpr& b) { children(a, b); }
  void parts(const RefReadExpr& a, const RefReadExpr& b) { children(a, b); }
  void parts(const RefWriteExpr& a, const RefWriteExpr& b) { children(a, b); }
  /// Of nodes that are nothing but their children.
  void children(const Expr& a, const Expr& b) {
    std::vector<ExprPtr> left, right;
    for_each_child(&a, [&](ExprPtr child) { left.push_back(child); });
    for_each_child(&b, [&](ExprPtr child) { right.push_back(child); });
    later(left, right);
  }
  void parts(const TupleExpr& a, const TupleExpr& b) { later(a.fields, b.fields); }
  void parts(const FieldExpr& a, const FieldExpr& b) {
    check(a.index == b.index && a.name == b.name, "fields", a.name, b.name);
    later(a.tuple, b.tuple);
  }
  void constructors(const Constructor* a, const Constructor* b) {
    if (!a || !b) return check(a == b, "presence of a constructor");
    check(a->name == b->name && a->tag == b->tag, "constructors", a->name, b->name);
  }
  void parts(const ConstructExpr& a, const ConstructExpr& b) {
    constructors(a.constructor, b.constructor);
    later(a.fields, b.fields);
  }
  void parts(const IntrinsicExpr& a, const IntrinsicExpr& b) {
    check(a.intrinsic == b.intrinsic && std::ranges::equal(a.texts, b.texts), "intrinsics");
    later(a.args, b.args);
  }
  /// Its attributes are those of the operator's instance, whose key holds them.
  void parts(const ExternExpr& a, const ExternExpr& b) {
    check(a.kernel == b.kernel, "kernels", a.kernel, b.kernel);
    later(a.args, b.args);
  }
  void parts(const ComprehensionExpr& a, const ComprehensionExpr& b) {
    schedules(a.schedule, b.schedule);
    dims(a.extents, b.extents);
    bind(a.vars, b.vars);
    later(a.scheduled, b.scheduled);
    later(a.body, b.body);
  }
  void parts(const CheckDimsExpr& a, const CheckDimsExpr& b) {
    check(a.opened.size() == b.opened.size(), "numbers of opened dims");
    check(a.conditions.size() == b.conditions.size(), "numbers of conditions over dims");
    for (size_t i = 0; !difference_ && i < a.conditions.size(); ++i) {
      check(a.conditions[i].relation == b.conditions[i].relation, "conditions over dims");
      dims(a.conditions[i].left, b.conditions[i].left);
      dims(a.conditions[i].right, b.conditions[i].right);
    }
    later(a.value, b.value);
  }
  void parts(const ViewExpr& a, const ViewExpr& b) { later(a.tensor, b.tensor); }
  void parts(const DimValueExpr& a, const DimValueExpr& b) { dims(a.dim, b.dim); }
  void parts(const ScalarExpr& a, const ScalarExpr& b) {
    bool same = a.is_cast == b.is_cast && (a.is_cast || a.op == b.op);
    check(same, "scalar functions", info(a.op).name, info(b.op).name);
    later(a.args, b.args);
  }
  void parts(const ReduceExpr& a, const ReduceExpr& b) {
    check(a.reduce == b.reduce, "reductions", to_string(a.reduce), to_string(b.reduce));
    dims(a.extents, b.extents);
    bind(a.vars, b.vars);
    later(a.body, b.body);
  }
  void parts(const ScanExpr& a, const ScanExpr& b) {
    check(a.reduce == b.reduce, "scans", to_string(a.reduce), to_string(b.reduce));
    dims(a.extents, b.extents);
    bind(a.vars, b.vars);
    later(a.body, b.body);
  }
  void parts(const ScatterExpr& a, const ScatterExpr& b) {
    check(a.scatter == b.scatter, "scatters", to_string(a.scatter), to_string(b.scatter));
    check(std::ranges::equal(a.checked, b.checked), "checks of positions");
    dims(a.extents, b.extents);
    bind(a.vars, b.vars);
    later(a.value, b.value);
    later(a.indices, b.indices);
    later(a.init, b.init);
  }
  void parts(const ReadExpr& a, const ReadExpr& b) {
    check(std::ranges::equal(a.checked, b.checked), "checks of positions");
    later(a.otherwise, b.otherwise);
    later(a.indices, b.indices);
    later(a.tensor, b.tensor);
  }
  void parts(const ErrorExpr&, const ErrorExpr&) {}

  std::vector<std::pair<ExprPtr, ExprPtr>> pairs_;  ///< still to compare; the next is last
  std::unordered_map<const Variable*, const Variable*> variables_;
  /// Of variables that were bound: over dims that their values bind, so they are compared at the end.
  std::vector<std::pair<Type, Type>> bound_types_;
  std::unordered_set<Type> taken_types_;  ///< the right one's type variables that correspond to one
  std::unordered_set<Dim> taken_dims_;
  Substitution renaming_;  ///< of the left one's dims and type variables to the right one's
  std::optional<std::string> difference_;
};

}  // namespace

std::optional<std::string> difference(ExprPtr a, ExprPtr b) { return Comparison().run(a, b); }
std::optional<std::string> difference(const Definition& a, const Definition& b) {
  return Comparison().run(a, b);
}
std::optional<std::string> difference(std::span<const ModulePart> a, std::span<const ModulePart> b) {
  return Comparison().run(a, b);
}
bool same(ExprPtr a, ExprPtr b) { return !difference(a, b); }
bool same(const Definition& a, const Definition& b) { return !difference(a, b); }

}  // namespace quern
