#include "passes/gradient/lifting/tape.h"

#include <unordered_set>

#include "frontend/infer/context/gradient_types.h"
#include "passes/gradient/lifting/program.h"

namespace quern {

namespace {

using lifting::Carrier;

class Tape : public lifting::Program {
 public:
  Tape(const PassContext& context, Origin origin) : Program(context, origin, Carrier::Cotangent) {}

  std::variant<VectorJacobian, std::vector<Underivable>> run(const FnExpr& function) {
    Type type = function.body->type;
    tape_ = bind("tape", build_.empty_tape());
    const auto result = Program::run(function);
    if (!result) return underivable_;
    const Variable* cotangent = build_.variable("cotangent", gradient_type(type));
    build_.accumulate(type, *result, build_.read(cotangent), out_);
    out_.push_back({nullptr, build_.run(build_.read(tape_))});
    std::vector<ExprPtr> gradients;
    gradients.reserve(function.params.size());
    std::vector<const Variable*> params(function.params.begin(), function.params.end());
    for (const Variable* param : params)
      gradients.push_back(structures_.received(param->type, build_.read(lifted_.at(param))));
    ExprPtr body = finished(build_.tuple({build_.primal(type, *result), build_.tuple(gradients)}));
    params.push_back(cotangent);
    return VectorJacobian{as<FnExpr>(build_.fn(params, function.dim_vars, body)), fallbacks_};
  }

 private:
  void lift_parameter(const Variable* param) override { lift_known(param); }

  // The segment puts a closure on the tape that passes on what its results have received.
  void segment(std::span<const Binding> bindings, const std::vector<const Variable*>& used) override {
    std::vector<const Variable*> results, operands;
    std::vector<ExprPtr> fields;
    for (const Variable* v : used)
      if (has_floats(v->type)) {
        results.push_back(v);
        fields.push_back(build_.read(v));
      }
    ExprPtr all = build_.tuple(fields);
    ExprPtr body = build_.block({bindings.begin(), bindings.end()}, all);
    for (const Variable* v : free_variables(body))
      if (has_floats(v->type) && lifted_.contains(v)) operands.push_back(v);
    if (results.empty() || operands.empty()) {
      out_.insert(out_.end(), bindings.begin(), bindings.end());
      for (const Variable* v : used) lift_known(v);
      return;
    }
    auto made = vector_jacobian(arena_, *as<FnExpr>(build_.fn(operands, {}, body)));
    if (auto* problems = std::get_if<std::vector<Underivable>>(&made)) {
      for (const Underivable& p : *problems) add_problem(p);
      for (const Variable* v : used) lift_known(v);
      return;
    }
    const VectorJacobian& both = std::get<VectorJacobian>(made);
    fallbacks_.insert(fallbacks_.end(), both.fallbacks.begin(), both.fallbacks.end());
    place(*both.function, used, results, operands);
  }

  // The segment's values here, the rest of its vector-Jacobian product on the tape.
  void place(const FnExpr& both, const std::vector<const Variable*>& used,
             const std::vector<const Variable*>& results, const std::vector<const Variable*>& operands) {
    auto* block = as<BlockExpr>(both.body);
    auto* pair = as<TupleExpr>(block ? block->result : both.body);
    const std::span<const Binding> bindings = block ? block->bindings : std::span<const Binding>();
    const Variable* cotangent = both.params.back();
    std::unordered_set<const Variable*> needed(used.begin(), used.end());
    std::vector<bool> forward(bindings.size());
    for (size_t i = bindings.size(); i-- > 0;) {
      // A check binds dims that later code names.
      forward[i] =
          !bindings[i].variable || needed.contains(bindings[i].variable) || opens_dims(bindings[i].value);
      if (forward[i])
        for (const Variable* v : free_variables(bindings[i].value)) needed.insert(v);
    }
    std::vector<Binding> backward;
    for (size_t i = 0; i < bindings.size(); ++i) (forward[i] ? out_ : backward).push_back(bindings[i]);
    for (const Variable* v : used) lift_known(v);

    std::vector<ExprPtr> received;
    std::vector<Type> types;
    std::vector<ExprPtr> carried;
    for (const Variable* v : results) {
      received.push_back(build_.received(v->type, build_.read(lifted_.at(v))));
      types.push_back(v->type);
      carried.push_back(build_.read(lifted_.at(v)));
    }
    backward.insert(backward.begin(), {cotangent, build_.tuple(received)});
    for (size_t i = 0; i < operands.size(); ++i) {
      ExprPtr gradient = as<TupleExpr>(pair->fields[1])->fields[i];
      build_.accumulate(operands[i]->type, build_.read(lifted_.at(operands[i])), gradient, backward);
    }
    ExprPtr any = build_.has_received(tuple_type(types), build_.tuple(carried));
    ExprPtr unit = build_.tuple({});
    ExprPtr step = arena_.make<IfExpr>(Expr{ExprKind::If, unit_type(), both.origin}, any,
                                       build_.block(backward, unit), unit);
    out_.push_back({nullptr, build_.push(build_.read(tape_), build_.fn({}, {}, step))});
  }

  const Variable* tape_ = nullptr;
  std::vector<ScatterFallback> fallbacks_;
};

}  // namespace

std::variant<VectorJacobian, std::vector<Underivable>> tape_vector_jacobian(const PassContext& context,
                                                                            const FnExpr& function) {
  return Tape(context, function.origin).run(function);
}

}  // namespace quern
