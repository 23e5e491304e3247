#include "import/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "import/node/model_names.h"
#include "import/onnx/recognise.h"
#include "import/operators/fold_constants.h"
#include "import/operators/table.h"
#include "import/tensorflow/graph.h"
#include "import/tensorflow/operators/table.h"
#include "import/text/functions.h"
#include "session/session.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// More are no model that a person would read.
constexpr size_t kMostNodes = 200'000;

/// The operator sets whose meaning the table has.
constexpr int64_t kOldestOpset = 1, kNewestOpset = 21;

/// Values by the names that a graph and those around it give them.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}
  const Term* find(const std::string& name) const {
    auto found = terms_.find(name);
    return found != terms_.end() ? &found->second : outer_ ? outer_->find(name) : nullptr;
  }
  void set(const std::string& name, Term term) { terms_.insert_or_assign(name, std::move(term)); }

 private:
  const Scope* outer_;
  std::map<std::string, Term> terms_;
};

/// The names that nodes of a graph use, with those that graphs inside of it use.
void add_used(const Graph& graph, std::set<std::string, std::less<>>& used) {
  for (const Node& node : graph.nodes) {
    used.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& [name, value] : node.attributes)
      if (const auto* inner = std::get_if<GraphPtr>(&value)) add_used(**inner, used);
  }
  for (const Port& output : graph.outputs) used.insert(output.name);
}

/// Which nodes the outputs need.
std::vector<bool> needed_nodes(const Graph& graph) {
  std::set<std::string, std::less<>> needed;
  for (const Port& output : graph.outputs) needed.insert(output.name);
  std::vector<bool> result(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    result[i] =
        std::ranges::any_of(node.outputs, [&](const std::string& name) { return needed.contains(name); });
    if (!result[i]) continue;
    needed.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& [name, value] : node.attributes)
      if (const auto* inner = std::get_if<GraphPtr>(&value)) add_used(**inner, needed);
  }
  return result;
}

/// Writes a node as its domain's operators are written.
void convert_node(Call& call) {
  const std::string& domain = call.node().domain;
  if (domain == tensorflow::kDomain) return tensorflow::convert(call);
  if (!domain.empty()) throw Refusal(fmt::format("is of the domain `{}`, which is not known", domain));
  convert(call);
}

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options)
      : model_(model), options_(options), opset_(model.opset) {}

  Imported run() {
    check_model();
    if (problems_.empty()) write();
    if (!problems_.empty()) return {"", {}, std::move(problems_)};
    return std::move(result_);
  }

 private:
  void problem(std::string line) {
    if (std::ranges::find(problems_, line) == problems_.end()) problems_.push_back(std::move(line));
  }

  void check_model() {
    const Graph& graph = *model_.graph;
    if (model_.opset < kOldestOpset || model_.opset > kNewestOpset)
      problem(fmt::format("the model is of operator set {}; {} to {} are known", model_.opset, kOldestOpset,
                          kNewestOpset));
    if (graph.nodes.size() > kMostNodes)
      problem(fmt::format("the graph has {} nodes; up to {} are read", graph.nodes.size(), kMostNodes));
    if (graph.outputs.empty()) problem("the graph has no outputs");
    for (const auto& [name, shape] : options_.shapes) check_input(name, "--shape");
    for (const auto& [name, value] : options_.constants) check_input(name, "--constant");
    for (const auto* ports : {&graph.inputs, &graph.outputs})
      for (const Port& port : *ports)
        if (!port.fault.empty())
          problem(fmt::format("`{}` is {}, which has no counterpart", port.name, port.fault));
  }

  void check_input(const std::string& name, std::string_view option) {
    const auto& inputs = model_.graph->inputs;
    if (std::ranges::any_of(inputs, [&](const Port& port) { return port.name == name; })) return;
    problem(fmt::format("{}: the model has no input `{}`", option, name));
  }

  /// The type of an input of the model.
  Type input_type(const Port& port) {
    std::vector<Dim> dims;
    if (auto given = options_.shapes.find(port.name); given != options_.shapes.end()) {
      for (const std::string& extent : given->second) dims.push_back(given_extent(port, extent));
    } else if (port.shape) {
      for (size_t i = 0; i < port.shape->size(); ++i) dims.push_back(extent_of((*port.shape)[i], port, i));
    } else {
      throw Refusal(fmt::format("the input `{}` has no shape: give it with `--shape {}=1,3,224,224`",
                                port.name, port.name));
    }
    if (!port.dtype) throw Refusal(fmt::format("the input `{}` has no dtype", port.name));
    return tensor_type(dims, *port.dtype);
  }

  /// The dim of a symbol: symbols that differ have dims that differ, even where their letters are the same.
  Dim dim_of(const std::string& symbol, const std::string& hint) {
    auto [known, is_new] = symbols_.try_emplace(symbol);
    if (is_new) known->second = dim_names_.unique(hint);
    return typer_.dim(known->second);
  }

  /// An extent of `--shape`.
  Dim given_extent(const Port& port, const std::string& text) {
    if (!is_number(text)) return dim_of(text, identifier(text, "n"));
    constexpr size_t kMostDigits = 18;
    if (text.size() > kMostDigits)
      throw Refusal(fmt::format("--shape {}: the extent {} is too large", port.name, text));
    return dim_const(std::stoll(text));
  }

  /// A dim for each symbol; one without a name is of its own.
  Dim extent_of(const Extent& extent, const Port& port, size_t axis) {
    if (const auto* number = std::get_if<int64_t>(&extent)) return dim_const(*number);
    const std::string& symbol = std::get<std::string>(extent);
    if (symbol.empty())
      return dim_of(fmt::format("{}[{}]", port.name, axis),
                    fmt::format("{}_{}", identifier(port.name, "input"), axis));
    return dim_of(symbol, identifier(symbol, fmt::format("n{}", axis)));
  }

  void write() {
    const Graph graph = with_layers(*model_.graph);
    Scope scope;
    Writer writer(document_);
    std::vector<std::string> parameters;
    std::vector<Type> types;
    document_.names.unique("params");
    for (const Port& port : graph.inputs) {
      if (graph.initializers.contains(port.name)) continue;
      if (auto given = options_.constants.find(port.name); given != options_.constants.end()) {
        scope.set(port.name, constant_term(given->second, port.name));
        continue;
      }
      try {
        const Term term = writer.variable(identifier(port.name, "input"), input_type(port));
        parameters.push_back(fmt::format("{}: {}", term.text, to_string(term.type)));
        types.push_back(term.type);
        scope.set(port.name, term);
      } catch (const Refusal& refusal) {
        problem(refusal.what());
      }
    }
    if (!problems_.empty()) return;
    const auto results = write_graph(graph, scope, writer);
    if (!problems_.empty()) return;
    compose(parameters, types, writer, results);
  }

  /// Writes the nodes of a graph; its results.
  std::vector<Term> write_graph(const Graph& graph, Scope& scope, Writer& writer) {
    for (const auto& [name, tensor] : graph.initializers)
      scope.set(name, constant_term(tensor, is_nameless(name) ? "" : name));
    const auto needed = needed_nodes(graph);
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (needed[i]) write_node(graph.nodes[i], scope, writer);
    std::vector<Term> results;
    for (const Port& output : graph.outputs) {
      const Term* term = scope.find(output.name);
      if (!term || (!term->type && problems_.empty()))
        problem(fmt::format("nothing computes the output `{}`", output.name));
      results.push_back(term ? *term : Term());
    }
    return results;
  }

  bool is_known(const Node& node) const {
    if (node.domain == tensorflow::kDomain) return tensorflow::find_operator(node.op) != nullptr;
    return !node.domain.empty() || find_operator(node.op) != nullptr;
  }

  static std::string place_of(const Node& node) {
    const std::string& name = !node.name.empty()     ? node.name
                              : node.outputs.empty() ? node.name
                                                     : node.outputs.front();
    return fmt::format("{} `{}`", node.own_op(), name);
  }

  void write_node(const Node& node, Scope& scope, Writer& writer) {
    // A function or a loop's graph is written at each of its places, so that a small file can have any number of nodes.
    if (++written_ > kMostNodes) {
      problem(fmt::format("with what its functions and graphs stand for, the model has more than {} nodes",
                          kMostNodes));
      return;
    }
    std::vector<Term> inputs;
    for (const std::string& name : node.inputs) {
      const Term* term = name.empty() ? nullptr : scope.find(name);
      if (!name.empty() && !term) {
        problem(fmt::format("{}: no node before it computes `{}`", place_of(node), name));
        for (const std::string& output : node.outputs) scope.set(output, Term());
        return;
      }
      // What could not be written has been reported; what is unknown is reported with it.
      if (term && !term->type) {
        if (!is_known(node)) problem(fmt::format("{}: this operator has no counterpart", place_of(node)));
        for (const std::string& output : node.outputs) scope.set(output, Term());
        return;
      }
      inputs.push_back(term ? *term : Term());
      if (is_anonymous(inputs.back())) inputs.back().name = role_name(node, inputs.size() - 1);
    }
    if (auto function = model_.functions.find({node.domain, node.op}); function != model_.functions.end())
      return inline_function(node, function->second, inputs, scope, writer);
    writer.enter(scope_of(node));
    while (!inputs.empty() && !inputs.back().type) inputs.pop_back();
    const auto place = in_loop_ ? std::nullopt : std::optional(written_);
    if (auto constant = fold_constants(node, opset_, place, inputs, typer_, convert_node)) {
      scope.set(node.outputs[0], *std::move(constant));
      return;
    }
    const bool was_in_loop = in_loop_;
    Call call(node, opset_, place, std::move(inputs), writer,
              [&](const Graph& graph, const std::vector<Term>& terms) {
                in_loop_ = was_in_loop || node.op != "If";
                return write_block(graph, terms, scope);
              });
    try {
      convert_node(call);
    } catch (const Refusal& refusal) {
      problem(fmt::format("{}: {}", place_of(node), refusal.what()));
    } catch (const std::out_of_range&) {
      problem(fmt::format("{}: a list of its attributes is too short", place_of(node)));
    }
    in_loop_ = was_in_loop;
    for (size_t i = 0; i < node.outputs.size(); ++i) scope.set(node.outputs[i], call.outputs()[i]);
  }

  static bool is_left_out(const Function& function, const std::string& name,
                          const std::vector<Term>& inputs) {
    const auto place = std::ranges::find(function.inputs, name) - function.inputs.begin();
    return place < std::ssize(function.inputs) &&
           (place >= std::ssize(inputs) || !inputs[static_cast<size_t>(place)].type);
  }

  /// Writes the nodes of a function of the model in the place of its call.
  void inline_function(const Node& call, const Function& function, const std::vector<Term>& inputs,
                       Scope& scope, Writer& writer) {
    constexpr int kDeepest = 32;
    Scope inner;
    if (depth_ == kDeepest)
      return problem(fmt::format("{}: functions call each other too deep", place_of(call)));
    for (size_t i = 0; i < function.inputs.size(); ++i)
      inner.set(function.inputs[i], i < inputs.size() ? inputs[i] : Term());
    const int64_t opset = std::exchange(opset_, function.opset != 0 ? function.opset : opset_);
    ++depth_;
    for (Node node : function.nodes) {
      if (written_ > kMostNodes) break;
      for (std::string& input : node.inputs)
        if (const Term* term = inner.find(input); term && !term->type && is_left_out(function, input, inputs))
          input.clear();
      for (auto attribute = node.attributes.begin(); attribute != node.attributes.end();) {
        const auto* reference = std::get_if<AttributeReference>(&attribute->second);
        auto given = reference ? call.attributes.find(reference->name) : call.attributes.end();
        if (given != call.attributes.end()) attribute->second = given->second;
        attribute = reference && given == call.attributes.end() ? node.attributes.erase(attribute)
                                                                : std::next(attribute);
      }
      write_node(node, inner, writer);
    }
    --depth_;
    opset_ = opset;
    for (size_t i = 0; i < call.outputs.size() && i < function.outputs.size(); ++i) {
      const Term* term = inner.find(function.outputs[i]);
      scope.set(call.outputs[i], term ? *term : Term());
    }
  }

  Block write_block(const Graph& graph, const std::vector<Term>& inputs, const Scope& outer) {
    Scope scope(&outer);
    for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i)
      scope.set(graph.inputs[i].name, inputs[i]);
    Writer writer(document_);
    Block block;
    block.results = write_graph(graph, scope, writer);
    std::vector<std::string> parts;
    for (const Term& result : block.results) {
      if (!result.type) throw Refusal("a graph inside of it could not be written");
      parts.push_back(writer.operand(result));
    }
    block.text = block_of(writer.lines(),
                          parts.size() == 1 ? parts.front() : fmt::format("({})", fmt::join(parts, ", ")));
    for (const Line& line : writer.lines()) block.lines += to_string(line) + "\n";
    block.parts = std::move(parts);
    return block;
  }

  void compose(std::vector<std::string> parameters, const std::vector<Type>& types, Writer& writer,
               const std::vector<Term>& results) {
    std::vector<std::string> parts, part_types;
    for (const Term& result : results) {
      parts.push_back(writer.operand(result));
      part_types.push_back(to_string(result.type));
    }
    const bool is_single = parts.size() == 1;
    auto record = weights_.record();
    const std::string result = is_single ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
    const auto lines = with_functions(used_lines(writer.lines(), result), result, record, document_);
    std::string text = fmt::format("// {}\n\n", options_.source);
    if (!weights_.empty()) {
      parameters.insert(parameters.begin(), "%params: Weights");
      text +=
          fmt::format("{}\nlet %params: Weights = load(\"{}\");\n\n", record.declarations, options_.weights);
    }
    text += fmt::format("{}\n", fmt::join(document_.definitions, "\n"));
    text += fmt::format("def @main{}({}) -> {} {}\n", dim_parameters(types), fmt::join(parameters, ", "),
                        is_single ? part_types[0] : fmt::format("({})", fmt::join(part_types, ", ")),
                        block_of(lines, result));
    result_.text = checked(with_projections(text, "%params.", record.projections));
    result_.weights = std::move(record.entries);
  }

  /// The text in the canonical layout, and as a whole without errors but that its weights are not there yet.
  std::string checked(const std::string& text) {
    Session session;
    const SourceId source = session.add_source(session.make_module(), "imported", text);
    for (const LocatedDiagnostic& diagnostic : session.check(source))
      if (severity_of(diagnostic.kind) == Severity::Error && diagnostic.kind != DiagnosticKind::FileProblem)
        problem(fmt::format("a bug of Quern: the text that was written is wrong: {}", diagnostic.message));
    auto layout = session.format(source);
    return layout && layout->diagnostics.empty() ? layout->text : text;
  }

  const Model& model_;
  const ImportOptions& options_;
  int64_t opset_;                               ///< of the nodes that are being written
  int depth_ = 0;                               ///< of functions
  size_t written_ = 0;                          ///< nodes
  bool in_loop_ = false;                        ///< whether the nodes are of a loop's graph
  std::map<std::string, std::string> symbols_;  ///< of extents, to names of dims
  Names dim_names_;
  Typer typer_;
  Weights weights_;
  Document document_{typer_, weights_};
  std::vector<std::string> problems_;
  Imported result_;
};

}  // namespace

Imported import_model(const Model& model, const ImportOptions& options) {
  return Importer(model, options).run();
}

}  // namespace quern::onnx
