// Schedules for which there is no code, reported where they are stated.

#include <optional>

#include "frontend/index/schedule_clause.h"
#include "ir/expr/scheduled.h"
#include "jit/codegen/codegen.h"
#include "jit/schedule/stated.h"
#include "session/db/module_scope.h"

namespace quern {

namespace {

/// Lowers each scheduled index expression and call by itself.
class ScheduleCheck {
 public:
  ScheduleCheck(Database& db, FunctionSource& functions) : db_(db), functions_(functions) {}

  Diagnostics diagnostics;

  void walk(ExprPtr expr) {
    if (auto* call = as<OpCallExpr>(expr); call && call->schedule) check_call(*call);
    if (auto* e = as<ComprehensionExpr>(expr); e && e->schedule) check(e, *e->schedule);
    for_each_child(expr, [this](ExprPtr child) { walk(child); });
  }

 private:
  void check_call(const OpCallExpr& call) {
    if (!functions_.instance(*call.instance)->function) return;  // the operator itself has errors
    OpCallExpr alone = call;
    std::vector<ExprPtr> args;
    for (ExprPtr arg : call.args)
      args.push_back(arena_.make<VarExpr>(Expr{ExprKind::Var, arg->type, arg->origin},
                                          make_variable(arena_, "x", arg->type)));
    alone.args = arena_.copy(args);
    check(arena_.make<OpCallExpr>(alone), *call.schedule);
  }

  void check(ExprPtr expr, const ScheduleClause& clause) {
    Definition alone;
    alone.body = expr;
    const Optimised optimised = optimise(alone, functions_);
    if (!optimised.expr) return;
    const FnExpr* primitive = primitive_with(optimised.expr, clause);
    if (!primitive)
      return report(DiagnosticKind::NoSchedule, clause.origin,
                    "the operator is no index expression of its own, whose loops could have a schedule");
    ScheduleNames names{{}, tensors_of(clause.schedule)};
    for (const NamedLoop& loop : loops_of(*as<ComprehensionExpr>(primitive->body)))
      names.loops.push_back(loop.name);
    Diagnostics wrong = check_schedule_names(clause, names);
    if (!wrong.empty()) return void(diagnostics.insert(diagnostics.end(), wrong.begin(), wrong.end()));
    const auto made = loops::stated_nest(*primitive, machine());
    const auto* failure = std::get_if<loops::StatedFailure>(&made);
    if (!failure) return;
    const bool is_step = failure->step < clause.steps.size();
    report(DiagnosticKind::ScheduleFails, is_step ? clause.steps[failure->step].step : clause.origin,
           (is_step ? "this step cannot be done: " : "there is no code for these loops: ") + failure->why);
  }

  /// A program may target another machine, so it may name all intrinsics that the library declares. Elaborating them takes a millisecond, and few programs state
  /// schedules.
  const loops::MachineModel& machine() {
    if (!machine_) {
      machine_ = host_machine();
      machine_->dots = db_.dot_intrinsics(Database::kLibrary);
    }
    return *machine_;
  }

  static const FnExpr* primitive_with(ExprPtr expr, const ScheduleClause& clause) {
    auto* fn = as<FnExpr>(expr);
    auto* e = fn && fn->primitive ? as<ComprehensionExpr>(fn->body) : nullptr;
    if (e && e->schedule == &clause) return fn;
    const FnExpr* found = nullptr;
    for_each_child(expr, [&](ExprPtr child) { found = found ? found : primitive_with(child, clause); });
    return found;
  }

  void report(DiagnosticKind kind, Origin at, std::string message) {
    diagnostics.push_back({kind, {at, {}}, std::move(message), {}});
  }

  Database& db_;
  FunctionSource& functions_;
  std::optional<loops::MachineModel> machine_;
  Arena arena_;
};

}  // namespace

Diagnostics Database::of_schedules(ExprPtr expr) {
  ScheduleCheck check(*this, functions);
  if (expr) check.walk(expr);
  return std::move(check.diagnostics);
}

Diagnostics ModuleScope::schedule_problems(const FnExpr& definition) {
  return db_.of_schedules(definition.body);
}

}  // namespace quern
