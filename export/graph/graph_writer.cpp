#include "export/graph/graph_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "ir/value/scalar.h"

namespace quern::onnx {

Name Names::fresh(std::string_view hint) {
  Name name(hint);
  while (!taken_.insert(name).second) name = fmt::format("{}_{}", hint, ++last_[Name(hint)]);
  return name;
}

namespace {

/// Equal for equal attributes; tensors and graphs are equal to themselves alone.
struct AttributeText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const AttributeReference& value) const { return value.name; }
  std::string operator()(const TensorPtr& value) const { return fmt::format("{}", fmt::ptr(value.get())); }
  std::string operator()(const GraphPtr& value) const { return fmt::format("{}", fmt::ptr(value.get())); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return fmt::format("{}", fmt::join(values, ","));
  }
  std::string operator()(auto number) const { return fmt::format("{}", number); }
};

std::string key_of(std::string_view op, const std::vector<Name>& inputs, const Attributes& attributes) {
  std::string key = fmt::format("{}({})", op, fmt::join(inputs, ","));
  for (const auto& [name, value] : attributes)
    key += fmt::format(";{}={}", name, std::visit(AttributeText(), value));
  return key;
}

}  // namespace

Name GraphWriter::node(std::string_view op, std::vector<Name> inputs, const Attributes& attributes,
                       std::string_view hint) {
  Name& known = made_[key_of(op, inputs, attributes)];
  if (known.empty()) known = nodes(op, std::move(inputs), attributes, 1, hint).front();
  return known;
}

std::vector<Name> GraphWriter::nodes(std::string_view op, std::vector<Name> inputs,
                                     const Attributes& attributes, size_t results, std::string_view hint) {
  std::string lower(hint.empty() ? op : hint);
  if (hint.empty())
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<Name> made;
  made.reserve(results);
  for (size_t i = 0; i < results; ++i) made.push_back(names_.fresh(lower));
  add(op, std::move(inputs), made, attributes);
  return made;
}

void GraphWriter::add(std::string_view op, std::vector<Name> inputs, std::vector<Name> results,
                      const Attributes& attributes) {
  Node node{"", std::string(op), "", std::move(inputs), std::move(results), {}};
  for (const auto& [name, value] : attributes) node.attributes.insert_or_assign(name, value);
  for (const Name& result : node.outputs) makers_[result] = graph_.nodes.size();
  graph_.nodes.push_back(std::move(node));
}

const Node* GraphWriter::maker_of(const Name& value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? nullptr : &graph_.nodes[found->second];
}

Name GraphWriter::squeezed(const Name& value, std::span<const int64_t> axes) {
  const Name list = ints(axes);
  const Node* maker = maker_of(value);
  if (maker && maker->op == "Unsqueeze" && maker->inputs[1] == list) return maker->inputs[0];
  return node("Squeeze", {value, list});
}

Name GraphWriter::tensor(TensorPtr value, std::string_view hint) {
  Name name = names_.fresh(hint);
  graph_.initializers.emplace(name, std::move(value));
  return name;
}

Name GraphWriter::ints(std::span<const int64_t> values) {
  std::vector<int64_t> key(values.begin(), values.end());
  if (const auto known = ints_.find(key); known != ints_.end()) return known->second;
  const Shape shape{static_cast<int64_t>(values.size())};
  Name name = tensor(HostTensor::from<int64_t>(DType::int64(), shape, values), "shape");
  return ints_[key] = name;
}

Name GraphWriter::integer(int64_t value) { return scalar(Scalar::from_int(DType::int64(), value)); }
Name GraphWriter::number(double value, DType dtype) { return scalar(Scalar::from_double(dtype, value)); }

Name GraphWriter::scalar(const Scalar& value) {
  const auto key = std::pair(to_string(value.dtype), value.bits);
  if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  TensorPtr made = HostTensor::make(value.dtype, {});
  std::memcpy(made->data(), &value.bits, value.dtype.bytes());
  return numbers_[key] = tensor(std::move(made), "constant");
}

}  // namespace quern::onnx
