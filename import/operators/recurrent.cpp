// Recurrent layers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

bool is_zero(const Term& term) {
  if (!term.constant) return false;
  for (int64_t i = 0; i < term.constant->size(); ++i)
    if (element_as_double(*term.constant, i) != 0) return false;
  return true;
}

/// A recurrent layer on its way to one of the language; results and states have the batch second, as the language has it.
class Layer {
 public:
  Layer(Call& call, const std::vector<std::string>& activations)
      : call_(call), is_batch_first_(call.flag("layout", false)) {
    check_activations(activations);
    for (const char* name : {"clip", "activation_alpha", "activation_beta"})
      if (call.has_attribute(name)) throw Refusal(fmt::format("has the attribute `{}`", name));
    check_lengths();
    add(is_batch_first_ ? "transpose($0, axes=[1, 0, 2])" : "$0", call.in(0));
    add("$0", call.in(1));
    add("$0", call.in(2));
  }

  /// An input that may be left out, for zeros. States of batches first have other axes.
  void add_optional(size_t input, bool is_state) {
    if (!call_.has(input) || is_zero(call_.in(input))) return arguments_.push_back("0.0");
    add(is_state && is_batch_first_ ? "transpose($0, axes=[1, 0, 2])" : "$0", call_.in(input));
  }

  /// Writes the call, and binds its results.
  void write(const std::string& op, const std::string& attributes, size_t results) {
    const std::string direction = call_.string("direction", "forward");
    const std::string expression =
        fmt::format("nn.{}({}{}{})", op, fmt::format("{}", fmt::join(arguments_, ", ")),
                    direction == "forward" ? "" : fmt::format(", direction=\"{}\"", direction), attributes);
    std::vector<std::string> hints;
    for (size_t i = 0; i < results; ++i) hints.push_back(call_.wants(i) ? call_.hint(i) : "");
    const auto parts = call_.writer().let_parts(hints, expression, operands_);
    for (size_t i = 0; i < results; ++i) {
      if (!call_.wants(i)) continue;
      const char* turned = i == 0 ? "transpose($0, axes=[2, 0, 1, 3])" : "transpose($0, axes=[1, 0, 2])";
      call_.set(i, is_batch_first_ ? call_.step(call_.hint(i), turned, {parts[i]}) : parts[i]);
    }
  }

 private:
  void add(std::string_view expression, const Term& operand) {
    arguments_.push_back(
        with_operands(expression, [&](size_t) { return fmt::format("${}", operands_.size()); }));
    operands_.push_back(operand);
  }

  void check_activations(const std::vector<std::string>& known) {
    const auto given = call_.strings("activations");
    if (!given) return;
    for (size_t i = 0; i < given->size(); ++i)
      if ((*given)[i] != known[i % known.size()])
        throw Refusal(fmt::format("has the activation `{}`", (*given)[i]));
  }

  /// Sequences have to be as long as the data.
  void check_lengths() {
    if (!call_.has(4)) return;
    const auto lengths = call_.integers_in(4);
    const auto steps = as_const(call_.in(0).extent(is_batch_first_ ? 1 : 0));
    if (!steps || !std::ranges::all_of(*lengths, [&](int64_t length) { return length == *steps; }))
      throw Refusal("its sequences are of different lengths");
  }

  Call& call_;
  bool is_batch_first_;
  std::vector<std::string> arguments_;
  std::vector<Term> operands_;
};

void rnn(Call& call) {
  const auto given = call.strings("activations");
  const bool is_relu = given && !given->empty() && given->front() == "Relu";
  Layer layer(call, {is_relu ? "Relu" : "Tanh"});
  layer.add_optional(3, false);
  layer.add_optional(5, true);
  layer.write("rnn", is_relu ? ", activation=\"relu\"" : "", 2);
}

void gru(Call& call) {
  Layer layer(call, {"Sigmoid", "Tanh"});
  layer.add_optional(3, false);
  layer.add_optional(5, true);
  layer.write("gru", call.flag("linear_before_reset", false) ? ", linear_before_reset=True" : "", 2);
}

void lstm(Call& call) {
  if (call.flag("input_forget", false)) throw Refusal("couples its gates of input and of forgetting");
  Layer layer(call, {"Sigmoid", "Tanh", "Tanh"});
  const bool has_peepholes = call.has(7) && !is_zero(call.in(7));
  layer.add_optional(3, false);
  if (has_peepholes) layer.add_optional(7, false);
  layer.add_optional(5, true);
  layer.add_optional(6, true);
  layer.write(has_peepholes ? "peephole_lstm" : "lstm", "", 3);
}

}  // namespace

std::span<const Operator> recurrent_operators() {
  static const Operator kRows[] = {
      {"GRU", "", gru},
      {"LSTM", "", lstm},
      {"RNN", "", rnn},
  };
  return kRows;
}

}  // namespace quern::onnx
