#pragma once
// TVM's JSON of an object graph (`tvm.ir.save_json`), whose root is a module, a function or an expression of Relay:
//
//     {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "relay.Tuple", "attrs": {"fields": "2", "span": "0", …}},
//      {"type_key": "Array", "data": [3]}, …], "b64ndarrays": ["P6G0lvBAXt0AAAAA…"], "attrs": {"tvm_version": "0.8.0"}}
//
// A member is text: a number, a string or a dtype literally, any other object by its number. Node 0 is null.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"

namespace quern::relay_import {

struct Node {
  std::string kind;                                         ///< TVM's `type_key`: "relay.Call"
  std::string text;                                         ///< of a string or an operator
  std::map<std::string, std::string, std::less<>> members;  ///< of a structure
  std::vector<std::string> keys;                            ///< of a map of strings
  std::vector<size_t> data;  ///< of an array, and of a map: keys and values in turn
};

/// Numbers of nodes are valid in it. What a file has wrong throws a Refusal when it is asked for.
class ObjectGraph {
 public:
  ObjectGraph(std::vector<Node> nodes, size_t root, std::vector<std::string> arrays, std::string version)
      : nodes_(std::move(nodes)), root_(root), arrays_(std::move(arrays)), version_(std::move(version)) {}

  size_t root() const { return root_; }
  size_t size() const { return nodes_.size(); }
  const Node& operator[](size_t number) const { return nodes_[number]; }
  bool is(size_t number, std::string_view kind) const { return nodes_[number].kind == kind; }

  /// The object that is a member; 0 for null, and where older versions of TVM have no such member.
  size_t object(size_t node, std::string_view member) const;
  /// The same where it may not be null.
  size_t part(size_t node, std::string_view member) const;
  /// The objects of an array that is a member; none for null.
  const std::vector<size_t>& list(size_t node, std::string_view member) const;
  int64_t integer(size_t node, std::string_view member) const;
  /// A string that is a member, itself or as an object.
  std::string string(size_t node, std::string_view member) const;
  /// The pairs of a map.
  std::vector<std::pair<size_t, size_t>> pairs(size_t map) const;

  /// A section `#[metadata]` with these objects as `meta[kind][i]`.
  std::string metadata(const std::map<std::string, std::vector<size_t>>& entries) const;

 private:
  const std::string* member(size_t node, std::string_view name) const;

  std::vector<Node> nodes_;
  size_t root_;
  std::vector<std::string> arrays_;  ///< in base64
  std::string version_;
};

Result<ObjectGraph> read_object_graph(const std::string& path);

}  // namespace quern::relay_import
