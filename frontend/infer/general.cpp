// General types: what a function literal or a group of definitions leaves unknown becomes variables of its
// scheme, and the relations among these its constraints (constrained Hindley-Milner: Odersky, Sulzmann, Wehr
// 1999; Roesch 3.3). What is general beyond dims and types is typed anew at each rank and dtype of its uses.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/inference.h"

namespace quern {

size_t Inference::error_count() const {
  return static_cast<size_t>(std::count_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
    return severity_of(d.kind) == Severity::Error;
  }));
}

// --- making a scheme

// The waiting relations made since `mark` that have to do with general unknowns; what they lead to is
// general, too.
std::vector<size_t> Inference::general_relations(const Mark& mark, std::set<Unknown>& general) {
  std::unordered_map<Unknown, std::vector<size_t>, UnknownHash> waiting;
  for (size_t i = mark.relations; i < relations_.size(); ++i)
    if (!relations_[i].done)
      for (Unknown u : relations_[i].waits_for) waiting[u].push_back(i);
  std::vector<size_t> found;
  std::set<size_t> seen;
  std::vector<Unknown> todo(general.begin(), general.end());
  auto add = [&](Unknown u) {
    if (unifier.is_inner(u) && general.insert(u).second) todo.push_back(u);
  };
  while (!todo.empty()) {
    Unknown next = todo.back();
    todo.pop_back();
    for (size_t i : waiting[next]) {
      if (!seen.insert(i).second) continue;
      found.push_back(i);
      for (Unknown u : relations_[i].waits_for) add(u);
      for (Unknown u : unifier.unknowns(relations_[i].draft->type)) add(u);
      if (auto* call = as<OperatorCallDraft>(relations_[i].draft))
        for (Type t : call->call.tensors)
          for (Unknown u : unifier.unknowns(t)) add(u);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Constraint> Inference::constraint_of(DraftPtr draft) {
  auto* call = as<OperatorCallDraft>(draft);
  if (!call || call->op->name.starts_with("@")) return std::nullopt;
  Origin origin = call->need.name.empty() ? call->origin : call->need.stated;
  SyntaxPtr syntax = call->call.syntax;
  bool infix = syntax->is(SyntaxKind::Binary) || syntax->is(SyntaxKind::Unary);
  return Constraint{call->op->name,
                    call->call.tensors,
                    call->call.attributes,
                    call->type,
                    origin,
                    std::string(infix ? syntax->text : "")};
}

namespace {

// Whether an argument of the function shows a dim: its own extent, or one in a tuple's field.
bool shows(Type argument, Dim dim) {
  if (std::find(argument->dims.begin(), argument->dims.end(), dim) != argument->dims.end()) return true;
  return argument->kind == TypeKind::Tuple &&
         std::any_of(argument->args.begin(), argument->args.end(), [&](Type t) { return shows(t, dim); });
}

// Names for variables that nobody wrote.
class FreshNames {
 public:
  explicit FreshNames(const std::vector<Scheme>& schemes) {
    for (const Scheme& s : schemes) {
      for (Dim d : s.dim_vars) taken_.insert(to_string(d));
      for (Type t : s.type_vars) taken_.insert(to_string(t));
      for (const auto& [t, _] : s.dtype_vars) taken_.insert(to_string(t));
    }
  }
  std::string dim() { return next('d', dims_); }
  std::string dtype() { return next('t', dtypes_); }
  std::string type() {
    std::string name;
    do name = types_ < 26 ? std::string(1, static_cast<char>('A' + types_)) : fmt::format("A{}", types_ - 25);
    while (++types_, !taken_.insert(name).second);
    return name;
  }

 private:
  std::string next(char letter, int& count) {
    std::string name;
    do name = fmt::format("{}{}", letter, count++);
    while (!taken_.insert(name).second);
    return name;
  }
  std::set<std::string> taken_;
  int dims_ = 0, types_ = 0, dtypes_ = 0;
};

}  // namespace

std::vector<Scheme> Inference::generalise(const Mark& from, const std::vector<Type>& types,
                                          std::vector<Scheme> schemes, Dims dims) {
  // What relations from inside make belongs inside.
  auto run_inside = [this] {
    unifier.enter_level();
    run_queue();
    unifier.leave_level();
    return true;
  };
  run_inside();
  std::set<Unknown> general;
  std::vector<size_t> relations;
  const auto take_defaults = [&] {
    std::set<Unknown> kept = awaiting_literals();
    kept.insert(general.begin(), general.end());
    return unifier.apply_inner_defaults(from.dtypes, kept) ||
           unifier.apply_inner_defaults(from.dtypes, general);
  };
  do {
    for (Type type : types) {
      Type settled = resolve(type);
      if (settled->kind != TypeKind::Function) continue;
      for (Type param : settled->params())
        for (Unknown u : unifier.unknowns(param))
          if (unifier.is_inner(u)) general.insert(u);
    }
    relations = general_relations(from, general);
    // Literals that no parameter has to do with take their defaults, and what waits for them goes on.
  } while ((take_defaults() || unifier.settle_broadcasts(true)) && run_inside());
  // What depends on unknowns from outside alone is decided there.
  for (size_t i = from.relations; i < relations_.size(); ++i)
    if (!relations_[i].done && !std::ranges::binary_search(relations, i))
      for (Unknown u : unifier.unknowns(relations_[i].draft->type))
        if (!general.contains(u)) unifier.settle_outside(u);
  for (Type type : types)
    for (Unknown u : unifier.unknowns(type))
      if (unifier.is_inner(u)) general.insert(u);
  relations = general_relations(from, general);
  // Calls that were matched while dims were open hold at each use for the dims there.
  std::vector<Constraint> constraints;
  for (size_t i : relations)
    if (auto c = constraint_of(relations_[i].draft)) constraints.push_back(std::move(*c));
  std::vector<OperatorCallDraft*> still_open;
  for (size_t i = from.matches; i < open_matches_.size(); ++i) {
    auto c = constraint_of(open_matches_[i]);
    bool inner = false, outer = false;
    for (Type t : c ? c->args : std::vector<Type>())
      for (Unknown u : unifier.unknowns(t)) {
        bool of_this = general.contains(u) || (u.kind == Unknown::Kind::Dim && unifier.is_inner(u));
        (of_this ? inner : outer) = true;
      }
    if (outer) still_open.push_back(open_matches_[i]);
    if (!inner) continue;
    for (Type t : c->args)
      for (Unknown u : unifier.unknowns(t))
        if (unifier.is_inner(u)) general.insert(u);
    constraints.push_back(std::move(*c));
    open_matches_[i]->assumed = true;
  }
  open_matches_.resize(from.matches);
  open_matches_.insert(open_matches_.end(), still_open.begin(), still_open.end());

  for (size_t i : relations) relations_[i].done = true;
  FreshNames names(schemes);
  Scheme common;
  common.specialised = !relations.empty();
  auto quantify = [&](Type in) {
    for (Unknown u : unifier.unknowns(in)) {
      if (!general.contains(u)) continue;
      switch (u.kind) {
        case Unknown::Kind::Type: {
          Type var = type_var(names.type());
          common.type_vars.push_back(var);
          unifier.settle(u, var);
          break;
        }
        case Unknown::Kind::DType: {
          DType unknown = DType::infer(static_cast<uint32_t>(u.id));
          common.dtype_vars.emplace_back(dtype_var(names.dtype()), unifier.class_of(unknown));
          unifier.settle(u, common.dtype_vars.back().first);
          break;
        }
        case Unknown::Kind::Dim: {
          bool shown = dims == Dims::All;
          for (Type type : types) {
            Type settled = resolve(type);
            if (settled->kind == TypeKind::Function)
              for (Type param : settled->params()) shown = shown || shows(param, unifier.dim_of(u));
          }
          if (!shown) {
            unifier.settle_outside(u);
            break;
          }
          common.dim_vars.push_back(dim_var(names.dim()));
          made_general_.insert(common.dim_vars.back());
          unifier.settle(u, common.dim_vars.back());
          break;
        }
      }
    }
  };
  for (Type type : types) quantify(type);
  for (const Constraint& c : constraints) {
    for (Type t : c.args) quantify(t);
    quantify(c.result);
  }
  common.specialised |= !common.dtype_vars.empty();
  auto final_type = [&](Type t) { return resolve(t)->has_infer ? resolve(t) : finish(t); };
  for (Constraint& c : constraints) {
    for (Type& t : c.args) t = final_type(t);
    c.result = final_type(c.result);
  }
  for (size_t k = 0; k < types.size(); ++k) {
    Scheme& s = schemes[k];
    s.dim_vars.insert(s.dim_vars.end(), common.dim_vars.begin(), common.dim_vars.end());
    s.type_vars.insert(s.type_vars.end(), common.type_vars.begin(), common.type_vars.end());
    s.dtype_vars.insert(s.dtype_vars.end(), common.dtype_vars.begin(), common.dtype_vars.end());
    s.constraints.insert(s.constraints.end(), constraints.begin(), constraints.end());
    s.specialised |= common.specialised;
    s.type = final_type(types[k]);
  }
  return schemes;
}

// --- using a scheme

Inference::Use Inference::at_use(const Scheme& scheme, SyntaxPtr at, const std::string& name) {
  Use use{{}, nullptr, ++uses_};
  instantiate(scheme, use.substitution);
  // What hangs on a part that no operator gives, such as a field, is looked at where the function is typed
  // anew.
  std::set<Type> given;
  auto each_variable = [](auto&& self, Type type, const auto& visit) -> bool {
    if (type->kind == TypeKind::Var && !visit(type)) return false;
    return std::ranges::all_of(type->args, [&](Type arg) { return self(self, arg, visit); });
  };
  auto add = [&](Type type) {
    each_variable(each_variable, type, [&](Type v) { return given.insert(v), true; });
  };
  auto is_given = [&](Type type) {
    return each_variable(each_variable, type, [&](Type v) { return given.contains(v); });
  };
  add(scheme.type);
  for (const Constraint& c : scheme.constraints) {
    if (scheme.specialised && !std::ranges::all_of(c.args, is_given)) continue;
    add(c.result);
    discharge(c, at, name, use);
  }
  use.type = substitute(scheme.type, use.substitution);
  return use;
}

void Inference::discharge(const Constraint& constraint, SyntaxPtr at, const std::string& name,
                          const Use& use) {
  const Declaration* op = scope_.op(constraint.op);
  if (!op) return;
  OperatorCallDraft& draft = *drafts_.make<OperatorCallDraft>(origin(at), nullptr, op);
  draft.need = {name, constraint.origin, use.number};
  draft.call.syntax = at;
  if (!constraint.symbol.empty()) {
    // What is written with a symbol is reported with it.
    SyntaxKind kind = constraint.args.size() == 2 ? SyntaxKind::Binary : SyntaxKind::Unary;
    draft.call.syntax =
        drafts_.arena().make<Syntax>(kind, at->id, drafts_.copy(std::string_view(constraint.symbol)));
  }
  for (Type t : constraint.args) {
    draft.call.tensors.push_back(substitute(t, use.substitution));
    draft.call.tensor_syntax.push_back(at);
  }
  draft.call.attributes = constraint.attributes;
  draft.call.attribute_syntax.assign(constraint.attributes.size(), at);
  draft.type = substitute(constraint.result, use.substitution);
  relate(at, &draft, fmt::format("the arguments of {}", name),
         [this, &draft] { return attempt_operator(draft); });
}

Type Inference::with_open_dims(Type type) {
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    for (Dim d : type->dims) dims.push_back(d->has_any ? unifier.fresh_dim() : d);
    return tensor_type(dims, type->dtype);
  }
  if (type->args.empty()) return type;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(with_open_dims(a));
  return with_args(type, args);
}

namespace {

Type without_dims(Type type) {
  if (type->is_tensor()) return tensor_type(std::vector<Dim>(type->dims.size(), dim_any()), type->dtype);
  if (type->args.empty()) return type;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(without_dims(a));
  return with_args(type, args);
}

}  // namespace

bool has_open_part(Type type) {
  if (type->kind == TypeKind::Infer || type->dtype.is_infer()) return true;
  return std::any_of(type->args.begin(), type->args.end(), has_open_part);
}

std::optional<std::vector<Type>> Inference::settled_params(Type function) {
  function = resolve(function);
  if (function->kind != TypeKind::Function) return std::nullopt;
  std::vector<Type> params;
  for (Type param : function->params()) {
    if (has_open_part(param)) return std::nullopt;
    params.push_back(without_dims(param));
  }
  // What a function that it gives is called with decides as well: `%m(1)(2)`.
  Type result = resolve(function->result());
  if (result->kind != TypeKind::Function) return params;
  auto given = settled_params(result);
  if (!given) return std::nullopt;
  size_t count = result->params().size();
  Type rest = given->size() > count ? given->back() : unit_type();
  given->resize(count);
  params.push_back(function_type(*given, rest));
  return params;
}

// Of a function that is given: what it gives is open, but for the parameters of a further function.
Type Inference::with_open_result(Type function) {
  Type rest = function->result();
  return function_type(function->params(),
                       rest->kind == TypeKind::Function ? with_open_result(rest) : unifier.fresh_type());
}

void Inference::tell_at_use(size_t from, SyntaxPtr use, const std::string& name) {
  for (size_t i = from; i < diagnostics.size(); ++i) {
    Diagnostic& d = diagnostics[i];
    d.notes.insert(d.notes.begin(), {d.place, fmt::format("in {}, as it is used here", name)});
    d.place = place(use);
    d.message = fmt::format("{}: {}", name, d.message);
    d.fixes.clear();
  }
}

}  // namespace quern
