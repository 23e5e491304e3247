// Productions of every type: bindings, choice, calls, data, references.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tests/random/generator_impl.h"

namespace quern::random_programs {

TermPtr Generator::variable(const TypePtr& want, Exactness budget, int /*depth*/) {
  return local(want, budget);
}

TermPtr Generator::with_local(const TypePtr& type, Exactness exactness, int depth,
                              const std::function<TermPtr(const std::string&)>& body) {
  TermPtr value = make(type, exactness, depth);
  std::string name = fresh("v");
  locals_.push_back({name, type, exactness});
  TermPtr inside = body(name);
  locals_.pop_back();
  return let_term(name, value, inside);
}

TermPtr Generator::let_block(const TypePtr& want, Exactness budget, int depth) {
  TypePtr type = random_.chance(40) ? want : random_type(2);
  return with_local(type, random_.chance(50) ? kParameter : kApplied, depth,
                    [&](const std::string&) { return make(want, budget, depth); });
}

TermPtr Generator::conditional(const TypePtr& want, Exactness budget, int depth) {
  TermPtr condition = make(tensor({}, "bool"), kParameter, depth);
  return plain(want, {"(if (", ") { ", " } else { ", " })"},
               {condition, make(want, budget, depth), make(want, budget, depth)});
}

TermPtr Generator::projection(const TypePtr& want, Exactness budget, int depth) {
  std::vector<TypePtr> fields;
  for (int64_t i = random_.between(0, 2); i > 0; --i) fields.push_back(random_type(1));
  size_t at = random_.below(fields.size() + 1);
  fields.insert(fields.begin() + static_cast<ptrdiff_t>(at), want);
  return plain(want, {"", fmt::format(".{}", at)}, {make(tuple(fields), budget, depth)});
}

namespace {

using Bindings = std::unordered_map<std::string, Extent>;

/// Binds a definition's dimension variables so that `pattern` becomes `want`.
bool bind(const TypePtr& pattern, const TypePtr& want, Bindings& bindings) {
  if (pattern->kind != want->kind || pattern->dtype != want->dtype || pattern->name != want->name ||
      pattern->dims.size() != want->dims.size() || pattern->args.size() != want->args.size())
    return false;
  for (size_t i = 0; i < pattern->dims.size(); ++i) {
    const Extent& d = pattern->dims[i];
    if (d.variable.empty()) {
      if (!(d == want->dims[i])) return false;
    } else if (auto [it, added] = bindings.try_emplace(d.variable, want->dims[i]);
               !(it->second == want->dims[i])) {
      return false;
    }
  }
  for (size_t i = 0; i < pattern->args.size(); ++i)
    if (!bind(pattern->args[i], want->args[i], bindings)) return false;
  return true;
}

TypePtr instantiate(const TypePtr& type, const Bindings& bindings) {
  TypeTerm copy = *type;
  for (Extent& d : copy.dims)
    if (!d.variable.empty()) d = bindings.at(d.variable);
  for (TypePtr& arg : copy.args) arg = instantiate(arg, bindings);
  return std::make_shared<const TypeTerm>(std::move(copy));
}

}  // namespace

TermPtr Generator::definition_call(const TypePtr& want, Exactness budget, int depth) {
  if (!kDefinition.within(budget)) return nullptr;
  std::vector<std::pair<const DefTerm*, Bindings>> found;
  for (const DefTerm& def : program_.defs) {
    Bindings bindings;
    if (bind(def.result, want, bindings)) found.emplace_back(&def, bindings);
  }
  if (found.empty()) return nullptr;
  auto [def, bindings] = random_.pick(found);
  for (const std::string& d : def->dim_variables) bindings.try_emplace(d, random_extent());
  std::vector<TermPtr> arguments;
  // The definition may move in the list while its arguments are made: it is named, not pointed to.
  std::string name = def->name;
  auto params = def->params;
  for (auto& [param, type] : params)
    arguments.push_back(make(instantiate(type, bindings), kParameter, depth));
  return call_term(want, "@" + name, arguments, {name});
}

TermPtr Generator::applied_function(const TypePtr& want, Exactness budget, int depth) {
  TypePtr type = random_type(1);
  std::string name = fresh("x");
  TermPtr argument = make(type, kParameter, depth);
  locals_.push_back({name, type, kParameter});
  TermPtr body = make(want, budget, depth);
  locals_.pop_back();
  return plain(want, {"(fn (%" + name + note(": " + to_string(*type)) + ") { ", " })(", ")"},
               {body, argument}, {}, {name});
}

TermPtr Generator::called_variable(const TypePtr& want, Exactness budget, int depth) {
  if (!kApplied.within(budget)) return nullptr;
  std::vector<Local> found;
  for (const Local& l : locals_)
    if (l.type->kind == TypeTerm::Kind::Function && same(l.type->args.back(), want)) found.push_back(l);
  if (found.empty()) return nullptr;
  Local function = random_.pick(found);
  std::vector<TermPtr> arguments;
  for (size_t i = 0; i + 1 < function.type->args.size(); ++i)
    arguments.push_back(make(function.type->args[i], kParameter, depth));
  return call_term(want, "%" + function.name, arguments, {function.name});
}

TermPtr Generator::match(const TypePtr& want, Exactness budget, int depth) {
  if (program_.data.empty()) return nullptr;
  DataTerm type = random_.pick(program_.data);
  std::vector<TermPtr> children{make(data(type.name), kParameter, depth)};
  std::vector<std::string> parts{"(match (", ") { "}, binds;
  bool open = random_.chance(25) && type.constructors.size() > 1;
  size_t arms = type.constructors.size() - (open ? 1 : 0);
  for (size_t i = 0; i < arms; ++i) {
    const auto& c = type.constructors[i];
    size_t before = locals_.size();
    std::string pattern = c.name;
    for (size_t k = 0; k < c.fields.size(); ++k) {
      pattern += k ? ", " : "(";
      if (random_.chance(25)) {
        pattern += "_";
        continue;
      }
      std::string name = fresh("m");
      pattern += "%" + name + (random_.chance(20) ? note(": " + to_string(*c.fields[k])) : "");
      binds.push_back(name);
      locals_.push_back({name, c.fields[k], kParameter});
    }
    if (!c.fields.empty()) pattern += ")";
    parts.back() += (i ? ", " : "") + pattern + " => ";
    children.push_back(make(want, budget, depth));
    parts.emplace_back("");
    locals_.resize(before);
  }
  if (open) {
    parts.back() += ", _ => ";
    children.push_back(make(want, budget, depth));
    parts.emplace_back("");
  }
  parts.back() += " })";
  return plain(want, parts, children, {type.name}, binds);
}

TermPtr Generator::reference(const TypePtr& want, Exactness budget, int depth) {
  std::string cell = fresh("r");
  TermPtr before = make(want, budget, depth), after = make(want, budget, depth);
  bool relay = random_.chance(50);
  std::vector<std::string> parts{"{ let %" + cell + note(": Ref[" + to_string(*want) + "]") + " = ref(",
                                 relay ? ");\n  ref_write(%" + cell + ", " : ");\n  %" + cell + " := ",
                                 relay ? ");\n  ref_read(%" + cell + ") }" : ";\n  !%" + cell + " }"};
  return plain(want, parts, {before, after}, {}, {cell});
}

}  // namespace quern::random_programs
