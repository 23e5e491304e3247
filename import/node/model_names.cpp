#include "import/node/model_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "import/text/names.h"

namespace quern::onnx {

using namespace import_text;

namespace {

using Path = std::vector<std::string>;

bool begins_with_digit(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
}

/// "AddV2" is `Add`.
std::string_view without_version(std::string_view op) {
  const size_t at = op.size() < 3 ? std::string_view::npos : op.size() - 2;
  const bool has_version =
      at != std::string_view::npos && op[at] == 'V' && op[at + 1] >= '2' && op[at + 1] <= '9';
  return has_version ? op.substr(0, at) : op;
}

/// The path of a name without the operator at its end, and without the repetition in "/layer1/layer1.0".
Path scope_of(std::string_view name, std::string_view op) {
  Path path;
  for (std::string& part : path_of(name))
    if (path.empty() || part != path.back() || is_number(part)) path.push_back(std::move(part));
  // What a loop or a branch gives is called what it is called.
  const bool leaves = !path.empty() && (path.back().starts_with("Exit") || path.back().starts_with("Merge"));
  if (!path.empty() && (leaves || path.back().starts_with(without_version(op)))) path.pop_back();
  return path;
}

/// Whether the last name of a scope tells what the operator does: "conv1" of a Conv, "fc" of a Gemm.
bool is_told(const Path& scope, std::string_view op) {
  static constexpr std::string_view kLayers[] = {"Conv",
                                                 "ConvTranspose",
                                                 "Gemm",
                                                 "BatchNormalization",
                                                 "Conv2D",
                                                 "Conv3D",
                                                 "DepthwiseConv2dNative",
                                                 "LSTM",
                                                 "GRU",
                                                 "RNN",
                                                 "PRelu"};
  if (std::ranges::find(kLayers, op) != std::end(kLayers)) return true;
  std::string last = snake_case(scope.back()), kind = snake_case(op);
  while (!last.empty() && (std::isdigit(static_cast<unsigned char>(last.back())) || last.back() == '_'))
    last.pop_back();
  std::erase(kind, '_');
  std::erase(last, '_');
  return last.size() > 1 && (kind.find(last) != std::string::npos || last.find(kind) != std::string::npos);
}

}  // namespace

Path scope_of(const Node& node) { return scope_of(node.name, node.own_op()); }

bool is_nameless(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) || name.back() == '_'))
    name.remove_suffix(1);
  static constexpr std::string_view kNames[] = {"Const", "ones",       "x",        "y",
                                                "zeros", "zeros_like", "ones_like"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::string pretty_name(std::string_view name, std::string_view op) {
  constexpr size_t kLongest = 40;
  std::string kind = snake_case(without_version(op));
  for (std::string_view ending : {"_output_0", ":0"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  const bool has_scope = name.find('/') != std::string_view::npos;
  if (name.find("::") != std::string_view::npos || begins_with_digit(name)) return kind;
  if (!has_scope) {
    if (name.starts_with(without_version(op))) return kind;  // "Relu_3"
    std::string text = identifier(name, kind);
    return text.size() > kLongest ? kind : text;
  }
  const Path scope = scope_of(name, op);
  if (scope.empty()) return kind;
  std::string text = fmt::format("{}", fmt::join(scope, "_"));
  const std::string_view last = name.substr(name.rfind('/') + 1);
  if (last.starts_with(without_version(op)) && !is_told(scope, op)) text += "_" + kind;
  return text.size() > kLongest || begins_with_digit(text) ? kind : text;
}

bool is_anonymous(const Term& term) {
  return term.constant && (term.name.find("::") != std::string::npos || begins_with_digit(term.name));
}

std::string role_name(const Node& node, size_t input) {
  static const std::vector<std::string> kWeights = {"data", "weight", "bias"};
  static const std::vector<std::string> kRecurrent = {"data",    "weight",    "recurrence", "bias",
                                                      "lengths", "initial_h", "initial_c"};
  static const std::map<std::string_view, std::vector<std::string>> kRoles = {
      {"BatchNormalization", {"data", "weight", "bias", "running_mean", "running_var"}},
      {"Conv", kWeights},
      {"ConvTranspose", kWeights},
      {"GRU", kRecurrent},
      {"Gather", {"weight"}},
      {"Gemm", kWeights},
      {"InstanceNormalization", kWeights},
      {"LSTM", kRecurrent},
      {"LayerNormalization", kWeights},
      {"MatMul", kWeights},
      {"PRelu", kWeights},
      {"RNN", kRecurrent},
  };
  auto roles = kRoles.find(node.op);
  const std::string role =
      roles != kRoles.end() && input < roles->second.size() ? roles->second[input] : "constant";
  Path path = scope_of(node);
  if (path.empty()) path.push_back(snake_case(node.op));
  path.push_back(role);
  return fmt::format("{}", fmt::join(path, "."));
}

}  // namespace quern::onnx
