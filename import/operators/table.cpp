#include "import/operators/table.h"

#include <algorithm>
#include <array>
#include <map>

#include "import/operators/fold_dims.h"

namespace quern::onnx {

namespace {

const std::map<std::string_view, const Operator*>& table() {
  static const auto rows = [] {
    std::map<std::string_view, const Operator*> all;
    for (auto family : {elementwise_operators(), reduction_operators(), shape_operators(), index_operators(),
                        layer_operators(), pool_operators(), product_operators(), quantised_operators(),
                        loss_operators(), image_operators(), resize_operators(), recurrent_operators(),
                        signal_operators(), random_operators(), text_operators(), control_operators()})
      for (const Operator& row : family) all.emplace(row.name, &row);
    return all;
  }();
  return rows;
}

}  // namespace

const Operator* find_operator(std::string_view name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

std::vector<const Operator*> operators() {
  std::vector<const Operator*> all;
  all.reserve(table().size());
  for (const auto& [name, row] : table()) all.push_back(row);
  return all;
}

void convert(Call& call) {
  if (fold_dims(call)) return;
  const Operator* row = find_operator(call.node().op);
  if (!row) throw Refusal("this operator has no counterpart");
  convert(*row, call);
}

void convert(const Operator& row, Call& call) {
  if (row.convert) return row.convert(call);
  std::vector<Term> operands;
  for (size_t i = 0; row.expression.find("$" + std::to_string(i)) != std::string_view::npos; ++i)
    operands.push_back(call.in(i));
  call.result(row.expression, operands);
}

}  // namespace quern::onnx
