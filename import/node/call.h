#pragma once
// One node of ONNX on its way into the text: its inputs as terms, its attributes, and where its outputs go.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/model.h"
#include "import/text/literals.h"
#include "import/text/refusal.h"
#include "import/text/term.h"
#include "import/text/writer.h"

namespace quern::onnx {

using import_text::Refusal;
using import_text::Term;
using import_text::Writer;

/// A graph that stands in an attribute, as a block of the text.
struct Block {
  std::string text;                ///< `{ let …; results }`, the results as a tuple unless there is one
  std::string lines;               ///< `let …;` alone
  std::vector<std::string> parts;  ///< the results as operands
  std::vector<Term> results;
};

class Call {
 public:
  /// How a graph in an attribute is written: on terms for its inputs.
  using WriteGraph = std::function<Block(const Graph&, const std::vector<Term>&)>;

  Call(const Node& node, int64_t opset, std::optional<size_t> place, std::vector<Term> inputs, Writer& writer,
       WriteGraph write_graph);

  const Node& node() const { return node_; }
  /// The version of the default domain's operators that the model is written for.
  int64_t opset() const { return opset_; }
  /// Which of the nodes that are written it is, from 1 on; nothing in a loop, whose graph is written once for all its turns.
  std::optional<size_t> place() const { return place_; }

  // --- inputs
  size_t input_count() const { return inputs_.size(); }
  bool has(size_t input) const { return input < inputs_.size() && inputs_[input].type; }
  /// An input that has to be there.
  const Term& in(size_t input) const;
  /// Its type's dims and dtype.
  size_t rank(size_t input) const { return in(input).rank(); }
  /// The integers of an input, which have to be known when the model is imported; nothing if it is left out.
  std::optional<std::vector<int64_t>> integers_in(size_t input) const;
  /// The element of an input with one that is known, or nothing.
  std::optional<double> number_in(size_t input) const;

  // --- attributes
  bool has_attribute(std::string_view name) const { return node_.attributes.contains(name); }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name, bool otherwise) const { return integer(name, otherwise ? 1 : 0) != 0; }
  double number(std::string_view name, double otherwise) const;
  std::string string(std::string_view name, std::string_view otherwise) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  std::optional<std::vector<std::string>> strings(std::string_view name) const;
  TensorPtr tensor(std::string_view name) const;
  const Graph& graph(std::string_view name) const;
  /// Integers that newer operator sets have as an input and older ones as an attribute.
  std::optional<std::vector<int64_t>> integers(std::string_view name, size_t input) const;
  /// An axis from 0 on, of a tensor of this rank.
  int64_t axis(std::string_view name, int64_t otherwise, size_t rank) const;

  // --- the text
  /// Writes a line for the node's first output.
  Term let(std::string_view expression, const std::vector<Term>& operands);
  /// Writes a line for a step on the way to it, with a name of its own.
  Term step(std::string_view name, std::string_view expression, const std::vector<Term>& operands);
  Writer& writer() { return writer_; }
  /// What the variable of an output is called.
  std::string hint(size_t output) const;
  Block block(const Graph& graph, const std::vector<Term>& inputs) { return write_graph_(graph, inputs); }

  // --- outputs
  size_t output_count() const { return node_.outputs.size(); }
  /// Whether anything asks for an output.
  bool wants(size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }
  void set(size_t output, Term term);
  /// Writes a line for the only output.
  void result(std::string_view expression, const std::vector<Term>& operands) {
    set(0, let(expression, operands));
  }
  const std::vector<Term>& outputs() const { return outputs_; }

 private:
  template <class T>
  const T* attribute(std::string_view name) const;

  const Node& node_;
  int64_t opset_;
  std::optional<size_t> place_;
  std::vector<Term> inputs_;
  Writer& writer_;
  WriteGraph write_graph_;
  std::vector<Term> outputs_;
};

/// -1 and the like from 0 on. Throws a Refusal for an axis that a tensor of this rank lacks.
int64_t from_front(int64_t axis, size_t rank);
std::vector<int64_t> from_front(std::vector<int64_t> axes, size_t rank);

}  // namespace quern::onnx
