#include "passes/simplify_index.h"

namespace quern {

namespace {

class Simplifier {
 public:
  explicit Simplifier(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* comprehension = as<ComprehensionExpr>(expr))
      for (size_t i = 0; i < comprehension->vars.size(); ++i)
        facts_.add_index(comprehension->vars[i], comprehension->extents[i]);
    if (auto* reduce = as<ReduceExpr>(expr))
      for (size_t i = 0; i < reduce->vars.size(); ++i) facts_.add_index(reduce->vars[i], reduce->extents[i]);
    if (auto* scan = as<ScanExpr>(expr)) facts_.add_index(scan->vars[0], scan->extents[0]);
    if (auto* scatter = as<ScatterExpr>(expr))
      for (size_t i = 0; i < scatter->vars.size(); ++i)
        facts_.add_index(scatter->vars[i], scatter->extents[i]);
    if (auto* dim = as<DimValueExpr>(expr)) {
      Dim simple = simplify(dim->dim, facts_);
      return simple == dim->dim ? expr : arena_.make<DimValueExpr>(Expr{*expr}, simple);
    }
    ExprPtr result = map_children(arena_, expr, [&](ExprPtr child) { return run(child); });
    auto* read = as<ReadExpr>(result);
    return read ? proved(*read) : result;
  }

 private:
  ExprPtr proved(const ReadExpr& read) {
    std::vector<char> checked;
    bool changed = false, any = false;
    for (size_t k = 0; k < read.indices.size(); ++k) {
      bool check = read.checked[k];
      auto* dim = as<DimValueExpr>(read.indices[k]);
      if (check && dim && prove_nonnegative(dim->dim, facts_) &&
          prove_less(dim->dim, read.tensor->type->dims[k], facts_)) {
        check = false;
        changed = true;
      }
      any |= check;
      checked.push_back(check);
    }
    if (!changed) return &read;
    auto flags = arena_.copy(checked);
    return arena_.make<ReadExpr>(
        Expr{read}, read.tensor, read.indices,
        std::span<const bool>(reinterpret_cast<const bool*>(flags.data()), flags.size()),
        any ? read.otherwise : nullptr);
  }

  Arena& arena_;
  Facts facts_;
};

}  // namespace

ExprPtr simplify_index(const PassContext& context, ExprPtr expr) {
  return Simplifier(context.arena).run(expr);
}

}  // namespace quern
