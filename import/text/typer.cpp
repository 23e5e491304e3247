#include "import/text/typer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "import/text/refusal.h"
#include "session/run/execution.h"

namespace quern::import_text {

Typer::Typer() : module_(session_.make_module()) {}

Dim Typer::dim(const std::string& name) {
  auto [entry, is_new] = dims_.try_emplace(name);
  if (is_new) entry->second = dim_var(entry->first);
  return entry->second;
}

std::vector<Dim> Typer::dims_in(std::string_view text) const {
  std::vector<Dim> dims;
  if (dims_.empty()) return dims;
  for (const std::string& name : names_in(text))
    if (auto known = dims_.find(name); known != dims_.end()) dims.push_back(known->second);
  return dims;
}

std::set<std::string> names_in(std::string_view text) {
  const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> names;
  for (size_t at = 0; at < text.size();) {
    if (!belongs(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && belongs(text[end])) ++end;
    const bool is_sigil = at > 0 && std::string_view("%@.\"").find(text[at - 1]) != std::string_view::npos;
    if (!is_sigil) names.emplace(text.substr(at, end - at));
    at = end;
  }
  return names;
}

std::string with_operands(std::string_view expression, const std::function<std::string(size_t)>& operand) {
  std::string text;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '$') {
      text += expression[i];
      continue;
    }
    size_t number = 0;
    while (i + 1 < expression.size() && std::isdigit(static_cast<unsigned char>(expression[i + 1])))
      number = number * 10 + static_cast<size_t>(expression[++i] - '0');
    text += operand(number);
  }
  return text;
}

std::string dim_parameters(const std::vector<Type>& types) {
  std::vector<std::string> names;
  for (Type type : types)
    for_each_dim_var(type, [&](Dim dim) {
      std::string name(dim->name);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    });
  return names.empty() ? "" : fmt::format("[{}]", fmt::join(names, ", "));
}

Type Typer::type_of(std::string_view expression, const std::vector<Term>& operands) {
  std::vector<std::string> parameters;
  std::vector<Type> types;
  for (size_t i = 0; i < operands.size(); ++i) {
    types.push_back(operands[i].type);
    parameters.push_back(fmt::format("%a{}: {}", i, to_string(operands[i].type)));
  }
  // Dims that the expression alone names have to come from somewhere, as they do from the function's inputs.
  for (Dim named : dims_in(expression)) {
    types.push_back(tensor_type(std::span(&named, 1), DType::float32()));
    parameters.push_back(fmt::format("%d{}: {}", parameters.size(), to_string(types.back())));
  }
  const std::string body = with_operands(expression, [](size_t k) { return fmt::format("%a{}", k); });
  const std::string definition =
      fmt::format("def @call{}({}) {{ {} }}", dim_parameters(types), fmt::join(parameters, ", "), body);
  auto [known, is_new] = known_.try_emplace(definition, nullptr);
  if (is_new) known->second = infer(definition);
  if (!known->second) infer(definition);  // reports the same again
  return known->second;
}

Type Typer::infer(const std::string& definition) {
  const SourceId source = session_.add_source(module_, "call", definition);
  std::string problem;
  for (const LocatedDiagnostic& diagnostic : session_.check(source))
    if (problem.empty() && severity_of(diagnostic.kind) == Severity::Error) problem = diagnostic.message;
  Type type = nullptr;
  if (problem.empty()) {
    const Scheme* scheme = session_.scheme(module_, "call");
    if (!scheme || scheme->specialised || !scheme->dtype_vars.empty() || !scheme->type_vars.empty()) {
      problem = fmt::format("the type of `{}` is not determined", definition);
    } else {
      Substitution ours;
      // What stands for a `?` is known within the definition alone.
      for_each_dim_var(scheme->type->result(), [&](Dim own) { ours.dims.try_emplace(own, dim_any()); });
      for (Dim own : scheme->dim_vars)
        if (!own->opened && own->name.find('.') == std::string_view::npos)
          ours.dims[own] = dim(std::string(own->name));
      type = substitute(scheme->type->result(), ours);
    }
  }
  session_.remove_last_source(module_);
  if (!type) throw Refusal(problem);
  return type;
}

TensorPtr Typer::evaluate(const std::string& expression) {
  const SourceId source = session_.add_source(module_, "constant", expression);
  TensorPtr result;
  ExecutionOptions options;
  options.interpret = true;
  options.saves = false;
  if (const auto statements = session_.statements(source);
      statements.size() == 1 && session_.check(source).empty()) {
    Execution execution(session_, module_, options, [](std::string_view) {});
    const StatementResult outcome = execution.run(statements.front());
    if (outcome.value && outcome.type->is_tensor()) result = outcome.value->as_tensor();
  }
  session_.remove_last_source(module_);
  return result;
}

}  // namespace quern::import_text
