// `:summary` and `:table`.

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/base/interrupt.h"
#include "repl/command_files.h"
#include "repl/commands/asked_value.h"
#include "repl/commands/parts.h"
#include "repl/commands/stages.h"
#include "repl/pixels/terminal_pixels.h"
#include "repl/report/command_text.h"
#include "repl/report/layers.h"
#include "repl/report/summary.h"
#include "repl/report/value_table.h"
#include "repl/workspace.h"
#include "session/run/compiler.h"
#include "session/run/execution.h"

namespace quern {

namespace {

bool show_numbers(Workspace& workspace, const StatementResult& result) {
  constexpr size_t kMostRows = 200;
  auto tensors = tensors_in(*result.value, kMostRows + 1);
  if (tensors.empty())
    return workspace.complain(
        fmt::format("`:summary` takes a function `@f`, a call of one, or a value that has tensors, not {}",
                    to_string(result.type)));
  const bool is_cut = tensors.size() > kMostRows;
  if (is_cut) tensors.pop_back();
  const std::string text = summary_text(tensors);
  if (is_interrupted()) return workspace.complain(kInterrupted);
  fmt::print("{}", text);
  if (is_cut) print_line(fmt::format("… the first {}; `:summary` of a part shows its own", kMostRows));
  return true;
}

/// Shows the layers of a function, at the dims of a call.
bool show_layers(Workspace& workspace, const Definition& definition, const Substitution& dims,
                 std::string_view name) {
  const LayerTable table = layers_of(definition, dims, workspace.session().functions());
  if (is_interrupted()) return workspace.complain(kInterrupted);
  if (table.layers.empty()) return workspace.complain(fmt::format("`@{}` calls nothing that computes", name));
  fmt::print("{}", to_text(table));
  // What is typed anew for each use has no program of its own.
  if (!definition.scheme.specialised) {
    const auto plan = workspace.execution().compiler().memory_plan(definition);
    if (!plan) return workspace.complain(plan.error().message);
    print_line(fmt::format("while it runs: {}", peak_text(*plan, dims.dims)));
  }
  if (!table.open_dims.empty())
    print_line(fmt::format("`{}` {} open: `:summary @{}(…)` with arguments of known shapes gives numbers",
                           fmt::join(table.open_dims, "`, `"), table.open_dims.size() == 1 ? "is" : "are",
                           name));
  return true;
}

/// The call, if the whole expression is one of a definition.
const CallExpr* call_of_definition(ExprPtr expr) {
  while (auto* check = as<CheckDimsExpr>(expr)) expr = check->value;
  auto* call = expr ? as<CallExpr>(expr) : nullptr;
  return call && as<GlobalExpr>(call->callee) ? call : nullptr;
}

bool show_layers_of_call(Workspace& workspace, const CallExpr& call) {
  auto* global = as<GlobalExpr>(call.callee);
  const Definition* definition = workspace.session().functions().function(global->module, global->name);
  if (!definition || !as<FnExpr>(definition->body))
    return workspace.complain(fmt::format("`@{}` has errors", global->name));
  Substitution dims;
  for (size_t i = 0; i < global->dims.size(); ++i)
    dims.dims[definition->scheme.dim_vars[i]] = global->dims[i];
  for (size_t i = 0; i < global->types.size(); ++i)
    dims.types[definition->scheme.type_vars[i]] = global->types[i];
  const std::string_view name = global->name.substr(0, global->name.find('{'));
  return show_layers(workspace, *definition, dims, name);
}

/// `@f` and `@f(…)`: shows the layers of a function; otherwise the statistics of a value.
bool show_summary(Workspace& workspace, const std::string& request) {
  const std::string_view asked = trimmed(request), name = global_name(asked);
  if (!name.empty())
    return with_definition(workspace, asked, "`:summary`", [&](const Definition& definition) {
      return show_layers(workspace, definition, {}, name);
    });
  return workspace.with_expression(request, "`:summary`", [&](DeclarationId statement) {
    const bool is_call = !called_name(asked).empty();
    const ExprPtr body = workspace.session().inferred_statement(statement).definition.body;
    if (const CallExpr* call = is_call ? call_of_definition(body) : nullptr)
      return show_layers_of_call(workspace, *call);
    return use_value(workspace, statement,
                     [&](const StatementResult& result) { return show_numbers(workspace, result); });
  });
}

bool show_table(Workspace& workspace, const std::string& request) {
  static constexpr std::array<std::string_view, 1> kFiles{".csv"};
  constexpr int kMostRows = 20;
  const auto asked = asked_for(workspace, request, ":table", kFiles);
  if (!asked) return false;
  return with_value(workspace, asked->expressions, "`:table`", [&](const StatementResult& result) {
    const auto table = table_of(*result.value);
    if (is_interrupted()) return workspace.complain(kInterrupted);
    if (!table)
      return workspace.complain(
          fmt::format("`:table` takes {}; this is {}", table.error().message, to_string(result.type)));
    if (!asked->file.empty()) {
      const std::string csv = to_csv(*table);
      if (is_interrupted()) return workspace.complain(kInterrupted);
      const auto written = write_file(asked->file, csv);
      return written || workspace.complain(written.error().message);
    }
    const auto terminal = terminal_size(stdout);
    fmt::print("{}",
               to_text(*table, workspace.style(), terminal ? rows_beside_prompt(terminal->rows) : kMostRows));
    return true;
  });
}

}  // namespace

std::span<const ReplCommand> commands_of_tables() {
  static constexpr ReplCommand kRows[] = {
      {":summary", "EXPR", Takes::Expression, About::Pictures,
       "range, mean, quantiles, zeros, NaN and Inf of a tensor, or of each one in a value; of @f and "
       "@f(ARGS) the "
       "layers",
       as_command<show_summary>},
      {":table", "EXPR [> FILE]", Takes::Expression, About::Pictures,
       "a matrix, vectors of one length, or a list of records as a table; into a `.csv`",
       as_command<show_table>},
  };
  return kRows;
}

}  // namespace quern
