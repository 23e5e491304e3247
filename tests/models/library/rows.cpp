#include "tests/models/library/rows.h"

#include <fmt/format.h>

#include <cmath>

namespace quern::library_models {

double he(const std::string&, const Shape& shape) {
  double row = 1;
  for (size_t i = 1; i < shape.size(); ++i) row *= static_cast<double>(shape[i]);
  return std::sqrt(2 / row);
}

double he_and_glorot(const std::string& path, const Shape& shape) {
  return shape.size() == 2 ? std::sqrt(2.0 / static_cast<double>(shape[0] + shape[1])) : he(path, shape);
}

Row row_of(const std::string& name, const std::string& file, const std::string& type, const std::string& x,
           const std::string& results, const std::string& init, Deviation deviation) {
  return {name,
          fmt::format(R"(
import "quern:models/{0}.relay" as model
def @main(%net: model.{1}, %x: Tensor[{2}, float32]) {{ ({3}) }}
def @begin(%seed: int32) -> model.{1} {{ @model.{4}(random.threefry_key(%seed)) }}
)",
                      file, type, x, results, init),
          deviation};
}

}  // namespace quern::library_models
