#include <fmt/format.h>

#include "bench/models/peer/models.h"

namespace quern::bench {

using dnnl::memory;

namespace {

const Choices kAny{.name = "any layout"}, kBlocked{.name = "blocks of channels", .layout = Layout::Blocked};
const Choices kLast{.name = "channels last", .layout = Layout::ChannelsLast};
const Choices kPhases{.name = "channels last, phases", .layout = Layout::ChannelsLast, .phases = true};
const std::vector<Choices> kLayouts{kAny, kBlocked, kLast};

// ---- ResNet ----

// A shortcut's projection has the block's last batch norm. What a sum overwrites nobody reads any more: the block's
// input has been read by its first convolution.
memory shortcut(Network& net, const memory& x, const std::string& block, const std::string& norm,
                int64_t stride) {
  if (!net.weights().has(block + ".shortcut.weight")) return x;
  return net.conv(x, {.weight = block + ".shortcut", .norm = block + norm, .stride = stride});
}

memory basic_block(Network& net, const memory& x, const std::string& block, int64_t stride) {
  const memory y = net.conv(x, {.weight = block + ".conv1",
                                .norm = block + ".bn1",
                                .stride = stride,
                                .padding = 1,
                                .activation = Activation::Relu});
  return net.conv(y, {.weight = block + ".conv2",
                      .norm = block + ".bn2",
                      .padding = 1,
                      .activation = Activation::Relu,
                      .sum = shortcut(net, x, block, ".bn3", stride)});
}

memory bottleneck(Network& net, const memory& x, const std::string& block, int64_t stride) {
  memory y =
      net.conv(x, {.weight = block + ".conv1", .norm = block + ".bn1", .activation = Activation::Relu});
  y = net.conv(y, {.weight = block + ".conv2",
                   .norm = block + ".bn2",
                   .stride = stride,
                   .padding = 1,
                   .activation = Activation::Relu});
  return net.conv(y, {.weight = block + ".conv3",
                      .norm = block + ".bn3",
                      .activation = Activation::Relu,
                      .sum = shortcut(net, x, block, ".bn4", stride)});
}

using Block = memory (*)(Network&, const memory&, const std::string&, int64_t);

void resnet(Network& net, Block block, const std::vector<int>& counts) {
  memory x =
      net.conv(net.input("image"),
               {.weight = "conv1", .norm = "bn1", .stride = 2, .padding = 3, .activation = Activation::Relu});
  x = net.max_pool(x, {.size = 3, .stride = 2, .padding = 1});
  for (size_t layer = 0; layer < counts.size(); ++layer)
    for (int k = 0; k < counts[layer]; ++k)
      x = block(net, x, fmt::format("layer{}.{}", layer + 1, k), layer > 0 && k == 0 ? 2 : 1);
  net.finish(net.linear(net.mean(x), net.weights().dense("fc")));
}

// ---- MobileNet V2 ----

memory inverted_bottleneck(Network& net, const memory& x, const std::string& block, int64_t stride,
                           bool adds) {
  memory y = x;
  if (net.weights().has(block + ".expand.conv.weight"))
    y = net.conv(
        y, {.weight = block + ".expand.conv", .norm = block + ".expand.bn", .activation = Activation::Relu6});
  y = net.conv(y, {.weight = block + ".depthwise.conv",
                   .norm = block + ".depthwise.bn",
                   .stride = stride,
                   .padding = 1,
                   .groups = net.weights()[block + ".depthwise.bn.weight"]->size(),
                   .activation = Activation::Relu6});
  return net.conv(
      y, {.weight = block + ".project.conv", .norm = block + ".project.bn", .sum = adds ? x : memory()});
}

void mobilenet_v2(Network& net) {
  memory x = net.conv(
      net.input("image"),
      {.weight = "stem.conv", .norm = "stem.bn", .stride = 2, .padding = 1, .activation = Activation::Relu6});
  x = inverted_bottleneck(net, x, "first", 1, false);
  struct Stage {
    int number, count;
    int64_t stride;
  };
  for (const Stage& stage : {Stage{2, 2, 2}, {3, 3, 2}, {4, 4, 2}, {5, 3, 1}, {6, 3, 2}, {7, 1, 1}})
    for (int k = 0; k < stage.count; ++k)
      x = inverted_bottleneck(net, x, fmt::format("stage{}.{}", stage.number, k), k == 0 ? stage.stride : 1,
                              k > 0);
  x = net.conv(x, {.weight = "head.conv", .norm = "head.bn", .activation = Activation::Relu6});
  net.finish(net.linear(net.mean(x), net.weights().dense("fc")));
}

// ---- SqueezeNet ----

memory fire(Network& net, const memory& x, const std::string& block) {
  const memory y = net.conv(x, {.weight = block + ".squeeze", .activation = Activation::Relu});
  const auto expand = [&](const std::string& name, int64_t padding, const memory& into = {}) {
    return net.conv(
        y, {.weight = block + name, .padding = padding, .activation = Activation::Relu, .into = into});
  };
  if (net.choices().layout != Layout::Blocked)
    return net.concatenated({expand(".expand1", 0), expand(".expand3", 1)});
  // One image's blocks of channels lie after each other: both results are written where they belong.
  memory::dims dims = x.get_desc().dims();
  dims[1] = net.weights()[block + ".expand1.bias"]->size();
  const int64_t half = dims[1] * dims[2] * dims[3];
  const memory::desc part(dims, kFloat, blocks_of_channels());
  dims[1] *= 2;
  memory result = net.make({dims, kFloat, blocks_of_channels()});
  expand(".expand1", 0, net.part(result, part, 0));
  expand(".expand3", 1, net.part(result, part, half));
  return result;
}

void squeezenet(Network& net) {
  const Pool halve{.size = 3, .stride = 2};
  memory x = net.conv(net.input("image"), {.weight = "stem", .stride = 2, .activation = Activation::Relu});
  x = fire(net, fire(net, net.max_pool(x, halve), "fire2"), "fire3");
  x = fire(net, fire(net, net.max_pool(x, halve), "fire4"), "fire5");
  x = fire(net, fire(net, net.max_pool(x, halve), "fire6"), "fire7");
  x = fire(net, fire(net, x, "fire8"), "fire9");
  net.finish(net.mean(net.conv(x, {.weight = "classifier", .activation = Activation::Relu})));
}

// ---- Others ----

void vgg16(Network& net) {
  memory x = net.input("image");
  const std::vector<int> counts{2, 2, 3, 3, 3};
  for (size_t stage = 0; stage < counts.size(); ++stage) {
    for (int k = 0; k < counts[stage]; ++k)
      x = net.conv(
          x,
          {.weight = fmt::format("stage{}.{}", stage + 1, k), .padding = 1, .activation = Activation::Relu});
    x = net.max_pool(x, {.size = 2, .stride = 2});
  }
  x = net.linear(x, net.weights().dense("fc1"), Activation::Relu);
  x = net.linear(x, net.weights().dense("fc2"), Activation::Relu);
  net.finish(net.linear(x, net.weights().dense("fc3")));
}

void dqn(Network& net) {
  const auto conv = [&](const memory& x, const std::string& name, int64_t stride) {
    return net.conv(x, {.weight = name, .stride = stride, .activation = Activation::Relu});
  };
  const memory x = conv(conv(conv(net.input("image"), "conv1", 4), "conv2", 2), "conv3", 1);
  const memory hidden = net.linear(x, net.weights().dense("hidden"), Activation::Relu);
  net.finish(net.linear(hidden, net.weights().dense("actions")));
}

void dcgan(Network& net) {
  memory x = net.transposed_conv(net.input("noise"),
                                 {.weight = "conv1", .norm = "bn1", .activation = Activation::Relu});
  for (int k = 2; k <= 5; ++k) {
    const bool is_last = k == 5;
    x = net.transposed_conv(x, {.weight = fmt::format("conv{}", k),
                                .norm = is_last ? "" : fmt::format("bn{}", k),
                                .stride = 2,
                                .padding = 1,
                                .activation = is_last ? Activation::Tanh : Activation::Relu});
  }
  net.finish(x);
}

}  // namespace

void add_vision(Models& models) {
  models["resnet18"] = {kLayouts, [](Network& net) { resnet(net, basic_block, {2, 2, 2, 2}); }};
  models["resnet50"] = {kLayouts, [](Network& net) { resnet(net, bottleneck, {3, 4, 6, 3}); }};
  models["mobilenet_v2"] = {kLayouts, mobilenet_v2};
  models["squeezenet"] = {kLayouts, squeezenet};
  models["vgg16"] = {kLayouts, vgg16};
  models["dqn"] = {kLayouts, dqn};
  models["dcgan"] = {{kAny, kBlocked, kLast, kPhases}, dcgan};
}

}  // namespace quern::bench
