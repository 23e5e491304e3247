// From a call's binding to an instance: which parts are dims, and what they become.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/signature/signature.h"

namespace quern {

namespace {

// Attribute values specialise an instance, but a symbolic dim in one is a dim like those of the arguments.
bool is_instance_dim(const SignatureBinding& binding, const std::string& name, const StaticValue& value) {
  return value.as_dim() && (binding.is_bound(name) || !value.as_int());
}

template <class F>
StaticValue map_dims(const SignatureBinding& binding, const std::string& name, const StaticValue& value,
                     F&& f) {
  if (is_instance_dim(binding, name, value)) return StaticValue(f(value.as_dim(), name));
  if (const StaticList* items = value.as_list()) {
    StaticList out;
    for (const StaticValue& item : *items) out.push_back(map_dims(binding, name, item, f));
    return StaticValue::list(std::move(out));
  }
  return value;
}

void add_to_key(const SignatureBinding& binding, const std::string& name, const StaticValue& value,
                std::string& key) {
  const StaticList* items = value.as_list();
  if (is_instance_dim(binding, name, value)) {
    key += '*';
  } else if (items) {
    key += '[';
    for (const StaticValue& item : *items) {
      add_to_key(binding, name, item, key);
      key += ',';
    }
    key += ']';
  } else {
    key += to_string(value);
  }
}

void add_dims(const SignatureBinding& binding, const std::string& name, const StaticValue& value,
              std::vector<Dim>& dims) {
  if (is_instance_dim(binding, name, value))
    dims.push_back(value.as_dim());
  else if (const StaticList* items = value.as_list())
    for (const StaticValue& item : *items) add_dims(binding, name, item, dims);
}

bool has_attribute_or_pack(SyntaxPtr s) {
  if (!s) return false;
  if (s->is(SyntaxKind::AttributeParam)) return !is_function_attribute(s);
  if (s->is(SyntaxKind::Spread) || s->is(SyntaxKind::FamilyType)) return true;
  const bool names_shape = s->is(SyntaxKind::TensorType) && s->child(0)->is(SyntaxKind::Name);
  if (names_shape && !parse_dtype(s->child(0)->text)) return true;
  return std::ranges::any_of(s->children, has_attribute_or_pack);
}

}  // namespace

InstanceRequest make_request(const Declaration& op, SignatureBinding binding) {
  constexpr size_t kMostKeys = 96;
  std::string key;
  key.reserve(kMostKeys);
  key.append(op.name).append("{");
  for (const auto& [name, value] : binding.env) {
    key += name;
    key += '=';
    add_to_key(binding, name, value, key);
    key += ';';
  }
  if (binding.answers_of_form) key += *binding.answers_of_form;
  return {op.name, op.id, key + "}", std::move(binding)};
}

InstanceRequest make_request(const Declaration& def, std::vector<Type> params) {
  std::string key = def.name + "{";
  // Types with the same name differ by their declarations.
  std::function<void(Type)> data_ids = [&](Type t) {
    if (t->kind == TypeKind::Data) key += fmt::format("#{:x}", t->id);
    for (Type a : t->args) data_ids(a);
  };
  for (Type type : params) {
    key += to_string(type);
    data_ids(type);
    key += ";";
  }
  return {def.name, def.id, key + "}", {}, std::move(params)};
}

bool has_attributes_or_packs(const Declaration& def) {
  SyntaxPtr s = def.syntax;
  if (!s->is(SyntaxKind::Def)) return false;
  for (SyntaxPtr clause : s->child(3)->children)
    if (clause->is(SyntaxKind::Where) || clause->is(SyntaxKind::StaticClause)) return true;
  return has_attribute_or_pack(params_of(s));
}

SignatureBinding with_fresh_dims(const InstanceRequest& request) {
  SignatureBinding fresh = request.binding;
  for (auto& [name, value] : fresh.env) {
    int position = 0;
    bool list = value.as_list() != nullptr;
    value = map_dims(request.binding, name, value, [&](Dim, const std::string& n) {
      return dim_var(list ? fmt::format("{}{}", n, position++) : n);
    });
  }
  return fresh;
}

std::vector<Dim> instance_dims(const SignatureBinding& binding) {
  std::vector<Dim> dims;
  for (const auto& [name, value] : binding.env) add_dims(binding, name, value, dims);
  return dims;
}

namespace {

constexpr std::string_view kOtherAnswers =
    "a `same`, `contains` or `index_of` of its clauses has another answer for the extents of this call than "
    "for dims of any "
    "extent, for which it is compiled; compare dims by `==`, or in the default of an attribute";

// Replaces a dim variable in all values of an environment.
void replace(StaticEnv& env, Dim variable, Dim by) {
  std::function<StaticValue(const StaticValue&)> walk = [&](const StaticValue& v) -> StaticValue {
    if (v.as_dim()) return StaticValue(substitute(v.as_dim(), {{variable, by}}));
    if (const StaticList* items = v.as_list()) {
      StaticList out;
      for (const StaticValue& item : *items) out.push_back(walk(item));
      return StaticValue::list(std::move(out));
    }
    return v;
  };
  for (auto& [name, value] : env) value = walk(value);
}

// `where a == b`: in an instance, an equality of dims is a fact, applied by substituting one for the other.
void assume_equal(StaticEnv& env, const StaticValue& left, const StaticValue& right) {
  if (left.as_list() && right.as_list() && left.as_list()->size() == right.as_list()->size()) {
    for (size_t i = 0; i < left.as_list()->size(); ++i)
      assume_equal(env, (*left.as_list())[i], (*right.as_list())[i]);
    return;
  }
  Dim a = left.as_dim(), b = right.as_dim();
  if (!a || !b || a == b) return;
  if (a->kind == DimKind::Var && !contains_var(b, a))
    replace(env, a, b);
  else if (b->kind == DimKind::Var && !contains_var(a, b))
    replace(env, b, a);
}

}  // namespace

bool defines_instance(SyntaxPtr clause) {
  if (clause->is(SyntaxKind::StaticClause)) return true;
  SyntaxPtr condition = clause->is(SyntaxKind::Where) ? clause->child(0) : nullptr;
  return condition && condition->is(SyntaxKind::Binary) && condition->text == "==";
}

std::optional<InstanceSignature> instantiate_signature(const Declaration& op, const SignatureBinding& binding,
                                                       Scope& scope, Diagnostics& diagnostics) {
  StaticEvaluator evaluator(scope, op.id, diagnostics);
  evaluator.instance_level = true;
  std::string answers;
  evaluator.answers_of_form = &answers;
  InstanceSignature signature{binding.env, {}, nullptr};
  for (SyntaxPtr clause : op.syntax->child(3)->children) {
    if (!defines_instance(clause)) continue;
    if (clause->is(SyntaxKind::StaticClause)) {
      auto value = evaluator.evaluate(clause->child(0), signature.env);
      if (!value) return std::nullopt;
      signature.env.insert_or_assign(clause->text, *value);
    }
    if (clause->is(SyntaxKind::Where)) {
      auto left = evaluator.evaluate(clause->child(0)->child(0), signature.env);
      auto right = evaluator.evaluate(clause->child(0)->child(1), signature.env);
      if (!left || !right) return std::nullopt;
      assume_equal(signature.env, *left, *right);
    }
  }
  evaluator.answers_of_form = nullptr;
  TypeEnv env{signature.env, {}};
  for (SyntaxPtr p : params_of(op.syntax)->children)
    if (p->is(SyntaxKind::TensorParam))
      signature.params.push_back(resolve_type(p->child(0), env, evaluator, scope, diagnostics, op.id));
  evaluator.answers_of_form = &answers;
  signature.result = resolve_type(op.syntax->child(2), env, evaluator, scope, diagnostics, op.id);
  for (Type t : signature.params)
    if (contains_error(t)) return std::nullopt;
  if (contains_error(signature.result)) return std::nullopt;
  if (binding.answers_of_form && *binding.answers_of_form != answers) {
    diagnostics.push_back(
        {DiagnosticKind::NotStatic, {{op.id, op.syntax->id}, {}}, std::string(kOtherAnswers), {}});
    return std::nullopt;
  }
  return signature;
}

}  // namespace quern
