// General types: functions over types, dims without a name, and what they stand for at each use.

#include <fmt/format.h>

#include "tests/random/generator_impl.h"

namespace quern::random_programs {

/// Binds variables so that `pattern` becomes `want`; other variables stand for themselves.
bool Generator::bind(const TypePtr& pattern, const TypePtr& want, const std::set<std::string>& variables,
                     Bindings& bindings) {
  if (pattern->kind == TypeTerm::Kind::Variable && variables.contains(pattern->name)) {
    if (pattern->dtype == kNumeric && !is_number(want)) return false;
    auto [it, added] = bindings.types.try_emplace(pattern->name, want);
    return added || same(it->second, want);
  }
  if (pattern->kind != want->kind || pattern->dtype != want->dtype || pattern->name != want->name ||
      pattern->dims.size() != want->dims.size() || pattern->args.size() != want->args.size())
    return false;
  for (size_t i = 0; i < pattern->dims.size(); ++i) {
    const Extent &d = pattern->dims[i], &w = want->dims[i];
    bool free = variables.contains(d.variable);
    if (!((free ? bindings.dims.try_emplace(d.variable, w).first->second : d) == w)) return false;
  }
  for (size_t i = 0; i < pattern->args.size(); ++i)
    if (!bind(pattern->args[i], want->args[i], variables, bindings)) return false;
  return true;
}

TypePtr Generator::instantiate(const TypePtr& type, const Bindings& bindings) {
  if (auto found = bindings.types.find(type->name);
      type->kind == TypeTerm::Kind::Variable && found != bindings.types.end())
    return found->second;
  TypeTerm copy = *type;
  for (Extent& d : copy.dims)
    if (auto found = bindings.dims.find(d.variable); found != bindings.dims.end()) d = found->second;
  for (TypePtr& arg : copy.args) arg = instantiate(arg, bindings);
  return std::make_shared<const TypeTerm>(std::move(copy));
}

TypePtr Generator::random_instance(const TypePtr& variable) {
  if (variable->dtype != kNumeric) return random_type(1);
  for (const TypePtr& v : type_variables_)
    if (v->dtype == kNumeric && random_.chance(50)) return v;
  TypePtr type = random_tensor();
  return is_number(type) ? type : tensor(type->dims, "int32");
}

TermPtr Generator::call_of(const Local& function, Bindings bindings, int depth) {
  for (const TypePtr& v : function.variables)
    if (!bindings.types.contains(v->name)) bindings.types.emplace(v->name, random_instance(v));
  std::vector<TermPtr> arguments;
  for (size_t i = 0; i + 1 < function.type->args.size(); ++i)
    arguments.push_back(make(instantiate(function.type->args[i], bindings), kParameter, depth));
  return call_term(instantiate(function.type->args.back(), bindings), "%" + function.name, arguments,
                   {function.name}, !function.variables.empty());
}

TermPtr Generator::general_function(Local& local, int depth) {
  bool numeric = random_.chance(40), written = !numeric && random_.chance(40);
  std::vector<TypePtr> variables, params;
  std::string declared;
  for (int64_t i = random_.between(1, 2); i > 0; --i) {
    variables.push_back(type_variable((written ? "" : "?") + fresh("A"), numeric));
    if (written) declared += (declared.empty() ? "[" : ", ") + variables.back()->name;
  }
  params = variables;
  // Two tensors of which nothing is known broadcast; their type is not that of either.
  if (!numeric && random_.chance(30)) params.push_back(random_.pick(variables));
  if (random_.chance(20)) params.push_back(random_tensor());
  if (!numeric && random_.chance(20))
    params.push_back(function({random_.pick(variables)}, random_.pick(variables)));
  TypePtr result = random_.pick(variables);
  if (random_.chance(25)) result = tuple({result, random_.pick(variables)});
  if (random_.chance(15)) result = random_tensor();

  size_t locals = locals_.size(), outer = type_variables_.size();
  type_variables_.insert(type_variables_.end(), variables.begin(), variables.end());
  std::string head;
  std::vector<std::string> names;
  for (const TypePtr& type : params) {
    names.push_back(fresh("x"));
    bool bare = !written && type->kind == TypeTerm::Kind::Variable && random_.chance(80);
    head += (names.size() > 1 ? ", %" : "%") + names.back() + (bare ? "" : ": " + to_string(*type));
    locals_.push_back({names.back(), type, kParameter});
  }
  TermPtr body = make(result, kApplied, depth);
  locals_.resize(locals);
  type_variables_.resize(outer);
  local.type = function(params, result);
  local.exactness = kApplied;
  local.variables = variables;
  return plain(
      local.type,
      {"fn " + declared + (written ? "]" : "") + "(" + head + ")" + note(" -> ", result) + " { ", " }"},
      {body}, {}, names);
}

TermPtr Generator::general_let(const TypePtr& want, Exactness budget, int depth) {
  Local function{fresh("g"), nullptr, {}};
  TermPtr literal = general_function(function, std::min(depth, 2));
  size_t locals = locals_.size();
  locals_.push_back(function);
  std::vector<TermPtr> uses;
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i) {
    uses.push_back(call_of(function, {}, std::min(depth, 1)));
    names.push_back(fresh("v"));
    locals_.push_back({names.back(), uses.back()->type, kApplied});
  }
  TermPtr body = make(want, budget, depth);
  locals_.resize(locals);
  for (size_t i = 2; i-- > 0;) body = let_term(names[i], uses[i], body);
  return plain(want, {"{ let %" + function.name + " = ", ";\n  ", " }"}, {literal, body}, {},
               {function.name});
}

void Generator::make_general_statement() {
  Local function{fresh("s"), nullptr, {}};
  TermPtr literal = general_function(function, 2);
  program_.statements.push_back({function.name, literal, true});
  locals_.push_back(function);
  TermPtr first = call_of(function, {}, 1), second = call_of(function, {}, 1);
  TypePtr type = tuple({first->type, second->type});
  program_.statements.push_back({fresh("s"), plain(type, {"(", ", ", ")"}, {first, second})});
  locals_.push_back({program_.statements.back().variable, type, kApplied});
}

TermPtr Generator::sized_like_params(const TypePtr& want, const std::function<std::string()>& next) {
  std::vector<Extent> known = want->dims;
  for (Extent& d : known)
    if (is_unwritten(d.variable)) d = {1, ""};
  TermPtr term = literal_term(tensor(known, want->dtype), next);
  for (size_t axis = 0; axis < want->dims.size(); ++axis) {
    if (!is_unwritten(want->dims[axis].variable)) continue;
    std::string shape;
    for (size_t i = 0; i < known.size(); ++i) shape += (i ? ", " : "") + std::string(i == axis ? "-1" : "1");
    std::string carrier = carriers_.at(want->dims[axis].variable);
    known[axis] = want->dims[axis];
    std::string zeros =
        fmt::format("cast(reshape(%{} * 0, newshape=[{}]), dtype=\"{}\")", carrier, shape, want->dtype);
    bool boolean = want->dtype == "bool";
    term = plain(tensor(known, want->dtype),
                 {boolean ? "logical_or(" : "(", (boolean ? ", " : " + ") + zeros + ")"}, {term}, {carrier});
  }
  return term;
}

}  // namespace quern::random_programs
