#include "bench/models/peer/network.h"

namespace quern::bench {

using dnnl::memory;
using Dims = memory::dims;

namespace {

// The places that remain on an axis when a window moves over it.
int64_t windows(int64_t extent, int64_t size, int64_t stride, int64_t padding) {
  return (extent + 2 * padding - size) / stride + 1;
}

memory::desc bias_of(const Filters& filters) {
  return filters.bias ? any_layout(filters.bias->shape()) : memory::desc();
}

}  // namespace

memory::format_tag blocks_of_channels() {
  static const bool has_wide_vectors = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  return has_wide_vectors ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
}

memory::desc Network::image(const Dims& dims) const {
  switch (choices_.layout) {
    case Layout::Any: return any_layout(dims);
    case Layout::Blocked: return {dims, kFloat, blocks_of_channels()};
    case Layout::ChannelsLast: return {dims, kFloat, memory::format_tag::nhwc};
  }
  return {};
}

// As it is, unless it comes from the user: then it may be rearranged.
memory::desc Network::given_image(const memory& x) const {
  const Desc desc = x.get_desc();
  if (desc != row_major(desc.dims())) return desc;
  return choices_.layout == Layout::ChannelsLast ? image(desc.dims()) : any_layout(desc.dims());
}

memory Network::convolve(const memory& x, const Filters& filters, const ConvolutionDims& dims,
                         const Convolution& layer) {
  const memory target = layer.sum ? layer.sum : layer.into;
  const dnnl::convolution_forward::desc wanted(kInference, dnnl::algorithm::convolution_direct,
                                               given_image(x), any_layout(dims.weights), bias_of(filters),
                                               target ? target.get_desc() : image(dims.result),
                                               Dims(2, layer.stride), dims.before, dims.after);
  const dnnl::convolution_forward::primitive_desc made(wanted, attributes(layer.activation, layer.sum),
                                                       processor());
  memory result = target ? target : make(made.dst_desc());
  Arguments arguments{{DNNL_ARG_SRC, arranged(x, made.src_desc())},
                      {DNNL_ARG_WEIGHTS, packed(filters.weight, made.weights_desc())},
                      {DNNL_ARG_DST, result}};
  if (filters.bias) arguments.emplace_back(DNNL_ARG_BIAS, packed(filters.bias, made.bias_desc()));
  add(made, arguments);
  return result;
}

memory Network::conv(const memory& x, const Convolution& layer) {
  const Filters filters = weights_.filters(layer.weight, layer.norm);
  const Dims from = x.get_desc().dims(), padding(2, layer.padding);
  Dims weights = filters.weight->shape();
  const Dims to{1, weights[0], windows(from[2], weights[2], layer.stride, layer.padding),
                windows(from[3], weights[3], layer.stride, layer.padding)};
  if (layer.groups > 1) {
    weights[0] /= layer.groups;
    weights.insert(weights.begin(), layer.groups);
  }
  return convolve(x, filters, {weights, to, padding, padding}, layer);
}

memory Network::concatenated(const std::vector<memory>& parts) {
  std::vector<Desc> descs;
  Arguments arguments;
  for (size_t i = 0; i < parts.size(); ++i) {
    descs.push_back(parts[i].get_desc());
    arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), parts[i]);
  }
  const dnnl::concat::primitive_desc made(1, descs, processor(), attributes(Activation::None));
  memory result = make(made.dst_desc());
  arguments.emplace_back(DNNL_ARG_DST, result);
  add(made, arguments);
  return result;
}

memory Network::max_pool(const memory& x, const Pool& pool) {
  const Dims from = x.get_desc().dims();
  const Dims to{1, from[1], windows(from[2], pool.size, pool.stride, pool.padding),
                windows(from[3], pool.size, pool.stride, pool.padding)};
  const Dims stride(2, pool.stride), size(2, pool.size), padding(2, pool.padding);
  const dnnl::pooling_forward::desc wanted(kInference, dnnl::algorithm::pooling_max, x.get_desc(), image(to),
                                           stride, size, padding, padding);
  const dnnl::pooling_forward::primitive_desc made(wanted, attributes(Activation::None), processor());
  memory result = make(made.dst_desc());
  add(made, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, result}});
  return result;
}

memory Network::mean(const memory& x) {
  const Dims from = x.get_desc().dims(), size{from[2], from[3]}, none{0, 0};
  const dnnl::pooling_forward::desc wanted(kInference, dnnl::algorithm::pooling_avg_exclude_padding,
                                           x.get_desc(), image({1, from[1], 1, 1}), size, size, none, none);
  const dnnl::pooling_forward::primitive_desc made(wanted, attributes(Activation::None), processor());
  memory result = make(made.dst_desc());
  add(made, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, result}});
  return result;
}

}  // namespace quern::bench
