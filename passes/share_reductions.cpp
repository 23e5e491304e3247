#include "passes/share_reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/expr/effects.h"
#include "passes/scalar_builder.h"
#include "passes/value_key.h"

namespace quern {

namespace {

using Vars = std::unordered_set<Dim>;

/// The variables of dims and index expressions.
void collect_vars(ExprPtr expr, Vars& found) {
  const auto add = [&](Dim dim) { for_each_var(dim, [&](Dim var) { found.insert(var); }); };
  if (auto* value = as<DimValueExpr>(expr)) add(value->dim);
  visit(expr, [&](const auto& node) {
    if constexpr (requires { node.vars, node.extents; }) std::ranges::for_each(node.extents, add);
  });
  for_each_child(expr, [&](ExprPtr child) { collect_vars(child, found); });
}

/// The index variables around an expression.
struct Around {
  std::vector<Dim> vars, extents;

  void add(std::span<const Dim> more, std::span<const Dim> of_more) {
    vars.insert(vars.end(), more.begin(), more.end());
    extents.insert(extents.end(), of_more.begin(), of_more.end());
  }
};

class Sharer {
 public:
  Sharer(Arena& arena, EffectAnalysis& effects) : arena_(arena), effects_(effects) {}

  ExprPtr run(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    if (!block && expr->kind != ExprKind::Comprehension)
      return map_children(arena_, expr, [&](ExprPtr child) { return run(child); });
    const auto outer = known_;
    std::vector<Binding> bindings;
    if (block)
      for (const Binding& b : block->bindings) {
        const ExprPtr bound = value(b.value, bindings);
        bindings.push_back({b.variable, bound});
      }
    const ExprPtr result = value(block ? block->result : expr, bindings);
    known_ = outer;
    return block_of(arena_, bindings, result, expr->origin);
  }

 private:
  ExprPtr value(ExprPtr expr, std::vector<Binding>& bindings) {
    auto* whole = as<ComprehensionExpr>(expr);
    if (!whole) return run(expr);
    if (whole->schedule || is_of_rows(whole->body)) return expr;
    Around around;
    around.add(whole->vars, whole->extents);
    const ExprPtr body = shared(whole->body, around, bindings);
    if (body == whole->body) return expr;
    return arena_.make<ComprehensionExpr>(Expr{*whole}, whole->vars, whole->extents, body);
  }

  /// Running results and scatters are computed for all positions at once.
  static bool is_of_rows(ExprPtr body) {
    return body->kind == ExprKind::Scan || body->kind == ExprKind::Scatter || body->kind == ExprKind::Block;
  }

  ExprPtr shared(ExprPtr expr, const Around& around, std::vector<Binding>& bindings) {
    const auto inside = [&](ExprPtr child) { return shared(child, around, bindings); };
    if (is_of_rows(expr)) return expr;
    if (auto* choice = as<IfExpr>(expr)) {  // only one arm is computed
      const ExprPtr condition = inside(choice->condition);
      if (condition == choice->condition) return expr;
      return arena_.make<IfExpr>(Expr{*choice}, condition, choice->then_arm, choice->else_arm);
    }
    if (auto* read = as<ReadExpr>(expr); read && read->otherwise) return expr;
    auto* reduce = as<ReduceExpr>(expr);
    if (!reduce) return map_children(arena_, expr, inside);
    if (const ExprPtr read = with_tensor(*reduce, around, bindings)) return read;
    Around within = around;
    within.add(reduce->vars, reduce->extents);
    const ExprPtr body = shared(reduce->body, within, bindings);
    if (body == reduce->body) return expr;
    return ScalarBuilder(arena_, expr->origin).reduce(reduce->reduce, reduce->vars, reduce->extents, body);
  }

  /// Elements of a new tensor in place of the reduction; null where it is to stay.
  ExprPtr with_tensor(const ReduceExpr& reduce, const Around& around, std::vector<Binding>& bindings) {
    if (is_arg(reduce.reduce) || reduce.type->dtype.is_vector()) return nullptr;
    Vars read;
    collect_vars(&reduce, read);
    Around used;
    double once = 1, again = 1;
    for (const Dim extent : reduce.extents) once *= extent_of(extent);
    for (size_t k = 0; k < around.vars.size(); ++k) {
      const double extent = extent_of(around.extents[k]);
      if (!read.contains(around.vars[k])) {
        again *= extent;
        continue;
      }
      if (is_within(around.extents[k], around)) return nullptr;
      once *= extent;
      used.add({&around.vars[k], 1}, {&around.extents[k], 1});
    }
    if (again < 2 || once * again < kFewestPoints || !effects_.of(&reduce).removable()) return nullptr;
    const ScalarBuilder build(arena_, reduce.origin);
    // With fresh binders: a part of the expression keeps the existing ones.
    const ExprPtr tensor = build.copy(build.comprehension(used.vars, used.extents, &reduce));
    return build.read(read_of(arena_, variable_of(tensor, bindings), reduce.origin), used.vars);
  }

  /// The variable of an equal tensor if there is one.
  const Variable* variable_of(ExprPtr tensor, std::vector<Binding>& bindings) {
    const ExprPtr bound = value(tensor, bindings);
    std::optional<ValueKey> key = value_key(arena_, bound);
    if (key)
      for (const Variable* operand : key->operands)
        key->text += fmt::format("{} ", static_cast<const void*>(operand));
    if (const auto known = key ? known_.find(key->text) : known_.end(); known != known_.end())
      return known->second;
    const Variable* result = make_variable(arena_, "shared", bound->type);
    bindings.push_back({result, bound});
    if (key) known_.emplace(std::move(key->text), result);
    return result;
  }

  static bool is_within(Dim extent, const Around& around) {
    return std::ranges::any_of(around.vars, [&](Dim var) { return contains_var(extent, var); });
  }

  /// 64 where it is not known.
  static double extent_of(Dim dim) { return static_cast<double>(as_const(dim).value_or(64)); }

  /// Computed again, they take longer than another kernel's call.
  static constexpr double kFewestPoints = 4096;

  Arena& arena_;
  EffectAnalysis& effects_;
  std::unordered_map<std::string, const Variable*> known_;  ///< in scope, by their values' keys
};

}  // namespace

ExprPtr share_reductions(const PassContext& context, ExprPtr expr) {
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return Sharer(context.arena, effects).run(expr);
}

}  // namespace quern
