// Substitution into expressions, with every binder inside renamed.

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>
#include <unordered_set>

#include "ir/expr/fields.h"

namespace quern {

namespace {

template <class T, class... Others>
constexpr bool one_of = (std::is_same_v<T, Others> || ...);

class Substituter {
 public:
  Substituter(Arena& arena, const ExprSubstitution& substitution, ExprPtr expr)
      : arena_(arena), given_(substitution), types_(substitution.types) {
    renew_opened(expr);
  }

  ExprPtr apply(ExprPtr expr) {
    if (!expr) return nullptr;
    if (auto* var = as<VarExpr>(expr); var && !renewed_.contains(var->variable)) {
      // The replacement of a variable comes from outside and keeps its own origin.
      auto found = given_.variables.find(var->variable);
      if (found != given_.variables.end()) return found->second;
    }
    ExprPtr image = visit(expr, [this](const auto& node) { return rebuild(node); });
    return given_.call ? at_call(image) : image;
  }

  // --- the fields of a copy: each becomes its image
  void operator()(role::Child, ExprPtr& child) { replace(child); }
  void operator()(role::Child, std::span<const ExprPtr>& children) { replace(children); }
  void operator()(role::Bindings, std::span<const Binding>& bindings) {
    std::vector<Binding> images(bindings.begin(), bindings.end());
    for (Binding& binding : images) {
      // A function literal sees its own name, and the variable's type the function's dims.
      auto* fn = as<FnExpr>(binding.value);
      if (fn) renew_early(*fn);
      if (!fn) binding.value = apply(binding.value);
      if (binding.variable) binding.variable = renew(binding.variable);
      if (fn) binding.value = apply(binding.value);
    }
    bindings = arena_.copy(images);
    changed_ |= !images.empty();
  }
  void operator()(role::Arms, std::span<const MatchArm>& arms) {
    std::vector<MatchArm> images;
    for (const MatchArm& arm : arms) {
      PatternPtr pattern = map_pattern(
          arena_, arm.pattern, [this](const Variable* variable) { return renew(variable); },
          [this](Type type) { return apply(type); });
      images.push_back({pattern, apply(arm.body)});
    }
    arms = arena_.copy(images);
    changed_ |= !images.empty();
  }
  void operator()(role::Use, const Variable*& variable) {
    auto renewed = renewed_.find(variable);
    if (renewed == renewed_.end()) return;
    variable = renewed->second;
    changed_ = true;
  }
  void operator()(role::Parameters, std::span<const Variable* const>& params) {
    std::vector<const Variable*> fresh;
    for (const Variable* param : params) fresh.push_back(renew(param));
    params = arena_.copy(fresh);
    changed_ |= !fresh.empty();
  }
  /// Substituting one of a function's own dims instantiates the function: the dim is no longer bound.
  void operator()(role::FnDims, std::span<const Dim>& vars) {
    std::vector<Dim> fresh;
    for (Dim var : vars) {
      if (given_.types.dims.contains(var)) continue;
      fresh.push_back(early_.erase(var) ? types_.dims.at(var) : renew(var));
    }
    changed_ |= !vars.empty();
    vars = arena_.copy(fresh);
  }
  void operator()(role::IndexVars, std::span<const Dim>& vars) {
    std::vector<Dim> fresh;
    for (Dim var : vars) fresh.push_back(renew(var));
    vars = arena_.copy(fresh);
    changed_ |= !fresh.empty();
  }
  void operator()(role::OpenedDims, std::span<const Dim>& opened) {
    std::vector<Dim> fresh;
    for (Dim dim : opened) fresh.push_back(given_.types.dims.contains(dim) ? dim : types_.dims.at(dim));
    opened = arena_.copy(fresh);
    changed_ |= !fresh.empty();
  }
  void operator()(role::Dims, Dim& dim) { replace(dim); }
  void operator()(role::Dims, std::span<const Dim>& dims) { replace(dims); }
  void operator()(role::Types, std::span<const Type>& types) { replace(types); }
  void operator()(role::Conditions, std::span<const DimCondition>& conditions) {
    std::vector<DimCondition> images(conditions.begin(), conditions.end());
    for (DimCondition& condition : images) {
      replace(condition.left);
      replace(condition.right);
      if (given_.call) condition.origin = inlined_at(condition.origin, *given_.call);
    }
    conditions = arena_.copy(images);
    changed_ |= given_.call != nullptr;
  }
  template <class Role, class T>
  void operator()(Role, const T&) {
    using role::Name, role::Spelling, role::Checks, role::Clause, role::Datum, role::Home;
    static_assert(one_of<Role, Name, Spelling, Checks, Clause, Datum, Home>, "the image of such a field");
  }

 private:
  template <class Node>
  ExprPtr rebuild(const Node& node) {
    Node copy = node;
    const bool around = std::exchange(changed_, false);
    for_each_field(*this, copy);
    // It may mention dims that the node binds.
    copy.type = apply(node.type);
    const bool changed = std::exchange(changed_, around) || copy.type != node.type;
    return changed ? arena_.make<Node>(std::move(copy)) : &node;
  }

  /// The node with the origin of an expression that replaces the call.
  ExprPtr at_call(ExprPtr expr) {
    return visit(expr, [this](const auto& node) -> ExprPtr {
      auto copy = node;
      auto [entry, added] =
          origins_.try_emplace({copy.origin.declaration, copy.origin.node, copy.origin.inlined});
      if (added) entry->second = inlined_at(copy.origin, *given_.call);
      copy.origin = entry->second;
      return arena_.make<std::remove_cvref_t<decltype(node)>>(std::move(copy));
    });
  }

  Type apply(Type type) {
    if (types_.empty()) return type;
    auto [entry, added] = images_.try_emplace(type, nullptr);
    if (added) entry->second = quern::substitute(type, types_);
    return entry->second;
  }

  Dim apply(Dim dim) { return types_.dims.empty() ? dim : quern::substitute(dim, types_.dims); }

  template <class Item>
  void replace(Item& item) {
    Item image = apply(item);
    changed_ |= image != item;
    item = image;
  }
  template <class Item>
  void replace(std::span<const Item>& items) {
    changed_ |= map_items(arena_, items, [this](Item item) { return apply(item); });
  }

  const Variable* renew(const Variable* variable) {
    const Variable* fresh =
        make_variable(arena_, variable->name, apply(variable->type), variable->graph, variable->fresh);
    renewed_[variable] = fresh;
    return fresh;
  }

  Dim renew(Dim var) {
    Dim fresh = dim_var(var->name);
    types_.dims[var] = fresh;
    images_.clear();
    return fresh;
  }

  /// Dims opened by a value are in scope outside it as well: the call that takes the value mentions them.
  void renew_opened(ExprPtr expr) {
    if (auto* check = as<CheckDimsExpr>(expr))
      for (Dim dim : check->opened)
        if (!given_.types.dims.contains(dim)) renew(dim);
    for_each_child(expr, [this](ExprPtr child) { renew_opened(child); });
  }

  /// Renames a function's dims before the function itself is copied.
  void renew_early(const FnExpr& fn) {
    for (Dim var : fn.dim_vars) {
      if (given_.types.dims.contains(var)) continue;
      renew(var);
      early_.insert(var);
    }
  }

  Arena& arena_;
  const ExprSubstitution& given_;
  std::unordered_map<const Variable*, const Variable*> renewed_;
  Substitution types_;                     ///< the given substitution and the renamed dims
  std::unordered_map<Type, Type> images_;  ///< under the current types_
  std::unordered_set<Dim> early_;          ///< dims renamed early, which the function's copy takes over
  bool changed_ = false;                   ///< whether a field of the node has changed so far
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Origin> origins_;
};

}  // namespace

ExprPtr substitute(Arena& arena, ExprPtr expr, const ExprSubstitution& substitution) {
  return Substituter(arena, substitution, expr).apply(expr);
}

}  // namespace quern
