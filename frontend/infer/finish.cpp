// The end of inference: the queue of relations, defaults, and drafts made final.

#include <fmt/format.h>

#include "frontend/infer/inference.h"
#include "ir/expr/fields.h"

namespace quern {

void Inference::relate(SyntaxPtr at, DraftPtr draft, std::string wanting, std::function<bool()> try_it) {
  // What is found equal at this point is so from here on, whenever the relation gets what it waits for.
  auto attempt = [this, point = known_dims.step(), try_it = std::move(try_it)] {
    ProgramPoint outer_point = std::exchange(point_, point);
    bool outer = std::exchange(in_relation_, true);
    bool done = try_it();
    in_relation_ = outer;
    point_ = outer_point;
    return done;
  };
  // Most relations have what they need when they are made. A `load` waits for its annotation in any case.
  unifier.observe();
  bool done = draft->kind != DraftKind::Load && attempt();
  std::vector<Unknown> waits_for = unifier.observed();
  if (done) return;
  auto number = static_cast<uint32_t>(relations_.size());
  for (Unknown u : waits_for) unifier.watch(u, number);
  relations_.push_back({std::move(attempt), at, declaration_, draft, std::move(wanting), false, false, false,
                        std::move(waits_for)});
}

// The graph of relations and unknowns (Roesch 3.3) is in who watches what: a relation is tried again when one
// of the unknowns that stopped it is bound, and at no other time.
bool Inference::attempt(size_t number) {
  Relation& relation = relations_[number];
  if (relation.done) return true;
  // A copy that one relation makes may run the queue: what is woken while it is being tried is tried once
  // more.
  relation.again = relation.running;
  if (relation.running) return false;
  uint32_t outer = std::exchange(declaration_, relation.declaration);
  relation.running = true;
  do {
    relation.again = false;
    unifier.observe();
    relation.done = relation.attempt();
    relation.waits_for = unifier.observed();
  } while (!relation.done && relation.again);
  relation.running = false;
  declaration_ = outer;
  if (relation.done)
    relation.attempt = nullptr;
  else
    for (Unknown u : relation.waits_for) unifier.watch(u, static_cast<uint32_t>(number));
  return relation.done;
}

void Inference::run_queue() {
  for (auto woken = unifier.take_woken(); !woken.empty(); woken = unifier.take_woken())
    for (uint32_t number : woken) attempt(number);
}

void Inference::load_types() {
  // A file's own header decides the type of a `load` that nothing else decided.
  run_queue();
  for (size_t i = 0; i < relations_.size(); ++i) {
    Relation& relation = relations_[i];
    auto* load = as<LoadDraft>(relation.draft);
    if (relation.done || !load || resolve(load->type)->kind != TypeKind::Infer) continue;
    Result<Type> type = scope_.file_type(load->path, load->entry);
    if (!type) {
      enter(relation.declaration);
      report(DiagnosticKind::FileProblem, relation.at, type.error().message);
    }
    relation.done = true;
    unifier.unify(load->type, type ? *type : error_type());
  }
  run_queue();
}

// Literals in calls that wait for the type of another operand, which may decide theirs.
std::set<Unknown> Inference::awaiting_literals() {
  std::set<Unknown> awaiting;
  for (const Relation& relation : relations_) {
    if (relation.done) continue;
    auto* call = as<OperatorCallDraft>(relation.draft);
    if (!call) continue;
    bool is_open = false;
    std::vector<Unknown> literals;
    for (Type operand : call->call.tensors)
      for (Unknown u : unifier.unknowns(operand)) {
        if (unifier.is_literal(u))
          literals.push_back(u);
        else
          is_open |= u.kind != Unknown::Kind::Dim;
      }
    if (is_open) awaiting.insert(literals.begin(), literals.end());
  }
  return awaiting;
}

void Inference::solve() {
  load_types();
  do run_queue();
  while (unifier.apply_defaults(awaiting_literals()) || unifier.apply_defaults() ||
         unifier.settle_broadcasts(false));
  for (const Relation& relation : relations_) {
    // What a file holds and what is compared is reported where it is looked at.
    DraftKind kind = relation.draft->kind;
    if (relation.done || kind == DraftKind::Load || kind == DraftKind::Assertion) continue;
    enter(relation.declaration);
    Type known = resolve(relation.draft->type);
    if (known->is_error()) continue;
    std::vector<Note> notes;
    std::string remedy = missing_annotation(relation, notes);
    report(DiagnosticKind::CannotInfer, relation.at,
           fmt::format("the type of {} cannot be determined here; annotate {}", relation.wanting, remedy),
           std::move(notes));
  }
  report_unsettled();
  check_files();
}

// What would decide a relation that is still open: a parameter of the function that is used, or a variable.
std::string Inference::missing_annotation(const Relation& relation, std::vector<Note>& notes) {
  SyntaxPtr at = relation.at, params = nullptr;
  uint32_t owner = 0;
  if (const Declaration* def = at->is(SyntaxKind::GlobalName) ? scope_.global(at->text) : nullptr) {
    params = params_of(def->syntax);
    owner = def->id;
  }
  for (const auto& [variable, made] : templates_)
    if (at->is(SyntaxKind::Local) && variable->name == at->text) {
      params = literal_of(made.let)->child(1);
      owner = made.declaration;
    }
  for (SyntaxPtr p : params ? params->children : std::span<const SyntaxPtr>())
    if (p->is(SyntaxKind::TensorParam) && !p->child(0)) {
      notes.push_back({Place{{owner, p->id}, {}}, fmt::format("`%{}` has no type here", p->text)});
      return fmt::format("`%{}`", p->text);
    }
  std::vector<DraftPtr> parts;
  if (auto* field = as<ProjectionDraft>(relation.draft)) parts.push_back(field->tuple);
  if (auto* call = as<OperatorCallDraft>(relation.draft)) parts = call->args;
  for (DraftPtr part : parts) {
    auto* var = form_of<VarExpr>(part);
    auto known = var ? variable_places_.find(var->variable) : variable_places_.end();
    if (known == variable_places_.end() || !has_open_part(resolve(part->type))) continue;
    notes.push_back({known->second, fmt::format("`%{}` has no type here", var->variable->name)});
    return fmt::format("`%{}`", var->variable->name);
  }
  return "a parameter or a `let` that leads to it";
}

void Inference::report_unsettled() {
  for (auto& [a, b, number] : unifier.unsettled()) {
    // An unknown, or the variable that generalising made of it, has no name of the user's.
    DimMap named;
    std::function<void(Dim)> name_unknowns = [&](Dim d) {
      if (resolve(d)->kind == DimKind::Infer) unifier.unify(d, dim_var("k"));
      if (made_general_.contains(d)) named.emplace(d, dim_var("k"));
      for (Dim arg : d->args) name_unknowns(arg);
    };
    name_unknowns(resolve(a));
    name_unknowns(resolve(b));
    auto text = [&](Dim d) { return to_string(substitute(resolve(d), named)); };
    const PutOff& asked = put_off_[number];
    diagnostics.push_back({DiagnosticKind::DimMismatch,
                           asked.place.origin.node ? asked.place : place(nullptr),
                           fmt::format("{}the dims {} and {} have to be equal, which is not known",
                                       asked.what, text(b), text(a)),
                           {}});
  }
}

namespace {

/// `()` in place of what nothing decided and nobody can tell from another type: that of the elements of an
/// empty list whose length is taken.
Type without_unknowns(Type type) {
  if (!type->has_infer) return type;
  if (type->kind == TypeKind::Infer) return unit_type();
  if (type->is_tensor()) return error_type();
  std::vector<Type> args;
  for (Type arg : type->args) args.push_back(without_unknowns(arg));
  if (type->kind == TypeKind::Tuple) return tuple_type(args);
  if (type->kind == TypeKind::Data) return data_type(type->name, type->id, args);
  if (type->kind == TypeKind::Ref) return ref_type(args[0]);
  return function_type(std::span(args).first(args.size() - 1), args.back());
}

}  // namespace

Type Inference::finish(Type type) {
  Type resolved = resolve(type);
  if (!resolved->has_infer) return resolved;
  return has_errors(diagnostics) ? error_type() : without_unknowns(resolved);
}

// A function that is typed per rank and dtype is bound once for each; false for every other variable.
bool Inference::finish_copies(const Variable* variable, std::vector<Binding>& bindings) {
  auto found = templates_.find(variable);
  if (found == templates_.end()) return false;
  for (const Template::Copy& copy : found->second.copies)
    if (!copy.broken) bindings.push_back({finish(copy.variable), finish(copy.function)});
  return true;
}

const Variable* Inference::finish(const Variable* variable) {
  auto& known = finished_variables_[variable];
  if (!known)
    known = make_variable(*arena, arena->copy(variable->name), finish(variable->type), variable->graph);
  return known;
}

std::vector<ExprPtr> Inference::finish_all(DraftSpan list) {
  std::vector<ExprPtr> out;
  for (DraftPtr e : list) out.push_back(e ? finish(e) : nullptr);
  return out;
}

std::vector<Dim> Inference::finish_dims(std::span<const Dim> dims) {
  std::vector<Dim> out;
  for (Dim d : dims) {
    Dim r = resolve(d);
    out.push_back(r->has_infer ? dim_any() : r);
  }
  return out;
}

ExprPtr Inference::finish_literal(const LiteralDraft& literal, Type type) {
  if (!type->is_tensor()) return failed(literal);
  Shape shape;
  for (Dim d : type->dims) shape.push_back(as_const(d).value_or(0));
  TensorPtr tensor = HostTensor::make(type->dtype, shape);
  for (size_t i = 0; i < literal.elements.size(); ++i) {
    const auto& [number, at] = literal.elements[i];
    auto scalar = literal.is_bool ? std::optional(Scalar::from_int(DType::boolean(), number.integer))
                                  : literal_as(number, type->dtype.lane());
    if (!scalar) {
      enter(literal.origin.declaration);
      report(DiagnosticKind::LiteralOutOfRange, at,
             fmt::format("`{}` does not fit {}", at->text, to_string(type->dtype)));
      return failed(literal);
    }
    fill_element(*tensor, static_cast<int64_t>(i), *scalar);
  }
  return arena->make<ConstExpr>(Expr{ExprKind::Const, type, literal.origin},
                                std::shared_ptr<const HostTensor>(tensor));
}

ExprPtr Inference::finish_operator_call(const OperatorCallDraft& call, Type type) {
  if (!call.matched || type->is_error()) return failed(call);
  SignatureBinding binding = call.binding;
  if (call.open && !call.assumed) {
    // It was matched on dims or dtypes that were not known yet: now they are.
    matching_ = &call;
    MatchOutcome again =
        match_signature(*call.op, call.call, scope_, *this, diagnostics, call.origin.declaration);
    matching_ = nullptr;
    if (again.status != MatchStatus::Matched) return failed(call);
    binding = std::move(again.binding);
  }
  std::function<StaticValue(const StaticValue&)> settle = [&](const StaticValue& v) -> StaticValue {
    if (v.as_dim()) return StaticValue(resolve(v.as_dim()));
    if (v.as_dtype()) return StaticValue(resolve(*v.as_dtype()));
    if (!v.as_list()) return v;
    StaticList out;
    for (const StaticValue& item : *v.as_list()) out.push_back(settle(item));
    return StaticValue::list(std::move(out));
  };
  for (auto& [name, value] : binding.env) value = settle(value);
  warn(call, binding);
  std::vector<Dim> dims = instance_dims(binding);
  if (call.op->name.starts_with("@")) return finish_definition_call(call, std::move(binding), type);
  InstanceAnswer answer = scope_.instance(make_request(*call.op, binding));
  enter(call.origin.declaration);
  for (Diagnostic& d : answer.diagnostics) {
    // What goes wrong inside a library's definition is reported where it is called; in one's own at the
    // definition.
    if (answer.own) {
      d.notes.push_back({place(call.call.syntax), "this call needs it"});
      diagnostics.push_back(std::move(d));
    } else {
      report(d.kind, call.call.syntax, fmt::format("`{}`: {}", call.op->name, d.message),
             {{d.place, fmt::format("in the definition of `{}`", call.op->name)}});
    }
  }
  const std::shared_ptr<const OpInstance>& instance = answer.instance;
  if (instance && instance->late) late_calls.push_back({instance, place(call.call.syntax)});
  if (!instance || (!instance->function && !instance->late)) return failed(call);
  arena->keep(instance->arena);
  arena->make<std::shared_ptr<const OpInstance>>(instance);
  const ScheduleClause* schedule = schedule_of_call(call);
  return arena->make<OpCallExpr>(Expr{ExprKind::OpCall, type, call.origin}, instance.get(), arena->copy(dims),
                                 arena->copy(finish_all(call.args)), schedule);
}

// A call of a definition with attributes or packs: of what it is at the ranks, dtypes and attributes here.
ExprPtr Inference::finish_definition_call(const OperatorCallDraft& call, SignatureBinding binding,
                                          Type type) {
  std::vector<Dim> dims = instance_dims(binding);
  std::vector<Type> params;
  std::vector<ExprPtr> args = finish_all(call.args);
  params.reserve(args.size());
  for (ExprPtr arg : args) params.push_back(arg->type);
  InstanceRequest request = make_request(*call.op, std::move(binding));
  scope_.specialise(request);
  std::string key = request.key.substr(1);
  needs.push_back({std::move(request), {call.origin, {}}});
  ExprPtr callee = arena->make<GlobalExpr>(Expr{ExprKind::Global, function_type(params, type), call.origin},
                                           arena->copy(std::string_view(key)), arena->copy(dims),
                                           std::span<const Type>(), scope_.home(*call.op).module());
  return arena->make<CallExpr>(Expr{ExprKind::Call, type, call.origin}, callee, arena->copy(args));
}

ExprPtr Inference::finish(DraftPtr draft) { return checked(draft, finish_draft(draft)); }

namespace {

/// A tail call stays one: what its `?` are is of no interest where only the caller sees the result.
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

/// Makes final what is in a node but its children, in the arena of the result.
class Inference::FieldFinisher {
 public:
  explicit FieldFinisher(Inference& inference) : inference_(inference), out_(*inference.arena) {}

  void operator()(role::Use, const Variable*& variable) { variable = inference_.finish(variable); }
  void operator()(role::Parameters, std::span<const Variable* const>& params) {
    std::vector<const Variable*> images;
    for (const Variable* param : params) images.push_back(inference_.finish(param));
    params = out_.copy(images);
  }
  void operator()(role::FnDims, std::span<const Dim>& vars) { (*this)(role::Dims(), vars); }
  void operator()(role::IndexVars, std::span<const Dim>& vars) { vars = out_.copy(vars); }
  void operator()(role::OpenedDims, std::span<const Dim>& opened) { opened = out_.copy(opened); }
  void operator()(role::Dims, Dim& dim) { dim = inference_.finish_dims({{dim}})[0]; }
  void operator()(role::Dims, std::span<const Dim>& dims) { dims = out_.copy(inference_.finish_dims(dims)); }
  void operator()(role::Types, std::span<const Type>& types) {
    std::vector<Type> images;
    for (Type type : types) images.push_back(inference_.finish(type));
    types = out_.copy(images);
  }
  void operator()(role::Conditions, std::span<const DimCondition>& conditions) {
    std::vector<DimCondition> images(conditions.begin(), conditions.end());
    for (DimCondition& condition : images) {
      (*this)(role::Dims(), condition.left);
      (*this)(role::Dims(), condition.right);
      (*this)(role::Name(), condition.message);
    }
    conditions = out_.copy(images);
  }
  void operator()(role::Name, std::string_view& name) { name = out_.copy(name); }
  void operator()(role::Name, std::span<const std::string_view>& names) {
    std::vector<std::string_view> images(names.begin(), names.end());
    for (std::string_view& name : images) name = out_.copy(name);
    names = out_.copy(images);
  }
  void operator()(role::Spelling, std::string_view& name) { name = out_.copy(name); }
  void operator()(role::Spelling, std::span<const FnAttribute>& attributes) {
    std::vector<FnAttribute> images;
    for (const FnAttribute& a : attributes) images.push_back({out_.copy(a.name), out_.copy(a.value)});
    attributes = out_.copy(images);
  }
  void operator()(role::Checks, std::span<const bool>& checks) { checks = out_.copy(checks); }
  void operator()(role::Clause, const ScheduleClause*) {}
  template <class T>
  void operator()(role::Datum, const T&) {}
  void operator()(role::Home, uint32_t) {}

 protected:
  PatternPtr finish_pattern(PatternPtr pattern) {
    return map_pattern(
        out_, pattern, [this](const Variable* variable) { return inference_.finish(variable); },
        [this](Type type) { return inference_.finish(type); });
  }

  Inference& inference_;
  Arena& out_;
};

/// The children of a form are drafts, in the order of the node's table.
class Inference::FormFinisher : public FieldFinisher {
 public:
  FormFinisher(Inference& inference, const FormDraft& form)
      : FieldFinisher(inference), left_(form.children) {}
  using FieldFinisher::operator();

  void operator()(role::Child, ExprPtr& child) { child = next(); }
  /// No kind has other children after a list of them.
  void operator()(role::Child, std::span<const ExprPtr>& children) {
    children = out_.copy(inference_.finish_all(std::exchange(left_, {})));
  }
  void operator()(role::Bindings, std::span<const Binding>& bindings) {
    std::vector<Binding> images;
    for (const auto& [variable, none] : bindings) {
      DraftPtr value = left_.front();
      left_ = left_.subspan(1);
      if (variable && inference_.finish_copies(variable, images)) continue;
      images.push_back({variable ? inference_.finish(variable) : nullptr, inference_.finish(value)});
    }
    bindings = out_.copy(images);
  }
  void operator()(role::Arms, std::span<const MatchArm>& arms) {
    std::vector<MatchArm> images;
    for (const MatchArm& arm : arms) {
      PatternPtr pattern = finish_pattern(arm.pattern);
      images.push_back({pattern, next()});
    }
    arms = out_.copy(images);
  }

 private:
  ExprPtr next() {
    DraftPtr draft = left_.front();
    left_ = left_.subspan(1);
    return draft ? inference_.finish(draft) : nullptr;
  }

  DraftSpan left_;
};

/// What an index expression consists of is of the typed IR, but for its operands, which are drafts.
class Inference::IndexFinisher : public FieldFinisher {
 public:
  IndexFinisher(Inference& inference, const IndexDraft& draft) : FieldFinisher(inference), draft_(draft) {}
  using FieldFinisher::operator();

  ExprPtr apply(ExprPtr expr) {
    if (!expr) return nullptr;
    if (auto* read = as<VarExpr>(expr))
      for (const IndexOperand& operand : draft_.operands)
        if (operand.read && operand.read->variable == read->variable)
          return inference_.finish(operand.tensor);
    return visit(expr, [this](const auto& node) -> ExprPtr {
      auto copy = node;
      copy.type = inference_.finish(copy.type);
      for_each_field(*this, copy);
      return out_.make<std::remove_cvref_t<decltype(node)>>(std::move(copy));
    });
  }

  void operator()(role::Child, ExprPtr& child) { child = apply(child); }
  void operator()(role::Child, std::span<const ExprPtr>& children) {
    std::vector<ExprPtr> images;
    for (ExprPtr child : children) images.push_back(apply(child));
    children = out_.copy(images);
  }
  void operator()(role::Bindings, std::span<const Binding>& bindings) {
    std::vector<Binding> images;
    for (const auto& [variable, value] : bindings)
      images.push_back({variable ? inference_.finish(variable) : nullptr, apply(value)});
    bindings = out_.copy(images);
  }
  void operator()(role::Arms, std::span<const MatchArm>& arms) {
    std::vector<MatchArm> images;
    for (const MatchArm& arm : arms) images.push_back({finish_pattern(arm.pattern), apply(arm.body)});
    arms = out_.copy(images);
  }

 private:
  const IndexDraft& draft_;
};

ExprPtr Inference::failed(const Draft& draft) {
  return arena->make<ErrorExpr>(Expr{ExprKind::Error, error_type(), draft.origin});
}

ExprPtr Inference::finish_form(const FormDraft& form, Type type) {
  return visit(form.node, [&](const auto& node) -> ExprPtr {
    using Node = std::remove_cvref_t<decltype(node)>;
    Node copy = node;
    copy.type = type;
    copy.origin = form.origin;
    for_each_field(FormFinisher(*this, form), copy);
    if constexpr (std::is_same_v<Node, FnExpr>) copy.body = without_opening(*arena, copy.body);
    if constexpr (std::is_same_v<Node, GlobalExpr>)
      if (auto member = group_schemes.find(node.name); member != group_schemes.end()) {
        copy.dims = arena->copy(member->second.dim_vars);
        copy.types = arena->copy(member->second.type_vars);
      }
    return arena->make<Node>(std::move(copy));
  });
}

ExprPtr Inference::finish_draft(DraftPtr draft) {
  if (draft->replacement) return finish(draft->replacement);
  Type type = finish(draft->type);
  auto intrinsic = [&](IntrinsicKind kind, std::vector<DraftPtr> args,
                       std::span<const std::string_view> texts) -> ExprPtr {
    IntrinsicExpr made{
        {ExprKind::Intrinsic, type, draft->origin}, kind, arena->copy(finish_all(args)), texts};
    FieldFinisher (*this)(role::Name(), made.texts);
    return arena->make<IntrinsicExpr>(std::move(made));
  };
  switch (draft->kind) {
    case DraftKind::Form: return finish_form(*as<FormDraft>(draft), type);
    case DraftKind::Literal: return finish_literal(*as<LiteralDraft>(draft), type);
    case DraftKind::OperatorCall: return finish_operator_call(*as<OperatorCallDraft>(draft), type);
    case DraftKind::Projection: {
      auto& projection = *as<ProjectionDraft>(draft);
      return arena->make<FieldExpr>(Expr{ExprKind::Field, type, draft->origin}, finish(projection.tuple),
                                    projection.index, std::string_view());
    }
    case DraftKind::IndexExpression: {
      auto& index = *as<IndexDraft>(draft);
      return index.expression ? IndexFinisher(*this, index).apply(index.expression) : failed(*draft);
    }
    case DraftKind::Load: {
      const std::string_view texts[] = {as<LoadDraft>(draft)->path, as<LoadDraft>(draft)->entry};
      return intrinsic(IntrinsicKind::Load, {}, texts);
    }
    case DraftKind::Derivative:
      return intrinsic(as<DerivativeDraft>(draft)->intrinsic, {as<DerivativeDraft>(draft)->function}, {});
    case DraftKind::Assertion: {
      auto& assertion = *as<AssertionDraft>(draft);
      return intrinsic(IntrinsicKind::Assert, {assertion.value, assertion.expected}, assertion.tolerances);
    }
    // What these wait for did not come, or was wrong.
    case DraftKind::RecordField:
    case DraftKind::Slice:
    case DraftKind::GeneralUse:
    case DraftKind::Error: return failed(*draft);
  }
  std::abort();
}

ExprPtr Inference::finish_statement(DraftPtr draft) {
  ExprPtr body = finish(draft);
  std::vector<Binding> copies;
  for (const Variable* variable : top_level_templates_) finish_copies(variable, copies);
  if (copies.empty()) return body;
  return arena->make<BlockExpr>(Expr{ExprKind::Block, body->type, body->origin}, arena->copy(copies), body);
}

}  // namespace quern
