#include "frontend/infer/values/leaves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "frontend/infer/context/open_types.h"

namespace quern {

namespace {

bool is_leaf(Type type) { return type->is_tensor() && type->dtype.is_float(); }

}  // namespace

// The calls of the function that a value's type asks for. Data types become functions over their
// constructors, bound before their use; one that holds itself calls itself.
class Leaves::Expansion {
 public:
  Expansion(Leaves& leaves, const Use& use) : leaves_(leaves), use_(use), drafts_(leaves.drafts_) {}

  /// The whole; null after a diagnostic.
  DraftPtr run() {
    std::vector<DraftBinding> bindings;
    auto bound = [&](std::string_view name, DraftPtr value) {
      bindings.push_back({drafts_.variable(name, value->type), value});
      return read(bindings.back().variable);
    };
    std::vector<DraftPtr> values;
    for (DraftPtr value : use_.values)
      values.push_back(bound("x", leaves_.checks_.opened(value, leaves_.resolve(value->type), "x")));
    DraftPtr so_far = use_.initial ? bound("so_far", use_.initial) : nullptr;
    DraftPtr result = of(leaves_.resolve(values[0]->type), values, so_far);
    if (failed_) return nullptr;
    bindings.insert(bindings.end(), functions_.begin(), functions_.end());
    return drafts_.block(origin(), bindings, result);
  }

 private:
  Origin origin() const { return leaves_.origin(use_.at); }
  DraftPtr read(const Variable* v) { return drafts_.read(origin(), v, v->type); }
  std::string_view word() const { return use_.at->child(0)->text; }

  /// The mapped value, or what a fold has come to after it.
  DraftPtr of(Type type, const std::vector<DraftPtr>& values, DraftPtr so_far) {
    if (failed_ || !has_structure(type, values)) return values[0];
    switch (type->kind) {
      case TypeKind::Tensor: return is_leaf(type) ? leaf(type, values, so_far) : so_far ? so_far : values[0];
      case TypeKind::Tuple: return tuple(type, values, so_far);
      case TypeKind::Data:
        return drafts_.call(origin(), so_far ? so_far->type : type, read(function_of(type)),
                            arguments(so_far, values));
      default:
        fail(use_.texts[0], fmt::format("`{}` goes through tensors, tuples and data types, and this holds {}",
                                        word(), leaves_.unifier_.describe(type)));
        return values[0];
    }
  }

  void fail(SyntaxPtr at, std::string message) {
    if (!failed_) leaves_.report(DiagnosticKind::TypeMismatch, at, std::move(message));
    failed_ = true;
  }

  // A gradient has `()` for what has none.
  bool fits(Type type, Type other) {
    if (is_leaf(type)) return is_leaf(other);
    if (type->is_tensor()) return other->is_tensor() || other->is_unit();
    if (type->kind != TypeKind::Tuple) return leaves_.unifier_.unify(type, other);
    return other->kind == TypeKind::Tuple && other->args.size() == type->args.size();
  }

  bool has_structure(Type type, const std::vector<DraftPtr>& values) {
    for (size_t i = 1; i < values.size(); ++i) {
      Type other = leaves_.resolve(values[i]->type);
      if (fits(type, other)) continue;
      fail(use_.texts[i],
           fmt::format("`{}` takes values of one structure: where the first has {}, this has {}", word(),
                       leaves_.unifier_.describe(type), leaves_.unifier_.describe(other)));
      return false;
    }
    return true;
  }

  std::vector<DraftPtr> arguments(DraftPtr so_far, const std::vector<DraftPtr>& values) {
    std::vector<DraftPtr> all;
    if (so_far) all.push_back(so_far);
    all.insert(all.end(), values.begin(), values.end());
    return all;
  }

  DraftPtr leaf(Type type, const std::vector<DraftPtr>& values, DraftPtr so_far) {
    std::vector<DraftPtr> exact;
    exact.reserve(values.size());
    for (DraftPtr value : values) exact.push_back(leaves_.checks_.opened(value, value->type, "leaf"));
    const std::vector<DraftPtr> given = arguments(so_far, exact);
    std::vector<Type> types;
    types.reserve(given.size());
    for (DraftPtr value : given) types.push_back(value->type);
    const size_t errors = leaves_.context_.error_count();
    Names::Frame outer = leaves_.names_.enter(use_.env, use_.locals);
    // It has another type for each leaf, so that no type is noted at its nodes.
    ++leaves_.context_.node_types.copying;
    DraftPtr function = leaves_.infer(use_.function);
    --leaves_.context_.node_types.copying;
    leaves_.names_.leave(std::move(outer));
    if (!takes(function, given.size())) return values[0];
    Type result = leaves_.unifier_.fresh_type();
    const std::string name = fmt::format("the function of `{}`", word());
    leaves_.assignments_.expect(use_.function, function_type(types, result), function->type, name);
    DraftPtr call = drafts_.call(origin(), result, function, given);
    leaves_.relations_.run();
    leaves_.assignments_.expect(use_.function, so_far ? so_far->type : type, result,
                                fmt::format("the result of {}", name), {}, DiagnosticKind::ResultMismatch,
                                call);
    // Others would have the same errors.
    failed_ = failed_ || leaves_.context_.error_count() > errors;
    return call;
  }

  // Whether it may be called with so many arguments.
  bool takes(DraftPtr function, size_t count) {
    Type type = leaves_.resolve(function->type);
    if (type->kind != TypeKind::Function || type->params().size() == count) return true;
    const size_t wanted = type->params().size();
    fail(use_.function,
         fmt::format("`{}` calls its function with {}, and this takes {} argument{}", word(),
                     use_.initial
                         ? fmt::format("what there is so far and a tensor of each value: {} arguments", count)
                     : count == 1 ? "a tensor of its value: one argument"
                                  : fmt::format("a tensor of each value: {} arguments", count),
                     wanted, wanted == 1 ? "" : "s"));
    for (Type param : type->params()) leaves_.unifier_.unify(param, error_type());
    return false;
  }

  DraftPtr tuple(Type type, const std::vector<DraftPtr>& values, DraftPtr so_far) {
    std::vector<DraftPtr> fields;
    for (uint32_t i = 0; i < type->args.size(); ++i) {
      std::vector<DraftPtr> parts;
      parts.reserve(values.size());
      for (DraftPtr value : values)
        parts.push_back(
            drafts_.form(origin(), leaves_.resolve(value->type)->args[i], FieldExpr{.index = i}, {value}));
      fields.push_back(of(type->args[i], parts, so_far));
      if (so_far) so_far = fields.back();
    }
    return so_far ? so_far : drafts_.tuple(origin(), fields);
  }

  const Variable* function_of(Type type) {
    if (auto found = known_.find(type); found != known_.end()) return found->second;
    std::vector<const Variable*> params;
    std::vector<Type> types;
    if (use_.initial) params.push_back(drafts_.variable("so_far", use_.initial->type));
    for (size_t i = 0; i < use_.values.size(); ++i) params.push_back(drafts_.variable("x", type));
    types.reserve(params.size());
    for (const Variable* param : params) types.push_back(param->type);
    Type result = use_.initial ? use_.initial->type : type;
    const Variable* function = drafts_.variable("leaves", function_type(types, result));
    // Those that it needs are bound inside of it: they may call it.
    known_.emplace(type, function);
    const std::map<Type, const Variable*> outer = known_;
    std::vector<DraftBinding> others = std::exchange(functions_, {});
    const uint32_t around = leaves_.checks_.enter_region();
    DraftPtr body = over_constructors(type, params);
    leaves_.checks_.leave_region(around);
    others.swap(functions_);
    if (!others.empty()) body = drafts_.block(origin(), others, body);
    known_ = outer;
    functions_.push_back(
        {function, drafts_.form(origin(), function->type, FnExpr{.params = drafts_.copy(params)}, {body})});
    return function;
  }

  DraftPtr over_constructors(Type type, const std::vector<const Variable*>& params) {
    const DataDefinition* data = leaves_.scope_.data_of(type);
    DraftPtr so_far = use_.initial ? read(params[0]) : nullptr;
    const auto values = std::span(params).subspan(use_.initial ? 1 : 0);
    if (!data || data->constructors.empty()) {
      fail(use_.texts[0], fmt::format("`{}` cannot look into {}", word(), leaves_.unifier_.describe(type)));
      return read(values[0]);
    }
    const Substitution at = data->header.arguments_of(type);
    std::vector<MatchArm> arms;
    std::vector<DraftPtr> parts{read(values[0])};
    for (const DataConstructor& c : data->constructors) {
      std::vector<std::vector<const Variable*>> fields;
      for (size_t i = 0; i < values.size(); ++i) fields.push_back(fields_of(c, at));
      arms.push_back({pattern(c, type, fields[0]), nullptr});
      parts.push_back(arm(type, c, at, values, fields, so_far));
    }
    return drafts_.form(origin(), parts[1]->type, MatchExpr{.arms = drafts_.copy(arms), .partial = false},
                        parts);
  }

  std::vector<const Variable*> fields_of(const DataConstructor& c, const Substitution& at) {
    std::vector<const Variable*> fields;
    for (const DataField& field : c.fields)
      fields.push_back(
          drafts_.variable(field.name.empty() ? "part" : field.name, substitute(field.type, at)));
    return fields;
  }

  PatternPtr pattern(const DataConstructor& c, Type type, const std::vector<const Variable*>& fields) {
    std::vector<PatternPtr> parts;
    parts.reserve(fields.size());
    for (const Variable* v : fields)
      parts.push_back(drafts_.arena().make<Pattern>(PatternKind::Variable, v->type, origin(), v));
    Pattern made{PatternKind::Constructor, type, origin()};
    made.constructor = c.interned;
    made.name = drafts_.copy(std::string_view(c.name));
    made.parts = drafts_.copy(parts);
    return drafts_.arena().make<Pattern>(made);
  }

  // The value of a field, with each `?` of its shape opened.
  DraftPtr exact(const Variable* field, std::vector<DraftBinding>& opened) {
    DraftPtr value = read(field), known = leaves_.checks_.opened(value, field->type, field->name);
    if (known == value) return value;
    opened.push_back({drafts_.variable(field->name, known->type), known});
    return read(opened.back().variable);
  }

  // The other values have the same constructor, or the program stops.
  DraftPtr arm(Type type, const DataConstructor& c, const Substitution& at,
               std::span<const Variable* const> values,
               const std::vector<std::vector<const Variable*>>& fields, DraftPtr so_far) {
    std::vector<DraftPtr> made;
    std::vector<std::vector<DraftBinding>> opened(values.size());
    for (size_t f = 0; f < c.fields.size(); ++f) {
      std::vector<DraftPtr> parts;
      for (size_t i = 0; i < values.size(); ++i) parts.push_back(exact(fields[i][f], opened[i]));
      made.push_back(of(substitute(c.fields[f].type, at), parts, so_far));
      if (so_far) so_far = made.back();
    }
    DraftPtr result = so_far ? so_far
                             : drafts_.form(origin(), type,
                                            ConstructExpr{.constructor = c.interned,
                                                          .name = drafts_.copy(std::string_view(c.name))},
                                            made);
    for (size_t i = values.size(); i-- > 0;) {
      if (!opened[i].empty()) result = drafts_.block(origin(), opened[i], result);
      if (i == 0) break;
      const std::vector<MatchArm> one{{pattern(c, type, fields[i]), nullptr}};
      result = drafts_.form(origin(), result->type,
                            MatchExpr{.arms = drafts_.copy(one), .partial = c.interned->siblings.size() > 1},
                            {read(values[i]), result});
    }
    return result;
  }

  Leaves& leaves_;
  const Use& use_;
  Drafts& drafts_;
  std::map<Type, const Variable*> known_;
  std::vector<DraftBinding> functions_;
  bool failed_ = false;
};

DraftPtr Leaves::use(SyntaxPtr s, bool folds, Type wanted) {
  const size_t first_value = folds ? 3 : 2;
  if (s->children.size() <= first_value) {
    report(DiagnosticKind::WrongArgumentCount, s,
           folds ? "`fold_leaves` takes a function, where to begin, and values: `fold_leaves(fn "
                   "(%sum, %p) { %sum + sum(%p) }, 0f, %params)`"
                 : "`map_leaves` takes a function and values: `map_leaves(fn (%p, %g) { %p - %g }, "
                   "%params, %grads)`");
    for (SyntaxPtr arg : s->children.subspan(std::min<size_t>(2, s->children.size()))) infer(arg);
    return error(s);
  }
  Use made{s, s->child(1), {}, {}, nullptr, names_.env, {names_.locals().begin(), names_.locals().end()}};
  if (folds) made.initial = infer(s->child(2), wanted);
  for (SyntaxPtr value : s->children.subspan(first_value)) {
    made.texts.push_back(value);
    made.values.push_back(infer(value, folds ? nullptr : wanted));
  }
  Type type = made.initial ? made.initial->type : made.values[0]->type;
  auto* waiting = drafts_.make<WaitingDraft>(origin(s), type);
  relations_.relate(s, waiting, "the values", [=, this] { return attempt(made, waiting); });
  return waiting;
}

bool Leaves::attempt(const Use& use, DraftPtr waiting) {
  std::vector<DraftPtr> given = use.values;
  if (use.initial) given.push_back(use.initial);
  for (DraftPtr value : given) {
    Type type = resolve(value->type);
    if (type->is_error()) {
      waiting->replacement = drafts_.error(waiting->origin);
      return true;
    }
    if (type->kind == TypeKind::Infer || has_open_part(type)) return false;
  }
  DraftPtr whole = Expansion(*this, use).run();
  waiting->replacement = whole ? whole : drafts_.error(waiting->origin);
  return true;
}

template <>
DraftPtr Leaves::call<CalledWord::MapLeaves>(SyntaxPtr s, Type wanted) {
  return use(s, false, wanted);
}
template <>
DraftPtr Leaves::call<CalledWord::FoldLeaves>(SyntaxPtr s, Type wanted) {
  return use(s, true, wanted);
}

}  // namespace quern
