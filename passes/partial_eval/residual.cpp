// Giving values names: what is known becomes code.

#include <utility>

#include "passes/partial_eval/specialiser.h"

namespace quern::partial {

Value* Specialiser::dynamic(ExprPtr atom) {
  Value* value = store_.make({Value::Kind::Dynamic, atom->type, atom->origin});
  value->atom = atom;
  return value;
}

Value* Specialiser::emit(ExprPtr expr, std::string_view name) {
  ++steps_;
  if (expr->type == unit_type()) {
    out_->push_back({nullptr, expr});
    return unit(expr->origin);
  }
  const Variable* variable = make_variable(arena_, name, expr->type);
  out_->push_back({variable, expr});
  return dynamic(read_of(arena_, variable, expr->origin));
}

std::vector<ExprPtr> Specialiser::named(const std::vector<Value*>& values) {
  std::vector<ExprPtr> atoms;
  atoms.reserve(values.size());
  for (Value* value : values) atoms.push_back(named(value));
  return atoms;
}

ExprPtr Specialiser::named(Value* value, std::string_view name) {
  if (value->atom) return value->atom;
  switch (value->kind) {
    case Value::Kind::Structure: return name_structure(value, name);
    case Value::Kind::Closure: return name_closure(value);
    default: return name_cell(value, name);
  }
}

ExprPtr Specialiser::name_structure(Value* value, std::string_view name) {
  std::span<const ExprPtr> parts = arena_.copy(named(value->parts));
  const Constructor* constructor = value->constructor;
  const Expr head{constructor ? ExprKind::Construct : ExprKind::Tuple, value->type, value->origin};
  ExprPtr made = constructor
                     ? static_cast<ExprPtr>(arena_.make<ConstructExpr>(head, constructor, value->name, parts))
                     : arena_.make<TupleExpr>(head, parts);
  ExprPtr atom = made->type == unit_type() ? made : emit(made, name)->atom;
  store_.set_atom(value, atom);
  return atom;
}

ExprPtr Specialiser::name_cell(Value* value, std::string_view name) {
  std::unordered_set<Value*> seen;
  // What holds a function that uses the cell itself is written to it afterwards.
  Value* content = value->content;
  Value* first = reaches(content, value, seen) ? value->initial : content;
  ExprPtr made = arena_.make<RefExpr>(Expr{ExprKind::Ref, value->type, value->origin}, named(first));
  ExprPtr atom = emit(made, name)->atom;
  store_.set_atom(value, atom);
  if (first != content)
    emit(
        arena_.make<RefWriteExpr>(Expr{ExprKind::RefWrite, unit_type(), value->origin}, atom, named(content)),
        {});
  store_.set_content(value, content);
  return atom;
}

ExprPtr Specialiser::name_closure(Value* value) {
  const FnExpr& fn = *value->fn;
  std::unordered_set<Value*> seen{value};
  for_each_used(&fn, *value->frame, [&](Value* used) { name_reached(used, seen); });
  // A reference that holds it has named it.
  if (value->atom) return value->atom;
  Frame* frame = store_.frame(value->frame, value->frame->at, value->frame->call);
  std::vector<Dim> dims;
  for (Dim dim : fn.dim_vars) {
    dims.push_back(dim_var(dim->name));
    frame->at.dims[dim] = dims.back();
  }
  std::vector<const Variable*> params;
  for (const Variable* param : fn.params) {
    params.push_back(make_variable(arena_, param->name, type(param->type, *frame)));
    frame->values.emplace(param, dynamic(read_of(arena_, params.back(), value->origin)));
  }
  // It is visible inside itself.
  const Variable* variable = make_variable(arena_, value->name, type(fn.type, *frame));
  store_.set_atom(value, read_of(arena_, variable, value->origin));
  ExprPtr body = nullptr;
  {
    struct Open {
      Value& closure;
      explicit Open(Value& c) : closure(c) { c.is_open = true; }
      ~Open() { closure.is_open = false; }
    } open(*value);
    body = arm(fn.body, *frame, true).body;
  }
  ++steps_;
  out_->push_back(
      {variable, arena_.make<FnExpr>(Expr{ExprKind::Fn, variable->type, value->origin}, arena_.copy(params),
                                     arena_.copy(dims), body, fn.primitive, fn.attributes)});
  return value->atom;
}

// --- what code may reach

void Specialiser::for_each_used(ExprPtr expr, Frame& frame, const std::function<void(Value*)>& f) {
  std::vector<uint32_t> path;
  ExprPtr at = expr;
  for (; at->kind == ExprKind::Field; at = as<FieldExpr>(at)->tuple) path.push_back(as<FieldExpr>(at)->index);
  auto* var = as<VarExpr>(at);
  if (!var) {
    for_each_child(expr, [&](ExprPtr child) { for_each_used(child, frame, f); });
    return;
  }
  Value* value = frame.find(var->variable);
  for (; value && !path.empty() && value->kind == Value::Kind::Structure; path.pop_back())
    value = value->parts[path.back()];
  if (value) f(value);
}

void Specialiser::name_reached(std::span<const ExprPtr> code, Frame& frame) {
  std::unordered_set<Value*> seen;
  for (ExprPtr expr : code) for_each_used(expr, frame, [&](Value* value) { name_reached(value, seen); });
}

void Specialiser::name_reached(Value* value, std::unordered_set<Value*>& seen) {
  // What has a name reaches only cells that have one.
  if (value->atom || !seen.insert(value).second) return;
  switch (value->kind) {
    case Value::Kind::Structure:
      for (Value* part : value->parts) name_reached(part, seen);
      return;
    case Value::Kind::Closure:
      for_each_used(value->fn, *value->frame, [&](Value* used) { name_reached(used, seen); });
      if (is_spent()) named(value);
      return;
    default: named(value); return;
  }
}

bool Specialiser::reaches(Value* from, const Value* cell, std::unordered_set<Value*>& seen) {
  if (from == cell) return true;
  if (from->atom || !seen.insert(from).second) return false;
  bool found = false;
  switch (from->kind) {
    case Value::Kind::Structure:
      for (Value* part : from->parts) found = found || reaches(part, cell, seen);
      return found;
    case Value::Kind::Closure:
      for_each_used(from->fn, *from->frame, [&](Value* used) { found = found || reaches(used, cell, seen); });
      return found;
    default: return from->content && reaches(from->content, cell, seen);
  }
}

// --- blocks of their own

ExprPtr Specialiser::closed(std::vector<Binding>& bindings, ExprPtr result, Origin origin) {
  // A call that is the last to be done is a tail call.
  if (!bindings.empty()) {
    const Binding& last = bindings.back();
    auto* var = as<VarExpr>(result);
    const bool is_last = last.variable ? var && var->variable == last.variable
                                       : result->kind == ExprKind::Tuple && result->type == unit_type() &&
                                             last.value->type == unit_type();
    if (is_last && last.value->kind != ExprKind::Fn) {
      result = last.value;
      bindings.pop_back();
    }
  }
  return block_of(arena_, bindings, result, origin);
}

Specialiser::Arm Specialiser::arm(ExprPtr body, Frame& frame, bool is_later) {
  struct Inside {
    Specialiser& of;
    std::vector<Binding> bindings = {};
    std::vector<Binding>* outer = std::exchange(of.out_, &bindings);
    Store::Mark mark = of.store_.mark();
    explicit Inside(Specialiser& s) : of(s) { ++of.conditions_; }
    ~Inside() {
      of.store_.undo(mark);
      of.out_ = outer;
      --of.conditions_;
    }
  } inside(*this);
  if (is_later) store_.forget();
  ExprPtr result = named(evaluate(body, frame));
  return {closed(inside.bindings, result, body->origin), store_.written_since(inside.mark),
          store_.forgot_since(inside.mark)};
}

void Specialiser::after(const std::vector<Arm>& arms) {
  for (const Arm& arm : arms)
    for (Value* cell : arm.written)
      if (cell->atom) store_.set_content(cell, nullptr);
  for (const Arm& arm : arms)
    if (arm.forgot) return store_.forget();
}

}  // namespace quern::partial
