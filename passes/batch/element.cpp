#include "passes/batch/element.h"

#include <vector>

#include "passes/pass.h"

namespace quern {

namespace {

class ElementBatch {
 public:
  ElementBatch(const ScalarBuilder& build, const RowVariables& rows, Dim row)
      : build_(build), rows_(rows), row_(row) {}

  ExprPtr element(ExprPtr expr) const {
    auto* var = as<VarExpr>(expr);
    if (auto rows = var ? rows_.find(var->variable) : rows_.end(); rows != rows_.end())
      return build_.read_at(read(rows->second, expr->origin), {build_.dim(row_)});
    if (auto* of = as<ReadExpr>(expr)) return element_of(*of);
    return map_children(build_.arena(), expr, [&](ExprPtr child) { return child ? element(child) : child; });
  }

 private:
  ExprPtr read(const Variable* v, Origin origin) const { return read_of(build_.arena(), v, origin); }

  ExprPtr element_of(const ReadExpr& e) const {
    std::vector<ExprPtr> indices;
    std::vector<bool> checked;
    auto* var = as<VarExpr>(e.tensor);
    auto rows = var ? rows_.find(var->variable) : rows_.end();
    if (rows != rows_.end()) {
      indices.push_back(build_.dim(row_));
      checked.push_back(false);
    }
    for (ExprPtr index : e.indices) indices.push_back(element(index));
    checked.insert(checked.end(), e.checked.begin(), e.checked.end());
    Arena& arena = build_.arena();
    ExprPtr tensor = rows == rows_.end() ? e.tensor : read(rows->second, e.tensor->origin);
    return arena.make<ReadExpr>(Expr{e}, tensor, arena.copy(indices), arena.copy(checked),
                                e.otherwise ? element(e.otherwise) : nullptr);
  }

  const ScalarBuilder& build_;
  const RowVariables& rows_;
  const Dim row_;
};

std::vector<Dim> with_first(Dim first, std::span<const Dim> rest) {
  std::vector<Dim> all{first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// Scatters into every row: its points are those of each row.
ExprPtr batched_scatter(const ScalarBuilder& build, const ScatterExpr& e, const RowVariables& rows, Dim row,
                        Dim count) {
  Arena& arena = build.arena();
  const Dim from = dim_var("row");
  const ElementBatch at(build, rows, row), of(build, rows, from);
  std::vector<ExprPtr> indices{build.dim(from)};
  for (ExprPtr index : e.indices) indices.push_back(of.element(index));
  std::vector<bool> checked{false};
  checked.insert(checked.end(), e.checked.begin(), e.checked.end());
  return arena.make<ScatterExpr>(Expr{e}, e.scatter, arena.copy(with_first(from, e.vars)),
                                 arena.copy(with_first(count, e.extents)), at.element(e.init),
                                 arena.copy(indices), arena.copy(checked), of.element(e.value));
}

}  // namespace

ExprPtr batched_element(const ScalarBuilder& build, const ComprehensionExpr& e, const RowVariables& rows,
                        Dim count) {
  const Dim row = dim_var("row");
  auto* scatter = as<ScatterExpr>(e.body);
  ExprPtr body = scatter ? batched_scatter(build, *scatter, rows, row, count)
                         : ElementBatch(build, rows, row).element(e.body);
  return build.comprehension(with_first(row, e.vars), with_first(count, e.extents), body);
}

}  // namespace quern
