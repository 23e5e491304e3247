// Transposed convolutions of one image, whose weights come as IOHW.

#include "bench/models/peer/network.h"

namespace quern::bench {

using dnnl::memory;
using Dims = memory::dims;

namespace {

// What places of a phase read on one axis, as a convolution with stride 1: the kernel's indices in the order of what
// they read, and the zeros before and after.
struct Phase {
  std::vector<int64_t> indices;
  int64_t before = 0, after = 0;
};

// An output at `stride * y + phase` has a product of the input at `y + (phase + padding - k) / stride` for each index k
// of the kernel for which that is an integer.
Phase phase_of(int64_t phase, int64_t size, int64_t stride, int64_t padding) {
  Phase result;
  for (int64_t k = size - 1; k >= 0; --k)
    if ((phase + padding - k) % stride == 0) result.indices.push_back(k);
  result.before = (result.indices.front() - phase - padding) / stride;
  result.after = (phase + padding - result.indices.back()) / stride;
  return result;
}

TensorPtr filters_of(const TensorPtr& weight, const Phase& vertical, const Phase& horizontal) {
  const Shape& from = weight->shape();
  const auto height = static_cast<int64_t>(vertical.indices.size());
  const auto width = static_cast<int64_t>(horizontal.indices.size());
  TensorPtr result = HostTensor::make(DType::float32(), {from[1], from[0], height, width});
  const float* elements = weight->elements<float>().data();
  float* to = result->elements<float>().data();
  for (int64_t o = 0; o < from[1]; ++o)
    for (int64_t i = 0; i < from[0]; ++i)
      for (const int64_t y : vertical.indices)
        for (const int64_t x : horizontal.indices)
          *to++ = elements[((i * from[1] + o) * from[2] + y) * from[3] + x];
  return result;
}

// A result's extent on an axis.
int64_t extent(int64_t from, int64_t size, const Convolution& layer) {
  return (from - 1) * layer.stride - 2 * layer.padding + size;
}

}  // namespace

memory Network::transposed_conv(const memory& x, const Convolution& layer) {
  const Filters filters = weights_.filters(layer.weight, layer.norm, 1);
  if (!choices_.phases) return direct_transposed_conv(x, filters, layer);
  const bool is_one_place = x.get_desc().dims()[2] == 1 && x.get_desc().dims()[3] == 1;
  return is_one_place ? conv_of_one_place(x, filters, layer.activation) : conv_by_phases(x, filters, layer);
}

// oneDNN counts the axes of the weights as OIHW.
memory Network::direct_transposed_conv(const memory& x, const Filters& filters, const Convolution& layer) {
  const Dims from = x.get_desc().dims();
  Dims weights = filters.weight->shape();
  const Desc given = row_major(weights).permute_axes({1, 0, 2, 3});
  std::swap(weights[0], weights[1]);
  const Dims to{1, weights[0], extent(from[2], weights[2], layer), extent(from[3], weights[3], layer)};
  const Dims stride(2, layer.stride), padding(2, layer.padding);
  const dnnl::deconvolution_forward::desc wanted(
      kInference, dnnl::algorithm::deconvolution_direct, given_image(x), any_layout(weights),
      filters.bias ? any_layout(filters.bias->shape()) : Desc(), image(to), stride, padding, padding);
  const dnnl::deconvolution_forward::primitive_desc made(wanted, attributes(layer.activation), processor());
  memory result = make(made.dst_desc());
  Arguments arguments{{DNNL_ARG_SRC, arranged(x, made.src_desc())},
                      {DNNL_ARG_WEIGHTS, packed(filters.weight, given, made.weights_desc())},
                      {DNNL_ARG_DST, result}};
  if (filters.bias) arguments.emplace_back(DNNL_ARG_BIAS, packed(filters.bias, made.bias_desc()));
  add(made, arguments);
  return result;
}

// Where the result is exactly `stride` times as large. oneDNN's convolutions write no places with others in between,
// so that a reorder puts those of a phase into the result.
memory Network::conv_by_phases(const memory& x, const Filters& filters, const Convolution& layer) {
  const Dims from = x.get_desc().dims();
  const Shape& shape = filters.weight->shape();
  const int64_t channels = shape[1], stride = layer.stride, width = stride * from[3];
  const Dims of_phase{1, channels, from[2], from[3]}, all{1, channels, stride * from[2], width};
  const Desc places(of_phase, kFloat,
                    Dims{element_count(all), 1, stride * width * channels, stride * channels});
  memory result = make({all, kFloat, memory::format_tag::nhwc});
  for (int64_t y = 0; y < stride; ++y)
    for (int64_t z = 0; z < stride; ++z) {
      const Phase vertical = phase_of(y, shape[2], stride, layer.padding);
      const Phase horizontal = phase_of(z, shape[3], stride, layer.padding);
      const Filters some{filters_of(filters.weight, vertical, horizontal), filters.bias};
      const ConvolutionDims dims{some.weight->shape(),
                                 of_phase,
                                 {vertical.before, horizontal.before},
                                 {vertical.after, horizontal.after}};
      const memory computed = convolve(x, some, dims, {.weight = "", .activation = layer.activation});
      const memory to = part(result, places, (y * width + z) * channels);
      add(dnnl::reorder::primitive_desc(processor(), computed.get_desc(), processor(), places),
          {{DNNL_ARG_FROM, computed}, {DNNL_ARG_TO, to}});
    }
  return result;
}

// A dense layer, whose outputs are those of all places.
memory Network::conv_of_one_place(const memory& x, const Filters& filters, Activation activation) {
  const Shape& shape = filters.weight->shape();
  const int64_t inputs = shape[0], channels = shape[1], places = shape[2] * shape[3];
  const Dense dense{HostTensor::make(DType::float32(), {places * channels, inputs}),
                    filters.bias ? HostTensor::make(DType::float32(), {places * channels}) : nullptr};
  const float* from = filters.weight->elements<float>().data();
  float* to = dense.weight->elements<float>().data();
  for (int64_t p = 0; p < places; ++p)
    for (int64_t o = 0; o < channels; ++o) {
      for (int64_t i = 0; i < inputs; ++i) *to++ = from[(i * channels + o) * places + p];
      if (dense.bias) dense.bias->elements<float>()[p * channels + o] = filters.bias->elements<float>()[o];
    }
  const memory row = linear(x, dense, activation);
  return part(row, {{1, channels, shape[2], shape[3]}, kFloat, memory::format_tag::nhwc}, 0);
}

}  // namespace quern::bench
