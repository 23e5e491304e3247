// Instances of operators: a definition at given ranks, dtypes and attribute values, as typed IR.

#include <fmt/format.h>

#include "frontend/inference.h"

namespace quern {

namespace {

// The body whose `when` holds; the first without a condition otherwise.
SyntaxPtr choose_body(const Declaration& op, const StaticEnv& env, Scope& scope, Diagnostics& diagnostics) {
  StaticEvaluator evaluator(scope, op.id, diagnostics);
  evaluator.instance_level = true;
  for (SyntaxPtr when : op.syntax->child(4)->children) {
    if (!when->child(0)) return when->child(1);
    auto holds = evaluator.boolean(when->child(0), env);
    if (!holds) return nullptr;
    if (*holds) return when->child(1);
  }
  diagnostics.push_back({DiagnosticKind::WrongAttribute,
                         {{op.id, op.syntax->id}, {}},
                         fmt::format("`{}` has no body for these attributes", op.name),
                         {}});
  return nullptr;
}

// The body of an `op`: an index expression, a view, or a tuple of them.
class OpBody {
 public:
  OpBody(const Declaration& op, const InstanceSignature& signature,
         const std::vector<const Variable*>& params, Scope& scope, Arena& arena, Diagnostics& diagnostics)
      : op_(op),
        signature_(signature),
        params_(params),
        scope_(scope),
        arena_(arena),
        diagnostics_(diagnostics) {}

  ExprPtr elaborate(SyntaxPtr s, Type result) {
    while (s && ((s->is(SyntaxKind::Block) && s->children.size() == 1) || s->is(SyntaxKind::Paren)))
      s = s->child(0);
    if (!s || s->is(SyntaxKind::Error)) return nullptr;
    if (s->is(SyntaxKind::Tuple) && result->kind == TypeKind::Tuple) {
      std::vector<ExprPtr> fields;
      for (size_t i = 0; i < s->children.size() && i < result->args.size(); ++i) {
        fields.push_back(elaborate(s->children[i], result->args[i]));
        if (!fields.back()) return nullptr;
      }
      return arena_.make<TupleExpr>(Expr{ExprKind::Tuple, result, {op_.id, s->id}}, arena_.copy(fields));
    }
    if (!result->is_tensor()) {
      report(s, "the result type of an op is a tensor or a tuple of tensors");
      return nullptr;
    }
    if (s->is(SyntaxKind::Comprehension)) return comprehension(s, result);
    if (s->is(SyntaxKind::Call) && s->child(0)->text == "view" && s->children.size() == 2) {
      ExprPtr tensor = operand(s->child(1));
      return tensor ? arena_.make<ViewExpr>(Expr{ExprKind::View, result, {op_.id, s->id}}, tensor) : nullptr;
    }
    report(s,
           "the body of an op is an index expression `[i, j] => …` or `view(%x)`; for a composition of "
           "operators write `def`");
    return nullptr;
  }

 private:
  ExprPtr comprehension(SyntaxPtr s, Type result) {
    IndexElaborator elaborator(arena_, scope_, op_.id, diagnostics_,
                               [this](SyntaxPtr at) { return operand(at); });
    elaborator.instance_level = true;
    std::vector<Dim> extents(result->dims.begin(), result->dims.end());
    return elaborator.comprehension(s, signature_.env, extents, result->dtype);
  }
  ExprPtr operand(SyntaxPtr at) {
    if (at->is(SyntaxKind::Local))
      for (const Variable* p : params_)
        if (p->name == at->text)
          return arena_.make<VarExpr>(Expr{ExprKind::Var, p->type, {op_.id, at->id}}, p);
    std::string shown = at->is(SyntaxKind::Local) ? "%" + std::string(at->text) : "this";
    diagnostics_.push_back({DiagnosticKind::UnknownName,
                            {{op_.id, at->id}, {}},
                            fmt::format("`{}` is no parameter of this op", shown),
                            {}});
    return nullptr;
  }
  void report(SyntaxPtr at, std::string message) {
    diagnostics_.push_back(
        {DiagnosticKind::InvalidIndexExpression, {{op_.id, at->id}, {}}, std::move(message), {}});
  }

  const Declaration& op_;
  const InstanceSignature& signature_;
  const std::vector<const Variable*>& params_;
  Scope& scope_;
  Arena& arena_;
  Diagnostics& diagnostics_;
};

// A composite operator: an ordinary body, typed with the parameters at their instance types.
ExprPtr composite(const Declaration& op, const InstanceSignature& signature, SyntaxPtr body, Scope& scope,
                  std::shared_ptr<Arena>& arena, Diagnostics& diagnostics,
                  Inferred& found) {
  Inference inference(scope, op.id);
  Head head{signature.params, signature.result, {signature.env, {}}, {}, {}, {}};
  // Attributes come after the tensors in the list of parameters: the function takes the tensors alone.
  std::vector<SyntaxPtr> tensors;
  for (SyntaxPtr p : params_of(op.syntax)->children)
    if (p->is(SyntaxKind::TensorParam)) tensors.push_back(p);
  Syntax params = *params_of(op.syntax);
  params.children = tensors;
  ExprPtr draft = inference.function(op.syntax, &params, head, body, &op);
  inference.solve();
  ExprPtr fn = inference.finish(draft);
  arena = inference.arena;
  found.needs = std::move(inference.needs);
  found.late_calls = std::move(inference.late_calls);
  diagnostics.insert(diagnostics.end(), inference.diagnostics.begin(), inference.diagnostics.end());
  return has_errors(inference.diagnostics) ? nullptr : fn;
}

}  // namespace

namespace {

std::shared_ptr<OpInstance> head_over(const SignatureBinding& fresh, const InstanceRequest& request) {
  auto instance = std::make_shared<OpInstance>();
  instance->name = request.op;
  instance->key = request.key;
  // The values as this instance has them: a symbolic dim of one caller is not another's.
  for (const auto& [name, _] : request.binding.attributes)
    instance->attributes.emplace_back(name, fresh.env.find(name)->second);
  instance->dim_vars = instance_dims(fresh);
  return instance;
}

}  // namespace

std::shared_ptr<OpInstance> instance_head(const InstanceRequest& request) {
  return head_over(with_fresh_dims(request), request);
}

std::shared_ptr<const OpInstance> make_instance(const InstanceRequest& request, Scope& scope,
                                                Diagnostics& diagnostics) {
  SignatureBinding fresh = with_fresh_dims(request);
  std::shared_ptr<OpInstance> instance = head_over(fresh, request);
  auto arena = std::make_shared<Arena>();
  instance->arena = arena;
  const Declaration* op = scope.op(request.op);
  if (!op) return instance;
  auto signature = instantiate_signature(*op, fresh, scope, diagnostics);
  if (!signature) return instance;
  SyntaxPtr body = choose_body(*op, signature->env, scope, diagnostics);
  if (!body) return instance;
  if (op->syntax->is(SyntaxKind::Def)) {
    Inferred found;
    instance->function = as<FnExpr>(composite(*op, *signature, body, scope, arena, diagnostics, found));
    instance->arena = arena;
    return instance;
  }
  std::vector<const Variable*> params;
  size_t next = 0;
  for (SyntaxPtr p : params_of(op->syntax)->children)
    if (p->is(SyntaxKind::TensorParam))
      params.push_back(make_variable(*arena, arena->copy(p->text), signature->params[next++]));
  ExprPtr result =
      OpBody(*op, *signature, params, scope, *arena, diagnostics).elaborate(body, signature->result);
  if (!result) return instance;
  instance->function = arena->make<FnExpr>(
      Expr{ExprKind::Fn, function_type(signature->params, signature->result), {op->id, op->syntax->id}},
      arena->copy(params), std::span<const Dim>(), result, false);
  return instance;
}

Inferred infer_instance(const Declaration& def, const InstanceRequest& request, Scope& scope) {
  Inferred result;
  result.definition.name = request.key.substr(1);
  SignatureBinding fresh = with_fresh_dims(request);
  auto signature = instantiate_signature(def, fresh, scope, result.diagnostics);
  SyntaxPtr body = signature ? choose_body(def, signature->env, scope, result.diagnostics) : nullptr;
  if (!body) return result;
  auto arena = std::make_shared<Arena>();
  auto* fn = as<FnExpr>(composite(def, *signature, body, scope, arena, result.diagnostics, result));
  result.definition.arena = arena;
  if (!fn) return result;
  // Dims that `where` makes another are not variables of the signature, and have no value of their own.
  std::vector<Dim> dims = instance_dims(fresh);
  result.definition.scheme = {dims, {}, function_type(signature->params, signature->result)};
  result.definition.body = arena->make<FnExpr>(Expr{ExprKind::Fn, result.definition.scheme.type, fn->origin},
                                               fn->params, arena->copy(dims), fn->body, false);
  return result;
}

namespace {

// Binds every name of a signature to something general: rigid dims, float32. False where that needs a call
// (packs, whose rank is open; attributes without a default).
class GeneralBinding {
 public:
  GeneralBinding(const Declaration& op, Scope& scope) : op_(op), evaluator_(scope, op.id, ignored_) {}

  std::optional<SignatureBinding> make() {
    for (SyntaxPtr p : params_of(op_.syntax)->children) {
      if (!p->is(SyntaxKind::AttributeParam)) continue;
      if (!p->child(1)) return std::nullopt;
      auto value = evaluator_.evaluate(p->child(1), binding_.env);
      if (!value) return std::nullopt;
      bool dtype = p->child(0) && p->child(0)->text.starts_with("dtype");
      if (dtype && value->as_string() && value->as_string()->empty()) value = StaticValue();
      binding_.env.insert_or_assign(std::string(p->text), *value);
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
    if (!shape->is(SyntaxKind::Tuple) && !shape->is(SyntaxKind::Paren)) return false;
    for (SyntaxPtr item : shape->children)
      if (!bind_dims(item)) return false;
    if (dtype->is(SyntaxKind::Name) && !parse_dtype(dtype->text))
      bind(dtype->text, StaticValue(DType::float32()));
    return true;
  }
  bool bind_dims(SyntaxPtr item) {
    if (item->is(SyntaxKind::Spread) || item->is(SyntaxKind::Index)) return false;
    if (item->is(SyntaxKind::Name)) bind(item->text, StaticValue(dim_var(item->text)));
    for (SyntaxPtr c : item->children)
      if (c && !bind_dims(c)) return false;
    return true;
  }
  void bind(std::string_view name, StaticValue value) {
    if (binding_.env.contains(name)) return;
    binding_.env.insert_or_assign(std::string(name), std::move(value));
    binding_.bound.insert(std::string(name));
  }

  const Declaration& op_;
  Diagnostics ignored_;
  StaticEvaluator evaluator_;
  SignatureBinding binding_;
};

}  // namespace

Diagnostics check_operator(const Declaration& op, Scope& scope) {
  Diagnostics diagnostics;
  if (op.syntax->is(SyntaxKind::ExternOp)) return diagnostics;
  auto binding = GeneralBinding(op, scope).make();
  if (!binding) return diagnostics;
  InstanceRequest request = make_request(op, *binding);
  if (op.name.starts_with("@")) return infer_instance(op, request, scope).diagnostics;
  make_instance(request, scope, diagnostics);
  return diagnostics;
}

}  // namespace quern
