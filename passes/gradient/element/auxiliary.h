#pragma once
// What the derivatives of reductions and scatters read beside the tensors of the program, in either mode.

#include <vector>

#include "passes/gradient/element/element_scope.h"
#include "passes/scalar_builder.h"

namespace quern {

class Auxiliary {
 public:
  /// Tensors are bound in `bindings`, each after those it reads.
  Auxiliary(const ScalarBuilder& build, std::vector<Binding>& bindings)
      : build_(build), bindings_(bindings) {}

  ExprPtr bound(ExprPtr tensor, std::string_view name);

  /// The row-major position, of dtype index, of the maximum or minimum that a reduction in this scope finds.
  ExprPtr extreme(const ElementScope& scope, ReduceKind kind, std::span<const Dim> vars,
                  std::span<const Dim> extents, ExprPtr body);
  /// Of the body's values, the product of all but the one at `vars`.
  ExprPtr other_factors(std::span<const Dim> vars, std::span<const Dim> extents, ExprPtr body);

  /// For a scatter by `=`, `max=` or `min=`: at each place the position of the value that it keeps, of dtype
  /// int64, -1 where it keeps the initial content. The last value written stays; the first of equal ones.
  ExprPtr winner(const ComprehensionExpr& whole, const ScatterExpr& e);
  /// The position of a value in the same numbers.
  ExprPtr position(const ScatterExpr& e);
  ExprPtr number(int64_t value) { return build_.constant(static_cast<double>(value), DType::int64()); }

  /// For `*=`: the initial content; the product of the values at each place; at a value's place, the product
  /// of the other values.
  ExprPtr initial(const ComprehensionExpr& whole, const ScatterExpr& e);
  ExprPtr factors(const ComprehensionExpr& whole, const ScatterExpr& e);
  ExprPtr others(const ScatterExpr& e);

 private:
  ExprPtr hoisted(const ElementScope& scope, ExprPtr value, Dim exists);
  ExprPtr scattered(const ComprehensionExpr& whole, const ScatterExpr& e, ScatterKind kind, ExprPtr init,
                    ExprPtr value, std::string_view name);
  ExprPtr last_writer(const ComprehensionExpr& whole, const ScatterExpr& e);
  ExprPtr first_equal(const ComprehensionExpr& whole, const ScatterExpr& e);

  const ScalarBuilder& build_;
  std::vector<Binding>& bindings_;
};

/// The row-major position of the point `vars` within the extents.
Dim row_major(std::span<const Dim> vars, std::span<const Dim> extents);

}  // namespace quern
