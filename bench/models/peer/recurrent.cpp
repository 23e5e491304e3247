#include <algorithm>

#include "bench/models/peer/models.h"

namespace quern::bench {

using dnnl::memory;

namespace {

const std::vector<Choices> kForms = {{.name = "packed"}, {.name = "plain weights", .packed = false}};

constexpr int64_t kSteps = 20, kInputs = 300, kWidth = 512;

// PyTorch's weights have a row for each output of each gate; here the gates come in another order.
TensorPtr gates_of(const TensorPtr& tensor, const std::vector<int64_t>& order) {
  const int64_t size = kWidth * (tensor->shape().size() == 1 ? 1 : tensor->shape()[1]);
  TensorPtr result = HostTensor::make(tensor->dtype(), tensor->shape());
  for (size_t k = 0; k < order.size(); ++k)
    std::copy_n(tensor->elements<float>().data() + order[k] * size, size,
                result->elements<float>().data() + static_cast<int64_t>(k) * size);
  return result;
}

struct RecurrentWeights {
  TensorPtr layer, iter, bias;
};

// Weights of one layer in one direction as the primitive wants them.
memory packed_gates(Network& net, const TensorPtr& weight, int64_t inputs, int64_t gates,
                    const memory::desc& wanted) {
  return net.packed(weight, {{1, 1, inputs, gates, kWidth}, kFloat, memory::format_tag::ldgoi}, wanted);
}

memory::desc weights_of(const Network& net, int64_t inputs, int64_t gates) {
  using Tag = memory::format_tag;
  return {{1, 1, inputs, gates, kWidth}, kFloat, net.choices().packed ? Tag::any : Tag::ldigo};
}

// The whole sequence is one primitive; its result is the last step's row.
void finish_layer(Network& net, const dnnl::rnn_primitive_desc_base& made, const RecurrentWeights& weights,
                  int64_t gates) {
  const memory rows = net.make(made.dst_layer_desc());
  net.add(
      made,
      {{DNNL_ARG_SRC_LAYER, net.arranged(net.input("xs"), made.src_layer_desc())},
       {DNNL_ARG_WEIGHTS_LAYER, packed_gates(net, weights.layer, kInputs, gates, made.weights_layer_desc())},
       {DNNL_ARG_WEIGHTS_ITER, packed_gates(net, weights.iter, kWidth, gates, made.weights_iter_desc())},
       {DNNL_ARG_BIAS, net.packed(weights.bias, made.bias_desc())},
       {DNNL_ARG_DST_LAYER, rows}});
  net.finish(net.part(rows, row_major({1, kWidth}), (kSteps - 1) * kWidth));
}

void lstm(Network& net) {
  constexpr int64_t kGates = 4;
  const Weights& weights = net.weights();
  TensorPtr bias = gates_of(weights["bias_ih"], {0, 1, 2, 3});
  const auto more = weights["bias_hh"]->elements<float>();
  std::transform(more.begin(), more.end(), bias->elements<float>().begin(), bias->elements<float>().begin(),
                 std::plus<>());
  const dnnl::lstm_forward::desc wanted(
      kInference, dnnl::rnn_direction::unidirectional_left2right, row_major({kSteps, 1, kInputs}), {}, {},
      weights_of(net, kInputs, kGates), weights_of(net, kWidth, kGates), row_major({1, 1, kGates, kWidth}),
      row_major({kSteps, 1, kWidth}), {}, {});
  const dnnl::lstm_forward::primitive_desc made(wanted, net.attributes(Activation::None), processor());
  finish_layer(net, made, {weights["weight_ih"], weights["weight_hh"], bias}, kGates);
}

// With the reset gate after the product with the hidden state and its bias. oneDNN has the update gate first, and
// that bias as one of a fourth gate.
void gru(Network& net) {
  constexpr int64_t kGates = 3;
  const Weights& weights = net.weights();
  const std::vector<int64_t> order{1, 0, 2};
  const TensorPtr of_inputs = gates_of(weights["bias_ih"], order),
                  of_state = gates_of(weights["bias_hh"], order);
  const TensorPtr bias = HostTensor::make(DType::float32(), {(kGates + 1) * kWidth});
  for (int64_t i = 0; i < 2 * kWidth; ++i)
    bias->elements<float>()[i] = of_inputs->elements<float>()[i] + of_state->elements<float>()[i];
  std::copy_n(of_inputs->elements<float>().data() + 2 * kWidth, kWidth,
              bias->elements<float>().data() + 2 * kWidth);
  std::copy_n(of_state->elements<float>().data() + 2 * kWidth, kWidth,
              bias->elements<float>().data() + 3 * kWidth);
  const dnnl::lbr_gru_forward::desc wanted(
      kInference, dnnl::rnn_direction::unidirectional_left2right, row_major({kSteps, 1, kInputs}), {},
      weights_of(net, kInputs, kGates), weights_of(net, kWidth, kGates),
      row_major({1, 1, kGates + 1, kWidth}), row_major({kSteps, 1, kWidth}), {});
  const dnnl::lbr_gru_forward::primitive_desc made(wanted, net.attributes(Activation::None), processor());
  finish_layer(net, made,
               {gates_of(weights["weight_ih"], order), gates_of(weights["weight_hh"], order), bias}, kGates);
}

}  // namespace

void add_recurrent(Models& models) {
  models["lstm"] = {kForms, lstm};
  models["gru"] = {kForms, gru};
}

}  // namespace quern::bench
