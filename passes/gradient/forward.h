#pragma once
// Forward-mode differentiation of tensor code: each tensor of floating-point numbers gets a tangent, computed
// beside it (dual numbers; Roesch 2020, section 4.1).

#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "passes/gradient/lifting/lifted.h"
#include "passes/gradient/reverse.h"
#include "passes/pass.h"

namespace quern {

/// The tangent of a value: a tensor, or a tangent for each field of a tuple; nothing where it is 0.
struct Tangent {
  ExprPtr tensor = nullptr;
  std::vector<Tangent> fields;
  bool is_zero() const;
};

/// The functions bound in an expression that state gradients, which are no part of what it computes.
using GradientClauses = std::unordered_map<const Variable*, const FnExpr*>;
GradientClauses gradient_clauses(ExprPtr expr);

class Forward {
 public:
  /// Functions that state gradients are looked up among `clauses`.
  Forward(const PassContext& context, Origin origin, const GradientClauses& clauses)
      : context_(context),
        arena_(context.arena),
        build_(context.arena, origin, lifting::Carrier::Tangent),
        clauses_(clauses) {}

  /// States a variable's tangent, of the type of its gradient.
  void given(const Variable* variable, ExprPtr tangent) { tangents_[variable] = of_value(tangent); }
  /// Binds the variable to its value, and what its tangent needs.
  void bind(const Binding& binding);
  /// The tangent of a variable as a value of the type of its gradient.
  ExprPtr tangent(const Variable* variable);

  std::vector<Binding> bindings;         ///< so far, in order
  std::vector<Underivable> underivable;  ///< parts without a derivative

 private:
  struct Dual {
    ExprPtr value;
    Tangent tangent;
  };
  Dual dual(ExprPtr expr);
  Dual of_comprehension(const ComprehensionExpr& e);
  Dual of_check(const CheckDimsExpr& e);
  Dual of_choice(const IfExpr& e);
  Dual of_clause(const IntrinsicExpr& e);
  Dual of_scan(const IntrinsicExpr& e);
  Dual of_copy(const IntrinsicExpr& e);
  Dual of_block(const BlockExpr& e);
  Dual without(ExprPtr expr);

  ExprPtr named(std::string_view name, ExprPtr value);
  Tangent of_value(ExprPtr value);
  Tangent named(std::string_view name, const Tangent& tangent);
  ExprPtr whole(const Tangent& tangent, ExprPtr value);
  Tangent of_type(const Tangent& tangent, Type from, Type to);
  const Tangent& of_variable(const Variable* variable) const;
  bool depends(ExprPtr expr) const;

  const PassContext& context_;
  Arena& arena_;
  const lifting::Build build_;
  const GradientClauses& clauses_;
  std::unordered_map<const Variable*, Tangent> tangents_;
};

/// `fn (params, a tangent of each) { (result, its tangent) }`, for a function in the form that vector_jacobian
/// takes. Tangents have the types of gradients.
std::variant<const FnExpr*, std::vector<Underivable>> jacobian_vector(const PassContext& context,
                                                                      const FnExpr& function);

}  // namespace quern
