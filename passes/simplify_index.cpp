#include "passes/simplify_index.h"

#include <algorithm>

#include "passes/may_fail.h"
#include "passes/scalar_builder.h"

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
    if (auto* scalar = as<ScalarExpr>(result)) return without_zeros(*scalar);
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

  /// A product with an integer 0 is 0, and a sum with one the other operand: terms that a constant switches off cost nothing,
  /// and neither do the tensors that they read.
  ExprPtr without_zeros(const ScalarExpr& e) {
    if (!e.type->dtype.is_int() || e.type->dtype.lanes != 1) return &e;
    auto zero = [&](size_t k) { return is_zero(e.args[k]); };
    if (e.is_cast) return zero(0) ? ScalarBuilder(arena_, e.origin).constant(0, e.type->dtype) : &e;
    if (e.op == ScalarOp::Mul) {
      if (zero(0) && !may_fail(e.args[1], facts_)) return e.args[0];
      if (zero(1) && !may_fail(e.args[0], facts_)) return e.args[1];
    }
    if (e.op == ScalarOp::Add && zero(0)) return e.args[1];
    if ((e.op == ScalarOp::Add || e.op == ScalarOp::Sub) && zero(1)) return e.args[0];
    return &e;
  }

  static bool is_zero(ExprPtr expr) {
    auto* constant = as<ConstExpr>(expr);
    if (!constant || !expr->type->dtype.is_int() || expr->type->dtype.lanes != 1 || !expr->type->dims.empty())
      return false;
    const std::byte* bytes = constant->value->data();
    return std::all_of(bytes, bytes + expr->type->dtype.bytes(),
                       [](std::byte b) { return b == std::byte(); });
  }

  ExprPtr proved(const ReadExpr& read) {
    std::vector<bool> checked;
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
    return arena_.make<ReadExpr>(Expr{read}, read.tensor, read.indices, arena_.copy(checked),
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
