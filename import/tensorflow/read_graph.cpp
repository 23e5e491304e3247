#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <climits>
#include <filesystem>
#include <fstream>

#include "import/tensorflow/proto.h"

namespace quern::tensorflow {

namespace {

using onnx::AttributeValue;

/// More are no model that a person would read.
constexpr int kMostNodes = 200'000;

template <class Message>
bool parse_binary(Message& message, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file && message.ParseFromIstream(&file);
}

/// What is no message is reported in one line, without the places that protobuf would print.
class Silent : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int /*column*/, const std::string& message) override {
    if (first_.empty()) first_ = fmt::format("line {}: {}", line + 1, message);
  }
  const std::string& first() const { return first_; }

 private:
  std::string first_;
};

Result<Done> parse_text(format::GraphDef& graph, const std::string& path) {
  constexpr int kDeepest = 64;
  std::ifstream file(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream bytes(&file);
  google::protobuf::TextFormat::Parser parser;
  Silent errors;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kDeepest);
  if (file && parser.Parse(&bytes, &graph)) return Done{};
  return Failure{fmt::format("`{}` is no graph of TensorFlow as text: {}", path, errors.first())};
}

/// A shape as a list, or nothing where its rank is not known.
AttributeValue shape_of(const format::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return {};
  std::vector<int64_t> extents;
  for (const auto& dim : shape.dim()) extents.push_back(dim.size());
  return extents;
}

int64_t without_reference(int64_t code) { return code > 100 ? code - 100 : code; }

AttributeValue list_of(const format::AttrValue::ListValue& list) {
  if (list.f_size() > 0) return std::vector<double>(list.f().begin(), list.f().end());
  if (list.s_size() > 0) return std::vector<std::string>(list.s().begin(), list.s().end());
  if (list.type_size() == 0) return std::vector<int64_t>(list.i().begin(), list.i().end());
  std::vector<int64_t> codes;
  for (const int code : list.type()) codes.push_back(without_reference(code));
  return codes;
}

/// The name of a value: `node`, or `node:1` for an output that is not the first.
std::string value_name(std::string_view node, size_t place) {
  return place == 0 ? std::string(node) : fmt::format("{}:{}", node, place);
}

std::optional<size_t> number_of(std::string_view text) {
  constexpr size_t kMostDigits = 6;
  if (text.empty() || text.size() > kMostDigits ||
      text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return std::stoul(std::string(text));
}

class Reader {
 public:
  Reader(std::shared_ptr<const format::GraphDef> proto, const std::string& path)
      : proto_(std::move(proto)), path_(path) {}

  Result<GraphFile> file() {
    int64_t count = proto_->node_size();
    for (const auto& function : proto_->library().function()) count += function.node_def_size();
    if (count > kMostNodes)
      return Failure{fmt::format("the graph has {} nodes; up to {} are read", count, kMostNodes)};
    GraphFile file;
    for (const auto& node : proto_->node()) add(node, file.graph, nullptr);
    for (const auto& function : proto_->library().function())
      file.functions.insert_or_assign(function.signature().name(), body_of(function));
    if (!problem_.empty()) return Failure{fmt::format("`{}`: {}", path_, problem_)};
    return file;
  }

 private:
  /// Of the nodes of a function: their operators, by which outputs are named there.
  using Operators = std::map<std::string_view, std::string_view>;

  GraphBody body_of(const format::FunctionDef& function) {
    GraphBody body;
    Operators operators;
    for (const auto& node : function.node_def()) operators.emplace(node.name(), node.op());
    for (const auto& argument : function.signature().input_arg()) body.inputs.push_back(argument.name());
    for (const auto& argument : function.signature().output_arg()) {
      const auto result = function.ret().find(argument.name());
      if (result == function.ret().end())
        problem(fmt::format("the function `{}` does not compute its result `{}`", function.signature().name(),
                            argument.name()));
      else
        body.outputs.push_back(value_of(result->second, &operators));
    }
    for (const auto& node : function.node_def()) add(node, body, &operators);
    return body;
  }

  void add(const format::NodeDef& proto, GraphBody& body, const Operators* operators) {
    GraphNode node;
    node.node.name = proto.name();
    node.node.op = proto.op();
    node.node.domain = kDomain;
    for (const std::string& input : proto.input()) {
      if (input.starts_with('^'))
        node.controls.push_back(input.substr(1));
      else
        node.node.inputs.push_back(value_of(input, operators));
    }
    for (const auto& [name, attribute] : proto.attr())
      node.node.attributes.insert_or_assign(name, attribute_of(proto, name, attribute));
    body.nodes.push_back(std::move(node));
  }

  /// `node`, `node:1`, or in functions `node:argument:0`.
  static std::string value_of(const std::string& input, const Operators* operators) {
    const size_t first = input.find(':');
    if (first == std::string::npos) return input;
    const std::string_view text = input, node = text.substr(0, first);
    const size_t second = text.find(':', first + 1);
    if (second == std::string_view::npos) {
      const auto place = number_of(text.substr(first + 1));
      return place ? value_name(node, *place) : input;
    }
    const auto place = number_of(text.substr(second + 1));
    if (!place || !operators) return input;
    const auto op = operators->find(node);
    const auto argument = text.substr(first + 1, second - first - 1);
    return value_name(node, *place + (op == operators->end() ? 0 : output_place(op->second, argument)));
  }

  AttributeValue attribute_of(const format::NodeDef& node, const std::string& name,
                              const format::AttrValue& proto) {
    using Kind = format::AttrValue;
    switch (proto.value_case()) {
      case Kind::kS: return proto.s();
      case Kind::kI: return int64_t{proto.i()};
      case Kind::kF: return double{proto.f()};
      case Kind::kB: return int64_t{proto.b() ? 1 : 0};
      case Kind::kType: return without_reference(proto.type());
      case Kind::kShape: return shape_of(proto.shape());
      case Kind::kFunc: return proto.func().name();
      case Kind::kList: return list_of(proto.list());
      case Kind::kTensor: {
        auto tensor = tensor_of(proto.tensor(), proto_);
        if (!tensor) {
          problem(fmt::format("{} `{}`: its `{}` {}", node.op(), node.name(), name, tensor.error().message));
          return {};
        }
        // What has no counterpart is refused where it is used.
        if (!*tensor) return {};
        return std::move(*tensor);
      }
      case Kind::VALUE_NOT_SET: return {};
    }
    return {};
  }

  void problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  std::shared_ptr<const format::GraphDef> proto_;
  const std::string& path_;
  std::string problem_;
};

bool is_saved_model(const std::string& path) {
  format::SavedModel model;
  return parse_binary(model, path) && model.saved_model_schema_version() != 0 && model.meta_graphs_size() > 0;
}

}  // namespace

Result<GraphFile> read_graph(const std::string& path) {
  // What is wrong with a message is said here.
  const google::protobuf::LogSilencer silencer;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return Failure{fmt::format("cannot read `{}`: {}", path, error.message())};
  if (size >= INT_MAX)
    return Failure{fmt::format("`{}` has 2 GiB or more, which protobuf does not read", path)};
  auto proto = std::make_shared<format::GraphDef>();
  if (path.ends_with(".pbtxt")) {
    if (const auto parsed = parse_text(*proto, path); !parsed) return parsed.error();
  } else if (const bool is_whole = parse_binary(*proto, path); !is_whole || proto->node_size() == 0) {
    if (is_saved_model(path))
      return Failure{
          fmt::format("`{}` is a saved model, whose weights are in other files: freeze it first "
                      "(`convert_variables_to_constants_v2` of TensorFlow)",
                      path)};
    if (!is_whole) return Failure{fmt::format("`{}` is no graph of TensorFlow, or only a part of one", path)};
  }
  if (proto->node_size() == 0)
    return Failure{fmt::format("`{}` is no graph of TensorFlow: it has no nodes", path)};
  return Reader(std::move(proto), path).file();
}

}  // namespace quern::tensorflow
