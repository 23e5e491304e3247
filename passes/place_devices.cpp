#include "passes/place_devices.h"

#include <map>
#include <utility>

#include "passes/device_domains.h"

namespace quern {

namespace {

bool has_marks(ExprPtr expr) {
  bool found = as_mark(expr) != nullptr;
  for_each_child(expr, [&](ExprPtr child) { found = found || has_marks(child); });
  return found;
}

class Placer {
 public:
  Placer(const PassContext& context, ExprPtr expr)
      : arena_(context.arena), domains_(expr, context.functions.devices()) {}

  /// The expression, with its value on a device.
  ExprPtr run(ExprPtr expr, size_t wanted) {
    return visit(expr, overloaded{[&](const VarExpr& e) { return read(e, wanted); },
                                  [&](const BlockExpr& e) { return block(e, wanted); },
                                  [&](const IfExpr& e) -> ExprPtr {
                                    return arena_.make<IfExpr>(Expr{e}, e.condition,
                                                               inside(e.then_arm, wanted),
                                                               inside(e.else_arm, wanted));
                                  },
                                  [&](const MatchExpr&) { return match(expr, wanted); },
                                  [&](const FnExpr& e) -> ExprPtr {
                                    return e.primitive ? expr : function(e, DeviceDomains::kHost);
                                  },
                                  [&](const CallExpr& e) { return call(e, wanted); },
                                  [&](const OpCallExpr&) { return computation(expr); },
                                  [&](const ComprehensionExpr&) { return computation(expr); },
                                  [&](const IntrinsicExpr& e) {
                                    return as_mark(expr) ? marked(e, wanted) : of_host(expr, wanted);
                                  },
                                  [&](const TupleExpr&) { return parts(expr, wanted); },
                                  [&](const FieldExpr&) { return parts(expr, wanted); },
                                  [&](const CheckDimsExpr&) { return parts(expr, wanted); },
                                  [&](const ViewExpr&) { return parts(expr, wanted); },
                                  [&](const auto&) { return of_host(expr, wanted); }});
  }

 private:
  ExprPtr named(ExprPtr value) {
    if (is_atom(value)) return value;
    const Variable* variable = make_variable(arena_, "on", value->type);
    bindings_.push_back({variable, value});
    return read_of(arena_, variable, value->origin);
  }
  ExprPtr copied(ExprPtr value, size_t from, size_t to) {
    if (from == to || !has_domain(value->type)) return value;
    const std::vector<std::string_view> texts{arena_.copy(domains_.name_of(from)),
                                              arena_.copy(domains_.name_of(to))};
    return arena_.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, value->type, value->origin},
                                      IntrinsicKind::ToDevice, arena_.copy(std::vector{named(value)}),
                                      arena_.copy(texts));
  }

  /// One copy for all uses in its block.
  ExprPtr read(const VarExpr& var, size_t wanted) {
    const size_t from = domains_.of(var.variable);
    if (from == wanted || !has_domain(var.type)) return &var;
    const Variable*& copy = copies_[{var.variable, wanted}];
    if (!copy) {
      copy = make_variable(arena_, var.variable->name, var.type);
      bindings_.push_back({copy, copied(&var, from, wanted)});
    }
    return read_of(arena_, copy, var.origin);
  }

  /// A copy and what it is made of are each other's copies.
  void note_copy(const Variable* variable, ExprPtr value) {
    const IntrinsicExpr* mark = as_mark(value);
    auto* of = mark ? as<VarExpr>(mark->args[0]) : nullptr;
    if (!of || !variable) return;
    copies_.try_emplace({variable, domains_.of(of->variable)}, of->variable);
    copies_.try_emplace({of->variable, domains_.of(variable)}, variable);
  }

  /// An expression that is evaluated on its own: what it needs stands inside.
  ExprPtr inside(ExprPtr expr, size_t wanted) {
    std::vector<Binding> outer = std::exchange(bindings_, {});
    const auto copies = copies_;
    ExprPtr result = run(expr, wanted);
    result = block_of(arena_, std::exchange(bindings_, std::move(outer)), result, expr->origin);
    copies_ = copies;
    return result;
  }

  ExprPtr block(const BlockExpr& block, size_t wanted) {
    std::vector<Binding> outer = std::exchange(bindings_, {});
    const auto copies = copies_;
    for (const auto& [variable, value] : block.bindings) {
      const FnExpr* fn = variable ? domains_.function(variable) : nullptr;
      ExprPtr placed = fn ? function(*fn, domains_.of_result(variable))
                          : run(value, variable ? domains_.of(variable) : DeviceDomains::kHost);
      bindings_.push_back({variable, placed});
      note_copy(variable, placed);
    }
    ExprPtr result = run(block.result, wanted);
    result = block_of(arena_, std::exchange(bindings_, std::move(outer)), result, block.origin);
    copies_ = copies;
    return result;
  }

  ExprPtr function(const FnExpr& fn, size_t result) {
    return arena_.make<FnExpr>(Expr{fn}, fn.params, fn.dim_vars, inside(fn.body, result), false,
                               fn.attributes);
  }

  ExprPtr match(ExprPtr expr, size_t wanted) {
    const auto& e = *as<MatchExpr>(expr);
    std::vector<MatchArm> arms(e.arms.begin(), e.arms.end());
    for (MatchArm& arm : arms) arm.body = inside(arm.body, wanted);
    MatchExpr placed = e;
    placed.scrutinee = run(e.scrutinee, DeviceDomains::kHost);
    placed.arms = arena_.copy(arms);
    return arena_.make<MatchExpr>(placed);
  }

  ExprPtr call(const CallExpr& call, size_t wanted) {
    auto* primitive = as<FnExpr>(call.callee);
    if (primitive && primitive->primitive) return computation(&call);
    auto* callee = as<VarExpr>(call.callee);
    const FnExpr* fn = callee ? domains_.function(callee->variable) : nullptr;
    if (!fn) return of_host(&call, wanted);
    std::vector<ExprPtr> args;
    for (size_t i = 0; i < call.args.size(); ++i)
      args.push_back(run(call.args[i], domains_.of(fn->params[i])));
    ExprPtr placed = arena_.make<CallExpr>(Expr{call}, call.callee, arena_.copy(args));
    return copied(placed, domains_.of_result(callee->variable), wanted);
  }

  ExprPtr computation(ExprPtr expr) {
    const size_t at = domains_.of_computation(expr);
    ExprSubstitution copies;
    for (const Variable* operand : free_variables(expr))
      if (has_domain(operand->type) && domains_.of(operand) != at)
        copies.variables.emplace(operand, read(*as<VarExpr>(read_of(arena_, operand, expr->origin)), at));
    return copies.variables.empty() ? expr : substitute(arena_, expr, copies);
  }

  ExprPtr marked(const IntrinsicExpr& mark, size_t wanted) {
    auto* operand = as<VarExpr>(mark.args[0]);
    if (operand) return copied(operand, domains_.of(operand->variable), wanted);
    return run(mark.args[0], wanted);
  }

  ExprPtr parts(ExprPtr expr, size_t wanted) {
    return map_children(arena_, expr, [&](ExprPtr child) { return run(child, wanted); });
  }
  ExprPtr of_host(ExprPtr expr, size_t wanted) {
    return copied(parts(expr, DeviceDomains::kHost), DeviceDomains::kHost, wanted);
  }

  Arena& arena_;
  const DeviceDomains domains_;
  std::vector<Binding> bindings_;                                         ///< of the block that is walked
  std::map<std::pair<const Variable*, size_t>, const Variable*> copies_;  ///< that it can see
};

}  // namespace

ExprPtr place_devices(const PassContext& context, ExprPtr expr) {
  if (!has_marks(expr)) return expr;
  Placer placer(context, expr);
  return placer.run(expr, DeviceDomains::kHost);
}

}  // namespace quern
