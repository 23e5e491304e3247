#include "frontend/infer/finish/finisher.h"

#include <fmt/format.h>

#include <cstdlib>

#include "frontend/infer/finish/fields.h"
#include "frontend/infer/finish/unused_extents.h"

namespace quern {

const Variable* Finisher::finish(const Variable* variable) {
  auto& known = context_.final_variables[variable];
  if (!known) {
    Arena& out = *context_.arena;
    known = make_variable(out, out.copy(variable->name), finish(variable->type), variable->graph);
  }
  return known;
}

Dim Finisher::finish(Dim dim) {
  Dim resolved = resolve(dim);
  return resolved->has_infer ? dim_any() : resolved;
}

std::vector<ExprPtr> Finisher::finish(DraftSpan drafts) {
  std::vector<ExprPtr> out;
  out.reserve(drafts.size());
  for (DraftPtr draft : drafts) out.push_back(finish(draft));
  return out;
}

bool Finisher::copies(const Variable* variable, std::vector<Binding>& finished) {
  auto made = copies_.of(variable);
  for (const Copies::Copy& copy : made ? *made : std::vector<Copies::Copy>())
    finished.push_back({finish(copy.variable), finish(copy.function)});
  return made.has_value();
}

bool Finisher::finish(const DraftBinding& binding, std::vector<Binding>& finished) {
  const auto& [variable, value] = binding;
  if (variable && copies(variable, finished)) return true;
  const Variable* final_variable = variable ? finish(variable) : nullptr;
  finished.push_back({final_variable, finish(value)});
  return false;
}

ExprPtr Finisher::finish(DraftPtr draft) {
  if (!draft) return nullptr;
  ExprPtr node = without_checks(draft);
  if (draft->checks.empty() || !node || node->kind == ExprKind::Error) return node;
  Arena& out = *context_.arena;
  std::vector<DimCondition> conditions(draft->checks.begin(), draft->checks.end());
  for (DimCondition& condition : conditions) condition.message = out.copy(condition.message);
  return out.make<CheckDimsExpr>(Expr{ExprKind::CheckDims, node->type, node->origin}, node,
                                 std::span<const Dim>(), out.copy(conditions));
}

ExprPtr Finisher::without_checks(DraftPtr draft) {
  if (draft->replacement) return finish(draft->replacement);
  Type type = finish(draft->type);
  Arena& out = *context_.arena;
  switch (draft->kind) {
    case DraftKind::Form: return form(*as<FormDraft>(draft), type);
    case DraftKind::Literal: return literal(*as<LiteralDraft>(draft), type);
    case DraftKind::OperatorCall: return operator_call(*as<OperatorCallDraft>(draft), type);
    case DraftKind::Projection: {
      auto& projection = *as<ProjectionDraft>(draft);
      return out.make<FieldExpr>(Expr{ExprKind::Field, type, draft->origin}, finish(projection.tuple),
                                 projection.index, std::string_view());
    }
    case DraftKind::IndexExpression: {
      auto& index = *as<IndexDraft>(draft);
      return index.expression ? IndexFinisher(*this, out, index.operands).apply(index.expression)
                              : failed(*draft);
    }
    case DraftKind::Load: {
      auto& load = *as<LoadDraft>(draft);
      return intrinsic(*draft, type, IntrinsicKind::Load, load.args, load.texts);
    }
    case DraftKind::Derivative: {
      auto& derivative = *as<DerivativeDraft>(draft);
      return intrinsic(*draft, type, derivative.intrinsic, {&derivative.function, 1}, {});
    }
    case DraftKind::Assertion: {
      auto& assertion = *as<AssertionDraft>(draft);
      const DraftPtr args[] = {assertion.value, assertion.expected};
      return intrinsic(*draft, type, IntrinsicKind::Assert, args, assertion.tolerances);
    }
    // These never got their types, or had errors.
    case DraftKind::RecordField:
    case DraftKind::Slice:
    case DraftKind::GeneralUse:
    case DraftKind::Waiting:
    case DraftKind::Error: return failed(*draft);
  }
  std::abort();
}

ExprPtr Finisher::failed(const Draft& draft) {
  return context_.arena->make<ErrorExpr>(Expr{ExprKind::Error, error_type(), draft.origin});
}

ExprPtr Finisher::intrinsic(const Draft& draft, Type type, IntrinsicKind kind, DraftSpan args,
                            std::span<const std::string_view> texts) {
  Arena& out = *context_.arena;
  FieldFinisher(*this, out)(role::Name(), texts);
  return out.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, type, draft.origin}, kind, out.copy(finish(args)),
                                 texts);
}

ExprPtr Finisher::literal(const LiteralDraft& literal, Type type) {
  if (!type->is_tensor()) return failed(literal);
  Shape shape;
  for (Dim d : type->dims) shape.push_back(as_const(d).value_or(0));
  TensorPtr tensor = HostTensor::make(type->dtype, shape);
  for (size_t i = 0; i < literal.elements.size(); ++i) {
    const auto& [number, at] = literal.elements[i];
    auto scalar = literal.is_bool ? std::optional(Scalar::from_int(DType::boolean(), number.integer))
                                  : literal_as(number, type->dtype.lane());
    if (!scalar) {
      context_.declaration = literal.origin.declaration;
      report(DiagnosticKind::LiteralOutOfRange, at,
             fmt::format("`{}` does not fit {}", at->text, to_string(type->dtype)));
      return failed(literal);
    }
    fill_element(*tensor, static_cast<int64_t>(i), *scalar);
  }
  return context_.arena->make<ConstExpr>(Expr{ExprKind::Const, type, literal.origin},
                                         std::shared_ptr<const HostTensor>(tensor));
}

namespace {

/// Keeps a tail call a tail call: only the caller sees its result, so its `?` need not be opened.
ExprPtr without_opening(Arena& arena, ExprPtr body) {
  if (auto* check = as<CheckDimsExpr>(body))
    return check->value && check->conditions.empty() ? without_opening(arena, check->value) : body;
  if (auto* block = as<BlockExpr>(body)) {
    ExprPtr result = without_opening(arena, block->result);
    if (result == block->result) return body;
    return arena.make<BlockExpr>(Expr{ExprKind::Block, result->type, body->origin}, block->bindings, result);
  }
  if (auto* match = as<MatchExpr>(body)) {
    std::vector<MatchArm> arms(match->arms.begin(), match->arms.end());
    bool changed = false;
    for (MatchArm& arm : arms) {
      ExprPtr inside = without_opening(arena, arm.body);
      changed |= inside != arm.body;
      arm.body = inside;
    }
    if (!changed) return body;
    return arena.make<MatchExpr>(Expr{*body}, match->scrutinee, arena.copy(arms), match->partial);
  }
  if (auto* branch = as<IfExpr>(body)) {
    ExprPtr first = without_opening(arena, branch->then_arm),
            second = without_opening(arena, branch->else_arm);
    if (first == branch->then_arm && second == branch->else_arm) return body;
    return arena.make<IfExpr>(Expr{*body}, branch->condition, first, second);
  }
  return body;
}

}  // namespace

ExprPtr Finisher::form(const FormDraft& form, Type type) {
  Arena& out = *context_.arena;
  return visit(form.node, [&](const auto& node) -> ExprPtr {
    using Node = std::remove_cvref_t<decltype(node)>;
    Node copy = node;
    copy.type = type;
    copy.origin = form.origin;
    for_each_field(FormFinisher(*this, out, form.children), copy);
    if constexpr (std::is_same_v<Node, FnExpr>) copy.body = without_opening(out, copy.body);
    if constexpr (std::is_same_v<Node, GlobalExpr>)
      // The uses of a member with a type of its own have dims and types of theirs.
      if (auto member = context_.group.schemes.find(node.name);
          member != context_.group.schemes.end() && node.dims.empty() && node.types.empty()) {
        copy.dims = out.copy(member->second.dim_vars);
        copy.types = out.copy(member->second.type_vars);
      }
    ExprPtr made = out.make<Node>(std::move(copy));
    if constexpr (std::is_same_v<Node, BlockExpr>) return without_unused_extents(out, *as<BlockExpr>(made));
    return made;
  });
}

ExprPtr Finisher::finish_statement(DraftPtr draft) {
  ExprPtr body = finish(draft);
  std::vector<Binding> bindings;
  for (const Variable* variable : copies_.of_earlier_statements()) copies(variable, bindings);
  if (bindings.empty()) return body;
  return context_.arena->make<BlockExpr>(Expr{ExprKind::Block, body->type, body->origin},
                                         context_.arena->copy(bindings), body);
}

std::vector<Type> Finisher::types_of(uint32_t declaration) {
  std::vector<Type> types = context_.node_types.of(declaration);
  for (Type& t : types)
    if (t) t = finish(t);
  return types;
}

}  // namespace quern
