// Operator instances: a definition at given ranks, dtypes and attribute values, as typed IR.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/index/elaborator.h"
#include "frontend/index/schedule_clause.h"
#include "frontend/infer/infer.h"
#include "frontend/infer/inference.h"
#include "frontend/syntax/literals.h"
#include "ir/expr/scheduled.h"
#include "ir/extern/kernels.h"

namespace quern {

namespace {

// The body whose `when` holds, otherwise the first without a condition.
SyntaxPtr choose_body(const Declaration& op, const StaticEnv& env, Scope& scope, Diagnostics& diagnostics) {
  StaticEvaluator evaluator(scope, op.id, diagnostics);
  evaluator.instance_level = true;
  for (SyntaxPtr when : op.syntax->child(4)->children) {
    if (!when->child(0)) return when->child(1);
    auto holds = evaluator.boolean(when->child(0), env);
    if (!holds) return nullptr;
    if (*holds) return when->child(1);
  }
  bool none = op.syntax->child(4)->children.empty();
  diagnostics.push_back({none ? DiagnosticKind::MissingBody : DiagnosticKind::WrongAttribute,
                         {{op.id, op.syntax->id}, {}},
                         none ? fmt::format("`{}` has no body: `{{ [i, j] => … }}`", op.name)
                              : fmt::format("`{}` has no body for these attributes", op.name),
                         {}});
  return nullptr;
}

// The body of an `op`: an index expression, a view, or a tuple of them.
class OpBody {
 public:
  OpBody(const Declaration& op, const InstanceSignature& signature,
         const std::vector<const Variable*>& params, Scope& scope, Arena& arena, Diagnostics& diagnostics)
      : op_(op),
        params_(params),
        scope_(scope),
        arena_(arena),
        diagnostics_(diagnostics),
        env_(signature.env) {}

  ExprPtr elaborate(SyntaxPtr s, Type result) {
    while (s && ((s->is(SyntaxKind::Block) && s->children.size() == 1) || s->is(SyntaxKind::Paren)))
      s = s->child(0);
    if (!s || s->is(SyntaxKind::Error)) return nullptr;
    if (s->is(SyntaxKind::Tuple) && result->kind == TypeKind::Tuple) {
      std::vector<ExprPtr> fields;
      for (SyntaxPtr child : s->children)
        if (!add_fields(child, result, fields)) return nullptr;
      if (fields.size() != result->args.size()) {
        report(s, fmt::format("the body has {} tensors, and the declared result {}", fields.size(),
                              result->args.size()));
        return nullptr;
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
    if (s->is(SyntaxKind::Scheduled)) {
      diagnostics_.push_back(
          {DiagnosticKind::NoSchedule,
           {{op_.id, s->child(1)->id}, {}},
           "the schedule of an op is a clause before its body: `op … schedule { … } { … }`",
           {}});
      return nullptr;
    }
    report(s,
           "the body of an op is an index expression `[i, j] => …` or `view(%x)`; for a composition of "
           "operators write `def`");
    return nullptr;
  }

  /// The body under a clause `shape (…) { (e, …) }`: each `?` of the result's type is the value of an e, or of
  /// one of `e for k < n`, computed from the tensors. The values become the shape of an empty tensor, which
  /// binds the dims.
  ExprPtr with_shape(SyntaxPtr clause, SyntaxPtr body, Type result, std::vector<Dim>& dims) {
    Type settled = settle(result, dims);
    SyntaxPtr values = clause->child(1);
    while ((values->is(SyntaxKind::Block) || values->is(SyntaxKind::Paren)) && values->children.size() == 1)
      values = values->child(0);
    std::vector<SyntaxPtr> list(1, values);
    if (values->is(SyntaxKind::Tuple)) list.assign(values->children.begin(), values->children.end());
    std::vector<ExprPtr> extents;
    const auto add = [&](SyntaxPtr s) {
      IndexElaborator elaborator(arena_, scope_, op_.id, diagnostics_,
                                 [this](SyntaxPtr at) { return operand(at); });
      elaborator.instance_level = true;
      extents.push_back(elaborator.element(s, env_, DType::index()));
      return extents.back() != nullptr;
    };
    for (SyntaxPtr s : list)
      if (!each(s, "how many extents there are has to be known at compile time", add)) return nullptr;
    if (extents.size() != dims.size()) {
      report(clause, fmt::format("the clause gives {} extent{} for the {} `?` of the result", extents.size(),
                                 extents.size() == 1 ? "" : "s", dims.size()));
      return nullptr;
    }
    ExprPtr inside = elaborate(body, settled);
    if (!inside) return nullptr;
    Origin origin{op_.id, clause->id};
    std::vector<Dim> shape = dims;
    shape.push_back(dim_const(0));
    Type carrier = tensor_type(shape, DType::boolean());
    ExprPtr call = arena_.make<ExternExpr>(
        Expr{ExprKind::Extern, carrier, origin}, arena_.copy(std::string_view("extents")),
        arena_.make<ExternAttributes>(std::vector<std::pair<std::string, StaticValue>>()),
        arena_.copy(extents));
    std::vector<Binding> bindings{{make_variable(arena_, "extents", carrier), call}};
    return arena_.make<BlockExpr>(Expr{ExprKind::Block, inside->type, origin}, arena_.copy(bindings), inside);
  }

 private:
  // Replaces every `?` by a fresh dim.
  Type settle(Type type, std::vector<Dim>& dims) {
    if (type->kind == TypeKind::Tuple) {
      std::vector<Type> fields;
      for (Type field : type->args) fields.push_back(settle(field, dims));
      return tuple_type(fields);
    }
    std::vector<Dim> shape;
    for (Dim d : type->dims) {
      if (d->kind == DimKind::Any) {
        d = dim_var(fmt::format("{}.{}", op_.name, dims.size()));
        dims.push_back(d);
      }
      shape.push_back(d);
    }
    return type->is_tensor() ? tensor_type(shape, type->dtype) : type;
  }

  // Adds one tensor, or those of `(… for k < n)`.
  bool add_fields(SyntaxPtr s, Type result, std::vector<ExprPtr>& fields) {
    return each(s, "how many tensors there are has to be known at compile time", [&](SyntaxPtr body) {
      if (fields.size() == result->args.size()) {
        report(body, fmt::format("the declared result has {} tensors only", result->args.size()));
        return false;
      }
      ExprPtr field = elaborate(body, result->args[fields.size()]);
      if (field) fields.push_back(field);
      return field != nullptr;
    });
  }
  // Calls `add` for an expression, or for each of `(… for k < n)` with `k` in `env_`, while it returns true.
  template <class Add>
  bool each(SyntaxPtr s, const char* unknown, const Add& add) {
    if (!s->is(SyntaxKind::Generator)) return add(s);
    StaticEvaluator evaluator(scope_, op_.id, diagnostics_);
    evaluator.instance_level = true;
    auto limit = evaluator.dim(s->child(1), env_);
    if (!limit || !as_const(*limit)) {
      if (limit) report(s->child(1), unknown);
      return false;
    }
    StaticEnv outer = env_;
    bool all = true;
    for (int64_t k = 0; all && k < *as_const(*limit); ++k) {
      env_.insert_or_assign(s->text, StaticValue::integer(k));
      auto keep = s->child(2) ? evaluator.boolean(s->child(2), env_) : std::optional(true);
      all = keep && (!*keep || add(s->child(0)));
    }
    env_ = std::move(outer);
    return all;
  }
  ExprPtr comprehension(SyntaxPtr s, Type result) {
    IndexElaborator elaborator(arena_, scope_, op_.id, diagnostics_,
                               [this](SyntaxPtr at) { return operand(at); });
    elaborator.instance_level = true;
    std::vector<Dim> extents(result->dims.begin(), result->dims.end());
    return elaborator.comprehension(s, env_, extents, result->dtype);
  }
  // A parameter, or a member of one: `%xs.0`, `%xs[k]`.
  ExprPtr operand(SyntaxPtr at) {
    while (at->is(SyntaxKind::Paren)) at = at->child(0);
    if (at->is(SyntaxKind::Project) || (at->is(SyntaxKind::Index) && at->children.size() == 2)) {
      ExprPtr tuple = operand(at->child(0));
      if (!tuple) return nullptr;
      std::optional<int64_t> k;
      if (at->is(SyntaxKind::Project)) {
        k = static_cast<int64_t>(position_of(at->text));
      } else {
        StaticEvaluator evaluator(scope_, op_.id, diagnostics_);
        evaluator.instance_level = true;
        auto position = evaluator.dim(at->child(1), env_);
        if (!position) return nullptr;
        k = as_const(*position);
      }
      if (tuple->type->kind != TypeKind::Tuple || !k || *k < 0 ||
          *k >= static_cast<int64_t>(tuple->type->args.size())) {
        report(at, fmt::format("this is no member of {}", to_string(tuple->type)));
        return nullptr;
      }
      auto position = static_cast<uint32_t>(*k);
      return arena_.make<FieldExpr>(Expr{ExprKind::Field, tuple->type->args[position], {op_.id, at->id}},
                                    tuple, position, std::string_view());
    }
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
  const std::vector<const Variable*>& params_;
  Scope& scope_;
  Arena& arena_;
  Diagnostics& diagnostics_;
  StaticEnv env_;  ///< the signature's names, and those of enclosing `for`s
};

// The tensor parameters, which precede the attributes: a function takes only these.
Syntax tensor_params(const Declaration& op, std::vector<SyntaxPtr>& storage) {
  for (SyntaxPtr p : params_of(op.syntax)->children)
    if (p->is(SyntaxKind::TensorParam)) storage.push_back(p);
  Syntax params = *params_of(op.syntax);
  params.children = storage;
  return params;
}

// The value of an `op` with its `gradient` clause.
ExprPtr with_clause(const Declaration& op, SyntaxPtr clause, const InstanceSignature& signature,
                    const std::vector<const Variable*>& params, ExprPtr value, Scope& scope, Arena& arena,
                    Diagnostics& diagnostics) {
  Inference inference(scope, op.id);
  std::vector<SyntaxPtr> tensors;
  Syntax list = tensor_params(op, tensors);
  DraftPtr draft = inference.walk.functions.gradient_of_op(
      clause, &list, {signature.params, signature.result, {signature.env, {}}, {}, {}, {}});
  solve(inference);
  auto* fn = as<FnExpr>(inference.finisher.finish(draft));
  diagnostics.insert(diagnostics.end(), inference.context.diagnostics.begin(),
                     inference.context.diagnostics.end());
  if (!fn || has_errors(inference.context.diagnostics)) return nullptr;
  arena.keep(inference.context.arena);
  ExprSubstitution own_params;
  std::vector<ExprPtr> parts{value, nullptr};
  for (size_t i = 0; i < params.size(); ++i) {
    parts.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, params[i]->type, fn->origin}, params[i]));
    own_params.variables.emplace(fn->params[i], parts.back());
  }
  parts[1] = substitute(arena, fn->body, own_params);
  return arena.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, value->type, value->origin},
                                   IntrinsicKind::WithGradient, arena.copy(parts),
                                   std::span<const std::string_view>());
}

// The value of an `op` with its own schedule, if it is one index expression.
ExprPtr with_own_schedule(const Declaration& op, ExprPtr value, const std::vector<const Variable*>& params,
                          Arena& arena, Diagnostics& diagnostics) {
  auto clause = own_clause(*op.syntax, op.id);
  if (!clause) return value;
  const Origin origin = clause->origin;
  ExprPtr scheduled = with_schedule(arena, value, *arena.make<ScheduleClause>(std::move(*clause)), params);
  if (scheduled) return scheduled;
  diagnostics.push_back(
      {DiagnosticKind::NoSchedule,
       {origin, {}},
       fmt::format("the body of `{}` is no index expression of its own, whose loops could have "
                   "a schedule",
                   op.name),
       {}});
  return value;
}

// A composite operator: an ordinary body, typed at the instance's parameter types.
ExprPtr composite(const Declaration& op, const InstanceSignature& signature, SyntaxPtr body, Scope& scope,
                  std::shared_ptr<Arena>& arena, Diagnostics& diagnostics, Inferred& found) {
  Inference inference(scope, op.id);
  Head head{signature.params, signature.result, {signature.env, {}}, {}, {}, {}};
  std::vector<SyntaxPtr> tensors;
  Syntax params = tensor_params(op, tensors);
  DraftPtr draft = inference.walk.functions.function(op.syntax, &params, head, body, &op);
  solve(inference);
  ExprPtr fn = inference.finisher.finish(draft);
  arena = inference.context.arena;
  found.needs = std::move(inference.context.needs);
  found.late_calls = std::move(inference.context.late_calls);
  diagnostics.insert(diagnostics.end(), inference.context.diagnostics.begin(),
                     inference.context.diagnostics.end());
  return has_errors(inference.context.diagnostics) ? nullptr : fn;
}

// The kernel call of an `extern op` with its parameters and attribute values; null if it has no kernel.
ExprPtr extern_call(const Declaration& op, const InstanceSignature& signature,
                    const std::vector<const Variable*>& params, Arena& arena) {
  if (!find_extern_kernel(op.name)) return nullptr;  // reported at the declaration
  Origin origin{op.id, op.syntax->id};
  std::vector<ExprPtr> args;
  args.reserve(params.size());
  for (const Variable* p : params)
    args.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, p->type, origin}, p));
  std::vector<std::pair<std::string, StaticValue>> values;
  for (SyntaxPtr p : params_of(op.syntax)->children)
    if (p->is(SyntaxKind::AttributeParam)) values.emplace_back(p->text, signature.env.find(p->text)->second);
  return arena.make<ExternExpr>(Expr{ExprKind::Extern, signature.result, origin},
                                arena.copy(std::string_view(op.name)),
                                arena.make<ExternAttributes>(std::move(values)), arena.copy(args));
}

}  // namespace

namespace {

void check_schedules(const OpInstance& instance, Scope& scope, Diagnostics& diagnostics) {
  if (!instance.function) return;
  Diagnostics found = scope.schedule_problems(*instance.function);
  diagnostics.insert(diagnostics.end(), found.begin(), found.end());
}

std::shared_ptr<OpInstance> head_over(const SignatureBinding& fresh, const InstanceRequest& request) {
  auto instance = std::make_shared<OpInstance>();
  instance->name = request.op;
  instance->key = request.key;
  instance->declaration = request.declaration;
  // The values at this instance: symbolic dims are not shared between callers.
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
  for (const auto& [name, value] : signature->env)
    if (!fresh.is_bound(name)) instance->known.emplace_back(name, value);
  SyntaxPtr body = nullptr;
  if (!op->syntax->is(SyntaxKind::ExternOp)) {
    body = choose_body(*op, signature->env, scope, diagnostics);
    if (!body) return instance;
  }
  if (op->syntax->is(SyntaxKind::Def)) {
    Inferred found;
    instance->function = as<FnExpr>(composite(*op, *signature, body, scope, arena, diagnostics, found));
    instance->arena = arena;
    check_schedules(*instance, scope, diagnostics);
    return instance;
  }
  std::vector<const Variable*> params;
  size_t next = 0;
  for (SyntaxPtr p : params_of(op->syntax)->children)
    if (p->is(SyntaxKind::TensorParam))
      params.push_back(make_variable(*arena, arena->copy(p->text), signature->params[next++]));
  OpBody made(*op, *signature, params, scope, *arena, diagnostics);
  SyntaxPtr shape = nullptr;
  for (SyntaxPtr clause : op->syntax->child(3)->children)
    if (clause->is(SyntaxKind::ShapeClause)) shape = clause;
  std::vector<Dim> own_dims;
  ExprPtr result = !body   ? extern_call(*op, *signature, params, *arena)
                   : shape ? made.with_shape(shape, body, signature->result, own_dims)
                           : made.elaborate(body, signature->result);
  instance->dim_vars.insert(instance->dim_vars.end(), own_dims.begin(), own_dims.end());
  if (result) result = with_own_schedule(*op, result, params, *arena, diagnostics);
  if (SyntaxPtr clause = gradient_clause_of(op->syntax); clause && result)
    result = with_clause(*op, clause, *signature, params, result, scope, *arena, diagnostics);
  if (!result) return instance;
  instance->function = arena->make<FnExpr>(
      Expr{ExprKind::Fn, function_type(signature->params, signature->result), {op->id, op->syntax->id}},
      arena->copy(params), std::span<const Dim>(), result, false);
  check_schedules(*instance, scope, diagnostics);
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
  // Dims that `where` equates with others are not variables of the signature, and have no value of their own.
  std::vector<Dim> dims = instance_dims(fresh);
  result.definition.scheme = {dims, {}, function_type(signature->params, signature->result)};
  result.definition.body = arena->make<FnExpr>(Expr{ExprKind::Fn, result.definition.scheme.type, fn->origin},
                                               fn->params, arena->copy(dims), fn->body, false);
  return result;
}

}  // namespace quern
