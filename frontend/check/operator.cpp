// Checks an operator's declaration independently of calls, by its body at generic arguments.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/names.h"
#include "frontend/infer/heads/heads.h"
#include "frontend/infer/infer.h"
#include "frontend/static/attribute_kinds.h"
#include "ir/extern/kernels.h"

namespace quern {

namespace {

// Binds every name of a signature generically: rigid dims, a dtype; all packs to the same two rigid dims, so
// that they broadcast. Nothing if that needs a call (tuple families, attributes without a default).
class GeneralBinding {
 public:
  /// Reports problems of attribute defaults to `diagnostics`.
  GeneralBinding(const Declaration& op, Scope& scope, Diagnostics& diagnostics, DType dtype)
      : op_(op), diagnostics_(diagnostics), evaluator_(scope, op.id, ignored_), dtype_(dtype) {}

  /// Whether a pack was given a rank, so that other ranks are not covered.
  bool of_one_rank() const { return of_one_rank_; }
  /// Whether the operator's constraints hold for this binding; `unknown` for those that depend on dims.
  bool meets_constraints(bool unknown) {
    StaticEnv env = binding_.env;
    for (SyntaxPtr clause : op_.syntax->child(3)->children) {
      if (clause->is(SyntaxKind::StaticClause)) {
        auto value = evaluator_.evaluate(clause->child(0), env);
        if (!value) return unknown;
        env.insert_or_assign(clause->text, *value);
      } else if (clause->is(SyntaxKind::Where) &&
                 !evaluator_.boolean(clause->child(0), env).value_or(unknown)) {
        return false;
      }
    }
    return true;
  }

  std::optional<SignatureBinding> make() {
    for (SyntaxPtr p : params_of(op_.syntax)->children) {
      if (!p->is(SyntaxKind::AttributeParam)) continue;
      if (!p->child(1)) return std::nullopt;
      evaluator_.tvm = StaticValue();
      auto value = evaluator_.evaluate(p->child(1), binding_.env);
      evaluator_.tvm.reset();
      std::string_view kind = p->child(0) ? p->child(0)->text : "int";
      bool is_required = value && value->is_none() && !kind.ends_with("?");
      if (!value || is_required) return std::nullopt;
      auto fitted = fit_attribute(*value, kind);
      if (!fitted) {
        diagnostics_.push_back({DiagnosticKind::WrongAttribute,
                                {{op_.id, p->child(1)->id}, {}},
                                fmt::format("the attribute `{}` takes {}, and its default is {}", p->text,
                                            describe_attribute_kind(kind), to_string(*value)),
                                {}});
        return std::nullopt;
      }
      value = *fitted;
      binding_.env.insert_or_assign(p->text, *value);
    }
    for (SyntaxPtr p : params_of(op_.syntax)->children)
      if (p->is(SyntaxKind::TensorParam) && !bind_type(p->child(0))) return std::nullopt;
    return binding_;
  }

 private:
  bool bind_type(SyntaxPtr type) {
    if (!type) return false;
    if (!type->is(SyntaxKind::TensorType)) return type->is(SyntaxKind::NamedType);
    SyntaxPtr shape = type->child(0), dtype = type->child(1);
    if (is_permuted_shape(shape)) shape = shape->child(1);
    if (shape->is(SyntaxKind::Name)) {
      bind_pack(shape->text);
    } else {
      if (!shape->is(SyntaxKind::Tuple) && !shape->is(SyntaxKind::Paren)) return false;
      for (SyntaxPtr item : shape->children)
        if (!bind_dims(item)) return false;
    }
    if (dtype->is(SyntaxKind::Name) && !parse_dtype(dtype->text)) bind(dtype->text, StaticValue(dtype_));
    return true;
  }
  bool bind_dims(SyntaxPtr item) {
    if (item->is(SyntaxKind::Index)) return false;
    if (item->is(SyntaxKind::Spread)) return bind_pack(item->child(0)->text), true;
    if (item->is(SyntaxKind::Name)) bind(item->text, StaticValue(dim_var(item->text)));
    for (SyntaxPtr c : item->children)
      if (c && !bind_dims(c)) return false;
    return true;
  }
  void bind_pack(std::string_view name) {
    of_one_rank_ = true;
    if (pack_.empty()) pack_ = {StaticValue(dim_var("m")), StaticValue(dim_var("n"))};
    bind(name, StaticValue::list(pack_));
  }
  void bind(std::string_view name, StaticValue value) {
    if (binding_.env.contains(name)) return;
    binding_.bind(name, std::move(value));
  }

  const Declaration& op_;
  Diagnostics& diagnostics_;
  Diagnostics ignored_;
  StaticEvaluator evaluator_;
  DType dtype_;
  SignatureBinding binding_;
  StaticList pack_;
  bool of_one_rank_ = false;
};

}  // namespace

Diagnostics check_operator(const Declaration& op, Scope& scope) {
  Diagnostics diagnostics;
  if (op.syntax->is(SyntaxKind::ExternOp)) {
    if (!find_extern_kernel(op.name))
      diagnostics.push_back(
          {DiagnosticKind::UnknownKernel,
           {{op.id, op.syntax->id}, {}},
           fmt::format("there is no kernel for `{}`: an `extern op` names one of Quern's own; write "
                       "an `op` with an index expression, or a `def` of operators",
                       op.name),
           {}});
    return diagnostics;
  }
  if (op.syntax->is(SyntaxKind::Def) && !fully_annotated(op.syntax)) return {missing_signature(op)};
  diagnostics = check_clause_names(op, scope);
  if (!diagnostics.empty()) return diagnostics;
  std::optional<SignatureBinding> binding, first;
  bool of_one_rank = false, allowed = true;
  for (DType dtype : {DType::float32(), DType::int32(), DType::boolean()}) {
    GeneralBinding general(op, scope, diagnostics, dtype);
    binding = general.make();
    if (!diagnostics.empty()) return diagnostics;
    of_one_rank = general.of_one_rank();
    allowed = general.meets_constraints(!of_one_rank);
    if (!binding || allowed) break;
    if (!first) first = binding;
  }
  if (binding && !allowed && !of_one_rank) binding = first, allowed = true;
  if (!binding || of_one_rank) diagnostics = check_body_names(op, scope);
  if (!binding || !allowed || !diagnostics.empty()) return diagnostics;
  InstanceRequest request = make_request(op, *binding);
  if (op.name.starts_with("@"))
    diagnostics = infer_instance(op, request, scope).diagnostics;
  else
    make_instance(request, scope, diagnostics);
  // A dim error at this rank may not occur at the intended ranks; a dtype error occurs at all.
  if (of_one_rank)
    std::erase_if(diagnostics, [](const Diagnostic& d) {
      return d.kind != DiagnosticKind::DTypeMismatch && d.kind != DiagnosticKind::NoSchedule;
    });
  return diagnostics;
}

}  // namespace quern
