#include "passes/gradient/scan_gradient.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "frontend/infer/context/gradient_types.h"
#include "frontend/infer/gradual/open_dims.h"
#include "ir/type/row_types.h"
#include "passes/fusion_class.h"
#include "passes/pass.h"
#include "passes/scalar_builder.h"
#include "passes/scan_over.h"

namespace quern {

namespace {

bool is_cheap(ExprPtr value) {
  if (as<ComprehensionExpr>(value)) return !reduces(value);
  return as<VarExpr>(value) || as<ConstExpr>(value) || as<FieldExpr>(value) || as<TupleExpr>(value) ||
         as<ViewExpr>(value) || facts(value->kind).level == KindFacts::Level::Element;
}

class Maker {
 public:
  Maker(Arena& arena, const IntrinsicExpr& scan)
      : arena_(arena), scan_(scan), build_(arena, scan.origin), step_(*as<FnExpr>(scan.args[0])) {}

  std::variant<ScanGradient, std::vector<Underivable>> made() {
    std::vector<const Variable*> params(step_.params.begin(), step_.params.end());
    for (const Variable* v : free_variables(&step_)) {
      if (!has_floats(v->type)) continue;
      if (leaves_dims_open(v->type))
        return std::vector<Underivable>{
            {scan_.origin, "a value of unknown shape that the function of `scan_over` captures"}};
      captured_.push_back(v);
    }
    params.insert(params.end(), captured_.begin(), captured_.end());
    auto made = vector_jacobian(arena_, *function_literal(arena_, params, {}, step_.body, step_.origin));
    if (auto* problems = std::get_if<std::vector<Underivable>>(&made)) return std::move(*problems);
    VectorJacobian& both = std::get<VectorJacobian>(made);
    divide(*both.function);
    const IntrinsicExpr* forward = this->forward();
    return ScanGradient{forward, backward(), captured_, std::move(both.fallbacks)};
  }

 private:
  ExprPtr read(const Variable* v) const { return read_of(arena_, v, scan_.origin); }
  ExprPtr field(ExprPtr of, uint32_t i) const {
    return arena_.make<FieldExpr>(Expr{ExprKind::Field, of->type->args[i], scan_.origin}, of, i,
                                  std::string_view());
  }

  // Into what computes the step's value, and the rest, which computes gradients.
  void divide(const FnExpr& both) {
    auto* block = as<BlockExpr>(both.body);
    result_ = as<TupleExpr>(block ? block->result : both.body);
    cotangent_ = both.params.back();
    const std::span<const Binding> all = block ? block->bindings : std::span<const Binding>();
    std::unordered_set<const Variable*> needed;
    for (const Variable* v : free_variables(result_->fields[0])) needed.insert(v);
    std::vector<bool> is_forward(all.size());
    for (size_t i = all.size(); i-- > 0;) {
      // A check binds dims that later code names.
      is_forward[i] = !all[i].variable || needed.contains(all[i].variable) || opens_dims(all[i].value);
      if (is_forward[i])
        for (const Variable* v : free_variables(all[i].value)) needed.insert(v);
    }
    for (size_t i = 0; i < all.size(); ++i) (is_forward[i] ? forward_ : backward_).push_back(all[i]);
    choose_kept();
  }

  void choose_kept() {
    std::unordered_map<const Variable*, size_t> defined;
    bool opens = false;
    for (size_t i = 0; i < forward_.size(); ++i) {
      if (forward_[i].variable) defined.emplace(forward_[i].variable, i);
      opens = opens || opens_dims(forward_[i].value);
    }
    again_.assign(forward_.size(), false);
    std::unordered_set<const Variable*> seen;
    std::vector<const Variable*> rest = free_variables(result_->fields[1]);
    for (const Binding& b : backward_)
      for (const Variable* v : free_variables(b.value)) rest.push_back(v);
    while (!rest.empty()) {
      const Variable* v = rest.back();
      rest.pop_back();
      if (!seen.insert(v).second) continue;
      auto at = defined.find(v);
      if (v == step_.params[0]) kept_.insert(kept_.begin(), v);
      if (at == defined.end()) continue;
      ExprPtr value = forward_[at->second].value;
      // The dims that a step opens are its own: what has them is computed again.
      if (!opens && !is_cheap(value) && is_row_type(v->type) && !leaves_dims_open(v->type)) {
        kept_.push_back(v);
        continue;
      }
      again_[at->second] = true;
      for (const Variable* used : free_variables(value)) rest.push_back(used);
    }
    if (!opens) return;
    for (size_t i = 0; i < forward_.size(); ++i) {
      if (!forward_[i].variable || again_[i]) continue;
      again_[i] = opens_dims(forward_[i].value);
      // What they are of is computed too.
      for (const Variable* v : again_[i] ? free_variables(forward_[i].value) : std::vector<const Variable*>())
        keep_again(v, defined);
    }
  }
  void keep_again(const Variable* v, const std::unordered_map<const Variable*, size_t>& defined) {
    if (v == step_.params[0] && !std::ranges::count(kept_, v)) kept_.insert(kept_.begin(), v);
    auto at = defined.find(v);
    if (at == defined.end() || again_[at->second]) return;
    again_[at->second] = true;
    for (const Variable* used : free_variables(forward_[at->second].value)) keep_again(used, defined);
  }

  const IntrinsicExpr* forward() {
    std::vector<ExprPtr> kept;
    for (const Variable* v : kept_) kept.push_back(read(v));
    std::vector<Binding> bindings = forward_;
    const Variable* value = make_variable(arena_, "value", step_.body->type);
    bindings.push_back({value, result_->fields[0]});
    ExprPtr rows = build_.tuple({field(read(value), 1), build_.tuple(kept)});
    ExprPtr body = block_of(arena_, bindings, build_.tuple({field(read(value), 0), rows}), scan_.origin);
    auto* step = as<FnExpr>(substitute(
        arena_, function_literal(arena_, {step_.params.begin(), step_.params.end()}, {}, body, scan_.origin),
        {}));
    return scan_over(arena_, scan_.origin, step, scan_.args[1], scan_.args[2], is_reverse(scan_));
  }

  const FnExpr* backward() {
    const Type result = step_.body->type;
    std::vector<Type> carried{gradient_type(result->args[0])}, kept;
    for (const Variable* v : captured_) carried.push_back(gradient_type(v->type));
    for (const Variable* v : kept_) kept.push_back(v->type);
    const Variable* carry = make_variable(arena_, "gradients", tuple_type(carried));
    const Variable* row = make_variable(arena_, "row",
                                        tuple_type(std::vector<Type>{step_.params[1]->type, tuple_type(kept),
                                                                     gradient_type(result->args[1])}));
    std::vector<Binding> bindings{{step_.params[1], field(read(row), 0)}};
    ExprPtr kept_row = field(read(row), 1);
    for (uint32_t i = 0; i < kept_.size(); ++i) bindings.push_back({kept_[i], field(kept_row, i)});
    for (size_t i = 0; i < forward_.size(); ++i)
      if (again_[i]) bindings.push_back(forward_[i]);
    bindings.push_back({cotangent_, build_.tuple({field(read(carry), 0), field(read(row), 2)})});
    bindings.insert(bindings.end(), backward_.begin(), backward_.end());
    auto* gradients = as<TupleExpr>(result_->fields[1]);
    std::vector<ExprPtr> next{gradients->fields[0]};
    for (uint32_t i = 0; i < captured_.size(); ++i)
      next.push_back(sum(field(read(carry), i + 1), gradients->fields[i + 2], bindings));
    ExprPtr body =
        block_of(arena_, bindings, build_.tuple({build_.tuple(next), gradients->fields[1]}), scan_.origin);
    return as<FnExpr>(substitute(arena_, function_literal(arena_, {carry, row}, {}, body, scan_.origin), {}));
  }

  ExprPtr bind(ExprPtr value, std::vector<Binding>& out) const {
    if (is_atom(value)) return value;
    out.push_back({make_variable(arena_, "part", value->type), value});
    return read(out.back().variable);
  }

  // Of two gradients of one structure.
  ExprPtr sum(ExprPtr a, ExprPtr b, std::vector<Binding>& out) const {
    if (!a->type->is_tensor()) {
      a = bind(a, out);
      b = bind(b, out);
      std::vector<ExprPtr> fields;
      for (uint32_t i = 0; i < a->type->args.size(); ++i)
        fields.push_back(sum(field(a, i), field(b, i), out));
      return build_.tuple(fields);
    }
    a = bind(a, out);
    b = bind(b, out);
    std::vector<Dim> vars;
    for (size_t k = 0; k < a->type->dims.size(); ++k) vars.push_back(dim_var("i"));
    return bind(
        build_.comprehension(vars, a->type->dims, build_.add(build_.read(a, vars), build_.read(b, vars))),
        out);
  }

  Arena& arena_;
  const IntrinsicExpr& scan_;
  const ScalarBuilder build_;
  const FnExpr& step_;
  std::vector<const Variable*> captured_;
  std::vector<const Variable*> kept_;  ///< the carry first
  std::vector<Binding> forward_, backward_;
  std::vector<bool> again_;  ///< per forward binding: whether it is computed again
  const TupleExpr* result_ = nullptr;
  const Variable* cotangent_ = nullptr;
};

}  // namespace

std::variant<ScanGradient, std::vector<Underivable>> scan_gradient(Arena& arena, const IntrinsicExpr& scan) {
  return Maker(arena, scan).made();
}

}  // namespace quern
