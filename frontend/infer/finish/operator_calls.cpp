// Finishes operator calls: each becomes a call of an instance, or of a definition at its attributes.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/finish/finisher.h"
#include "frontend/infer/finish/warnings.h"

namespace quern {

namespace {

bool has_unknowns(const StaticValue& value) {
  if (value.as_dim()) return value.as_dim()->has_infer;
  if (value.as_dtype()) return value.as_dtype()->is_infer();
  return value.as_list() && std::ranges::any_of(*value.as_list(), has_unknowns);
}

}  // namespace

StaticValue Finisher::settled(const StaticValue& value) {
  if (value.as_dim()) return StaticValue(resolve(value.as_dim()));
  if (value.as_dtype()) return StaticValue(resolve(*value.as_dtype()));
  if (!value.as_list()) return value;
  StaticList out;
  for (const StaticValue& item : *value.as_list()) out.push_back(settled(item));
  return StaticValue::list(std::move(out));
}

ExprPtr Finisher::operator_call(const OperatorCallDraft& call, Type type) {
  if (!call.matched || type->is_error()) return failed(call);
  SignatureBinding binding = call.binding;
  if (call.open && !call.assumed) {
    // It was matched before all dims and dtypes were known; now they are.
    auto again = operators_.match_again(call);
    if (!again) return failed(call);
    binding = std::move(*again);
  }
  for (auto& [name, value] : binding.env)
    if (has_unknowns(value)) value = settled(value);
  warn(context_, call, binding);
  std::vector<Dim> dims = instance_dims(binding);
  if (call.op->name.starts_with("@")) return definition_call(call, std::move(binding), type);
  InstanceAnswer answer = scope_.instance(make_request(*call.op, std::move(binding)));
  context_.declaration = call.origin.declaration;
  report_instance(call, answer);
  const std::shared_ptr<const OpInstance>& instance = answer.instance;
  if (instance && instance->late) context_.late_calls.push_back({instance, place(call.call.syntax)});
  if (!instance || (!instance->function && !instance->late)) return failed(call);
  Arena& out = *context_.arena;
  out.keep(instance->arena);
  out.make<std::shared_ptr<const OpInstance>>(instance);
  const ScheduleClause* schedule = schedules_.of_call(call);
  return out.make<OpCallExpr>(Expr{ExprKind::OpCall, type, call.origin}, instance.get(), out.copy(dims),
                              out.copy(finish(call.args)), schedule);
}

// Errors inside a library definition are reported at the call; in one's own at the definition.
void Finisher::report_instance(const OperatorCallDraft& call, InstanceAnswer& answer) {
  for (Diagnostic& d : answer.diagnostics) {
    if (answer.own) {
      d.notes.push_back({place(call.call.syntax), "this call needs it"});
      diagnostics_.push_back(std::move(d));
    } else {
      report(d.kind, call.call.syntax, fmt::format("`{}`: {}", call.op->name, d.message),
             {{d.place, fmt::format("in the definition of `{}`", call.op->name)}});
    }
  }
}

// A call of a definition with attributes or packs, at these ranks, dtypes and attributes.
ExprPtr Finisher::definition_call(const OperatorCallDraft& call, SignatureBinding binding, Type type) {
  Arena& out = *context_.arena;
  std::vector<Dim> dims = instance_dims(binding);
  std::vector<Type> params;
  std::vector<ExprPtr> args = finish(call.args);
  params.reserve(args.size());
  for (ExprPtr arg : args) params.push_back(arg->type);
  InstanceRequest request = make_request(*call.op, std::move(binding));
  scope_.specialise(request);
  std::string key = request.key.substr(1);
  context_.needs.push_back({std::move(request), {call.origin, {}}});
  ExprPtr callee = out.make<GlobalExpr>(Expr{ExprKind::Global, function_type(params, type), call.origin},
                                        out.copy(std::string_view(key)), out.copy(dims),
                                        std::span<const Type>(), scope_.home(*call.op).module());
  return out.make<CallExpr>(Expr{ExprKind::Call, type, call.origin}, callee, out.copy(args));
}

}  // namespace quern
