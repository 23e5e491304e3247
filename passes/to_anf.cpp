#include "passes/to_anf.h"

#include <optional>
#include <unordered_map>

#include "ir/interpret/evaluation.h"
#include "passes/scan_over.h"

namespace quern {

namespace {

// Bindings of one block, in the order of evaluation.
class Normalizer {
 public:
  explicit Normalizer(Arena& arena) : arena_(arena) {}

  ExprPtr block(ExprPtr expr) {
    ExprPtr result = value(expr);
    return block_of(arena_, bindings_, result, expr->origin);
  }

 private:
  ExprPtr bind(ExprPtr value, std::string_view name = "t") {
    const Variable* variable = make_variable(arena_, name, value->type);
    bindings_.push_back({variable, value});
    return read_of(arena_, variable, value->origin);
  }

  // An atom with the expression's value.
  ExprPtr atom(ExprPtr expr) {
    ExprPtr v = value(expr);
    // A top-level function as a value stays in place, so that its call is direct.
    return is_atom(v) ? v : bind(v);
  }

  // The expression with atoms as operands; its parts are bound before it.
  ExprPtr value(ExprPtr expr) {
    return visit(expr, [this](const auto& e) { return value_of(e); });
  }

  template <class Node>
  ExprPtr value_of(const Node& e) {
    constexpr auto kOperands = facts(Node::kKind).operands;
    static_assert(kOperands != KindFacts::Operands::Own, "this kind needs a rule of its own");
    if (kOperands == KindFacts::Operands::None) return &e;
    // The function of `scan_over` is a part of it.
    const bool scans = as_scan(&e) != nullptr;
    return map_children(arena_, &e, [&](ExprPtr child) {
      return !child ? child : scans && child->kind == ExprKind::Fn ? value(child) : atom(child);
    });
  }

  ExprPtr value_of(const VarExpr& e) {
    auto alias = aliases_.find(e.variable);
    return alias == aliases_.end() ? &e : alias->second;
  }

  ExprPtr value_of(const IfExpr& e) {
    ExprPtr condition = atom(e.condition);
    // An operator's attribute is known at the call.
    if (std::optional<bool> known = known_condition(condition))
      return value(*known ? e.then_arm : e.else_arm);
    Normalizer first(arena_), second(arena_);
    first.aliases_ = second.aliases_ = aliases_;
    ExprPtr then_arm = first.block(e.then_arm), else_arm = second.block(e.else_arm);
    return arena_.make<IfExpr>(Expr{e}, condition, then_arm, else_arm);
  }

  ExprPtr value_of(const MatchExpr& e) {
    ExprPtr scrutinee = atom(e.scrutinee);
    std::vector<MatchArm> arms;
    for (const MatchArm& arm : e.arms) {
      Normalizer inner(arena_);
      inner.aliases_ = aliases_;
      arms.push_back({arm.pattern, inner.block(arm.body)});
    }
    return arena_.make<MatchExpr>(Expr{e}, scrutinee, arena_.copy(arms), e.partial);
  }

  ExprPtr value_of(const FnExpr& e) {
    Normalizer inner(arena_);
    inner.aliases_ = aliases_;
    return arena_.make<FnExpr>(Expr{e}, e.params, e.dim_vars, inner.block(e.body), e.primitive, e.attributes);
  }

  ExprPtr value_of(const CallExpr& e) {
    ExprPtr callee = e.callee->kind == ExprKind::Global ? e.callee : atom(e.callee);
    std::vector<ExprPtr> args;
    for (ExprPtr arg : e.args) args.push_back(atom(arg));
    return arena_.make<CallExpr>(Expr{e}, callee, arena_.copy(args));
  }

  // Makes a check a separate statement, so that it does not separate producers and consumers of the value.
  ExprPtr value_of(const CheckDimsExpr& check) {
    ExprPtr v = check.value ? atom(check.value) : nullptr;
    if (v && !check.opened.empty())
      return arena_.make<CheckDimsExpr>(Expr{check}, v, check.opened, check.conditions);
    // Conditions decided by inlining are dropped.
    std::vector<DimCondition> open;
    for (const DimCondition& c : check.conditions) {
      auto left = as_const(c.left), right = as_const(c.right);
      bool same = c.left == c.right && c.relation != DimRelation::NotEqual;
      if (!same && !(left && right && holds(c.relation, *left, *right))) open.push_back(c);
    }
    if (!open.empty())
      bindings_.push_back(
          {nullptr, arena_.make<CheckDimsExpr>(Expr{ExprKind::CheckDims, unit_type(), check.origin}, nullptr,
                                               std::span<const Dim>(), arena_.copy(open))});
    return v ? v
             : arena_.make<TupleExpr>(Expr{ExprKind::Tuple, unit_type(), check.origin},
                                      std::span<const ExprPtr>());
  }

  ExprPtr value_of(const ComprehensionExpr& e) {
    // A tensor named by a schedule is a separate buffer, even if it is an alias of another.
    for (ExprPtr tensor : e.scheduled) {
      auto* var = as<VarExpr>(tensor);
      auto alias = var ? aliases_.find(var->variable) : aliases_.end();
      if (alias == aliases_.end() || alias->second->kind != ExprKind::Var) continue;
      ExprPtr view = arena_.make<ViewExpr>(Expr{ExprKind::View, var->type, var->origin}, alias->second);
      aliases_.insert_or_assign(var->variable, bind(view, var->variable->name));
    }
    return map_children(arena_, &e,
                        [&](ExprPtr child) { return child == e.body ? element(child) : atom(child); });
  }

  // Inside an index expression: binds the tensors that are read outside; the rest stays.
  ExprPtr element(ExprPtr expr) {
    auto* read = as<ReadExpr>(expr);
    if (!read) return map_children(arena_, expr, [&](ExprPtr child) { return element(child); });
    ExprPtr tensor = atom(read->tensor);
    if (tensor->kind == ExprKind::Const) return tensor;
    std::vector<ExprPtr> indices;
    for (ExprPtr index : read->indices) indices.push_back(element(index));
    return arena_.make<ReadExpr>(Expr{*expr}, tensor, arena_.copy(indices), read->checked,
                                 read->otherwise ? element(read->otherwise) : nullptr);
  }

  ExprPtr value_of(const BlockExpr& block) {
    for (const Binding& b : block.bindings) {
      ExprPtr v = value(b.value);
      if (!b.variable) {
        if (!is_atom(v)) bindings_.push_back({nullptr, v});
      } else if (is_atom(v)) {
        aliases_.insert_or_assign(b.variable, v);
      } else {
        bindings_.push_back({b.variable, v});
      }
    }
    return value(block.result);
  }

  Arena& arena_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Variable*, ExprPtr>
      aliases_;  ///< bindings of a variable to a variable or a constant
};

}  // namespace

ExprPtr to_anf(const PassContext& context, ExprPtr expr) { return Normalizer(context.arena).block(expr); }

}  // namespace quern
