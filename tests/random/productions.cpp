// Productions of every type: bindings, choice, calls, data, references.

#include <fmt/format.h>

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
  TypePtr type = random_.chance(40) ? want : differentiates_ ? random_parameter() : random_type(2);
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

// `specialize(@f, a)(b)`
TermPtr Generator::specialised_call(const TypePtr& want, const std::string& name,
                                    const std::vector<TermPtr>& arguments) {
  const auto known = static_cast<size_t>(random_.between(0, static_cast<int64_t>(arguments.size())));
  std::vector<std::string> parts{"specialize(@" + name};
  for (size_t i = 0; i < arguments.size(); ++i) {
    parts.back() += i == known ? ")(" : ", ";
    parts.emplace_back();
  }
  parts.back() += known == arguments.size() ? ")()" : ")";
  return plain(want, parts, arguments, {name});
}

TermPtr Generator::definition_call(const TypePtr& want, Exactness budget, int depth) {
  if (!kDefinition.within(budget)) return nullptr;
  std::vector<std::pair<DefTerm, Bindings>> found;
  for (const DefTerm& def : program_.defs) {
    std::set<std::string> variables(def.dim_variables.begin(), def.dim_variables.end());
    for (const TypePtr& v : def.type_variables) variables.insert(v->name);
    Bindings bindings;
    if (bind(def.result, want, variables, bindings)) found.emplace_back(def, bindings);
  }
  if (found.empty()) return nullptr;
  auto [def, bindings] = random_.pick(found);
  for (const std::string& d : def.dim_variables) bindings.dims.try_emplace(d, random_extent());
  for (const TypePtr& v : def.type_variables)
    if (!bindings.types.contains(v->name)) bindings.types.emplace(v->name, random_instance(v));
  std::vector<TermPtr> arguments;
  for (auto& [param, type] : def.params)
    arguments.push_back(make(instantiate(type, bindings), kParameter, depth));
  const bool specialises = def.type_variables.empty() && random_.chance(12);
  TermPtr call = specialises
                     ? specialised_call(want, def.name, arguments)
                     : call_term(want, "@" + def.name, arguments, {def.name}, !def.type_variables.empty());
  if (!has_unwritten(def.result)) return call;
  // The dims that the definition forgets are known again by an annotation.
  std::string name = fresh("v");
  return plain(want, {"{ let %" + name + ": " + to_string(*want) + " = ", ";\n  %" + name + " }"}, {call}, {},
               {name});
}

TermPtr Generator::applied_function(const TypePtr& want, Exactness budget, int depth) {
  TypePtr type = random_type(1);
  std::string name = fresh("x");
  TermPtr argument = make(type, kParameter, depth);
  locals_.push_back({name, type, kParameter});
  TermPtr body = make(want, budget, depth);
  locals_.pop_back();
  return plain(want, {"(fn (%" + name + note(": ", type) + ") { ", " })(", ")"}, {body, argument}, {},
               {name});
}

TermPtr Generator::called_variable(const TypePtr& want, Exactness budget, int depth) {
  if (!kApplied.within(budget)) return nullptr;
  std::vector<std::pair<Local, Bindings>> found;
  for (const Local& l : locals_) {
    std::set<std::string> variables;
    for (const TypePtr& v : l.variables) variables.insert(v->name);
    Bindings bindings;
    if (l.type->kind == TypeTerm::Kind::Function && bind(l.type->args.back(), want, variables, bindings))
      found.emplace_back(l, bindings);
  }
  if (found.empty()) return nullptr;
  auto [function, bindings] = random_.pick(found);
  return call_of(function, bindings, depth);
}

TermPtr Generator::record_field(const TypePtr& want, Exactness budget, int depth) {
  if (!kParameter.within(budget)) return nullptr;
  std::vector<std::pair<std::string, std::string>> found;  // of a type, one of its fields
  for (const DataTerm& d : program_.data)
    for (size_t i = 0; i < d.constructors[0].names.size(); ++i)
      if (same(d.constructors[0].fields[i], want)) found.emplace_back(d.name, d.constructors[0].names[i]);
  if (found.empty()) return nullptr;
  const auto& [type, field] = random_.pick(found);
  return plain(want, {"(", ")." + field}, {make(data(type), kParameter, depth)}, {type});
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
      pattern += "%" + name + (random_.chance(20) ? note(": ", c.fields[k]) : "");
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
  return plain(want, parts, children, {type.name}, binds, Term::Tag::Match);
}

TermPtr Generator::reference(const TypePtr& want, Exactness budget, int depth) {
  std::string cell = fresh("r");
  TermPtr before = make(want, budget, depth), after = make(want, budget, depth);
  bool relay = random_.chance(50);
  std::vector<std::string> parts{"{ let %" + cell + note(": ", ref(want)) + " = ref(",
                                 relay ? ");\n  ref_write(%" + cell + ", " : ");\n  %" + cell + " := ",
                                 relay ? ");\n  ref_read(%" + cell + ") }" : ";\n  !%" + cell + " }"};
  return plain(want, parts, {before, after}, {}, {cell});
}

TermPtr Generator::dereference(const TypePtr& want, Exactness budget, int depth) {
  if (!kParameter.within(budget) || has_unwritten(want)) return nullptr;
  TermPtr cell = make(ref(want), kParameter, depth);
  return random_.chance(50) ? plain(want, {"ref_read(", ")"}, {cell}) : plain(want, {"(!", ")"}, {cell});
}

TermPtr Generator::assignment(const TypePtr& want, Exactness budget, int depth) {
  TypePtr content = random_type(1);
  if (has_unwritten(content)) return nullptr;
  TermPtr cell = make(ref(content), kParameter, depth), value = make(content, kParameter, depth);
  return plain(want, {"{ ref_write(", ", ", ");\n  ", " }"}, {cell, value, make(want, budget, depth)});
}

}  // namespace quern::random_programs
