// Matches a call's attributes with those that an operator declares.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/parse/scanner.h"
#include "frontend/signature/match.h"
#include "frontend/static/attribute_kinds.h"
#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"

namespace quern {

namespace {

bool mentions_tvm(SyntaxPtr expr) {
  if (expr->is(SyntaxKind::Name) && expr->text == "tvm") return true;
  return std::ranges::any_of(expr->children, [](SyntaxPtr child) { return child && mentions_tvm(child); });
}

}  // namespace

bool SignatureMatcher::attributes() {
  std::vector<SyntaxPtr> declared;
  for (SyntaxPtr p : params_of(op_.syntax)->children)
    if (p->is(SyntaxKind::AttributeParam)) declared.push_back(p);
  std::vector<const StaticValue*> given(declared.size(), nullptr);
  std::vector<SyntaxPtr> given_at(declared.size(), call_.syntax);
  size_t next = 0;
  for (size_t i = 0; i < call_.attributes.size(); ++i) {
    const auto& [name, value] = call_.attributes[i];
    size_t slot = next++;
    if (!name.empty()) {
      for (slot = 0; slot < declared.size() && declared[slot]->text != name;) ++slot;
    }
    if (slot >= declared.size()) return unknown_attribute(i, declared);
    if (given[slot]) {
      report(DiagnosticKind::GivenTwice, call_.attribute_syntax[i],
             fmt::format("the attribute `{}` of `{}` is given twice", declared[slot]->text, op_.name),
             {{Place{{caller_, given_at[slot]->id}, {}}, "it is given here first"}});
      return false;
    }
    given[slot] = &value;
    given_at[slot] = call_.attribute_syntax[i];
  }
  if (!declared.empty()) tvm_ = scope_.tvm(caller_);
  for (size_t i = 0; i < declared.size(); ++i)
    if (!bind_attribute(declared[i], given[i], given_at[i])) return false;
  return true;
}

bool SignatureMatcher::unknown_attribute(size_t i, const std::vector<SyntaxPtr>& declared) {
  const std::string& name = call_.attributes[i].first;
  std::vector<std::string> names;
  names.reserve(declared.size());
  for (SyntaxPtr p : declared) names.emplace_back(p->text);
  std::vector<Note> notes;
  if (!names.empty())
    notes.push_back({std::nullopt, fmt::format("its attributes are {}", fmt::join(names, ", "))});
  SyntaxPtr at = call_.attribute_syntax[i];
  if (name.empty()) {
    report(DiagnosticKind::WrongArgumentCount, at, fmt::format("`{}` is given too many arguments", op_.name),
           std::move(notes));
    return false;
  }
  std::optional<std::string> near(foreign_attribute(name));
  if (std::find(names.begin(), names.end(), *near) == names.end()) near = did_you_mean(name, names);
  Place place{{caller_, at->id}, {}, Part::Head, static_cast<uint32_t>(name.size())};
  Suggestion meant = suggest(near, place);
  diagnostics_.push_back({DiagnosticKind::UnknownAttribute, place,
                          fmt::format("`{}` has no attribute `{}`{}", op_.name, name, meant.text),
                          std::move(notes), std::move(meant.fixes)});
  return false;
}

bool SignatureMatcher::bind_attribute(SyntaxPtr declared, const StaticValue* given, SyntaxPtr at) {
  std::string_view kind = declared->child(0) ? declared->child(0)->text : "int";
  // A default that depends on the tensors, such as the axes of extent 1, is computed after them; None
  // requests it.
  if (declared->child(1) && depends_on_tensors(declared->child(1))) {
    if (!given || given->is_none()) {
      late_.push_back(declared);
      return true;
    }
    auto value = fit_attribute(*given, kind);
    if (!value) return wrong_attribute(declared, kind, *given, at);
    binding_.attributes.emplace_back(declared->text, *value);
    binding_.env.insert_or_assign(declared->text, *value);
    return true;
  }
  std::optional<StaticValue> fallback = default_of(declared, std::nullopt), value = fallback;
  if (given)
    value = fit_attribute(*given, kind);
  else if (tvm_)
    value = default_of(declared, tvm_);
  if (!value && given) return wrong_attribute(declared, kind, *given, at);
  if (!value) return inside_.empty() ? missing_attribute(declared) : report_inside();
  // Omitted only if it is the default for texts both with and without TVM's header.
  bool is_default = fallback && *fallback == *value;
  if (is_default && mentions_tvm(declared->child(1))) is_default = default_of(declared, kLastTvm) == value;
  if (!is_default) binding_.attributes.emplace_back(declared->text, *value);
  binding_.env.insert_or_assign(declared->text, *value);
  return true;
}

std::optional<StaticValue> SignatureMatcher::default_of(SyntaxPtr declared, std::optional<int> tvm) {
  if (!declared->child(1)) return std::nullopt;
  inside_evaluator_.tvm = tvm ? StaticValue::integer(*tvm) : StaticValue();
  std::optional<StaticValue> value = inside_evaluator_.evaluate(declared->child(1), binding_.env);
  inside_evaluator_.tvm.reset();
  // A default may be "" for a dtype or None for an optional; fit_attribute interprets it. If None does not
  // fit, there is no default.
  return value ? fit_attribute(*value, declared->child(0) ? declared->child(0)->text : "int") : std::nullopt;
}

bool SignatureMatcher::missing_attribute(SyntaxPtr declared) {
  report(DiagnosticKind::MissingAttribute, call_.syntax,
         fmt::format("`{}` needs the attribute `{}`: `{}=…`", op_.name, declared->text, declared->text),
         {{Place{{op_.id, declared->id}, {}}, "it is declared here, without a default"}});
  return false;
}

bool SignatureMatcher::wrong_attribute(SyntaxPtr declared, std::string_view kind, const StaticValue& given,
                                       SyntaxPtr at) {
  Suggestion meant;
  SyntaxPtr text = at && at->is(SyntaxKind::NamedArgument) ? at->child(0) : at;
  const auto& bound = binding_.attributes;
  if (kind.starts_with("dtype") && given.as_string()) {
    if (auto near = dtype_meant_by(*given.as_string()))
      meant = suggest("\"" + *near + "\"", Place{{caller_, text->id}, {}});
  } else if (given.as_int() && text == at && !bound.empty() && bound.back().second.as_list()) {
    // `zeros(2, 3)`: both numbers are meant for the first attribute.
    meant.text = fmt::format("; `{}` is one argument, in brackets: `(2, 3)`", bound.back().first);
  }
  report(DiagnosticKind::WrongAttribute, at,
         fmt::format("the attribute `{}` of `{}` takes {}, not {}{}", declared->text, op_.name,
                     describe_attribute_kind(kind), to_string(given), meant.text),
         {}, std::move(meant.fixes));
  return false;
}

bool SignatureMatcher::depends_on_tensors(SyntaxPtr expr) const {
  std::set<std::string_view> names;
  std::function<void(SyntaxPtr)> collect = [&](SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Name)) names.insert(s->text);
    for (SyntaxPtr c : s->children) collect(c);
  };
  collect(expr);
  if (names.empty()) return false;
  std::set<std::string_view> mine = std::exchange(names, {});
  for (SyntaxPtr p : params_of(op_.syntax)->children)
    if (p->is(SyntaxKind::TensorParam)) collect(p->child(0));
  return std::ranges::any_of(
      mine, [&](std::string_view name) { return names.contains(name) && !parse_dtype(name); });
}

bool SignatureMatcher::mentions_unknown_dims() {
  std::function<bool(Type)> unknown = [&](Type type) {
    type = hooks_.resolve(type);
    return std::ranges::any_of(type->dims, [](Dim d) { return d->has_infer; }) ||
           std::ranges::any_of(type->args, unknown);
  };
  return std::ranges::any_of(call_.tensors, unknown);
}

}  // namespace quern
