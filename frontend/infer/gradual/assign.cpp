// Sub-shaping: which types are assignable to which.

#include <set>

#include "frontend/infer/gradual/assignments.h"
#include "frontend/unify/gradual.h"

namespace quern {

bool Assignments::assign(Type wanted, Type found, bool inside) {
  wanted = resolve(wanted);
  found = resolve(found);
  if (wanted == found) return true;
  if (wanted->kind == TypeKind::Infer || found->kind == TypeKind::Infer || wanted->kind != found->kind ||
      wanted->args.size() != found->args.size())
    return unifier_.unify(wanted, found);
  switch (wanted->kind) {
    case TypeKind::Tensor: {
      if (wanted->dims.size() != found->dims.size() || !unifier_.unify(wanted->dtype, found->dtype))
        return false;
      for (size_t i = 0; i < wanted->dims.size(); ++i) {
        Dim w = wanted->dims[i], f = found->dims[i];
        // Shapes inside data and functions cannot be checked at run time.
        if (inside && f->has_any && !w->has_any && !w->has_infer) return false;
        if (!w->has_any && !unifier_.unify(w, f)) return false;
      }
      return true;
    }
    case TypeKind::Dim: {
      Dim w = wanted->dims[0], f = found->dims[0];
      return w->has_any || ((!f->has_any || w->has_infer) && unifier_.unify(w, f));
    }
    case TypeKind::Tuple: {
      for (size_t i = 0; i < wanted->args.size(); ++i)
        if (!assign(wanted->args[i], found->args[i], inside)) return false;
      return true;
    }
    case TypeKind::Data: {
      if (wanted->id != found->id || wanted->name != found->name) return false;
      for (size_t i = 0; i < wanted->args.size(); ++i)
        if (is_writable(wanted, i) ? !is_same(wanted->args[i], found->args[i])
                                   : !assign(wanted->args[i], found->args[i], true))
          return false;
      return true;
    }
    case TypeKind::Function: {
      for (size_t i = 0; i < wanted->params().size(); ++i)
        if (!assign(found->params()[i], wanted->params()[i], true)) return false;
      return assign(wanted->result(), found->result(), true);
    }
    case TypeKind::Ref: return is_same(wanted->args[0], found->args[0]);
    case TypeKind::Var:
    case TypeKind::Infer:
    case TypeKind::Error: break;
  }
  return unifier_.unify(wanted, found);
}

bool Assignments::is_same(Type a, Type b) {
  bool outer = std::exchange(unifier_.exactly, true);
  bool same = unifier_.unify(a, b);
  unifier_.exactly = outer;
  return same;
}

// Whether a value of the argument's type can be written, or passed in, through a value of the data type: it
// occurs in a reference or as a function's parameter.
bool Assignments::is_writable(Type data, size_t argument) {
  std::set<std::pair<const void*, size_t>> asked;
  std::function<bool(Type, Type, bool)> within = [&](Type in, Type var, bool writable) -> bool {
    if (has_parameter(in, var)) return writable;
    const DataDefinition* definition = in->kind == TypeKind::Data ? scope_.data_of(in) : nullptr;
    for (size_t i = 0; i < in->args.size(); ++i) {
      bool result = in->kind == TypeKind::Function && i + 1 == in->args.size();
      bool below = writable || in->kind == TypeKind::Ref || (in->kind == TypeKind::Function && !result);
      if (definition && !below && i < definition->header.params.size() && asked.emplace(definition, i).second)
        for (const DataConstructor& c : definition->constructors)
          for (const DataField& f : c.fields)
            below = below || within(f.type, definition->header.params[i], false);
      if (within(in->args[i], var, below)) return true;
    }
    return false;
  };
  const DataDefinition* definition = scope_.data_of(data);
  if (!definition || argument >= definition->header.params.size()) return false;
  Type var = definition->header.params[argument];
  asked.emplace(definition, argument);
  for (const DataConstructor& c : definition->constructors)
    for (const DataField& f : c.fields)
      if (within(f.type, var, false)) return true;
  return false;
}

DraftPtr Assignments::joined(DraftPtr branch, const std::vector<DraftPtr>& arms,
                             const std::vector<uint32_t>& regions, const std::vector<SyntaxPtr>& at) {
  Type join = nullptr;
  for (size_t i = 0; i < arms.size(); ++i) {
    Type type = checks_.closed(arms[i]->type, regions[i]);
    if (!join || join->kind == TypeKind::Infer) {
      // An arm of unknown type takes that of the others.
      if (join) unifier_.unify(join, type);
      join = resolve(type);
      continue;
    }
    if (type->is_error()) join = type;
    if (join->is_error()) break;
    if (Type both = join_types(join, type, [this](Type a, Type b) { return unifier_.unify(a, b); })) {
      join = resolve(both);
      continue;
    }
    bool condition = form_of<IfExpr>(branch) != nullptr;
    expect(at[i], join, type, condition ? "the `else` arm" : "the value of this arm",
           {{place(at[0]), "the first arm is here"}}, DiagnosticKind::ArmsDiffer, arms[i]);
  }
  unifier_.unify(branch->type, join);
  return checks_.opened(branch, join, form_of<IfExpr>(branch) ? "if" : "match");
}

}  // namespace quern
