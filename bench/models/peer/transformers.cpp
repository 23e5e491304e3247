#include <fmt/format.h>

#include <limits>

#include "bench/models/peer/models.h"

namespace quern::bench {

using dnnl::memory;

namespace {

const std::vector<Choices> kProducts = {{.name = "inner products"}, {.name = "matmul", .matmul = true}};

constexpr int64_t kTokens = 64;
constexpr float kScale = 0.125F;  // of scores, for heads that are 64 wide; exact, so that weights may have it

// The rows of a table of words for the tokens, and what each place adds. oneDNN has no primitive for it.
memory embedding(Network& net, const TensorPtr& words, const std::vector<float>& places) {
  const int64_t width = words->shape()[1];
  memory rows = net.make(row_major({kTokens, width}));
  const TensorPtr tokens = net.weights().input("tokens");
  const auto look_up = [=] {
    const auto table = words->elements<const float>();
    const auto numbers = tokens->elements<const int32_t>();
    auto* row = static_cast<float*>(rows.get_data_handle());
    const float* place = places.data();
    for (int64_t t = 0; t < kTokens; ++t, row += width, place += width) {
      const float* word = table.data() + numbers[t] * width;
      for (int64_t i = 0; i < width; ++i) row[i] = word[i] + place[i];
    }
  };
  net.add(look_up, rows);
  return rows;
}

std::vector<float> first_places(const TensorPtr& positions) {
  const auto all = positions->elements<float>();
  return {all.begin(), all.begin() + kTokens * positions->shape()[1]};
}

// ---- BERT ----

memory bert_layer(Network& net, memory x, const std::string& layer, int64_t heads) {
  constexpr float kEpsilon = 1e-12F;
  const Weights& weights = net.weights();
  const int64_t width = x.get_desc().dims()[1];
  const Dense seen = weights.joined({layer + ".query", layer + ".key", layer + ".value"});
  const memory mixed = net.attention(net.linear(x, scaled(seen, width, kScale)), heads);
  x = net.linear(mixed, weights.dense(layer + ".output"), Activation::None, x);
  x = net.layer_norm(x, layer + ".norm1", kEpsilon);
  const memory up = net.linear(x, weights.dense(layer + ".up"), Activation::Gelu);
  x = net.linear(up, weights.dense(layer + ".down"), Activation::None, x);
  return net.layer_norm(x, layer + ".norm2", kEpsilon);
}

void bert(Network& net, int layers, int64_t heads) {
  const Weights& weights = net.weights();
  std::vector<float> places = first_places(weights["positions.weight"]);
  const auto segments = weights["segments.weight"]->elements<float>();
  const int64_t width = 64 * heads;
  for (size_t i = 0; i < places.size(); ++i) places[i] += segments[i % width];
  memory x = net.layer_norm(embedding(net, weights["words.weight"], places), "norm", 1e-12F);
  for (int k = 0; k < layers; ++k) x = bert_layer(net, x, fmt::format("layers.{}", k), heads);
  const memory first = net.part(x, row_major({1, width}), 0);
  net.finish(net.linear(first, weights.dense("pooler"), Activation::Tanh));
}

// ---- GPT-2 ----

constexpr int64_t kGpt2Layers = 12, kGpt2Heads = 12, kGpt2Width = 768;

// What is added to the scores of tokens that come later.
memory causal_mask() {
  memory mask(row_major({1, kTokens, kTokens}), processor());
  auto* score = static_cast<float*>(mask.get_data_handle());
  for (int64_t i = 0; i < kTokens; ++i)
    for (int64_t j = 0; j < kTokens; ++j) *score++ = j <= i ? 0 : -std::numeric_limits<float>::infinity();
  return mask;
}

memory gpt2_layer(Network& net, memory x, const std::string& layer, const memory& mask) {
  constexpr float kEpsilon = 1e-5F;
  const auto columns = [&](const std::string& name) {
    Dense dense = net.weights().dense(layer + name);
    dense.inputs_first = true;
    return dense;
  };
  memory y = net.linear(net.layer_norm(x, layer + ".norm1", kEpsilon),
                        scaled(columns(".attention"), kGpt2Width, kScale));
  x = net.linear(net.attention(y, kGpt2Heads, mask), columns(".output"), Activation::None, x);
  y = net.linear(net.layer_norm(x, layer + ".norm2", kEpsilon), columns(".up"), Activation::GeluTanh);
  return net.linear(y, columns(".down"), Activation::None, x);
}

void gpt2(Network& net) {
  const Weights& weights = net.weights();
  const memory mask = causal_mask();
  memory x = embedding(net, weights["words.weight"], first_places(weights["positions.weight"]));
  for (int k = 0; k < kGpt2Layers; ++k) x = gpt2_layer(net, x, fmt::format("layers.{}", k), mask);
  const memory last = net.part(x, row_major({1, kGpt2Width}), (kTokens - 1) * kGpt2Width);
  net.finish(net.linear(net.layer_norm(last, "norm", 1e-5F), {weights["words.weight"], nullptr}));
}

}  // namespace

void add_transformers(Models& models) {
  models["bert_tiny"] = {kProducts, [](Network& net) { bert(net, 2, 2); }};
  models["bert_base"] = {kProducts, [](Network& net) { bert(net, 12, 12); }};
  models["gpt2"] = {kProducts, gpt2};
}

}  // namespace quern::bench
