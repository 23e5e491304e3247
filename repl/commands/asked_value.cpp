#include "repl/commands/asked_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/interrupt.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

bool with_value(Workspace& workspace, const std::string& expression, std::string_view command,
                const std::function<bool(const StatementResult&)>& show) {
  return workspace.with_expression(
      expression, command, [&](DeclarationId statement) { return use_value(workspace, statement, show); });
}

bool use_value(Workspace& workspace, DeclarationId statement,
               const std::function<bool(const StatementResult&)>& show) {
  const StatementResult result = workspace.execution().run(statement);
  if (is_interrupted()) return workspace.complain(kInterrupted);
  if (!result.failure) return show(result);
  workspace.print_problems({*result.failure});
  return false;
}

std::optional<Asked> asked_for(Workspace& workspace, const std::string& request, std::string_view command,
                               std::span<const std::string_view> endings) {
  if (const std::string why = wrong_ending(request, command, endings); !why.empty()) {
    workspace.complain(why);
    return std::nullopt;
  }
  const auto [expressions, file] = with_file(request, endings);
  const std::string_view last = expressions.substr(expressions.find_last_of(" \t\n") + 1);
  const auto is_ending = [&](std::string_view ending) { return last.ends_with(ending); };
  if (file.empty() && std::ranges::any_of(endings, is_ending)) {
    workspace.complain(fmt::format("write `{} EXPR > {}`", command, last));
    return std::nullopt;
  }
  return Asked{std::string(expressions), std::string(file)};
}

}  // namespace quern
