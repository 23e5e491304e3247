#include "import/tensorflow/operators/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "import/operators/table.h"
#include "import/tensorflow/graph.h"

namespace quern::tensorflow {

void write_terms_as(Call& call, std::string_view op, std::vector<Term> inputs, Attributes attributes) {
  onnx::Node node = call.node();
  node.kind = std::exchange(node.op, std::string(op));
  node.domain = "";
  node.inputs.resize(inputs.size());
  node.attributes = std::move(attributes);
  Call inner(node, kOpset, call.place(), std::move(inputs), call.writer(), {});
  onnx::convert(inner);
  for (size_t i = 0; i < inner.outputs().size(); ++i) call.set(i, inner.outputs()[i]);
}

void write_as(Call& call, std::string_view op, const std::vector<size_t>& inputs, Attributes attributes) {
  std::vector<Term> terms;
  terms.reserve(inputs.size());
  for (size_t input : inputs) terms.push_back(call.in(input));
  write_terms_as(call, op, std::move(terms), std::move(attributes));
}

DType dtype_in(Call& call, std::string_view attribute, DType otherwise) {
  if (!call.has_attribute(attribute)) return otherwise;
  const int64_t code = call.integer(attribute);
  const auto dtype = dtype_of(code);
  if (!dtype) throw Refusal(fmt::format("has the dtype {}, which has no counterpart", dtype_name(code)));
  return *dtype;
}

int64_t axis_in(Call& call, size_t input, size_t rank) {
  return onnx::from_front(integer_in(call, input), rank);
}

int64_t integer_in(Call& call, size_t input) {
  const auto list = call.integers_in(input);
  if (!list || list->size() != 1) throw Refusal(fmt::format("its input {} is no single integer", input));
  return list->front();
}

std::vector<std::pair<int64_t, int64_t>> pairs_in(Call& call, size_t input) {
  const Term& term = call.in(input);
  if (!term.constant || !term.constant->dtype().is_int())
    throw Refusal(
        fmt::format("the integers of `{0}` have to be known: give them with `--constant {0}=FILE.npy`",
                    call.node().inputs[input]));
  if (term.rank() != 2 || term.constant->shape()[1] != 2)
    throw Refusal(fmt::format("its input {} has no pairs", input));
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < term.constant->shape()[0]; ++i)
    pairs.emplace_back(element_as_int(*term.constant, 2 * i), element_as_int(*term.constant, 2 * i + 1));
  return pairs;
}

std::string pairs_text(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::vector<std::string> parts;
  parts.reserve(pairs.size());
  for (const auto& [before, after] : pairs) parts.push_back(fmt::format("[{}, {}]", before, after));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace quern::tensorflow
