#include "ir/expr/equality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "ir/expr/fields.h"
#include "ir/value/tensor.h"

namespace quern {

namespace {

/// Compares iteratively, without recursion however deep the expressions are.
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

  // --- the fields of a node
  void operator()(role::Child, ExprPtr a, ExprPtr b) { later(a, b); }
  void operator()(role::Child, std::span<const ExprPtr> a, std::span<const ExprPtr> b) {
    each(a, b, "numbers of parts", [this](auto left, auto right) { later(left, right); });
  }
  void operator()(role::Bindings, std::span<const Binding> a, std::span<const Binding> b) {
    each(a, b, "numbers of bindings", [this](const auto& left, const auto& right) {
      bind(left.variable, right.variable);
      later(left.value, right.value);
    });
  }
  void operator()(role::Arms, std::span<const MatchArm> a, std::span<const MatchArm> b) {
    each(a, b, "numbers of arms", [this](const auto& left, const auto& right) {
      patterns(left.pattern, right.pattern);
      later(left.body, right.body);
    });
  }
  void operator()(role::Use, const Variable* a, const Variable* b) { variables(a, b); }
  void operator()(role::Parameters, std::span<const Variable* const> a, std::span<const Variable* const> b) {
    each(a, b, "numbers of parameters", [this](auto left, auto right) { bind(left, right); });
  }
  void operator()(role::FnDims, std::span<const Dim> a, std::span<const Dim> b) { bind(a, b); }
  void operator()(role::IndexVars, std::span<const Dim> a, std::span<const Dim> b) { bind(a, b); }
  /// They correspond by name, where a type mentions them.
  void operator()(role::OpenedDims, std::span<const Dim> a, std::span<const Dim> b) {
    check(a.size() == b.size(), "numbers of opened dims");
  }
  void operator()(role::Dims, Dim a, Dim b) { dims(a, b); }
  void operator()(role::Dims, std::span<const Dim> a, std::span<const Dim> b) {
    each(a, b, "numbers of dims", [this](auto left, auto right) { dims(left, right); });
  }
  void operator()(role::Types, std::span<const Type> a, std::span<const Type> b) {
    each(a, b, "numbers of type arguments", [this](auto left, auto right) { types(left, right); });
  }
  void operator()(role::Conditions, std::span<const DimCondition> a, std::span<const DimCondition> b) {
    each(a, b, "numbers of conditions over dims", [this](const auto& left, const auto& right) {
      check(left.relation == right.relation, "conditions over dims");
      dims(left.left, right.left);
      dims(left.right, right.right);
    });
  }
  void operator()(role::Name, std::string_view a, std::string_view b) { check(a == b, "names", a, b); }
  void operator()(role::Name, std::span<const std::string_view> a, std::span<const std::string_view> b) {
    check(std::ranges::equal(a, b), "texts");
  }
  void operator()(role::Checks, std::span<const bool> a, std::span<const bool> b) {
    check(std::ranges::equal(a, b), "checks of positions");
  }
  void operator()(role::Clause, const ScheduleClause* a, const ScheduleClause* b) {
    check(!a == !b, "presence of a schedule");
    if (a && b)
      check(a->schedule == b->schedule, "schedules", to_clause(a->schedule), to_clause(b->schedule));
  }
  template <class T>
  void operator()(role::Datum, const T& a, const T& b) {
    if (!difference_) data(a, b);
  }
  template <class T>
  void operator()(role::Spelling, const T&, const T&) {}
  void operator()(role::Home, uint32_t, uint32_t) {}

 private:
  template <class... Shown>
  void check(bool equal, std::string_view what, const Shown&... shown) {
    if (equal || difference_) return;
    difference_ = fmt::format("different {}", what);
    if constexpr (sizeof...(Shown) == 2) *difference_ += fmt::format(": {} and {}", shown...);
  }

  template <class Item, class F>
  void each(std::span<Item> a, std::span<Item> b, std::string_view what, const F& compare) {
    check(a.size() == b.size(), what);
    for (size_t i = 0; !difference_ && i < a.size(); ++i) compare(a[i], b[i]);
  }

  void later(ExprPtr a, ExprPtr b) { pairs_.emplace_back(a, b); }

  void pair(ExprPtr a, ExprPtr b) {
    if (!a || !b) return check(a == b, "presence of a part");
    check(a->kind == b->kind, "kinds", to_string(a->kind), to_string(b->kind));
    if (difference_) return;
    size_t others = pairs_.size();
    visit(a, [&](const auto& node) {
      using Node = std::remove_cvref_t<decltype(node)>;
      for_each_field(*this, node, static_cast<const Node&>(*b));
    });
    std::reverse(pairs_.begin() + static_cast<ptrdiff_t>(others), pairs_.end());
    // A function's type mentions the dims that the function binds.
    types(a->type, b->type);
  }

  // --- bound and free names
  void bind(const Variable* a, const Variable* b) {
    check((a == nullptr) == (b == nullptr), "bindings");
    if (difference_ || !a) return;
    variables_[a] = b;
    check(a->graph == b->graph && a->fresh == b->fresh, "kinds of variables", a->name, b->name);
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
  /// A type variable of a function literal corresponds to the variable in its place.
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
  /// A free dim corresponds to the first unmatched one with the same name, since each read of a reference
  /// opens new dims.
  template <class ForEachOther>
  void take_free(Dim var, ForEachOther for_each_other) {
    if (renaming_.dims.contains(var)) return;
    for_each_other([&](Dim other) {
      if (other->name != var->name || renaming_.dims.contains(var)) return;
      if (taken_dims_.insert(other).second) renaming_.dims.emplace(var, other);
    });
  }

  void patterns(PatternPtr a, PatternPtr b) {
    check(a->kind == b->kind && a->parts.size() == b->parts.size(), "patterns");
    if (difference_) return;
    data(a->constructor, b->constructor);
    bind(a->variable, b->variable);
    types(a->type, b->type);
    for (size_t i = 0; !difference_ && i < a->parts.size(); ++i) patterns(a->parts[i], b->parts[i]);
  }

  // --- values shared by copies of a node
  void data(const std::shared_ptr<const HostTensor>& a, const std::shared_ptr<const HostTensor>& b) {
    bool same = a->dtype() == b->dtype() && a->shape() == b->shape() &&
                std::memcmp(a->data(), b->data(), a->bytes()) == 0;
    check(same, "constants", to_string(*a), to_string(*b));
  }
  void data(const OpInstance* a, const OpInstance* b) {
    check(a->key == b->key, "operators", a->key, b->key);
  }
  void data(const Constructor* a, const Constructor* b) {
    if (!a || !b) return check(a == b, "presence of a constructor");
    check(a->name == b->name && a->tag == b->tag, "constructors", a->name, b->name);
  }
  void data(const ExternAttributes*, const ExternAttributes*) {}  ///< in the key of the enclosing instance
  void data(ScalarOp a, ScalarOp b) { check(a == b, "scalar functions", info(a).name, info(b).name); }
  void data(ReduceKind a, ReduceKind b) { check(a == b, "reductions", to_string(a), to_string(b)); }
  void data(ScatterKind a, ScatterKind b) { check(a == b, "scatters", to_string(a), to_string(b)); }
  void data(IntrinsicKind a, IntrinsicKind b) { check(a == b, "intrinsics", to_string(a), to_string(b)); }
  void data(bool a, bool b) { check(a == b, "marks", a, b); }
  void data(uint32_t a, uint32_t b) { check(a == b, "positions of fields", a, b); }

  std::vector<std::pair<ExprPtr, ExprPtr>> pairs_;  ///< pending comparisons; the next is last
  std::unordered_map<const Variable*, const Variable*> variables_;
  /// Types of bound variables: they mention dims that their values bind, so they are compared at the end.
  std::vector<std::pair<Type, Type>> bound_types_;
  std::unordered_set<Type> taken_types_;  ///< the right side's type variables that are matched
  std::unordered_set<Dim> taken_dims_;
  Substitution renaming_;  ///< from the left side's dims and type variables to the right side's
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
