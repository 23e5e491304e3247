#include "passes/partial_eval/specialiser.h"

#include <algorithm>

namespace quern::partial {

ExprPtr Specialiser::run(ExprPtr expr) {
  std::vector<Binding> bindings;
  out_ = &bindings;
  Frame* frame = store_.frame(nullptr, {}, {});
  auto* fn = as<FnExpr>(expr);
  for (const Variable* param : fn ? fn->params : std::span<const Variable* const>())
    frame->values.emplace(param, dynamic(read_of(arena_, param, expr->origin)));
  ExprPtr body = fn ? fn->body : expr;
  ExprPtr result = closed(bindings, named(evaluate(body, *frame)), body->origin);
  if (!fn) return result;
  Expr head = *fn;
  return arena_.make<FnExpr>(head, fn->params, fn->dim_vars, result, fn->primitive, fn->attributes);
}

Value* Specialiser::evaluate(ExprPtr expr, Frame& frame, std::string_view name) {
  return visit(
      expr,
      overloaded{
          [&](const BlockExpr& e) { return block(e, frame, name); },
          [&](const VarExpr& e) { return variable(e, frame); },
          [&](const TupleExpr& e) { return structure(e, nullptr, {}, e.fields, frame); },
          [&](const ConstructExpr& e) { return structure(e, e.constructor, e.name, e.fields, frame); },
          [&](const FieldExpr& e) { return field(e, frame, name); },
          [&](const RefExpr& e) { return cell(e, frame); },
          [&](const RefReadExpr& e) { return read(e, frame, name); },
          [&](const RefWriteExpr& e) { return write(e, frame); },
          [&](const IfExpr& e) { return choose(e, frame, name); },
          [&](const MatchExpr& e) { return match(e, frame, name); },
          [&](const CheckDimsExpr& e) { return checked(e, frame, name); },
          [&](const CallExpr& e) { return call(e, frame, name); },
          [&](const FnExpr& e) { return closure(e, frame, name); },
          [&](const IntrinsicExpr& e) { return copied(&e, frame, name); },
          [&](const NodeWithout<KindFacts::Derivative::Lifted> auto& e) { return copied(&e, frame, name); }});
}

Value* Specialiser::block(const BlockExpr& e, Frame& frame, std::string_view name) {
  for (const Binding& b : e.bindings) {
    const std::string_view bound = b.variable ? b.variable->name : "t";
    auto* fn = b.variable ? as<FnExpr>(b.value) : nullptr;
    // A function literal is visible inside itself.
    Value* value = fn ? closure(*fn, frame, bound) : evaluate(b.value, frame, bound);
    if (b.variable) frame.values.insert_or_assign(b.variable, value);
  }
  return evaluate(e.result, frame, name);
}

Value* Specialiser::closure(const FnExpr& e, Frame& frame, std::string_view name) {
  Value* made = store_.make({Value::Kind::Closure, type(e.type, frame), origin(e, frame)});
  made->fn = &e;
  made->frame = &frame;
  made->name = name;
  return made;
}

Value* Specialiser::variable(const VarExpr& e, Frame& frame) {
  if (Value* known = frame.find(e.variable)) return known;
  // From outside.
  Frame* root = &frame;
  while (root->outer) root = root->outer;
  Value* value = dynamic(&e);
  root->values.emplace(e.variable, value);
  return value;
}

Value* Specialiser::structure(const Expr& e, const Constructor* constructor, std::string_view spelling,
                              std::span<const ExprPtr> fields, Frame& frame) {
  std::vector<Value*> parts;
  std::vector<Type> types;
  parts.reserve(fields.size());
  types.reserve(fields.size());
  for (ExprPtr part : fields) {
    parts.push_back(evaluate(part, frame));
    types.push_back(parts.back()->type);
  }
  Value* value = store_.make(
      {Value::Kind::Structure, constructor ? type(e.type, frame) : tuple_type(types), origin(e, frame)});
  value->constructor = constructor;
  value->name = spelling;
  value->parts = std::move(parts);
  return value;
}

Value* Specialiser::unit(Origin origin) { return store_.make({Value::Kind::Structure, unit_type(), origin}); }

Value* Specialiser::field(const FieldExpr& e, Frame& frame, std::string_view name) {
  Value* of = evaluate(e.tuple, frame);
  if (of->kind == Value::Kind::Structure) return of->parts[e.index];
  ExprPtr tuple = named(of);
  Type field = tuple->type->kind == TypeKind::Tuple ? tuple->type->args[e.index] : type(e.type, frame);
  return emit(arena_.make<FieldExpr>(Expr{ExprKind::Field, field, origin(e, frame)}, tuple, e.index, e.name),
              name);
}

// --- references

Value* Specialiser::cell(const RefExpr& e, Frame& frame) {
  Value* content = evaluate(e.content, frame);
  Value* made = store_.make({Value::Kind::Cell, type(e.type, frame), origin(e, frame)});
  made->content = made->initial = content;
  return made;
}

Value* Specialiser::read(const RefReadExpr& e, Frame& frame, std::string_view name) {
  Value* of = evaluate(e.reference, frame);
  const bool is_cell = of->kind == Value::Kind::Cell;
  if (Value* known = is_cell ? store_.content(of) : nullptr) return known;
  Value* value = emit(arena_.make<RefReadExpr>(head(e, frame), named(of)), name);
  if (is_cell) store_.set_content(of, value);
  return value;
}

Value* Specialiser::write(const RefWriteExpr& e, Frame& frame) {
  Value* of = evaluate(e.reference, frame);
  Value* content = evaluate(e.content, frame);
  const bool is_cell = of->kind == Value::Kind::Cell;
  if (!is_cell || of->atom) {
    ExprPtr reference = named(of);
    emit(arena_.make<RefWriteExpr>(head(e, frame), reference, named(content)), {});
  }
  // What is not known to be a certain cell may be any that has a name.
  if (is_cell)
    store_.set_content(of, content);
  else
    store_.forget();
  return unit(origin(e, frame));
}

// --- conditions

Value* Specialiser::choose(const IfExpr& e, Frame& frame, std::string_view name) {
  ExprPtr condition = named(evaluate(e.condition, frame));
  if (std::optional<bool> known = known_condition(condition))
    return evaluate(*known ? e.then_arm : e.else_arm, frame, name);
  name_reached(std::vector{e.then_arm, e.else_arm}, frame);
  std::vector<Arm> arms{arm(e.then_arm, frame), arm(e.else_arm, frame)};
  after(arms);
  return emit(arena_.make<IfExpr>(head(e, frame), condition, arms[0].body, arms[1].body), name);
}

namespace {

/// Whether every value of its type matches.
bool is_irrefutable(PatternPtr pattern) {
  if (pattern->constructor && pattern->constructor->siblings.size() != 1) return false;
  return std::ranges::all_of(pattern->parts, is_irrefutable);
}

}  // namespace

Specialiser::Fit Specialiser::take_apart(PatternPtr pattern, Value* value, Frame& frame) {
  if (pattern->kind == PatternKind::Wildcard) return Fit::Yes;
  if (pattern->kind == PatternKind::Variable) return fit(pattern, value, frame);
  for (uint32_t i = 0; i < pattern->parts.size(); ++i) {
    PatternPtr part = pattern->parts[i];
    if (part->kind == PatternKind::Wildcard) continue;
    std::string_view name = part->variable ? part->variable->name : "t";
    const Expr head{ExprKind::Field, type(part->type, frame), pattern->origin};
    std::string_view field;
    if (pattern->constructor && !pattern->constructor->fields.empty())
      field = pattern->constructor->fields[i];
    take_apart(part, emit(arena_.make<FieldExpr>(head, value->atom, i, field), name), frame);
  }
  return Fit::Yes;
}

Specialiser::Fit Specialiser::fit(PatternPtr pattern, Value* value, Frame& frame) {
  switch (pattern->kind) {
    case PatternKind::Wildcard: return Fit::Yes;
    case PatternKind::Variable: frame.values.insert_or_assign(pattern->variable, value); return Fit::Yes;
    default: break;
  }
  if (value->kind == Value::Kind::Dynamic && is_irrefutable(pattern))
    return take_apart(pattern, value, frame);
  if (value->kind != Value::Kind::Structure) return Fit::Unknown;
  if (pattern->constructor && pattern->constructor->tag != value->constructor->tag) return Fit::No;
  Fit all = Fit::Yes;
  for (size_t i = 0; i < pattern->parts.size(); ++i) {
    const Fit part = fit(pattern->parts[i], value->parts[i], frame);
    if (part == Fit::No) return Fit::No;
    if (part == Fit::Unknown) all = Fit::Unknown;
  }
  return all;
}

Value* Specialiser::match(const MatchExpr& e, Frame& frame, std::string_view name) {
  Value* scrutinee = evaluate(e.scrutinee, frame);
  for (const MatchArm& arm : e.arms) {
    const Fit fits = fit(arm.pattern, scrutinee, frame);
    if (fits == Fit::Yes) return evaluate(arm.body, frame, name);
    if (fits == Fit::Unknown) break;
  }
  std::vector<ExprPtr> bodies;
  for (const MatchArm& arm : e.arms) bodies.push_back(arm.body);
  ExprPtr of = named(scrutinee);
  name_reached(bodies, frame);
  std::vector<Arm> arms;
  std::vector<MatchArm> images;
  for (const MatchArm& arm : e.arms) images.push_back(dynamic_arm(arm, frame, arms));
  after(arms);
  return emit(arena_.make<MatchExpr>(head(e, frame), of, arena_.copy(images), e.partial), name);
}

MatchArm Specialiser::dynamic_arm(const MatchArm& from, Frame& frame, std::vector<Arm>& arms) {
  PatternPtr pattern = map_pattern(
      arena_, from.pattern,
      [&](const Variable* v) {
        const Variable* fresh = make_variable(arena_, v->name, type(v->type, frame));
        frame.values.insert_or_assign(v, dynamic(read_of(arena_, fresh, from.pattern->origin)));
        return fresh;
      },
      [&](Type t) { return type(t, frame); });
  arms.push_back(arm(from.body, frame));
  return {pattern, arms.back().body};
}

// --- code that stays

Value* Specialiser::checked(const CheckDimsExpr& e, Frame& frame, std::string_view name) {
  ExprPtr value = e.value ? named(evaluate(e.value, frame)) : nullptr;
  std::vector<Dim> opened;
  for (Dim dim : e.opened) {
    opened.push_back(dim_opened(std::string(dim->name)));
    frame.at.dims[dim] = opened.back();
  }
  std::vector<DimCondition> conditions(e.conditions.begin(), e.conditions.end());
  for (DimCondition& condition : conditions) {
    condition.left = substitute(condition.left, frame.at.dims);
    condition.right = substitute(condition.right, frame.at.dims);
    if (frame.call) condition.origin = inlined_at(condition.origin, *frame.call);
  }
  return emit(arena_.make<CheckDimsExpr>(head(e, frame), value, arena_.copy(opened), arena_.copy(conditions)),
              name);
}

ExprPtr Specialiser::at(ExprPtr expr, Frame& frame) {
  ExprSubstitution substitution;
  substitution.types = frame.at;
  if (frame.call) substitution.call = &*frame.call;
  for (const Variable* v : free_variables(expr))
    if (Value* known = frame.find(v)) substitution.variables.emplace(v, named(known, v->name));
  return substitute(arena_, expr, substitution);
}

Value* Specialiser::copied(ExprPtr expr, Frame& frame, std::string_view name) {
  ExprPtr copy = at(expr, frame);
  if (is_atom(copy) || copy->kind == ExprKind::Global) return dynamic(copy);
  if (ExprPtr constant = folded(context_, copy)) return dynamic(constant);
  // A function that it is given may be called, and write.
  if (copy->kind == ExprKind::Intrinsic) store_.forget();
  return emit(copy, name);
}

}  // namespace quern::partial
