#include "passes/gradient/derivable_scans.h"

#include <algorithm>
#include <unordered_set>

#include "passes/gradient/lifting/program.h"
#include "passes/lower_scans.h"
#include "passes/scan_over.h"

namespace quern {

namespace {

// Moves reads of fields of what the function captures into `out`.
const FnExpr* without_fields(Arena& arena, const FnExpr& step, std::vector<Binding>& out) {
  auto* block = as<BlockExpr>(step.body);
  if (!block) return &step;
  const std::vector<const Variable*> free = free_variables(&step);
  std::unordered_set<const Variable*> outside(free.begin(), free.end());
  std::vector<Binding> rest;
  for (const Binding& b : block->bindings) {
    auto* field = as<FieldExpr>(b.value);
    auto* of = field ? as<VarExpr>(field->tuple) : nullptr;
    const bool moves = b.variable && of && outside.contains(of->variable);
    if (moves) outside.insert(b.variable);
    (moves ? out : rest).push_back(b);
  }
  if (rest.size() == block->bindings.size()) return &step;
  Expr head = step;
  return arena.make<FnExpr>(head, step.params, step.dim_vars,
                            block_of(arena, rest, block->result, block->origin), false, step.attributes);
}

}  // namespace

ExprPtr derivable_scans(const PassContext& context, ExprPtr expr) {
  ExprPtr inside = map_children(
      context.arena, expr, [&](ExprPtr child) { return child ? derivable_scans(context, child) : child; });
  const IntrinsicExpr* scan = as_scan(inside);
  if (!scan) return inside;
  std::vector<Binding> outside;
  const FnExpr* step = without_fields(context.arena, *as<FnExpr>(scan->args[0]), outside);
  if (!outside.empty())
    scan = scan_over(context.arena, scan->origin, step, scan->args[1], scan->args[2], is_reverse(*scan));
  ExprPtr made = lifting::is_more_than_tensor_code(scan) ? differentiable_loop(context.arena, *scan) : scan;
  return block_of(context.arena, outside, made, scan->origin);
}

}  // namespace quern
