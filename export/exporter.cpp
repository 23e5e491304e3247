#include "export/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "export/lower/lowering.h"
#include "import/text/refusal.h"
#include "passes/pipeline.h"

namespace quern::onnx {

namespace {

using import_text::Refusal;

constexpr int64_t kOpset = 17;

/// A name as ONNX's users write it, without the characters that files of graphs avoid.
std::string path_of(const std::string& path, std::string_view field, size_t index) {
  const std::string own = field.empty() ? std::to_string(index) : std::string(field);
  return path.empty() ? own : path + "." + own;
}

class Exporter {
 public:
  Exporter(Session& session, const ExportRequest& request)
      : session_(session), request_(request), lowering_(names_, session.functions()) {}

  Exported run() {
    const Definition* definition = session_.definition(request_.module, request_.function);
    if (!definition || !definition->body || definition->body->kind != ExprKind::Fn)
      return refused(fmt::format("there is no function `@{}`", request_.function));
    origin_ = definition->body->origin;
    const Optimised flat = unfolded(*definition);
    const auto* function = as<FnExpr>(flat.expr);
    if (!function) return refused("it is not a function any more");
    try {
      for (const Variable* parameter : function->params) bind(*parameter);
      results(function->body->type, lowering_.lower(function->body));
    } catch (const Refusal& refusal) {
      return refused(refusal.what());
    }
    if (!lowering_.problems().empty()) return with_problems();
    return finished();
  }

 private:
  Exported refused(std::string why) { return {{}, {std::move(why)}}; }

  Optimised unfolded(const Definition& definition) {
    std::vector<Pass> passes;
    for (const char* name :
         {"local_functions", "gradient", "partial_eval", "to_anf", "forward_fields", "dead_code"})
      passes.push_back(*find_pass(name));
    return run_passes(definition, session_.functions(), passes);
  }

  void bind(const Variable& parameter) {
    const auto known = request_.values.find(std::string(parameter.name));
    if (known != request_.values.end())
      return lowering_.bind(&parameter, constant(known->second, std::string(weights_path(parameter))));
    GraphValue value = input(parameter.type, std::string(parameter.name), origin_);
    lowering_.bind_extents(parameter.type, value);
    lowering_.bind(&parameter, std::move(value));
  }

  /// Weights have the names of their fields alone, as in their file.
  std::string_view weights_path(const Variable& parameter) const {
    return parameter.type->is_tensor() ? parameter.name : std::string_view();
  }

  GraphValue constant(const Value& value, const std::string& path) {
    if (const TensorPtr tensor = value.as_tensor()) return {lowering_.graph().tensor(tensor, path), {}};
    const auto* fields = value.fields();
    if (!fields) throw Refusal(fmt::format("`{}` is a value that ONNX has no constants of", path));
    const auto* data = value.object_as<DataObject>();
    if (data && data->constructor.siblings.size() != 1)
      throw Refusal(fmt::format("ONNX has no data types such as `{}`", data->constructor.type));
    GraphValue all;
    for (size_t i = 0; i < fields->size(); ++i) {
      const std::string_view name = data ? data->constructor.fields[i] : std::string_view();
      all.fields.push_back(constant((*fields)[i], path_of(path, name, i)));
    }
    return all;
  }

  GraphValue input(Type type, const std::string& path, Origin origin) {
    if (type->is_tensor()) {
      Name name = names_.fresh(path);
      inputs_.push_back(port_of(name, type));
      return {name, {}};
    }
    GraphValue all;
    if (type->kind == TypeKind::Tuple) {
      for (size_t i = 0; i < type->args.size(); ++i)
        all.fields.push_back(input(type->args[i], path_of(path, "", i), origin));
      return all;
    }
    const auto constructors = session_.functions().constructors(origin, type);
    if (constructors.size() != 1)
      throw Refusal(fmt::format("`%{}`: ONNX has no inputs of the type `{}`", path, to_string(type)));
    for (size_t i = 0; i < constructors[0].fields.size(); ++i)
      all.fields.push_back(
          input(constructors[0].fields[i], path_of(path, constructors[0].constructor->fields[i], i), origin));
    return all;
  }

  /// Each result is made by a node of its own, so that its name is its own.
  void results(Type type, const GraphValue& value) {
    if (value.fields.empty() && type->is_tensor()) {
      const Name name = names_.fresh(outputs_ == 0 ? "output" : fmt::format("output_{}", outputs_));
      ++outputs_;
      lowering_.graph().add("Identity", {value.tensor}, {name});
      lowering_.graph().graph().outputs.push_back(port_of(name, type));
      return;
    }
    if (type->kind == TypeKind::Tuple)
      for (size_t i = 0; i < value.fields.size(); ++i) results(type->args[i], value.fields[i]);
    else
      throw Refusal(fmt::format("ONNX has no results of the type `{}`", to_string(type)));
  }

  Exported with_problems() {
    Exported exported;
    for (const Lowering::Problem& problem : lowering_.problems()) {
      const LocatedDiagnostic at =
          session_.locate({DiagnosticKind::InputProblem, {problem.origin, {}}, problem.text, {}});
      const auto line = 1 + std::ranges::count(at.text.substr(0, at.range.begin), '\n');
      exported.problems.push_back(fmt::format("{}:{}: {}", at.file, line, problem.text));
    }
    return exported;
  }

  Exported finished() {
    Graph& graph = lowering_.graph().graph();
    graph.name = request_.function;
    graph.inputs = inputs_;
    name_results(graph);
    std::set<Name> used;
    keep_used(graph, used);
    Exported exported;
    exported.model.opset = kOpset;
    exported.model.producer = "Quern";
    exported.model.graph = std::make_shared<Graph>(std::move(graph));
    return exported;
  }

  /// Gives the nodes that make the results their names, where a value is only one of them.
  static void name_results(Graph& graph) {
    std::map<Name, Name> renamed;
    std::erase_if(graph.nodes, [&](const Node& node) {
      const bool is_result = node.op == "Identity" && is_output(graph, node.outputs[0]);
      return is_result && is_made(graph, node.inputs[0]) &&
             renamed.emplace(node.inputs[0], node.outputs[0]).second;
    });
    rename(graph, renamed);
  }
  static bool is_output(const Graph& graph, const Name& name) {
    return std::ranges::find(graph.outputs, name, &Port::name) != graph.outputs.end();
  }
  static bool is_made(const Graph& graph, const Name& name) {
    return std::ranges::any_of(graph.nodes, [&](const Node& node) {
      return std::ranges::find(node.outputs, name) != node.outputs.end();
    });
  }
  static void rename(Graph& graph, const std::map<Name, Name>& renamed) {
    const auto change = [&](Name& name) {
      if (const auto other = renamed.find(name); other != renamed.end()) name = other->second;
    };
    for (Node& node : graph.nodes) {
      std::ranges::for_each(node.inputs, change);
      std::ranges::for_each(node.outputs, change);
      for (auto& [name, value] : node.attributes)
        if (auto* inner = std::get_if<GraphPtr>(&value)) {
          auto copy = std::make_shared<Graph>(**inner);
          rename(*copy, renamed);
          *inner = std::move(copy);
        }
    }
  }

  /// Drops the nodes and constants that no result needs, and adds what the others take to `used`.
  static void keep_used(Graph& graph, std::set<Name>& used) {
    for (const Port& output : graph.outputs) used.insert(output.name);
    std::vector<Node> kept;
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
      if (std::ranges::none_of(node->outputs, [&](const Name& name) { return used.contains(name); }))
        continue;
      used.insert(node->inputs.begin(), node->inputs.end());
      for (auto& [name, value] : node->attributes)
        if (auto* inner = std::get_if<GraphPtr>(&value)) {
          auto copy = std::make_shared<Graph>(**inner);
          keep_used(*copy, used);
          *inner = std::move(copy);
        }
      kept.push_back(std::move(*node));
    }
    graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    std::erase_if(graph.initializers, [&](const auto& entry) { return !used.contains(entry.first); });
  }

  Session& session_;
  const ExportRequest& request_;
  Names names_;
  Lowering lowering_;
  Origin origin_;  ///< of the function, whose module knows the types of its parameters
  std::vector<Port> inputs_;
  size_t outputs_ = 0;
};

}  // namespace

Exported export_function(Session& session, const ExportRequest& request) {
  return Exporter(session, request).run();
}

}  // namespace quern::onnx
