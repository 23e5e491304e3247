#include "export/operators/table.h"

#include <map>

namespace quern::onnx {

const Row* find_row(std::string_view name) {
  static const auto* const rows = [] {
    auto* all = new std::map<std::string_view, const Row*>;
    for (const auto& family : {elementwise_rows(), layer_rows(), pool_rows(), product_rows(),
                               reduction_rows(), shape_rows(), index_rows()})
      for (const Row& row : family) all->emplace(row.name, &row);
    return all;
  }();
  const auto found = rows->find(name);
  return found == rows->end() ? nullptr : found->second;
}

}  // namespace quern::onnx
