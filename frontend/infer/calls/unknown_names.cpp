#include "frontend/infer/calls/unknown_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/syntax/called_words.h"
#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"

namespace quern {

struct UnknownNames::Spelled {
  std::string name;
  Place at;
  const ForeignName* foreign;
};

// Reports with the fix to write `meant` instead, if that is not empty.
void UnknownNames::say(const Spelled& name, DiagnosticKind kind, std::string message,
                       const std::string& meant) {
  std::vector<Fix> fixes;
  if (!meant.empty()) fixes = suggest(meant, name.at).fixes;
  diagnostics_.push_back({kind, name.at, std::move(message), {}, std::move(fixes)});
}

bool UnknownNames::report_missing_sigil(const Spelled& s) {
  const std::string& name = s.name;
  // `flip` more likely means another library's operator than this library's `@flip`.
  const Declaration* declared = s.foreign && scope_.has_global(name) ? scope_.global(name) : nullptr;
  bool other = declared && scope_.home(*declared).module() != scope_.module();
  bool global = (scope_.has_global(name) && !other) || context_.group.types.contains(name);
  const bool local = names_.is_visible(name);
  if (!local && !global) return report_variable_with_member(s);
  std::string meant = (local ? "%" : "@") + name;
  say(s, DiagnosticKind::MissingSigil,
      fmt::format("`{}` lacks its sigil: the {} of this name is `{}`", name, local ? "variable" : "function",
                  meant),
      meant);
  return true;
}

// `x.view(2)` of the variable `%x`, where no operator begins with `x.`.
bool UnknownNames::report_variable_with_member(const Spelled& s) {
  const size_t dot = s.name.find('.');
  if (dot == std::string::npos || !names_.is_visible(s.name.substr(0, dot))) return false;
  const std::string head = s.name.substr(0, dot + 1);
  for (const std::string& op : scope_.names(Scope::Names::Operators))
    if (op.starts_with(head)) return false;
  say(s, DiagnosticKind::MissingSigil,
      fmt::format("`{0}` lacks its sigil: the variable of this name is `%{0}`", s.name.substr(0, dot)),
      "%" + s.name);
  return true;
}

// Words that are spelled differently here.
bool UnknownNames::report_word(const Spelled& s) {
  if (s.name == "true" || s.name == "false") {
    std::string meant = s.name == "true" ? "True" : "False";
    say(s, DiagnosticKind::UnknownName, fmt::format("unknown name `{}`; write `{}`", s.name, meant), meant);
    return true;
  }
  if (const std::string dtype = named_dtype(s.name); !dtype.empty()) {
    say(s, DiagnosticKind::ForeignName,
        fmt::format("a dtype is no value: `cast(%x, dtype=\"{}\")` converts to it", dtype));
    return true;
  }
  if (s.name != "meta") return false;
  say(s, DiagnosticKind::UnknownName,
      "`meta` stands before a constant of the metadata: `meta[relay.Constant][0]`");
  return true;
}

// Names of other libraries.
bool UnknownNames::report_foreign(const Spelled& s, const std::vector<std::string>& operators) {
  auto exists = [&](std::string_view n) {
    return std::ranges::find(operators, n) != operators.end() || find_called_word(n);
  };
  std::string bare(without_foreign_module(s.name));
  if (!s.foreign || !(s.foreign->meaning.empty() || exists(s.foreign->meaning))) {
    for (std::string_view left : without_foreign_modules(s.name)) {
      if (!exists(left)) continue;
      say(s, DiagnosticKind::ForeignName, fmt::format("`{}` is `{}` here", s.name, left), std::string(left));
      return true;
    }
    return false;
  }
  const auto& [foreign_name, meaning, remark] = *s.foreign;
  if (!remark.empty())
    say(s, DiagnosticKind::ForeignName, fmt::format("`{}` is written otherwise here: {}", s.name, remark));
  else if (meaning.empty())
    say(s, DiagnosticKind::ForeignName,
        fmt::format("the library has no `{0}`; a file may define it: `op {0}(%x: Tensor[s, t]) -> …`", bare));
  else
    say(s, DiagnosticKind::ForeignName, fmt::format("`{}` is `{}` here", s.name, meaning),
        std::string(meaning));
  return true;
}

bool UnknownNames::report_type(const Spelled& s, DiagnosticKind kind) {
  const DataDefinition* data = scope_.alias(s.name) ? nullptr : scope_.data(s.name);
  if (!data && !scope_.alias(s.name)) return false;
  const bool is_made = data && !data->constructors.empty();
  say(s, kind,
      fmt::format("`{}` is a type, and a value is wanted here{}", s.name,
                  is_made ? fmt::format("; its values are made by {}`{}`",
                                        data->constructors.size() > 1 ? "constructors such as " : "",
                                        data->constructors[0].name)
                          : ""));
  return true;
}

void UnknownNames::report(SyntaxPtr syntax, DiagnosticKind kind, std::string_view what) {
  std::string name(syntax->text);
  // A statement that did not parse, and is reported, may bind it.
  if (scope_.in_broken_declaration(name) || scope_.in_broken_import(name)) return;
  Place at{origin(syntax), {}, Part::Head, static_cast<uint32_t>(name.size())};
  const Spelled s{name, at, find_foreign_name(name)};
  if (report_missing_sigil(s) || report_word(s) || report_type(s, kind)) return;
  std::vector<std::string> known = scope_.names(Scope::Names::Operators);
  // A known operator without a declaration did not parse, which is reported.
  if (std::ranges::find(known, name) != known.end()) return;
  if (report_foreign(s, known)) return;
  std::string bare(without_foreign_module(name));
  for (std::string& c : scope_.names(Scope::Names::Constructors)) known.push_back(std::move(c));
  for (std::string_view word : called_words()) known.emplace_back(word);
  for (const auto& [bound, value] : names_.env.statics) known.push_back(bound);
  Suggestion meant = suggest(did_you_mean(bare, known), at);
  if (meant.text.empty() && has_foreign_module(name))
    return say(
        s, DiagnosticKind::ForeignName,
        fmt::format(
            "`{}` is a name of another library; operators here have no such prefix, and there is no `{}`",
            name, bare));
  diagnostics_.push_back(
      {kind, at, fmt::format("unknown {} `{}`{}", what, name, meant.text), {}, std::move(meant.fixes)});
}

void UnknownNames::report_variable(SyntaxPtr s) {
  std::string sigil = "%" + std::string(s->text);
  if (scope_.has_top_level_variable(s->text))
    return Component::report(
        DiagnosticKind::TopLevelVariableInDef, s,
        fmt::format("a definition cannot see the top-level variable `{0}`; pass it as a parameter", sigil));
  // Its `let` may be in a statement that did not parse, which is reported.
  if (scope_.in_broken_declaration(s->text)) return;
  std::vector<std::string> candidates;
  for (const std::string& known : scope_.names(Scope::Names::Variables)) candidates.push_back("%" + known);
  for (const LocalName& known : names_.locals()) candidates.push_back("%" + std::string(known.name));
  for (const std::string& known : scope_.names(Scope::Names::Globals))
    if (known == s->text) candidates.push_back("@" + known);
  Suggestion meant = suggest(did_you_mean(sigil, candidates), place(s));
  Component::report(DiagnosticKind::UnknownName, s, fmt::format("unknown variable `{}`{}", sigil, meant.text),
                    {}, std::move(meant.fixes));
}

void UnknownNames::report_function(SyntaxPtr s) {
  std::vector<std::string> known;
  for (const std::string& g : scope_.names(Scope::Names::Globals)) known.push_back("@" + g);
  for (const auto& [member, type] : context_.group.types) known.push_back("@" + member);
  std::string written = "@" + std::string(s->text);
  std::optional<std::string> near = did_you_mean(written, known);
  if (!near && scope_.op(s->text)) near = std::string(s->text);
  Place at = place(s);
  at.part = Part::Head;
  at.length = static_cast<uint32_t>(written.size());
  Suggestion meant = suggest(near, at);
  Component::report(DiagnosticKind::UnknownFunction, s,
                    fmt::format("unknown function `{}`{}", written, meant.text), {}, std::move(meant.fixes));
}

}  // namespace quern
