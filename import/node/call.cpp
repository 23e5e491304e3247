#include "import/node/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/node/model_names.h"

namespace quern::onnx {

using namespace import_text;

Call::Call(const Node& node, int64_t opset, std::optional<size_t> place, std::vector<Term> inputs,
           Writer& writer, WriteGraph write_graph)
    : node_(node),
      opset_(opset),
      place_(place),
      inputs_(std::move(inputs)),
      writer_(writer),
      write_graph_(std::move(write_graph)),
      outputs_(node.outputs.size()) {}

const Term& Call::in(size_t input) const {
  if (!has(input)) throw Refusal(fmt::format("lacks its input {}", input));
  return inputs_[input];
}

std::optional<std::vector<int64_t>> Call::integers_in(size_t input) const {
  if (!has(input)) return std::nullopt;
  auto integers = integers_of(inputs_[input]);
  if (!integers)
    throw Refusal(
        fmt::format("the integers of `{}` have to be known: give them with `--constant {}=FILE.npy`",
                    node_.inputs[input], node_.inputs[input]));
  return integers;
}

std::optional<double> Call::number_in(size_t input) const {
  return has(input) ? number_of(inputs_[input]) : std::nullopt;
}

template <class T>
const T* Call::attribute(std::string_view name) const {
  auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  if (!value) throw Refusal(fmt::format("its attribute `{}` is of the wrong kind", name));
  return value;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const auto* value = attribute<int64_t>(name);
  return value ? *value : otherwise;
}

int64_t Call::integer(std::string_view name) const {
  if (!has_attribute(name)) throw Refusal(fmt::format("lacks its attribute `{}`", name));
  return integer(name, 0);
}

double Call::number(std::string_view name, double otherwise) const {
  const auto* value = attribute<double>(name);
  return value ? *value : otherwise;
}

std::string Call::string(std::string_view name, std::string_view otherwise) const {
  const auto* value = attribute<std::string>(name);
  return value ? *value : std::string(otherwise);
}

std::optional<std::vector<int64_t>> Call::integers(std::string_view name) const {
  const auto* value = attribute<std::vector<int64_t>>(name);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<double>> Call::numbers(std::string_view name) const {
  const auto* value = attribute<std::vector<double>>(name);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<std::string>> Call::strings(std::string_view name) const {
  const auto* value = attribute<std::vector<std::string>>(name);
  return value ? std::optional(*value) : std::nullopt;
}

TensorPtr Call::tensor(std::string_view name) const {
  const auto* value = attribute<TensorPtr>(name);
  return value ? *value : nullptr;
}

const Graph& Call::graph(std::string_view name) const {
  const auto* value = attribute<GraphPtr>(name);
  if (!value) throw Refusal(fmt::format("lacks its attribute `{}`", name));
  return **value;
}

std::optional<std::vector<int64_t>> Call::integers(std::string_view name, size_t input) const {
  return has_attribute(name) ? integers(name) : integers_in(input);
}

int64_t Call::axis(std::string_view name, int64_t otherwise, size_t rank) const {
  return from_front(integer(name, otherwise), rank);
}

Term Call::let(std::string_view expression, const std::vector<Term>& operands) {
  return writer_.let(hint(0), expression, operands);
}

Term Call::step(std::string_view name, std::string_view expression, const std::vector<Term>& operands) {
  return writer_.let(name, expression, operands);
}

std::string Call::hint(size_t output) const {
  // Exporters write the same path to both; a layer that was recognised has one of its own.
  if (output == 0 && node_.name.find('/') != std::string::npos)
    return pretty_name(node_.name, node_.own_op());
  return output < node_.outputs.size() ? pretty_name(node_.outputs[output], node_.own_op())
                                       : snake_case(node_.own_op());
}

void Call::set(size_t output, Term term) {
  if (output < outputs_.size()) outputs_[output] = std::move(term);
}

int64_t from_front(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  const int64_t positive = axis < 0 ? axis + count : axis;
  if (positive < 0 || positive >= std::max<int64_t>(count, 1))
    throw Refusal(fmt::format("there is no axis {} in a tensor of rank {}", axis, rank));
  return positive;
}

std::vector<int64_t> from_front(std::vector<int64_t> axes, size_t rank) {
  for (int64_t& axis : axes) axis = from_front(axis, rank);
  return axes;
}

}  // namespace quern::onnx
