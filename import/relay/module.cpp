#include "import/relay/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "import/relay/function_text.h"
#include "import/relay/module_names.h"
#include "import/text/refusal.h"
#include "session/db/data_files.h"
#include "session/session.h"

namespace quern::relay_import {

using import_text::Imported;
using import_text::Refusal;

namespace {

struct Definition {
  std::string name;
  size_t function;
};

class ModuleText {
 public:
  ModuleText(const ObjectGraph& graph, const ModuleOptions& options)
      : graph_(graph), options_(options), names_(graph) {}

  /// The text with TVM's header and metadata.
  std::string run() {
    functions_ = functions_of_root();
    std::string types;
    if (graph_.is(graph_.root(), "IRModule"))
      for (const auto& [header, type] : graph_.pairs(graph_.object(graph_.root(), "type_definitions")))
        types += data_type(type);
    if (const auto main = std::ranges::find(functions_, "main", &Definition::name); main != functions_.end())
      bind(main->function);
    if (!options_.params.empty() && record_.empty())
      throw Refusal("`@main` has no parameter with the name of one of the tensors in the file of parameters");
    std::string text = "#[version = \"0.0.5\"]\n" + types + record_;
    for (const auto& [name, function] : functions_)
      text += definition_text(names_, name, function, name == "main" ? bound_ : Bound{});
    return text + graph_.metadata(names_.metadata());
  }

  const std::vector<Definition>& functions() const { return functions_; }
  const Bound& bound() const { return bound_; }
  /// The entries of the record.
  const Entries<TensorPtr>& weights() const { return weights_; }

 private:
  std::vector<Definition> functions_of_root() {
    const size_t root = graph_.root();
    std::vector<Definition> functions;
    if (graph_.is(root, "relay.Function")) return {{"main", root}};
    if (!graph_.is(root, "IRModule"))
      throw Refusal(fmt::format("the root is of the kind `{}`, neither a module nor a function of Relay",
                                graph_[root].kind));
    for (const auto& [global, function] : graph_.pairs(graph_.object(root, "functions"))) {
      const std::string name = names_.global(global);
      if (!graph_.is(function, "relay.Function"))
        throw Refusal(fmt::format(
            "`@{}` is of the kind `{}`, no function of Relay: the module is of before or behind it", name,
            graph_[function].kind));
      functions.push_back({name, function});
    }
    if (functions.empty()) throw Refusal("the module has no functions");
    // TVM's order is that of a hash; `@main` is last, as in what people write.
    std::ranges::sort(functions, {}, [](const Definition& d) { return std::pair(d.name == "main", d.name); });
    return functions;
  }

  std::string data_type(size_t type) {
    std::vector<std::string> variables, constructors, dims;
    for (const size_t variable : graph_.list(type, "type_vars"))
      variables.push_back(names_.type_variable(variable));
    for (const size_t constructor : graph_.list(type, "constructors")) {
      std::vector<std::string> fields;
      for (const size_t field : graph_.list(constructor, "inputs"))
        fields.push_back(type_text(names_, field, dims));
      const std::string name = names_.data(constructor);
      constructors.push_back(fields.empty() ? name : fmt::format("{}({})", name, fmt::join(fields, ", ")));
    }
    const std::string name = names_.data(graph_.part(type, "header"));
    const std::string scheme = variables.empty() ? "" : fmt::format("[{}]", fmt::join(variables, ", "));
    if (constructors.empty()) return fmt::format("extern type {}{}\n", name, scheme);
    return fmt::format("type {}{} {{ {} }}\n", name, scheme, fmt::join(constructors, ", "));
  }

  /// The parameters of `@main` that the file of parameters has, as a record.
  void bind(size_t main) {
    import_text::Names taken;
    std::vector<std::string> fields;
    for (const size_t var : graph_.list(main, "params")) {
      const std::string name = graph_.string(graph_.part(var, "vid"), "name_hint");
      const auto found =
          std::ranges::find(options_.params, name, [](const auto& entry) { return entry.first; });
      if (found == options_.params.end() || bound_.fields.contains(name)) continue;
      const std::string field = bound_.fields[name] = taken.unique(import_text::identifier(name, "weight"));
      const TensorPtr& tensor = found->second;
      fields.push_back(fmt::format("{}: {}", field, type_to_string(tensor->dtype(), tensor->shape())));
      weights_.emplace_back(field, tensor);
    }
    if (fields.empty()) return;
    bound_.type = names_.unique_data("Weights");
    record_ = fmt::format("type {0} {{ {0}({1}) }}\n", bound_.type, fmt::join(fields, ", "));
  }

  const ObjectGraph& graph_;
  const ModuleOptions& options_;
  ModuleNames names_;
  std::vector<Definition> functions_;
  Bound bound_;
  std::string record_;  ///< its declaration
  Entries<TensorPtr> weights_;
};

/// What the checker says, with the line that it says it of.
std::vector<std::string> problems_of(const std::vector<LocatedDiagnostic>& found) {
  constexpr size_t kMostShown = 20, kLongest = 120;
  std::vector<std::string> problems;
  const bool damaged =
      std::ranges::find(found, DiagnosticKind::MetadataProblem, &LocatedDiagnostic::kind) != found.end();
  for (const LocatedDiagnostic& diagnostic : found) {
    if (severity_of(diagnostic.kind) != Severity::Error) continue;
    // What cannot be read has no type either.
    if (damaged && diagnostic.kind != DiagnosticKind::MetadataProblem) continue;
    if (problems.size() == kMostShown) {
      problems.emplace_back("there are more");
      break;
    }
    const size_t at = std::min<size_t>(diagnostic.range.begin, diagnostic.text.size());
    const size_t before = at == 0 ? std::string_view::npos : diagnostic.text.rfind('\n', at - 1);
    std::string_view line = diagnostic.text.substr(before == std::string_view::npos ? 0 : before + 1);
    line = line.substr(0, std::min(line.find('\n'), kLongest));
    problems.push_back(line.starts_with('{') ? diagnostic.message
                                             : fmt::format("{} (`{}`)", diagnostic.message, line));
  }
  return problems;
}

/// The statement that gives `@main` its record, before `@main`.
std::string with_load(std::string text, const Bound& bound, const std::string& weights) {
  if (bound.fields.empty()) return text;
  const size_t main = std::min(text.find("\ndef @main("), text.find("\ndef @main["));
  text.insert(main + 1, fmt::format("let %params: {} = load(\"{}\");\n\n", bound.type, weights));
  return text;
}

}  // namespace

Imported import_module(const ObjectGraph& graph, const ModuleOptions& options) {
  Imported imported;
  try {
    ModuleText module(graph, options);
    const std::string text = module.run();
    Session session;
    const ModuleId checked = session.make_module();
    const SourceId source = session.add_source(checked, "module.relay", text);
    imported.problems = problems_of(session.check_with_imports(source));
    // A function with a value of no one type is checked where it is called, and here nothing calls it.
    if (imported.problems.empty())
      for (const auto& [name, _] : module.functions())
        if (!session.definition(checked, name))
          imported.problems.push_back(fmt::format("`@{}` has a value whose type is not known", name));
    if (!imported.problems.empty()) return imported;
    const TypedText typed = session.typed_text(source);
    imported.weights = module.weights();
    size_t count = 0;
    for (const auto& tensor : typed.constants.tensors())
      imported.weights.emplace_back(constant_entry(count++, tensor->dtype()),
                                    std::const_pointer_cast<HostTensor>(tensor));
    imported.text =
        fmt::format("// {}\n\n{}", options.source, with_load(typed.text, module.bound(), options.weights));
  } catch (const Refusal& refusal) {
    imported.problems = {refusal.what()};
  }
  return imported;
}

}  // namespace quern::relay_import
