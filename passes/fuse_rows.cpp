#include "passes/fuse_rows.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/expr/effects.h"
#include "passes/lift_kernels.h"
#include "passes/row_group.h"
#include "passes/uses.h"

namespace quern {

namespace {

constexpr size_t kMostStages = 16;
/// The row length below which vectors would be mostly empty.
constexpr int64_t kShortestRow = 8;
/// For few rows that are longer than this, one kernel per stage gives threads more parallelism.
constexpr int64_t kFewRows = 8, kLongRow = 1 << 16;

using Stages = std::vector<RowStage>;

bool keeps_state(ExprPtr expr) {
  bool found = expr->kind == ExprKind::Scan || expr->kind == ExprKind::Scatter;
  for_each_child(expr, [&](ExprPtr child) { found = found || keeps_state(child); });
  return found;
}

/// Whether it reads each element once, contiguously: its indices are distinct variables that cover `around`,
/// and the last is not a row variable.
bool goes_along(const ReadExpr& read, const std::vector<Dim>& around, std::span<const Dim> rows) {
  std::vector<Dim> named;
  for (const ExprPtr index : read.indices) {
    auto* dim = as<DimValueExpr>(index);
    if (!dim) return false;
    if (dim->dim->kind == DimKind::Var) named.push_back(dim->dim);
  }
  auto* last = read.indices.empty() ? nullptr : as<DimValueExpr>(read.indices.back());
  if (!last || std::ranges::count(rows, last->dim) > 0) return false;
  return std::ranges::all_of(around, [&](Dim var) { return std::ranges::count(named, var) == 1; });
}

bool any_goes_along(ExprPtr expr, const std::vector<Dim>& around, std::span<const Dim> rows) {
  auto* read = as<ReadExpr>(expr);
  bool found = read && goes_along(*read, around, rows);
  for_each_child(expr, [&](ExprPtr child) { found = found || any_goes_along(child, around, rows); });
  return found;
}

/// Accepts row reductions that read each element once: others need tiles and a schedule of their own.
class StreamTest {
 public:
  StreamTest(const ComprehensionExpr& stage, size_t rows) : rows_(stage.vars.first(rows)) {
    std::vector<Dim> around;
    add_loops(stage.vars, stage.extents, around);
    holds_ = !stage.type->dtype.is_vector() && !keeps_state(stage.body);
    visit(stage.body, around);
  }
  bool holds() const { return holds_; }
  /// The largest number of elements of a reduction; 0 without one, and that of a long row if unknown.
  int64_t row() const { return row_; }

 private:
  static void add_loops(std::span<const Dim> vars, std::span<const Dim> extents, std::vector<Dim>& around) {
    for (size_t k = 0; k < vars.size(); ++k)
      if (!is_const(extents[k], 1)) around.push_back(vars[k]);
  }

  void visit(ExprPtr expr, const std::vector<Dim>& around) {
    auto* reduce = as<ReduceExpr>(expr);
    if (!reduce) return for_each_child(expr, [&](ExprPtr child) { visit(child, around); });
    std::vector<Dim> inner = around;
    add_loops(reduce->vars, reduce->extents, inner);
    holds_ = holds_ && any_goes_along(reduce->body, inner, rows_);
    row_ = std::max(row_, as_const(dim_product(reduce->extents)).value_or(kLongRow));
    visit(reduce->body, inner);
  }

  std::span<const Dim> rows_;
  bool holds_ = true;
  int64_t row_ = 0;
};

class RowFuser {
 public:
  RowFuser(Arena& arena, const Uses& uses, EffectAnalysis& effects)
      : arena_(arena), uses_(uses), effects_(effects) {}

  ExprPtr run(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    if (!block) {
      if (expr->kind == ExprKind::Comprehension) return expr;
      return map_children(arena_, expr, [&](ExprPtr child) { return run(child); });
    }
    std::vector<Binding> bindings;
    for (const Binding& b : block->bindings) bindings.push_back({b.variable, run(b.value)});
    ExprPtr result = run(block->result);
    Candidates candidates;
    for (size_t k = 0; k < bindings.size(); ++k)
      if (auto* e = as<ComprehensionExpr>(bindings[k].value); e && !e->schedule)
        candidates.emplace(bindings[k].variable, k);
    // Code before a read of the clock must run before it.
    std::vector<size_t> after_clock{0};
    for (size_t k = 0; k < bindings.size(); ++k) {
      const bool reads = bindings[k].value->kind != ExprKind::Comprehension &&
                         effects_.of(bindings[k].value).has(Effect::Clock);
      after_clock.push_back(reads ? k + 1 : after_clock.back());
    }
    std::unordered_set<const Variable*> inside;  // members of a group other than its last
    result = grouped(result, bindings, after_clock.back(), candidates, inside);
    for (size_t k = bindings.size(); k-- > 0;)
      if (!inside.contains(bindings[k].variable))
        bindings[k].value = grouped(bindings[k].value, bindings, after_clock[k], candidates, inside);
    std::erase_if(bindings, [&](const Binding& b) { return inside.contains(b.variable); });
    return block_of(arena_, bindings, result, expr->origin);
  }

 private:
  /// Variables bound to index expressions, and their positions.
  using Candidates = std::unordered_map<const Variable*, size_t>;

  /// The group that ends with `expr`, from bindings `first` on; the expression itself if there is none. Its
  /// other stages move from the candidates to `inside`.
  ExprPtr grouped(ExprPtr expr, const std::vector<Binding>& bindings, size_t first, Candidates& candidates,
                  std::unordered_set<const Variable*>& inside) {
    auto* last = as<ComprehensionExpr>(expr);
    if (!last || last->schedule || !effects_.of(last).removable()) return expr;
    Stages best;
    for (size_t rows = last->vars.size(); rows > 0; --rows) {
      Stages stages = stages_before(*last, rows, bindings, first, candidates);
      if (stages.size() > std::max<size_t>(1, best.size())) best = std::move(stages);
    }
    if (best.empty()) return expr;
    std::vector<Binding> lets;
    for (const RowStage& stage : best) {
      if (!stage.variable) continue;
      lets.push_back({stage.variable, stage.value});
      inside.insert(stage.variable);
      candidates.erase(stage.variable);
    }
    return make_kernel(arena_, arena_.make<BlockExpr>(Expr{ExprKind::Block, last->type, last->origin},
                                                      arena_.copy(lets), last));
  }

  /// Works backwards from the last: takes each index expression read only by later stages, while all share
  /// this many rows. Empty if it is not worthwhile.
  Stages stages_before(const ComprehensionExpr& last, size_t rows, const std::vector<Binding>& bindings,
                       size_t first, const Candidates& candidates) const {
    Stages stages{{nullptr, &last}};
    StreamTest test(last, rows);
    if (!test.holds()) return {};
    int64_t row = test.row();
    Uses read;
    std::set<size_t> waiting;  // positions of the bindings that the stages read
    const auto take = [&](ExprPtr body) {
      Uses here;
      count_uses(body, here);
      for (const auto& [variable, count] : here) {
        read[variable] += count;
        const auto candidate = candidates.find(variable);
        if (candidate != candidates.end() && candidate->second >= first) waiting.insert(candidate->second);
      }
    };
    take(last.body);
    while (!waiting.empty() && stages.size() < kMostStages) {
      const Binding& binding = bindings[*waiting.rbegin()];
      waiting.erase(std::prev(waiting.end()));
      auto& value = *static_cast<const ComprehensionExpr*>(binding.value);
      const StreamTest stage(value, std::min(rows, value.vars.size()));
      stages.insert(stages.begin(), {binding.variable, &value});
      if (read.at(binding.variable) == uses_.at(binding.variable) && stage.holds() &&
          effects_.of(&value).removable() && share_rows(stages, rows)) {
        row = std::max(row, stage.row());
        take(value.body);
      } else {
        stages.erase(stages.begin());
      }
    }
    const auto count = as_const(dim_product(last.extents.first(rows)));
    if (row < kShortestRow || (count && *count < kFewRows && row > kLongRow)) return {};
    return stages;
  }

  Arena& arena_;
  const Uses& uses_;
  EffectAnalysis& effects_;
};

}  // namespace

ExprPtr fuse_rows(const PassContext& context, ExprPtr expr) {
  Uses uses;
  count_uses(expr, uses);
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return RowFuser(context.arena, uses, effects).run(expr);
}

}  // namespace quern
