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

/// A program of the one module that it imports, as `model`.
Row row(const std::string& name, const std::string& file, const std::string& definitions) {
  return {name, fmt::format("import \"quern:models/{}.relay\" as model\n", file) + definitions,
          he_and_glorot};
}

Row resnet(int depth, int batch) {
  return row(fmt::format("resnet{}", depth), "resnet",
             fmt::format(R"(
def @main(%net: model.ResNet{0}[10], %images: Tensor[({1}, 3, 64, 64), float32]) {{
  (@model.resnet{0}(%net, %images), @model.resnet{0}_features(%net, %images))
}}
def @begin(%seed: int32) -> model.ResNet{0}[10] {{ @model.init_resnet{0}(random.threefry_key(%seed)) }}
)",
                         depth, batch));
}

/// A model whose type has parameters, a batch of `images` its argument.
Row classifier(const std::string& name, const std::string& type, const std::string& images,
               const std::string& function, const std::string& features) {
  return row(name, name,
             fmt::format(R"(
def @main(%net: model.{0}, %images: Tensor[{1}, float32]) {{
  (@model.{2}(%net, %images), @model.{3}(%net, %images))
}}
def @begin(%seed: int32) -> model.{0} {{ @model.init_{2}(random.threefry_key(%seed)) }}
)",
                         type, images, function, features));
}

Row vgg16() {
  return row("vgg16", "vgg", R"(
def @main(%net: model.VGG16[128, 10], %images: Tensor[(1, 3, 64, 64), float32]) {
  (@model.vgg16(%net, %images), @model.features(%net.stages, %images))
}
def @begin(%seed: int32) -> model.VGG16[128, 10] { @model.init_vgg16(random.threefry_key(%seed)) }
)");
}

}  // namespace

std::vector<Row> image_rows() {
  return {
      resnet(18, 2),
      resnet(34, 1),
      resnet(50, 1),
      classifier("mobilenet_v1", "MobileNet[32, 10]", "(1, 3, 64, 64)", "mobilenet", "features"),
      classifier("mobilenet_v2", "MobileNet[10]", "(2, 3, 64, 64)", "mobilenet", "features"),
      vgg16(),
      classifier("squeezenet", "SqueezeNet[10]", "(2, 3, 65, 64)", "squeezenet", "features"),
      classifier("densenet", "DenseNet121[10]", "(1, 3, 64, 64)", "densenet121", "densenet121_features"),
      classifier("shufflenet_v2", "ShuffleNet[58, 10]", "(1, 3, 64, 64)", "shufflenet", "features"),
      classifier("inception_v3", "InceptionV3[10]", "(1, 3, 79, 75)", "inception", "features"),
  };
}

}  // namespace quern::library_models
