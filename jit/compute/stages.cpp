// Primitives as computations: single index expressions, sequences of stages, and rows of stages.

#include <algorithm>

#include "jit/compute/lowering.h"
#include "jit/compute/statements.h"

namespace quern::loops {

Computation computation_of(const FnExpr& primitive) {
  return Lowering(primitive.params, *as<ComprehensionExpr>(primitive.body)).run();
}

namespace {

/// Numbers a stage's traps after the preceding ones.
void number_traps(Computation& c, int before) {
  map_values(c, FieldMap([&](role::Trap, int& trap) { trap += trap > 0 ? before : 0; }));
}

}  // namespace

StagedComputation staged_computation_of(const FnExpr& primitive) {
  if (primitive.body->kind != ExprKind::Block) return {computation_of(primitive), {}};
  const std::vector<RowStage> stages = stages_of(*as<BlockExpr>(primitive.body));
  StagedComputation result;
  int locals = 0;
  std::vector<std::string> traps;
  std::vector<Dim> dims;
  for (size_t k = 0; k < stages.size(); ++k) {
    Lowering lowering(primitive.params, *stages[k].value, nullptr, locals);
    lowering.add_scratch(std::span(stages).first(k));
    Computation c = lowering.run();
    number_traps(c, static_cast<int>(traps.size()));
    traps.insert(traps.end(), c.traps.begin(), c.traps.end());
    locals = c.locals;
    for (const Dim dim : c.dims)
      if (std::ranges::find(dims, dim) == dims.end()) dims.push_back(dim);
    const int buffer = static_cast<int>(primitive.params.size() + 1 + k);
    if (stages[k].variable)
      result.stages.push_back({buffer, std::move(c)});
    else
      result.result = std::move(c);
  }
  result.result.locals = locals;
  result.result.traps = std::move(traps);
  result.result.dims = std::move(dims);
  return result;
}

RowComputation rows_of(const FnExpr& primitive) {
  const std::vector<RowStage> stages = stages_of(*as<BlockExpr>(primitive.body));
  const ComprehensionExpr& last = *stages.back().value;
  const size_t rows = shared_rows(stages);
  const auto first = static_cast<ptrdiff_t>(rows);
  RowComputation result{{last.vars.begin(), last.vars.begin() + first},
                        {last.extents.begin(), last.extents.begin() + first}};
  StageValues values;
  for (const RowStage& stage : stages) {
    Computation c = Lowering(primitive.params, *stage.value, &values, result.locals).run();
    DimMap same_row;
    for (size_t k = 0; k < rows; ++k) same_row.emplace(c.vars[k], result.rows[k]);
    map_dims(c, [&](Dim d) { return quern::substitute(d, same_row); });
    c.vars.erase(c.vars.begin(), c.vars.begin() + first);
    c.extents.erase(c.extents.begin(), c.extents.begin() + first);
    if (stage.variable && is_one_a_row(*stage.value, rows)) {
      c.takes_value = c.locals++;
      values.emplace(stage.variable, value_of(c.takes_value, c.value->dtype));
    }
    for (const Dim dim : c.dims)
      if (std::ranges::find(result.dims, dim) == result.dims.end()) result.dims.push_back(dim);
    result.locals = c.locals;
    result.stages.push_back(std::move(c));
  }
  return result;
}

}  // namespace quern::loops
