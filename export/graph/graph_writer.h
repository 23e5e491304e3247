#pragma once
// A graph of ONNX in the making: its nodes in order, the names of its values, its constants.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/model.h"
#include "ir/value/scalar.h"

namespace quern::onnx {

/// A value of a graph.
using Name = std::string;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// The end of a slice that goes down to the first element: -1 would be the last one.
constexpr int64_t kBeforeFirst = std::numeric_limits<int64_t>::min() + 1;

/// The names of a model's values, those of inner graphs among them: none is given twice.
class Names {
 public:
  /// The hint, or the hint with a number.
  Name fresh(std::string_view hint);

 private:
  std::set<Name, std::less<>> taken_;
  std::map<Name, int, std::less<>> last_;
};

class GraphWriter {
 public:
  explicit GraphWriter(Names& names) : names_(names) {}

  /// The result of a node of the default domain, which is named after `hint` or else the operator; of an equal node, where
  /// there is one.
  Name node(std::string_view op, std::vector<Name> inputs, const Attributes& attributes = {},
            std::string_view hint = {});
  std::vector<Name> nodes(std::string_view op, std::vector<Name> inputs, const Attributes& attributes,
                          size_t results, std::string_view hint = {});
  /// A node whose results have these names.
  void add(std::string_view op, std::vector<Name> inputs, std::vector<Name> results,
           const Attributes& attributes = {});

  /// The node that makes a value here; null for what is made elsewhere. Until the next node is added.
  const Node* maker_of(const Name& value) const;
  /// A value without axes of extent 1; what it was before, where `Unsqueeze` has just made them.
  Name squeezed(const Name& value, std::span<const int64_t> axes);

  /// An initializer.
  Name tensor(TensorPtr value, std::string_view hint);
  /// Constants, once each.
  Name ints(std::span<const int64_t> values);
  Name ints(std::initializer_list<int64_t> values) { return ints(std::span(values.begin(), values.size())); }
  Name integer(int64_t value);
  Name number(double value, DType dtype);
  Names& names() { return names_; }
  Graph& graph() { return graph_; }

 private:
  Name scalar(const Scalar& value);

  Names& names_;
  Graph graph_;
  std::map<std::string, Name> made_;  ///< results by what makes them
  std::map<Name, size_t> makers_;     ///< by their results
  std::map<std::vector<int64_t>, Name> ints_;
  std::map<std::pair<std::string, uint64_t>, Name> numbers_;  ///< by dtype and bits
};

}  // namespace quern::onnx
