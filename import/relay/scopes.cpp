#include "import/relay/scopes.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text/refusal.h"

namespace quern::relay_import {

using import_text::Refusal;

namespace {

using Parts = std::vector<Edge> (*)(const ObjectGraph& graph, size_t node);

std::vector<Edge> none(const ObjectGraph&, size_t) { return {}; }

void add(std::vector<Edge>& parts, const std::vector<size_t>& more) {
  for (const size_t node : more) parts.push_back({node});
}

std::vector<Edge> of_tuple(const ObjectGraph& graph, size_t node) {
  std::vector<Edge> parts;
  add(parts, graph.list(node, "fields"));
  return parts;
}

std::vector<Edge> of_call(const ObjectGraph& graph, size_t node) {
  std::vector<Edge> parts = {{graph.part(node, "op")}};
  add(parts, graph.list(node, "args"));
  return parts;
}

std::vector<Edge> of_match(const ObjectGraph& graph, size_t node) {
  std::vector<Edge> parts = {{graph.part(node, "data")}};
  for (const size_t clause : graph.list(node, "clauses"))
    parts.push_back({graph.part(clause, "rhs"), parts.size()});
  return parts;
}

struct Row {
  std::string_view kind;
  Parts parts;
};
/// The expressions of Relay.
constexpr Row kRows[] = {
    {"relay.Var", none},
    {"relay.Constant", none},
    {"Op", none},
    {"GlobalVar", none},
    {"relay.Constructor", none},
    {"relay.Tuple", of_tuple},
    {"relay.Call", of_call},
    {"relay.Match", of_match},
    {"relay.TupleGetItem", [](const ObjectGraph& graph,
                              size_t node) { return std::vector<Edge>{{graph.part(node, "tuple_value")}}; }},
    {"relay.If",
     [](const ObjectGraph& graph, size_t node) {
       return std::vector<Edge>{{graph.part(node, "cond")},
                                {graph.part(node, "true_branch"), 1},
                                {graph.part(node, "false_branch"), 2}};
     }},
    {"relay.Let",
     [](const ObjectGraph& graph, size_t node) {
       return std::vector<Edge>{{graph.part(node, "value")}, {graph.part(node, "body"), 1}};
     }},
    {"relay.Function",
     [](const ObjectGraph& graph, size_t node) {
       return std::vector<Edge>{{graph.part(node, "body"), 1}};
     }},
    {"relay.RefCreate",
     [](const ObjectGraph& graph, size_t node) { return std::vector<Edge>{{graph.part(node, "value")}}; }},
    {"relay.RefRead",
     [](const ObjectGraph& graph, size_t node) { return std::vector<Edge>{{graph.part(node, "ref")}}; }},
    {"relay.RefWrite",
     [](const ObjectGraph& graph, size_t node) {
       return std::vector<Edge>{{graph.part(node, "ref")}, {graph.part(node, "value")}};
     }},
};

/// The expressions below `root` and itself, parts first; without recursion, as a model may be thousands deep.
std::vector<size_t> parts_first(const ObjectGraph& graph, size_t root) {
  struct Frame {
    size_t node;
    std::vector<Edge> parts;
    size_t next = 0;
  };
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(graph.size(), kNew);
  std::vector<size_t> order;
  std::vector<Frame> open;
  const auto enter = [&](size_t node) {
    state[node] = kOpen;
    open.push_back({node, parts_of(graph, node)});
  };
  enter(root);
  while (!open.empty()) {
    Frame& frame = open.back();
    if (frame.next == frame.parts.size()) {
      state[frame.node] = kDone;
      order.push_back(frame.node);
      open.pop_back();
      continue;
    }
    const size_t part = frame.parts[frame.next++].node;
    if (state[part] == kOpen)
      throw Refusal(fmt::format("node {} ({}) is a part of itself", part, graph[part].kind));
    if (state[part] == kNew) enter(part);
  }
  return order;
}

}  // namespace

std::vector<Edge> parts_of(const ObjectGraph& graph, size_t node) {
  const Row* row = std::ranges::find(kRows, graph[node].kind, &Row::kind);
  if (row == std::end(kRows))
    throw Refusal(
        fmt::format("node {} is of the kind `{}`, which is no expression of Relay", node, graph[node].kind));
  return row->parts(graph, node);
}

Scopes::Scopes(const ObjectGraph& graph, size_t root) {
  const std::vector<size_t> order = parts_first(graph, root);
  places_[root] = {};
  for (size_t i = order.size(); i-- > 0;) {
    const size_t node = order[i];
    for (const Edge& part : parts_of(graph, node)) {
      size_t block = places_.at(node).block;
      if (part.block > 0) {
        blocks_.push_back({block, blocks_[block].depth + 1});
        block = inner_[{node, part.block}] = blocks_.size() - 1;
      }
      place(part.node, block);
    }
  }
  for (const size_t node : order) blocks_[places_.at(node).block].nodes.push_back(node);
}

void Scopes::place(size_t node, size_t block) {
  const auto [place, is_new] = places_.try_emplace(node, Place{block, 0});
  ++place->second.uses;
  if (!is_new) place->second.block = around(place->second.block, block);
}

size_t Scopes::around(size_t a, size_t b) const {
  while (a != b) {
    size_t& deeper = blocks_[a].depth >= blocks_[b].depth ? a : b;
    deeper = blocks_[deeper].outer;
  }
  return a;
}

}  // namespace quern::relay_import
