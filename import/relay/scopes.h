#pragma once
// Where each expression of a function stands in its text. Relay's expressions share their parts, and a part is evaluated once, in
// the innermost block that is around all its uses.

#include <map>
#include <utility>
#include <vector>

#include "import/relay/object_graph.h"

namespace quern::relay_import {

/// A part of an expression. Those with a `block` above 0 are in blocks of their own: branches, arms, the body of a function, what
/// follows a `let`.
struct Edge {
  size_t node;
  size_t block = 0;
};
/// The parts of an expression, which are expressions themselves. Throws a Refusal for what is none of Relay.
std::vector<Edge> parts_of(const ObjectGraph& graph, size_t node);

class Scopes {
 public:
  /// Of an expression with its parts; throws a Refusal where it is a part of itself.
  Scopes(const ObjectGraph& graph, size_t root);

  /// The block of an expression, and how often it is a part of others.
  size_t block(size_t node) const { return places_.at(node).block; }
  size_t uses(size_t node) const { return places_.at(node).uses; }
  /// The block of a part of `node`.
  size_t inner(size_t node, size_t block) const { return inner_.at({node, block}); }
  /// The expressions of a block, parts first.
  const std::vector<size_t>& in(size_t block) const { return blocks_[block].nodes; }

 private:
  struct Place {
    size_t block = 0, uses = 0;
  };
  struct Block {
    size_t outer = 0, depth = 0;
    std::vector<size_t> nodes = {};
  };
  size_t around(size_t a, size_t b) const;
  void place(size_t node, size_t block);

  std::map<size_t, Place> places_;
  std::map<std::pair<size_t, size_t>, size_t> inner_;
  std::vector<Block> blocks_ = {{}};
};

}  // namespace quern::relay_import
