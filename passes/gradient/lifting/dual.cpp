#include "passes/gradient/lifting/dual.h"

#include <algorithm>

#include "frontend/infer/context/gradient_types.h"
#include "passes/gradient/lifting/program.h"

namespace quern {

namespace {

using lifting::Carrier;

class Dual : public lifting::Program {
 public:
  Dual(const PassContext& context, Origin origin) : Program(context, origin, Carrier::Tangent) {}

  std::variant<const FnExpr*, std::vector<Underivable>> run(const FnExpr& function) {
    Type type = function.body->type;
    const auto result = Program::run(function);
    if (!result) return underivable_;
    std::vector<const Variable*> params(function.params.begin(), function.params.end());
    params.insert(params.end(), tangents_.begin(), tangents_.end());
    ExprPtr body =
        finished(build_.tuple({build_.primal(type, *result), structures_.received(type, *result)}));
    return as<FnExpr>(build_.fn(params, function.dim_vars, body));
  }

 private:
  void lift_parameter(const Variable* param) override {
    tangents_.push_back(build_.variable("tangent", gradient_type(param->type)));
    lift(param, build_.read(tangents_.back()));
  }

  void lift(const Variable* variable, ExprPtr tangent) {
    lifted_.emplace(variable, lifting::is_constant(variable->type)
                                  ? variable
                                  : bind(variable->name, structures_.dual(build_.read(variable), tangent)));
  }

  void segment(std::span<const Binding> bindings, const std::vector<const Variable*>& used) override {
    Forward forward(context_, build_.scalars.origin(), clauses_);
    std::vector<const Variable*> operands;
    for (const Binding& b : bindings)
      for (const Variable* v : free_variables(b.value))
        if (has_floats(v->type) && lifted_.contains(v) && !std::ranges::count(operands, v))
          operands.push_back(v);
    for (const Variable* v : operands)
      forward.given(v, structures_.received(v->type, build_.read(lifted_.at(v))));
    for (const Binding& b : bindings) forward.bind(b);
    std::vector<ExprPtr> tangents;
    tangents.reserve(used.size());
    for (const Variable* v : used)
      tangents.push_back(has_floats(v->type) ? forward.tangent(v) : build_.tuple({}));
    for (const Underivable& problem : forward.underivable) add_problem(problem);
    out_.insert(out_.end(), forward.bindings.begin(), forward.bindings.end());
    for (size_t i = 0; i < used.size(); ++i) lift(used[i], tangents[i]);
  }

  std::vector<const Variable*> tangents_;  ///< parameters
};

}  // namespace

std::variant<const FnExpr*, std::vector<Underivable>> dual_jacobian_vector(const PassContext& context,
                                                                           const FnExpr& function) {
  return Dual(context, function.origin).run(function);
}

}  // namespace quern
