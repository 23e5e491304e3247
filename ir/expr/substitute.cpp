// Substitution into expressions, with every binder inside renewed.

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>

#include "ir/expr/expr.h"

namespace quern {

namespace {

class Substituter {
 public:
  Substituter(Arena& arena, const ExprSubstitution& substitution, ExprPtr expr)
      : arena_(arena), given_(substitution), types_(substitution.types) {
    renew_opened(expr);
  }

  ExprPtr apply(ExprPtr expr) {
    ExprPtr image = visit(expr, [this](const auto& node) { return rebuild(node); });
    auto* var = as<VarExpr>(expr);
    // What stands for a variable comes from outside: it has its own origin.
    bool given = var && !renewed_.contains(var->variable) && given_.variables.contains(var->variable);
    return given_.call && !given ? at_call(image) : image;
  }

 private:
  // --- nodes that are their type and their children alone
  template <class Node>
  requires(std::is_same_v<Node, ConstExpr> || std::is_same_v<Node, CallExpr> ||
           std::is_same_v<Node, IfExpr> || std::is_same_v<Node, TupleExpr> ||
           std::is_same_v<Node, FieldExpr> || std::is_same_v<Node, ConstructExpr> ||
           std::is_same_v<Node, IntrinsicExpr> || std::is_same_v<Node, ExternExpr> ||
           std::is_same_v<Node, ViewExpr> || std::is_same_v<Node, RefExpr> ||
           std::is_same_v<Node, RefReadExpr> || std::is_same_v<Node, RefWriteExpr> ||
           std::is_same_v<Node, ScalarExpr> || std::is_same_v<Node, ReadExpr> ||
           std::is_same_v<Node, ErrorExpr>) ExprPtr rebuild(const Node& node) {
    ExprPtr image = map_children(arena_, &node, [this](ExprPtr child) { return apply(child); });
    Node copy = *static_cast<const Node*>(image);
    copy.type = apply(node.type);
    return copy.type == image->type ? image : arena_.make<Node>(std::move(copy));
  }

  // --- nodes with variables or dims of their own
  ExprPtr rebuild(const VarExpr& node) {
    auto renewed = renewed_.find(node.variable);
    if (renewed == renewed_.end()) {
      if (auto found = given_.variables.find(node.variable); found != given_.variables.end())
        return found->second;
    }
    VarExpr copy = node;
    if (renewed != renewed_.end()) copy.variable = renewed->second;
    copy.type = apply(node.type);
    return made(node, copy, copy.variable != node.variable);
  }

  ExprPtr rebuild(const GlobalExpr& node) {
    GlobalExpr copy = node;
    bool changed = replace(copy.dims);
    changed |= replace(copy.types);
    copy.type = apply(node.type);
    return made(node, copy, changed);
  }

  ExprPtr rebuild(const OpCallExpr& node) {
    OpCallExpr copy = node;
    bool changed = replace(copy.dims);
    changed |= replace(copy.args);
    copy.type = apply(node.type);
    return made(node, copy, changed);
  }

  ExprPtr rebuild(const DimValueExpr& node) {
    DimValueExpr copy = node;
    copy.dim = apply(node.dim);
    return made(node, copy, copy.dim != node.dim);
  }

  ExprPtr rebuild(const CheckDimsExpr& node) {
    CheckDimsExpr copy = node;
    copy.value = node.value ? apply(node.value) : nullptr;
    std::vector<Dim> opened;
    for (Dim dim : node.opened) opened.push_back(given_.types.dims.contains(dim) ? dim : types_.dims.at(dim));
    copy.opened = arena_.copy(opened);
    std::vector<DimCondition> conditions(node.conditions.begin(), node.conditions.end());
    bool changed = copy.value != node.value || !opened.empty();
    for (DimCondition& condition : conditions) {
      Dim left = apply(condition.left), right = apply(condition.right);
      changed |= left != condition.left || right != condition.right;
      condition.left = left;
      condition.right = right;
      if (given_.call) condition.origin = inlined_at(condition.origin, *given_.call);
    }
    copy.conditions = arena_.copy(conditions);
    copy.type = apply(node.type);
    return made(node, copy, changed || given_.call);
  }

  // --- binders
  ExprPtr rebuild(const FnExpr& node) {
    renew_dim_vars(node);
    return rebuild_renewed(node);
  }

  /// `node` whose dim_vars have their images already.
  ExprPtr rebuild_renewed(const FnExpr& node) {
    FnExpr copy = node;
    std::vector<Dim> dim_vars;
    for (Dim var : node.dim_vars)
      if (!given_.types.dims.contains(var)) dim_vars.push_back(types_.dims.at(var));
    copy.dim_vars = arena_.copy(dim_vars);
    std::vector<const Variable*> params;
    for (const Variable* param : node.params) params.push_back(renew(param));
    copy.params = arena_.copy(params);
    copy.body = apply(node.body);
    copy.type = apply(node.type);
    return made(node, copy, copy.body != node.body || !params.empty() || !node.dim_vars.empty());
  }

  ExprPtr rebuild(const BlockExpr& node) {
    BlockExpr copy = node;
    std::vector<Binding> bindings;
    bindings.reserve(node.bindings.size());
    for (const Binding& binding : node.bindings) {
      auto* fn = as<FnExpr>(binding.value);
      if (!fn) {
        ExprPtr value = apply(binding.value);
        bindings.push_back({binding.variable ? renew(binding.variable) : nullptr, value});
        continue;
      }
      // A function literal sees its own name, and the variable's type the function's dims: renew both first.
      renew_dim_vars(*fn);
      const Variable* variable = binding.variable ? renew(binding.variable) : nullptr;
      bindings.push_back({variable, rebuild_renewed(*fn)});
    }
    copy.bindings = arena_.copy(bindings);
    copy.result = apply(node.result);
    copy.type = apply(node.type);
    return made(node, copy, copy.result != node.result || !bindings.empty());
  }

  ExprPtr rebuild(const MatchExpr& node) {
    MatchExpr copy = node;
    copy.scrutinee = apply(node.scrutinee);
    std::vector<MatchArm> arms;
    for (const MatchArm& arm : node.arms) {
      PatternPtr pattern = map_pattern(
          arena_, arm.pattern, [this](const Variable* variable) { return renew(variable); },
          [this](Type type) { return apply(type); });
      arms.push_back({pattern, apply(arm.body)});
    }
    copy.arms = arena_.copy(arms);
    copy.type = apply(node.type);
    return made(node, copy, copy.scrutinee != node.scrutinee || !arms.empty());
  }

  template <class Node>
  requires(std::is_same_v<Node, ComprehensionExpr> || std::is_same_v<Node, ReduceExpr> ||
           std::is_same_v<Node, ScanExpr>) ExprPtr rebuild(const Node& node) {
    Node copy = node;
    bool changed = replace(copy.extents);
    std::vector<Dim> vars;
    for (Dim var : node.vars) vars.push_back(renew_dim(var));
    copy.vars = arena_.copy(vars);
    copy.body = apply(node.body);
    if constexpr (std::is_same_v<Node, ComprehensionExpr>) changed |= replace(copy.scheduled);
    copy.type = apply(node.type);
    return made(node, copy, changed || copy.body != node.body || !vars.empty());
  }

  ExprPtr rebuild(const ScatterExpr& node) {
    ScatterExpr copy = node;
    bool changed = replace(copy.extents);
    copy.init = apply(node.init);
    std::vector<Dim> vars;
    for (Dim var : node.vars) vars.push_back(renew_dim(var));
    copy.vars = arena_.copy(vars);
    changed |= replace(copy.indices);
    copy.value = node.value ? apply(node.value) : nullptr;
    copy.type = apply(node.type);
    return made(node, copy, changed || copy.init != node.init || copy.value != node.value || !vars.empty());
  }

  // --- parts
  /// The node with the origin of an expression in the place of the call.
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

  template <class Node>
  ExprPtr made(const Node& node, Node& copy, bool changed) {
    return changed || copy.type != node.type ? arena_.make<Node>(std::move(copy)) : &node;
  }

  Type apply(Type type) {
    if (types_.empty()) return type;
    auto [entry, added] = images_.try_emplace(type, nullptr);
    if (added) entry->second = quern::substitute(type, types_);
    return entry->second;
  }

  Dim apply(Dim dim) { return types_.dims.empty() ? dim : quern::substitute(dim, types_.dims); }

  template <class Item>
  bool replace(std::span<const Item>& items) {
    std::vector<Item> images;
    images.reserve(items.size());
    for (Item item : items) images.push_back(apply(item));
    if (std::ranges::equal(images, items)) return false;
    items = arena_.copy(images);
    return true;
  }

  const Variable* renew(const Variable* variable) {
    const Variable* fresh = make_variable(arena_, variable->name, apply(variable->type), variable->graph);
    renewed_[variable] = fresh;
    return fresh;
  }

  Dim renew_dim(Dim var) {
    Dim fresh = dim_var(var->name);
    types_.dims[var] = fresh;
    images_.clear();
    return fresh;
  }

  /// Dims that a value opens are in scope around it as well: the call that takes the value is over them.
  void renew_opened(ExprPtr expr) {
    if (auto* check = as<CheckDimsExpr>(expr))
      for (Dim dim : check->opened)
        if (!given_.types.dims.contains(dim)) renew_dim(dim);
    for_each_child(expr, [this](ExprPtr child) { renew_opened(child); });
  }

  /// Whoever gives a dim for one of a function's own dim_vars instantiates the function: that one is bound no
  /// longer.
  void renew_dim_vars(const FnExpr& fn) {
    for (Dim var : fn.dim_vars)
      if (!given_.types.dims.contains(var)) renew_dim(var);
  }

  Arena& arena_;
  const ExprSubstitution& given_;
  std::unordered_map<const Variable*, const Variable*> renewed_;
  Substitution types_;                     ///< what is given, and the renewed dims
  std::unordered_map<Type, Type> images_;  ///< under types_, as it is now
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Origin> origins_;
};

}  // namespace

ExprPtr substitute(Arena& arena, ExprPtr expr, const ExprSubstitution& substitution) {
  return Substituter(arena, substitution, expr).apply(expr);
}

}  // namespace quern
