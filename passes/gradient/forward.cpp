#include "passes/gradient/forward.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "frontend/infer/context/gradient_types.h"
#include "passes/gradient/element/element_tangent.h"
#include "passes/gradient/element/split_reductions.h"
#include "passes/gradient/lifting/program.h"
#include "passes/gradient/lifting/tape.h"
#include "passes/inline_local.h"
#include "passes/scan_over.h"
#include "passes/simplify_index.h"
#include "passes/to_anf.h"

namespace quern {

bool Tangent::is_zero() const {
  return !tensor && std::ranges::all_of(fields, [](const Tangent& f) { return f.is_zero(); });
}

// --- tangents

ExprPtr Forward::named(std::string_view name, ExprPtr value) {
  if (value->kind == ExprKind::Var) return value;
  const Variable* variable = build_.variable(name, value->type);
  bindings.push_back({variable, value});
  return build_.read(variable);
}

Tangent Forward::named(std::string_view name, const Tangent& tangent) {
  if (tangent.tensor) return {named(name, tangent.tensor), {}};
  Tangent out;
  for (const Tangent& field : tangent.fields) out.fields.push_back(named(name, field));
  return out;
}

// From a value of a gradient's type.
Tangent Forward::of_value(ExprPtr value) {
  if (value->type->is_tensor()) return {named("tangent", value), {}};
  Tangent out;
  for (uint32_t i = 0; i < value->type->args.size(); ++i)
    out.fields.push_back(of_value(build_.field(value, i)));
  return out;
}

// As a value of a gradient's type, beside the value itself.
ExprPtr Forward::whole(const Tangent& tangent, ExprPtr value) {
  if (tangent.tensor) return tangent.tensor;
  if (!has_floats(value->type) && value->type->kind != TypeKind::Tuple) return build_.tuple({});
  if (value->type->is_tensor()) return named("zero", build_.zeros_like(value));
  std::vector<ExprPtr> fields;
  for (uint32_t i = 0; i < value->type->args.size(); ++i) {
    ExprPtr field =
        has_floats(value->type->args[i]) ? named("part", build_.field(value, i)) : build_.field(value, i);
    fields.push_back(whole(i < tangent.fields.size() ? tangent.fields[i] : Tangent(), field));
  }
  return build_.tuple(fields);
}

const Tangent& Forward::of_variable(const Variable* variable) const {
  static const Tangent kZero;
  auto known = tangents_.find(variable);
  return known == tangents_.end() ? kZero : known->second;
}

ExprPtr Forward::tangent(const Variable* variable) {
  return whole(of_variable(variable), build_.read(variable));
}

// The tangent of a value whose `?` dims have got names.
Tangent Forward::of_type(const Tangent& tangent, Type from, Type to) {
  if (from == to || tangent.is_zero()) return tangent;
  if (!to->is_tensor()) {
    Tangent out;
    for (size_t i = 0; i < tangent.fields.size(); ++i)
      out.fields.push_back(of_type(tangent.fields[i], from->args[i], to->args[i]));
    return out;
  }
  std::vector<Dim> vars;
  std::vector<ExprPtr> indices;
  std::vector<bool> unknown;
  for (size_t k = 0; k < to->dims.size(); ++k) {
    vars.push_back(dim_var("i"));
    indices.push_back(build_.scalars.dim(vars.back()));
    unknown.push_back(from->dims[k]->kind == DimKind::Any);
  }
  ExprPtr element = arena_.make<ReadExpr>(
      Expr{ExprKind::Read, scalar_type(to->dtype), build_.scalars.origin()}, named("part", tangent.tensor),
      arena_.copy(indices), arena_.copy(unknown), nullptr);
  return {build_.scalars.comprehension(vars, to->dims, element), {}};
}

// Whether a tangent that is not 0 is among what it reads.
bool Forward::depends(ExprPtr expr) const {
  return std::ranges::any_of(free_variables(expr),
                             [&](const Variable* v) { return !of_variable(v).is_zero(); });
}

// --- expressions

void Forward::bind(const Binding& binding) {
  const Variable* variable = binding.variable;
  auto [value, tangent] = dual(binding.value);
  bindings.push_back({variable, value});
  if (variable && !tangent.is_zero())
    tangents_[variable] = named(arena_.copy(std::string(variable->name) + "'"), tangent);
}

Forward::Dual Forward::dual(ExprPtr expr) {
  if (!has_floats(expr->type)) return {expr, {}};
  return visit(expr, overloaded{[&](const VarExpr& e) -> Dual {
                                  return {expr, of_variable(e.variable)};
                                },
                                [&](const TupleExpr& e) -> Dual {
                                  Dual out;
                                  std::vector<ExprPtr> fields;
                                  for (ExprPtr field : e.fields) {
                                    Dual made = dual(field);
                                    fields.push_back(made.value);
                                    out.tangent.fields.push_back(std::move(made.tangent));
                                  }
                                  Expr head = e;
                                  out.value = arena_.make<TupleExpr>(head, arena_.copy(fields));
                                  return out;
                                },
                                [&](const FieldExpr& e) -> Dual {
                                  if (e.tuple->type->kind != TypeKind::Tuple) return without(expr);
                                  Dual of = dual(e.tuple);
                                  Expr head = e;
                                  ExprPtr value = arena_.make<FieldExpr>(head, of.value, e.index, e.name);
                                  const auto& fields = of.tangent.fields;
                                  return {value, e.index < fields.size() ? fields[e.index] : Tangent()};
                                },
                                [&](const ComprehensionExpr& e) { return of_comprehension(e); },
                                [&](const ViewExpr& e) -> Dual {
                                  Dual of = dual(e.tensor);
                                  Expr head = e;
                                  ExprPtr value = arena_.make<ViewExpr>(head, of.value);
                                  if (of.tangent.is_zero()) return {value, {}};
                                  ExprPtr tensor = named("part", of.tangent.tensor);
                                  return {value, {arena_.make<ViewExpr>(head, tensor), {}}};
                                },
                                [&](const CheckDimsExpr& e) { return of_check(e); },
                                [&](const BlockExpr& e) { return of_block(e); },
                                [&](const IfExpr& e) { return of_choice(e); },
                                [&](const ConstExpr&) -> Dual {
                                  return {expr, {}};
                                },
                                [&](const IntrinsicExpr& e) -> Dual {
                                  if (e.intrinsic == IntrinsicKind::WithGradient) return of_clause(e);
                                  if (e.intrinsic == IntrinsicKind::ScanOver) return of_scan(e);
                                  if (e.intrinsic == IntrinsicKind::StopGradient) return {expr, {}};
                                  if (e.intrinsic == IntrinsicKind::ToDevice) return of_copy(e);
                                  return without(expr);
                                },
                                [&](const ExternExpr&) { return without(expr); },
                                [&](const NodeWithout<KindFacts::Derivative::Tensors> auto&) {
                                  return without(expr);
                                }});
}

Forward::Dual Forward::of_comprehension(const ComprehensionExpr& e) {
  if (!depends(&e)) return {&e, {}};
  std::vector<Binding> parts;
  const ComprehensionExpr* element =
      as<ScatterExpr>(e.body) ? &e : split_reductions(build_.scalars, e, parts);
  for (const Binding& part : parts) bind(part);
  ExprPtr made = element_tangent(
      build_.scalars, *element, [&](const Variable* v) { return of_variable(v).tensor; }, bindings);
  return {element, {made, {}}};
}

Forward::Dual Forward::of_check(const CheckDimsExpr& e) {
  if (!e.value) return {&e, {}};
  auto [value, tangent] = dual(e.value);
  if (tangent.is_zero()) return {&e, {}};
  Expr head = e;
  ExprPtr checked = named("exact", arena_.make<CheckDimsExpr>(head, value, e.opened, e.conditions));
  return {checked, of_type(tangent, e.value->type, e.type)};
}

Forward::Dual Forward::of_block(const BlockExpr& e) {
  for (const Binding& b : e.bindings) bind(b);
  return dual(e.result);
}

// Each arm computes both.
Forward::Dual Forward::of_choice(const IfExpr& e) {
  if (!depends(e.then_arm) && !depends(e.else_arm)) return {&e, {}};
  auto arm = [&](ExprPtr body) {
    std::vector<Binding> outer = std::exchange(bindings, {});
    auto [value, tangent] = dual(body);
    value = value->type->kind == TypeKind::Tuple ? value : named("value", value);
    ExprPtr both = build_.tuple({value, whole(tangent, value)});
    return build_.block(std::exchange(bindings, std::move(outer)), both);
  };
  ExprPtr first = arm(e.then_arm), second = arm(e.else_arm);
  Type type = tuple_type(std::vector<Type>{e.type, gradient_type(e.type)});
  ExprPtr arms =
      named("arms", arena_.make<IfExpr>(Expr{ExprKind::If, type, e.origin}, e.condition, first, second));
  return {build_.field(arms, 0), of_value(build_.field(arms, 1))};
}

// A clause is linear in the cotangent that it is given: the tangent is its transpose.
Forward::Dual Forward::of_copy(const IntrinsicExpr& e) {
  Dual of = dual(e.args[0]);
  const auto copy = [&](ExprPtr value) {
    return arena_.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, value->type, e.origin}, e.intrinsic,
                                      arena_.copy(std::vector{value}), e.texts);
  };
  const std::function<Tangent(const Tangent&)> copied = [&](const Tangent& tangent) {
    Tangent out{tangent.tensor ? copy(named("part", tangent.tensor)) : nullptr, {}};
    for (const Tangent& field : tangent.fields) out.fields.push_back(copied(field));
    return out;
  };
  return {copy(named("value", of.value)), copied(of.tangent)};
}

Forward::Dual Forward::of_clause(const IntrinsicExpr& e) {
  const std::span<const ExprPtr> operands = e.args.subspan(2);
  std::vector<ExprPtr> tangents;
  bool any = false;
  for (ExprPtr operand : operands) {
    Dual of = dual(operand);
    any = any || !of.tangent.is_zero();
    tangents.push_back(whole(of.tangent, of.value));
  }
  if (!any) return {&e, {}};
  ExprPtr value = named("value", &e);
  auto* clause = as<FnExpr>(e.args[1]);
  if (auto* var = as<VarExpr>(e.args[1]))
    if (auto known = clauses_.find(var->variable); known != clauses_.end()) clause = known->second;
  if (!clause) return without(&e);
  const Variable* cotangent = build_.variable("cotangent", gradient_type(e.type));
  std::vector<ExprPtr> args{build_.read(cotangent), value};
  args.resize(clause->params.size());
  ExprPtr call = build_.call(substitute(arena_, clause, {}), args);
  ExprPtr flat =
      to_anf(context_, simplify_index(context_, inline_local(context_, build_.fn({cotangent}, {}, call))));
  auto& linear = *as<FnExpr>(flat);
  auto transpose = lifting::is_more_than_tensor_code(linear.body) ? tape_vector_jacobian(context_, linear)
                                                                  : vector_jacobian(arena_, linear);
  if (auto* problems = std::get_if<std::vector<Underivable>>(&transpose)) {
    underivable.insert(underivable.end(), problems->begin(), problems->end());
    return {value, {}};
  }
  const FnExpr& both = *std::get<VectorJacobian>(transpose).function;
  bindings.push_back({both.params[0], whole({}, value)});
  bindings.push_back({both.params[1], tangents.size() == 1 ? tangents[0] : build_.tuple(tangents)});
  auto* block = as<BlockExpr>(both.body);
  if (block) bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
  auto* pair = as<TupleExpr>(block ? block->result : both.body);
  return {value, of_value(as<TupleExpr>(pair->fields[1])->fields[0])};
}

// The scan whose carry and rows have their tangents beside them.
Forward::Dual Forward::of_scan(const IntrinsicExpr& e) {
  if (!depends(&e)) return {&e, {}};
  auto& step = *as<FnExpr>(e.args[0]);
  Forward inner(context_, e.origin, clauses_);
  std::vector<const Variable*> params;
  for (const Variable* param : step.params) {
    Type both = tuple_type(std::vector<Type>{param->type, gradient_type(param->type)});
    params.push_back(build_.variable(param->name, both));
    inner.bindings.push_back({param, build_.field(build_.read(params.back()), 0)});
    inner.given(param, build_.field(build_.read(params.back()), 1));
  }
  for (const Variable* v : free_variables(&step))
    if (!of_variable(v).is_zero()) inner.tangents_.emplace(v, of_variable(v));
  const Variable* result = build_.variable("result", step.body->type);
  inner.bind({result, step.body});
  ExprPtr value = build_.read(result), tangent = inner.named("tangent", inner.tangent(result));
  underivable.insert(underivable.end(), inner.underivable.begin(), inner.underivable.end());
  auto both_of = [&](uint32_t i) { return build_.tuple({build_.field(value, i), build_.field(tangent, i)}); };
  ExprPtr body = build_.block(inner.bindings, build_.tuple({both_of(0), both_of(1)}));

  auto with_tangent = [&](ExprPtr expr) {
    Dual of = dual(expr);
    ExprPtr made = named("value", of.value);
    return build_.tuple({made, whole(of.tangent, made)});
  };
  ExprPtr begin = with_tangent(e.args[1]), rows = with_tangent(e.args[2]);
  ExprPtr scan = named("scan", scan_over(arena_, e.origin, as<FnExpr>(build_.fn(params, {}, body)), begin,
                                         rows, is_reverse(e)));
  auto part = [&](uint32_t i, uint32_t k) { return build_.field(build_.field(scan, i), k); };
  return {build_.tuple({part(0, 0), part(1, 0)}), {nullptr, {of_value(part(0, 1)), of_value(part(1, 1))}}};
}

// What has no tangent, and needs none where it depends on nothing that has one.
Forward::Dual Forward::without(ExprPtr expr) {
  if (depends(expr)) underivable.push_back(no_derivative(expr));
  return {expr, {}};
}

// --- functions

GradientClauses gradient_clauses(ExprPtr expr) {
  std::unordered_set<const Variable*> named;
  GradientClauses bound;
  const std::function<void(ExprPtr)> walk = [&](ExprPtr at) {
    if (auto* e = as<IntrinsicExpr>(at); e && e->intrinsic == IntrinsicKind::WithGradient)
      if (auto* clause = as<VarExpr>(e->args[1])) named.insert(clause->variable);
    if (auto* block = as<BlockExpr>(at))
      for (const Binding& b : block->bindings)
        if (auto* fn = as<FnExpr>(b.value); fn && b.variable) bound.emplace(b.variable, fn);
    for_each_child(at, walk);
  };
  walk(expr);
  std::erase_if(bound, [&](const auto& entry) { return !named.contains(entry.first); });
  return bound;
}

std::variant<const FnExpr*, std::vector<Underivable>> jacobian_vector(const PassContext& context,
                                                                      const FnExpr& function) {
  const auto clauses = gradient_clauses(function.body);
  Forward forward(context, function.origin, clauses);
  std::vector<const Variable*> params(function.params.begin(), function.params.end());
  for (const Variable* param : function.params) {
    params.push_back(make_variable(context.arena, "tangent", gradient_type(param->type)));
    forward.given(param, read_of(context.arena, params.back(), function.origin));
  }
  const Variable* result = make_variable(context.arena, "result", function.body->type);
  forward.bind({result, function.body});
  if (!forward.underivable.empty()) return std::move(forward.underivable);
  ExprPtr tangent = forward.tangent(result);
  ExprPtr both = ScalarBuilder(context.arena, function.origin)
                     .tuple({read_of(context.arena, result, function.origin), tangent});
  ExprPtr body = block_of(context.arena, forward.bindings, both, function.origin);
  return function_literal(context.arena, params, function.dim_vars, body, function.origin);
}

}  // namespace quern
