#include "passes/simplify_index.h"

#include "passes/may_fail.h"

namespace quern {

namespace {

class Simplifier {
 public:
  explicit Simplifier(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* dim = as<DimValueExpr>(expr)) {
      // Simplifying a quotient that may have no value would hide that failure.
      if (may_divide_by_zero(dim->dim, facts_)) return expr;
      Dim simple = simplify(dim->dim, facts_);
      return simple == dim->dim ? expr : arena_.make<DimValueExpr>(Expr{*expr}, simple);
    }
    // Facts about an index hold inside its binder.
    if (auto* e = as<ComprehensionExpr>(expr)) return within(expr, e->vars, e->extents);
    if (auto* e = as<ReduceExpr>(expr)) return within(expr, e->vars, e->extents);
    if (auto* e = as<ScanExpr>(expr)) return within(expr, e->vars, e->extents);
    if (auto* e = as<ScatterExpr>(expr)) return within(expr, e->vars, e->extents);
    ExprPtr result = inside(expr);
    auto* read = as<ReadExpr>(result);
    return read ? proved(*read) : result;
  }

 private:
  ExprPtr inside(ExprPtr expr) {
    return map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
  }

  ExprPtr within(ExprPtr binder, std::span<const Dim> vars, std::span<const Dim> extents) {
    Facts outer = facts_;
    for (size_t i = 0; i < vars.size(); ++i) facts_.add_index(vars[i], extents[i]);
    ExprPtr result = inside(binder);
    facts_ = std::move(outer);
    return result;
  }

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
