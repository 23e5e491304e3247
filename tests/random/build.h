#pragma once
// Terms from their pieces: what productions and shrinking share.

#include <algorithm>

#include "tests/random/generator.h"

namespace quern::random_programs {

inline TermPtr plain(TypePtr type, std::vector<std::string> parts, std::vector<TermPtr> children = {},
                     std::vector<std::string> uses = {}, std::vector<std::string> binds = {},
                     Term::Tag tag = Term::Tag::Plain) {
  Term term;
  term.tag = tag;
  term.type = std::move(type);
  term.parts = std::move(parts);
  term.children = std::move(children);
  term.uses = std::move(uses);
  term.binds = std::move(binds);
  return std::make_shared<const Term>(std::move(term));
}

inline TermPtr variable_term(const std::string& name, TypePtr type) {
  Term term;
  term.tag = Term::Tag::Variable;
  term.type = std::move(type);
  term.parts = {"%" + name};
  term.uses = {name};
  return std::make_shared<const Term>(std::move(term));
}

/// `callee(arguments)`; `uses`: the names that the callee's text mentions.
inline TermPtr call_term(TypePtr type, const std::string& callee, std::vector<TermPtr> arguments,
                         std::vector<std::string> uses, bool general = false,
                         Term::Tag tag = Term::Tag::Call) {
  Term term;
  term.tag = tag;
  term.general = general;
  term.type = std::move(type);
  term.parts = {callee + "("};
  for (size_t i = 1; i < arguments.size(); ++i) term.parts.emplace_back(", ");
  if (arguments.empty())
    term.parts[0] += ")";
  else
    term.parts.emplace_back(")");
  term.arguments = static_cast<int>(arguments.size());
  term.children = std::move(arguments);
  term.uses = std::move(uses);
  return std::make_shared<const Term>(std::move(term));
}

/// `{ let %name: T = value; body }`.
inline TermPtr let_term(const std::string& name, const TermPtr& value, const TermPtr& body) {
  Term term;
  term.tag = Term::Tag::Let;
  term.type = body->type;
  term.annotated = value->type;
  term.parts = {"{ let %" + name + note(": ", value->type) + " = ", ";\n  ", " }"};
  term.children = {value, body};
  term.binds = {name};
  return std::make_shared<const Term>(std::move(term));
}

inline bool is_float(const TypePtr& type) {
  return type->kind == TypeTerm::Kind::Tensor && type->dtype.starts_with("float");
}
inline bool is_bool(const TypePtr& type) {
  return type->kind == TypeTerm::Kind::Tensor && type->dtype == "bool";
}
inline bool is_number(const TypePtr& type) {
  return type->kind == TypeTerm::Kind::Tensor ? type->dtype != "bool" : type->dtype == kNumeric;
}
inline bool is_static(const TypePtr& type) {
  return std::ranges::all_of(type->dims, [](const Extent& d) { return d.variable.empty(); });
}
/// Whether each dim of a tensor can be written.
inline bool is_spelled(const TypePtr& type) {
  return std::ranges::none_of(type->dims, [](const Extent& d) { return is_unwritten(d.variable); });
}
inline std::string shape_text(const std::vector<Extent>& dims) {
  std::string all;
  for (size_t i = 0; i < dims.size(); ++i) all += (i ? ", " : "") + to_string(dims[i]);
  return "(" + all + (dims.size() == 1 ? ",)" : ")");
}

/// A number `value` * 2^-`fraction` as a literal of the dtype.
std::string number_text(int64_t value, int fraction, const std::string& dtype);
/// The same inside of an index expression, where a number without a suffix is an index.
std::string element_text(int64_t value, int fraction, const std::string& dtype);
/// A tensor literal, or a call that fills, with the numbers that `next` gives.
TermPtr literal_term(const TypePtr& type, const std::function<std::string()>& next);

}  // namespace quern::random_programs
