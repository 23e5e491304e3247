#include "ide/gradient_text.h"

#include <fmt/format.h>

#include "passes/pipeline.h"

namespace quern::ide {

std::optional<std::string> gradient_definition(const Definition& function, std::string_view name) {
  auto* fn = as<FnExpr>(function.body);
  if (!fn) return std::nullopt;
  std::string dims, params, args;
  for (Dim dim : function.scheme.dim_vars) dims += (dims.empty() ? "" : ", ") + to_string(dim);
  for (Type type : function.scheme.type_vars) dims += (dims.empty() ? "" : ", ") + to_string(type);
  for (const Variable* param : fn->params) {
    params += fmt::format("{}%{}: {}", params.empty() ? "" : ", ", param->name, to_string(param->type));
    args += fmt::format("{}%{}", args.empty() ? "" : ", ", param->name);
  }
  return fmt::format("def @{}{}({}) {{ grad(@{})({}) }}", name, dims.empty() ? "" : "[" + dims + "]", params,
                     function.name, args);
}

std::optional<std::string> derived_definition(Session& session, ModuleId module, std::string_view name) {
  const Definition* made = session.definition(module, name);
  if (!made) return std::nullopt;
  const Optimised simple = optimise(*made, session.functions(), "dead_code");
  if (!simple.expr) return std::nullopt;
  Definition shown = *made;
  shown.body = simple.expr;
  shown.arena = simple.arena;
  const std::string text = session.typed_text(shown, module).text;
  const size_t begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n");
  return begin == std::string::npos ? std::nullopt : std::optional(text.substr(begin, end - begin + 1));
}

}  // namespace quern::ide
