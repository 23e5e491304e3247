// Models of images that are no classifiers, and of videos (vision.py).

#include "tests/models/library/rows.h"

namespace quern::library_models {

namespace {

double of_dcgan(const std::string&, const Shape&) { return 0.02; }

}  // namespace

std::vector<Row> vision_rows() {
  return {
      row_of("dqn", "dqn", "Dqn[18]", "(2, 4, 84, 84)", "@model.dqn(%net, %x), @model.features(%net, %x)",
             "init_dqn"),
      row_of("dcgan_generator", "dcgan", "Generator[100, 32]", "(2, 100)",
             "@model.generate(%net, %x), @model.generator_features(%net, %x)", "init_generator", of_dcgan),
      row_of("dcgan_discriminator", "dcgan", "Discriminator[32]", "(2, 3, 64, 64)",
             "@model.discriminate(%net, %x), @model.discriminator_features(%net, %x)", "init_discriminator",
             of_dcgan),
      row_of("resnet3d", "resnet3d", "ResNet3D[10]", "(1, 3, 4, 32, 34)",
             "@model.resnet3d(%net, %x), @model.features(%net, %x)", "init_resnet3d"),
      row_of("unet", "unet", "UNet[1, 16, 3]", "(2, 1, 32, 48)",
             "@model.unet(%net, %x), @model.down(%net, %x)", "init_unet"),
  };
}

}  // namespace quern::library_models
