// Models of images that are no classifiers, and of videos (vision.py).

#include "tests/models/library/rows.h"

namespace quern::library_models {

namespace {

double of_dcgan(const std::string&, const Shape&) { return 0.02; }
double of_capsnet(const std::string& path, const Shape& shape) {
  return path == "transforms" ? 0.1 : he_and_glorot(path, shape);
}
double of_vit(const std::string& path, const Shape& shape) {
  return path == "positions" ? 0.02 : he_and_glorot(path, shape);
}

/// The candidates are of a quarter of the results, by which all boxes are some; detections are of the last four, with larger
/// results.
Row ssd() {
  return row_of("ssd", "ssd", "Ssd300[3]", "(1, 3, 300, 300)", R"({
  let %o = @model.ssd300(%net, %x);
  let %candidates = @model.candidates(model.Output(%o.logits / 4, %o.places / 4, %o.boxes)).0;
  let %last = model.Output(%o.logits[:, -4:] * 2, %o.places[:, -16:] * 4, %o.boxes[:, -4:]);
  (%o.logits, %o.places, %candidates[:, :, 1:], @model.detections(%last), @model.features(%net, %x))
})",
                "init_ssd300");
}

Row yolo() {
  return {"yolo", R"(
import "quern:models/yolo.relay" as model
type Net { Net(anchors: model.Anchors[3], head: model.Head[16, 3, 4]) }
def @main(%net: Net, %x: Tensor[(2, 16, 5, 7), float32]) {
  let %o = @model.predict(%net.head, abs(%net.anchors), %x);
  (%o.boxes, %o.objectness, %o.classes, @model.candidates(%o)[:, :, 1:], @model.detections(%o, 0.05))
}
def @begin(%seed: int32) -> model.Head[16, 3, 4] { @model.init_head(random.threefry_key(%seed)) }
)"};
}

Row vit() {
  return {"vit", R"(
import "quern:models/vit.relay" as model
import "quern:models/layers.relay" as layers
type Net {
  Net(
    patches: layers.BiasedConv[3, 16, 4],
    class_token: Tensor[(1, 1, 16), float32],
    positions: Tensor[(1, 10, 16), float32],
    layers: (model.Layer[2, 8, 24], model.Layer[2, 8, 24]),
    norm: layers.Norm[16],
    head: layers.Linear[16, 5]
  )
}
def @main(%net: Net, %x: Tensor[(2, 3, 12, 12), float32]) {
  let (%a, %b) = %net.layers;
  let %vit: model.ViT[4, 3, 2, 8, 24, 5] = model.ViT(
    %net.patches, %net.class_token, %net.positions, Cons(%a, Cons(%b, Nil)), %net.norm, %net.head
  );
  let %o = @model.vit(%vit, %x);
  let %embedded = @hd(%o.hidden);
  (%o.logits, %o.last, (%embedded, @nth(%o.hidden, 1)), @model.attention_weights(%a, @model.norm(%a.norm_1, %embedded)))
}
def @begin(%seed: int32) -> model.ViT[4, 3, 2, 8, 24, 5] { @model.init_vit(random.threefry_key(%seed), 2) }
)",
          of_vit};
}

Row capsnet() {
  return row_of("capsnet", "capsnet", "CapsNet[3]", "(2, 1, 28, 28)", R"({
  let %capsules = @model.capsules(%net, %x);
  let %lengths = @model.lengths(%capsules);
  let %labels = [1, 0];
  (
    %lengths,
    %capsules,
    @model.reconstruct(%net, %capsules, %labels),
    @model.margin_loss(%lengths, %labels),
    @model.features(%net, %x)
  )
})",
                "init_capsnet", of_capsnet);
}

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
      ssd(),
      yolo(),
      vit(),
      capsnet(),
  };
}

}  // namespace quern::library_models
