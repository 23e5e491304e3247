#pragma once
// A program whose tensors carry what differentiation needs: the walk that reverse and forward mode share
// (Roesch 2020, section 4.1, with whole segments of tensor code in place of single operators).

#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/gradient/forward.h"
#include "passes/gradient/lifting/structures.h"
#include "passes/gradient/reverse.h"

namespace quern::lifting {

/// Whether it has parts that are no tensor code: calls, functions, data, references.
bool is_more_than_tensor_code(ExprPtr body);

class Program {
 public:
  Program(const Program&) = delete;
  virtual ~Program() = default;

 protected:
  Program(const PassContext& context, Origin origin, Carrier carrier);

  /// Lifts a function's parameters and body; its result's lifted value. Nothing if a part has no derivative.
  std::optional<ExprPtr> run(const FnExpr& function);
  /// The block of all that has been made.
  ExprPtr finished(ExprPtr result);

  /// Binds the lifted variable of a parameter.
  virtual void lift_parameter(const Variable* param) = 0;
  /// Tensor code, of whose variables `used` are read later: binds these and their lifted variables.
  virtual void segment(std::span<const Binding> bindings, const std::vector<const Variable*>& used) = 0;

  const Variable* bind(std::string_view name, ExprPtr value);
  /// Of a variable that is bound: binds its lifted one, a constant.
  void lift_known(const Variable* variable);
  void add_problem(const Underivable& problem);

  const PassContext& context_;
  Arena& arena_;
  const Build build_;
  Structures structures_;
  std::vector<Binding> out_;  ///< of the open block
  /// Each variable has a lifted one; one of tensors alone stands beside it with its value.
  std::unordered_map<const Variable*, const Variable*> lifted_;
  std::vector<Underivable> underivable_;
  GradientClauses clauses_;

 private:
  const Variable* lifted_binder(const Variable* variable);
  void values_of(std::span<const Variable* const> variables);

  ExprPtr inside(ExprPtr expr, std::span<const Variable* const> bound = {});
  ExprPtr value(ExprPtr expr);
  std::vector<ExprPtr> values(std::span<const ExprPtr> exprs);
  Expr head(const Expr& e) const;
  ExprPtr of_variable(const VarExpr& e);
  bool lift_outside(const VarExpr& e);
  ExprPtr match(const MatchExpr& e);
  PatternPtr lifted_pattern(PatternPtr pattern);
  ExprPtr call(const CallExpr& e);
  ExprPtr function(const FnExpr& e);
  ExprPtr intrinsic(const IntrinsicExpr& e);
  ExprPtr of_block(const BlockExpr& block);
  void binding(const Binding& b);
  ExprPtr refuse(ExprPtr expr, std::string what);

  std::vector<Binding> outside_;  ///< what is there before the function, lifted
};

}  // namespace quern::lifting
