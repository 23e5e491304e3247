// Models of images (images.py).

#include <fmt/format.h>

#include <cmath>

#include "tests/models/library/rows.h"

namespace quern::library_models {

namespace {

/// As `random.xavier_uniform` for the classifier at the end, as `random.he_normal` elsewhere.
double he_and_glorot(const std::string& path, const Shape& shape) {
  return shape.size() == 2 ? std::sqrt(2.0 / static_cast<double>(shape[0] + shape[1])) : he(path, shape);
}

Row resnet(int depth) {
  return {fmt::format("resnet{}", depth),
          fmt::format(R"(
import "quern:models/resnet.relay" as resnet
def @main(%net: resnet.ResNet{0}[10], %images: Tensor[(2, 3, 64, 64), float32]) {{
  (@resnet.resnet{0}(%net, %images), @resnet.resnet{0}_features(%net, %images))
}}
def @begin(%seed: int32) -> resnet.ResNet{0}[10] {{ @resnet.init_resnet{0}(random.threefry_key(%seed)) }}
)",
                      depth),
          he_and_glorot};
}

}  // namespace

std::vector<Row> image_rows() { return {resnet(18), resnet(34), resnet(50)}; }

}  // namespace quern::library_models
