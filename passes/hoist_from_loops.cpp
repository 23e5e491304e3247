#include "passes/hoist_from_loops.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/expr/effects.h"
#include "passes/fusion_class.h"
#include "passes/loops/integer_dims.h"
#include "passes/loops/tail_loop.h"
#include "passes/may_fail.h"
#include "passes/scalar_builder.h"

namespace quern {

namespace {

/// The most elements of a result for all turns.
constexpr int64_t kMostElements = 1 << 24;

void add_bound(ExprPtr expr, std::unordered_set<const Variable*>& out) {
  if (auto* block = as<BlockExpr>(expr))
    for (const Binding& b : block->bindings) out.insert(b.variable);
  if (auto* fn = as<FnExpr>(expr)) out.insert(fn->params.begin(), fn->params.end());
  if (auto* match = as<MatchExpr>(expr))
    for (const MatchArm& arm : match->arms)
      for_each_variable(arm.pattern, [&](const Variable* variable) { out.insert(variable); });
  for_each_child(expr, [&](ExprPtr child) {
    if (child) add_bound(child, out);
  });
}

class LoopHoister {
 public:
  LoopHoister(Arena& arena, EffectAnalysis& effects, const TailLoop& loop, const BlockExpr& outside)
      : arena_(arena), effects_(effects), loop_(loop), turn_(turn_of(loop, outside)) {
    add_bound(loop.function, inside_);
    const auto invariant = invariant_params(loop);
    for (size_t k = 0; k < loop.function->params.size(); ++k)
      if (invariant.contains(loop.function->params[k]))
        outside_.variables.emplace(loop.function->params[k], loop.enters->args[k]);
  }

  /// What is to stand before the loop; empty if nothing leaves it.
  std::vector<Binding> hoisted() {
    for (const Binding& b : turn_.bindings)
      if (b.variable) consider(b);
    return std::move(hoisted_);
  }

  /// The function without it.
  const FnExpr* rest() { return as<FnExpr>(without(loop_.function)); }

 private:
  /// What a turn reads of a value that is computed for all turns.
  struct AllTurns {
    const Variable* rows;
    Origin origin;
  };

  bool is_outside(const Variable* variable) const {
    return !inside_.contains(variable) || outside_.variables.contains(variable) || moved_.contains(variable);
  }
  bool is_outside(ExprPtr value) const {
    return std::ranges::all_of(free_variables(value), [this](const Variable* v) { return is_outside(v); });
  }

  void consider(const Binding& b) {
    auto* kernel = as<ComprehensionExpr>(b.value);
    const bool simple = b.value->kind == ExprKind::Field || b.value->kind == ExprKind::View || kernel;
    if (!simple || (kernel && kernel->schedule)) return;
    if (is_outside(b.value)) {
      if (!effects_.of(b.value).removable() || free_variables(b.value).empty()) return;
      hoisted_.push_back({b.variable, substitute(arena_, b.value, outside_)});
      moved_.insert(b.variable);
    } else if (kernel && turn_.counter) {
      in_turn_.emplace(b.variable, kernel);
      if (fusion_class(*kernel) == FusionClass::Contraction) compute_for_all(b.variable);
    }
  }

  /// Computes the value for all turns, with those it depends on; false if it depends on more than the counter, or may
  /// fail, or would be too large.
  bool compute_for_all(const Variable* variable) {
    if (all_turns_.contains(variable)) return true;
    const auto found = in_turn_.find(variable);
    if (found == in_turn_.end()) return false;
    const ComprehensionExpr& kernel = *found->second;
    for (const Variable* used : free_variables(&kernel))
      if (used != turn_.counter && !is_outside(used) && !compute_for_all(used)) return false;
    const ScalarBuilder build(arena_, kernel.origin);
    std::vector<Dim> vars{dim_var("t")}, extents{turn_.count};
    vars.insert(vars.end(), kernel.vars.begin(), kernel.vars.end());
    extents.insert(extents.end(), kernel.extents.begin(), kernel.extents.end());
    const ExprPtr body = at_turn(build, kernel.body, vars[0]);
    Facts facts;
    for (size_t k = 0; k < vars.size(); ++k) facts.add_index(vars[k], extents[k]);
    const auto elements = as_const(dim_product(extents));
    if (body->kind == ExprKind::Scatter || may_fail(body, facts) || (elements && *elements > kMostElements))
      return false;
    // A copy, as the original may still be needed in the loop.
    const ExprPtr whole = substitute(arena_, build.comprehension(vars, extents, body), outside_);
    const Variable* rows = make_variable(arena_, variable->name, whole->type);
    hoisted_.push_back({rows, whole});
    all_turns_.emplace(variable, AllTurns{rows, kernel.origin});
    return true;
  }

  /// The element of a kernel's body in a turn.
  ExprPtr at_turn(const ScalarBuilder& build, ExprPtr expr, Dim turn) const {
    auto* read = as<ReadExpr>(expr);
    auto* var = as<VarExpr>(read ? read->tensor : expr);
    if (var && var->variable == turn_.counter)
      return build.cast(build.dim(dim_add(turn_.begin, turn)), var->type->dtype);
    ExprPtr inside = map_children(arena_, expr,
                                  [&](ExprPtr child) { return child ? at_turn(build, child, turn) : child; });
    read = as<ReadExpr>(inside);
    if (!read) return inside;
    std::vector<ExprPtr> indices;
    std::vector<bool> checked(read->checked.begin(), read->checked.end());
    for (ExprPtr index : read->indices) {
      const std::optional<Dim> dim = integer_dim(index);
      indices.push_back(dim ? build.dim(*dim) : index);
    }
    ExprPtr tensor = read->tensor;
    if (const auto rows = var ? all_turns_.find(var->variable) : all_turns_.end(); rows != all_turns_.end()) {
      tensor = read_of(arena_, rows->second.rows, var->origin);
      indices.insert(indices.begin(), build.dim(turn));
      checked.insert(checked.begin(), false);
    }
    return arena_.make<ReadExpr>(Expr{*read}, tensor, arena_.copy(indices), arena_.copy(checked),
                                 read->otherwise);
  }

  ExprPtr without(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    if (!block)
      return map_children(arena_, expr, [&](ExprPtr child) { return child ? without(child) : child; });
    std::vector<Binding> bindings;
    for (const Binding& b : block->bindings) {
      const auto rows = all_turns_.find(b.variable);
      if (rows != all_turns_.end())
        bindings.push_back({b.variable, row_of(b.variable, rows->second)});
      else if (!moved_.contains(b.variable))
        bindings.push_back({b.variable, without(b.value)});
    }
    return block_of(arena_, bindings, without(block->result), expr->origin);
  }

  ExprPtr row_of(const Variable* variable, const AllTurns& all) {
    const ScalarBuilder build(arena_, all.origin);
    std::vector<Dim> vars;
    std::vector<ExprPtr> indices{build.cast(read_of(arena_, turn_.counter, all.origin), DType::index())};
    if (!is_const(turn_.begin, 0)) indices[0] = build.sub(indices[0], build.dim(turn_.begin));
    for (size_t k = 0; k < variable->type->dims.size(); ++k) {
      vars.push_back(dim_var("i"));
      indices.push_back(build.dim(vars.back()));
    }
    std::vector<bool> checked(indices.size());
    checked[0] = true;  // by its type alone the counter might be anything
    const Type element = scalar_type(variable->type->dtype);
    const ExprPtr read = arena_.make<ReadExpr>(
        Expr{ExprKind::Read, element, all.origin}, read_of(arena_, all.rows, all.origin),
        arena_.copy(indices), arena_.copy(checked), build.constant(0, variable->type->dtype));
    return build.comprehension(vars, variable->type->dims, read);
  }

  Arena& arena_;
  EffectAnalysis& effects_;
  const TailLoop& loop_;
  const Turn turn_;
  std::unordered_set<const Variable*> inside_;  ///< variables of the loop
  ExprSubstitution outside_;                    ///< the parameters that do not change
  std::unordered_set<const Variable*> moved_;
  std::unordered_map<const Variable*, const ComprehensionExpr*> in_turn_;
  std::unordered_map<const Variable*, AllTurns> all_turns_;
  std::vector<Binding> hoisted_;
};

class Hoister {
 public:
  Hoister(Arena& arena, EffectAnalysis& effects, const Uses& uses)
      : arena_(arena), effects_(effects), uses_(uses) {}

  /// Inner loops first: what leaves them may leave the outer ones.
  ExprPtr run(ExprPtr expr) {
    ExprPtr inside = map_children(arena_, expr, [&](ExprPtr child) { return child ? run(child) : child; });
    auto* block = as<BlockExpr>(inside);
    if (!block) return inside;
    for (size_t k = block->bindings.size(); k-- > 0;)
      if (const std::optional<TailLoop> loop = tail_loop(*block, k, uses_))
        block = as<BlockExpr>(hoisted(*block, *loop));
    return block;
  }

 private:
  ExprPtr hoisted(const BlockExpr& block, const TailLoop& loop) {
    LoopHoister hoister(arena_, effects_, loop, block);
    const std::vector<Binding> before = hoister.hoisted();
    if (before.empty()) return &block;
    std::vector<Binding> bindings(block.bindings.begin(), block.bindings.end());
    const auto at = [&](size_t k) { return bindings.begin() + static_cast<std::ptrdiff_t>(k); };
    bindings[loop.binding].value = hoister.rest();
    // The call's arguments may be bound after the function.
    std::rotate(at(loop.binding), at(loop.binding + 1), at(loop.first));
    bindings.insert(at(loop.first - 1), before.begin(), before.end());
    return block_of(arena_, bindings, block.result, block.origin);
  }

  Arena& arena_;
  EffectAnalysis& effects_;
  const Uses& uses_;
};

}  // namespace

ExprPtr hoist_from_loops(const PassContext& context, ExprPtr expr) {
  Uses uses;
  count_uses(expr, uses);
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return Hoister(context.arena, effects, uses).run(expr);
}

}  // namespace quern
