#include "import/relay/object_graph.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "import/text/refusal.h"

namespace quern::relay_import {

using import_text::Refusal;
using nlohmann::json;

namespace {

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string named(const ObjectGraph& graph, size_t node) {
  return fmt::format("node {} ({})", node, graph[node].kind);
}

}  // namespace

const std::string* ObjectGraph::member(size_t node, std::string_view name) const {
  const auto found = nodes_[node].members.find(name);
  return found != nodes_[node].members.end() ? &found->second : nullptr;
}

size_t ObjectGraph::object(size_t node, std::string_view name) const {
  const std::string* text = member(node, name);
  if (!text || *text == "null") return 0;
  const auto number = number_in(*text);
  if (!number || *number < 0 || static_cast<size_t>(*number) >= nodes_.size())
    throw Refusal(fmt::format("`{}` of {} is `{}` and no node", name, named(*this, node), *text));
  return static_cast<size_t>(*number);
}

size_t ObjectGraph::part(size_t node, std::string_view name) const {
  const size_t found = object(node, name);
  if (nodes_[found].kind.empty()) throw Refusal(fmt::format("{} has no `{}`", named(*this, node), name));
  return found;
}

const std::vector<size_t>& ObjectGraph::list(size_t node, std::string_view name) const {
  static const std::vector<size_t> kNone;
  const size_t array = object(node, name);
  if (nodes_[array].kind.empty()) return kNone;
  if (!is(array, "Array")) throw Refusal(fmt::format("`{}` of {} is no array", name, named(*this, node)));
  return nodes_[array].data;
}

int64_t ObjectGraph::integer(size_t node, std::string_view name) const {
  const std::string* text = member(node, name);
  const auto number = text ? number_in(*text) : std::nullopt;
  if (!number) throw Refusal(fmt::format("`{}` of {} is no integer", name, named(*this, node)));
  return *number;
}

std::string ObjectGraph::string(size_t node, std::string_view name) const {
  const std::string* text = member(node, name);
  if (!text) throw Refusal(fmt::format("{} has no `{}`", named(*this, node), name));
  const auto number = number_in(*text);
  const bool is_object = number && *number > 0 && static_cast<size_t>(*number) < nodes_.size() &&
                         is(static_cast<size_t>(*number), "runtime.String");
  return is_object ? nodes_[static_cast<size_t>(*number)].text : *text;
}

std::vector<std::pair<size_t, size_t>> ObjectGraph::pairs(size_t map) const {
  const Node& node = nodes_[map];
  if (node.kind.empty()) return {};
  if (node.kind != "Map" || !node.keys.empty() || node.data.size() % 2 != 0)
    throw Refusal(fmt::format("{} is no map from objects to objects", named(*this, map)));
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t i = 0; i < node.data.size(); i += 2) found.emplace_back(node.data[i], node.data[i + 1]);
  return found;
}

std::string ObjectGraph::metadata(const std::map<std::string, std::vector<size_t>>& entries) const {
  json nodes = json::array();
  for (const Node& node : nodes_) {
    json written = {{"type_key", node.kind}};
    if (!node.text.empty()) written["repr_str"] = node.text;
    if (!node.members.empty()) written["attrs"] = node.members;
    if (!node.data.empty()) written["data"] = node.data;
    nodes.push_back(std::move(written));
  }
  json root = {{"type_key", "Map"}, {"keys", json::array()}, {"data", json::array()}};
  for (const auto& [kind, objects] : entries) {
    root["keys"].push_back(kind);
    root["data"].push_back(nodes.size());
    nodes.push_back({{"type_key", "Array"}, {"data", objects}});
  }
  nodes.push_back(std::move(root));
  json document = {
      {"root", nodes.size() - 1}, {"b64ndarrays", arrays_}, {"attrs", {{"tvm_version", version_}}}};
  document["nodes"] = std::move(nodes);
  return "#[metadata]\n" + document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {

Node node_of(const json& written, size_t count) {
  Node node;
  node.kind = written.at("type_key").get<std::string>();
  node.text = written.value("repr_str", "");
  if (written.contains("attrs"))
    for (const auto& [name, text] : written.at("attrs").items()) node.members[name] = text.get<std::string>();
  if (written.contains("keys")) node.keys = written.at("keys").get<std::vector<std::string>>();
  if (written.contains("data"))
    for (const json& number : written.at("data")) {
      node.data.push_back(number.get<size_t>());
      if (!number.is_number_unsigned() || node.data.back() >= count)
        throw std::out_of_range("a number of a node");
    }
  return node;
}

}  // namespace

Result<ObjectGraph> read_object_graph(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failure{fmt::format("`{}` cannot be read", path)};
  const json document = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return Failure{fmt::format("`{}` is not JSON", path)};
  if (document.is_object() && document.contains("arg_nodes") && document.contains("heads"))
    return Failure{
        fmt::format("`{}` is what `relay.build` made: it says which kernels run, and not what they compute. "
                    "Save the module "
                    "that went into it: `tvm.ir.save_json(mod)`",
                    path)};
  try {
    const json& written = document.at("nodes");
    std::vector<Node> nodes;
    for (const json& node : written) nodes.push_back(node_of(node, written.size()));
    const auto root = document.at("root").get<size_t>();
    if (nodes.empty() || !nodes[0].kind.empty() || root >= nodes.size()) throw std::out_of_range("root");
    std::vector<std::string> arrays;
    if (document.contains("b64ndarrays")) arrays = document.at("b64ndarrays").get<std::vector<std::string>>();
    std::string version;
    if (document.contains("attrs")) version = document.at("attrs").value("tvm_version", "");
    return ObjectGraph(std::move(nodes), root, std::move(arrays), std::move(version));
  } catch (const std::exception&) {
    return Failure{fmt::format(
        "`{}` is JSON, but not an object graph as TVM writes it (root, nodes, b64ndarrays)", path)};
  }
}

}  // namespace quern::relay_import
