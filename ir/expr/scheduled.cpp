#include "ir/expr/scheduled.h"

#include <algorithm>

namespace quern {

namespace {

/// The index expression inside a definition's body; null if there is none.
ExprPtr inside_of(ExprPtr body) {
  if (auto* block = as<BlockExpr>(body)) return block->result;
  auto* own = as<IntrinsicExpr>(body);
  return own && own->intrinsic == IntrinsicKind::WithGradient ? own->args[0] : nullptr;
}

class Loops {
 public:
  std::vector<NamedLoop> found;

  void add(std::span<const Dim> vars) {
    for (Dim var : vars) add(var->name, var);
  }
  void add(std::string_view wanted, Dim var) {
    std::string name(wanted);
    for (int copy = 2; std::ranges::find(found, name, &NamedLoop::name) != found.end(); ++copy)
      name = std::string(wanted) + "_" + std::to_string(copy);
    found.push_back({std::move(name), var});
  }
  void add_reductions(ExprPtr expr) {
    if (auto* reduce = as<ReduceExpr>(expr)) return add(reduce->vars);
    if (auto* block = as<BlockExpr>(expr)) return add_reductions(block->result);
    for_each_child(expr, [this](ExprPtr child) { add_reductions(child); });
  }
};

}  // namespace

std::vector<NamedLoop> loops_of(const ComprehensionExpr& e) {
  Loops loops;
  loops.add(e.vars);
  if (e.type->dtype.is_vector()) loops.add("lane", nullptr);
  loops.add_reductions(e.body);
  return std::move(loops.found);
}

const ComprehensionExpr* only_comprehension(ExprPtr body) {
  while (ExprPtr inside = inside_of(body)) body = inside;
  return as<ComprehensionExpr>(body);
}

ExprPtr with_schedule(Arena& arena, ExprPtr body, const ScheduleClause& schedule,
                      std::span<const Variable* const> params) {
  if (ExprPtr inside = inside_of(body)) {
    ExprPtr image = with_schedule(arena, inside, schedule, params);
    if (!image) return nullptr;
    return map_children(arena, body, [&](ExprPtr child) { return child == inside ? image : child; });
  }
  auto* e = as<ComprehensionExpr>(body);
  if (!e) return nullptr;
  std::vector<ExprPtr> tensors;
  for (const std::string& name : tensors_of(schedule.schedule))
    for (const Variable* param : params)
      if (param->name == name)
        tensors.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, param->type, schedule.origin}, param));
  return arena.make<ComprehensionExpr>(Expr{*e}, e->vars, e->extents, e->body, &schedule,
                                       arena.copy(tensors));
}

}  // namespace quern
