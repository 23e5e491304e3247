// Classifiers of images (images.py).

#include <fmt/format.h>

#include "tests/models/library/rows.h"

namespace quern::library_models {

namespace {

/// A model whose results are the logits and what it has as features.
Row classifier(const std::string& name, const std::string& type, const std::string& x,
               const std::string& function, const std::string& features = "features") {
  return row_of(name, name, type, x,
                fmt::format("@model.{}(%net, %x), @model.{}(%net, %x)", function, features),
                "init_" + function);
}

Row resnet(int depth, int batch) {
  return row_of(fmt::format("resnet{}", depth), "resnet", fmt::format("ResNet{}[10]", depth),
                fmt::format("({}, 3, 64, 64)", batch),
                fmt::format("@model.resnet{0}(%net, %x), @model.resnet{0}_features(%net, %x)", depth),
                fmt::format("init_resnet{}", depth));
}

}  // namespace

std::vector<Row> image_rows() {
  return {
      resnet(18, 2),
      resnet(34, 1),
      resnet(50, 1),
      classifier("mobilenet_v1", "MobileNet[1, 32, 10]", "(1, 3, 64, 64)", "mobilenet"),
      row_of("mobilenet_g", "mobilenet_v1", "MobileNet[16, 2, 10]", "(1, 3, 64, 64)",
             "@model.mobilenet(%net, %x), @model.features(%net, %x)", "init_mobilenet"),
      classifier("mobilenet_v2", "MobileNet[10]", "(2, 3, 64, 64)", "mobilenet"),
      row_of("vgg16", "vgg", "VGG16[128, 10]", "(1, 3, 64, 64)",
             "@model.vgg16(%net, %x), @model.features(%net.stages, %x)", "init_vgg16"),
      classifier("squeezenet", "SqueezeNet[10]", "(2, 3, 65, 64)", "squeezenet"),
      classifier("densenet", "DenseNet121[10]", "(1, 3, 64, 64)", "densenet121", "densenet121_features"),
      classifier("shufflenet_v2", "ShuffleNet[58, 10]", "(1, 3, 64, 64)", "shufflenet"),
      classifier("inception_v3", "InceptionV3[10]", "(1, 3, 79, 75)", "inception"),
  };
}

}  // namespace quern::library_models
