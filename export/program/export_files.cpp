#include "export/program/export_files.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "export/exporter.h"
#include "export/graph/write_model.h"
#include "frontend/text/render.h"
#include "session/run/data_values.h"
#include "session/run/execution.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class FileExport {
 public:
  explicit FileExport(const ExportFiles& request) : request_(request) {}

  std::vector<std::string> run() {
    fs::path output = request_.output;
    if (output.empty()) output = fs::path(request_.text).filename().replace_extension(".onnx");
    if (!request_.overwrites && fs::exists(output))
      return {fmt::format("`{}` is there already; `--force` writes over it", output.string())};
    if (auto problems = open(); !problems.empty()) return problems;
    if (auto problems = find_values(); !problems.empty()) return problems;
    Exported exported = export_function(session_, wanted_);
    if (!exported.problems.empty()) return std::move(exported.problems);
    if (const auto written = write_model(exported.model, output.string()); !written)
      return {written.error().message};
    const Graph& graph = *exported.model.graph;
    fmt::print("wrote {} ({}, {}, {})\n", output.string(), counted(graph.nodes.size(), "node"),
               counted(graph.inputs.size(), "input"), counted(graph.initializers.size(), "constant"));
    return {};
  }

 private:
  std::vector<std::string> open() {
    const auto source = session_.find_file(request_.text);
    if (!source) return {fmt::format("`{}` cannot be read", request_.text)};
    source_ = *source;
    wanted_.module = session_.module_of(source_);
    wanted_.function = request_.function.substr(request_.function.starts_with("@") ? 1 : 0);
    const auto problems = session_.check_with_imports(source_);
    if (has_errors(problems))
      return {fmt::format("`{}` has errors:\n{}", request_.text, render_all(problems, false))};
    const Definition* definition = session_.definition(wanted_.module, wanted_.function);
    function_ = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!function_) return {fmt::format("`{}` has no function `@{}`", request_.text, wanted_.function)};
    return {};
  }

  /// The values of parameters: those that are given, and those of top-level variables with their names.
  std::vector<std::string> find_values() {
    std::map<std::string, std::string> given;
    if (!request_.params.empty()) given["params"] = request_.params;
    for (const std::string& text : request_.constants) {
      const size_t equals = text.find('=');
      if (equals == 0 || equals == std::string::npos)
        return {fmt::format("`--constant {}` has to be NAME=FILE or NAME=NUMBER", text)};
      given[text.substr(0, equals)] = text.substr(equals + 1);
    }
    const auto lookup = [&](Type type) { return session_.data(wanted_.module, type); };
    std::set<std::string> open;
    for (const Variable* parameter : function_->params) {
      const std::string name(parameter->name);
      const auto file = given.extract(name);
      if (file.empty()) {
        open.insert(name);
        continue;
      }
      auto value = input_value(file.mapped(), parameter->type, lookup);
      if (!value) return {fmt::format("`%{}`: {}", name, value.error().message)};
      wanted_.values.emplace(name, std::move(*value));
    }
    if (!given.empty())
      return {fmt::format("`@{}` has no parameter `%{}`", wanted_.function, given.begin()->first)};
    return run_statements(open);
  }

  std::vector<std::string> run_statements(const std::set<std::string>& open) {
    const std::vector<DeclarationId> statements = session_.statements(source_);
    size_t count = 0;
    for (size_t i = 0; i < statements.size(); ++i)
      for (const auto& variable : session_.statement_variables(statements[i]))
        if (open.contains(std::string(variable->variable->name))) count = i + 1;
    ExecutionOptions options;
    options.saves = false;
    Execution execution(session_, wanted_.module, options, [](std::string_view) {});
    for (size_t i = 0; i < count; ++i) {
      const StatementResult result = execution.run(statements[i]);
      if (result.failure) return {render_all({*result.failure}, false)};
      for (const auto& variable : session_.statement_variables(statements[i]))
        keep(*variable->variable, execution);
    }
    return {};
  }

  void keep(const Variable& variable, const Execution& execution) {
    for (const Variable* parameter : function_->params)
      if (parameter->name == variable.name && parameter->type == variable.type)
        wanted_.values.insert_or_assign(std::string(variable.name), *execution.value_of(&variable));
  }

  const ExportFiles& request_;
  Session session_;
  SourceId source_ = 0;
  ExportRequest wanted_;
  const FnExpr* function_ = nullptr;
};

}  // namespace

std::vector<std::string> export_files(const ExportFiles& request) { return FileExport(request).run(); }

}  // namespace quern::onnx
