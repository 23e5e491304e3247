#include <dnnl.hpp>
#include <numeric>

#include "bench/ops/peer/request.h"

namespace quern::bench {

namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;
using Tag = memory::format_tag;
using Dims = memory::dims;

constexpr auto kFloat = memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

const dnnl::engine& processor() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

using Type = memory::data_type;

// Of operands and of results, by how many bits the operands are to have.
struct Types {
  Type operand = kFloat, result = kFloat;
};
Types types_of(const Request& request) {
  if (!request.numbers.contains("bits")) return {};
  return request.number("bits") == 8 ? Types{Type::s8, Type::s32} : Types{Type::bf16, kFloat};
}

memory::desc any_layout(const Dims& dims, Type type = kFloat) { return {dims, type, Tag::any}; }

memory::desc row_major(const Dims& dims, Type type = kFloat) {
  Dims strides(dims.size(), 1);
  for (size_t k = dims.size() - 1; k > 0; --k) strides[k - 1] = strides[k] * dims[k];
  return {dims, type, strides};
}

// Channels last, in one to three dimensions.
memory::desc channels_last(const Dims& dims, Type type = kFloat) {
  return {dims, type, dims.size() == 3 ? Tag::nwc : dims.size() == 4 ? Tag::nhwc : Tag::ndhwc};
}

Dims dims_of(const TensorPtr& tensor) { return tensor->shape(); }

void copy(memory from, memory to) {
  dnnl::stream stream(processor());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

// The tensor, whose elements have this description, in another one.
memory packed(const TensorPtr& tensor, const memory::desc& as, const memory::desc& wanted) {
  memory to(wanted, processor());
  copy(memory(as, processor(), tensor->data()), to);
  return to;
}
memory packed(const TensorPtr& tensor, const memory::desc& wanted) {
  return packed(tensor, row_major(wanted.dims()), wanted);
}

// A primitive on these arguments, one of which receives the result.
template <class Primitive, class Description>
Variant variant(std::string name, const Description& description, Arguments arguments,
                int to = DNNL_ARG_DST) {
  auto stream = std::make_shared<dnnl::stream>(processor());
  auto primitive = std::make_shared<Primitive>(description);
  memory result = arguments.at(to);
  auto run = [=] {
    primitive->execute(*stream, arguments);
    stream->wait();
  };
  auto read = [=] {
    Dims dims = result.get_desc().dims();
    TensorPtr tensor = HostTensor::make(DType::float32(), dims);
    copy(result, memory(row_major(dims), processor(), tensor->data()));
    return tensor;
  };
  if (!name.empty()) name += " ";
  return {name + description.impl_info_str(), run, read};
}

void add_product(std::vector<Variant>& variants, const Request& request, bool prepacked) {
  const std::vector<int64_t>& sizes = request.list("sizes");
  int64_t batch = request.number("batch"), m = sizes[0], k = sizes[1], n = sizes[2];
  auto dims = [&](int64_t rows, int64_t columns) {
    return batch == 1 ? Dims{rows, columns} : Dims{batch, rows, columns};
  };
  const Types types = types_of(request);
  memory::desc weights =
      prepacked ? any_layout(dims(k, n), types.operand) : row_major(dims(k, n), types.operand);
  dnnl::matmul::desc wanted(row_major(dims(m, k), types.operand), weights,
                            row_major(dims(m, n), types.result));
  dnnl::matmul::primitive_desc made(wanted, processor());
  variants.push_back(
      variant<dnnl::matmul>(prepacked ? "packed" : "plain", made,
                            {{DNNL_ARG_SRC, packed(request.inputs[0], made.src_desc())},
                             {DNNL_ARG_WEIGHTS, packed(request.inputs[1], made.weights_desc())},
                             {DNNL_ARG_DST, memory(made.dst_desc(), processor())}}));
}

void add_inner_product(std::vector<Variant>& variants, const Request& request) {
  const std::vector<int64_t>& sizes = request.list("sizes");
  int64_t m = sizes[0], k = sizes[1], n = sizes[2];
  const Types types = types_of(request);
  dnnl::inner_product_forward::desc wanted(kInference, any_layout({m, k}, types.operand),
                                           any_layout({n, k}, types.operand),
                                           any_layout({m, n}, types.result));
  dnnl::inner_product_forward::primitive_desc made(wanted, processor());
  memory::desc transposed({n, k}, kFloat, Dims{1, n});
  variants.push_back(variant<dnnl::inner_product_forward>(
      "inner product", made,
      {{DNNL_ARG_SRC, packed(request.inputs[0], made.src_desc())},
       {DNNL_ARG_WEIGHTS, packed(request.inputs[1], transposed, made.weights_desc())},
       {DNNL_ARG_DST, memory(made.dst_desc(), processor())}}));
}

struct ConvolutionDims {
  Dims data, weights, result, strides, dilation, padding;
};

// oneDNN counts the elements that a dilation leaves out, and has the groups as an axis of the weights.
ConvolutionDims convolution_dims(const Request& request) {
  ConvolutionDims dims{dims_of(request.inputs[0]), dims_of(request.inputs[1]), request.list("extents"),
                       request.list("strides"),    request.list("dilation"),   request.list("padding")};
  for (auto& d : dims.dilation) --d;
  dims.result.insert(dims.result.begin(), {1, dims.weights[0]});
  if (int64_t groups = request.number("groups"); groups > 1) {
    dims.weights[0] /= groups;
    dims.weights.insert(dims.weights.begin(), groups);
  }
  return dims;
}

void add_convolution(std::vector<Variant>& variants, const Request& request, bool is_channels_last) {
  ConvolutionDims dims = convolution_dims(request);
  auto layout = is_channels_last ? channels_last : any_layout;
  auto algorithm = request.number("winograd") ? dnnl::algorithm::convolution_winograd
                                              : dnnl::algorithm::convolution_direct;
  const Types types = types_of(request);
  dnnl::convolution_forward::desc wanted(
      kInference, algorithm, layout(dims.data, types.operand), any_layout(dims.weights, types.operand),
      layout(dims.result, types.result), dims.strides, dims.dilation, dims.padding, dims.padding);
  dnnl::convolution_forward::primitive_desc made(wanted, processor());
  variants.push_back(
      variant<dnnl::convolution_forward>(is_channels_last ? "channels last" : "any", made,
                                         {{DNNL_ARG_SRC, packed(request.inputs[0], made.src_desc())},
                                          {DNNL_ARG_WEIGHTS, packed(request.inputs[1], made.weights_desc())},
                                          {DNNL_ARG_DST, memory(made.dst_desc(), processor())}}));
}

// The derivative by the data or by the weights, of the other operand and the derivative by the result.
template <class Backward>
void add_convolution_by(std::vector<Variant>& variants, const Request& request, bool is_channels_last) {
  constexpr bool kByData = std::is_same_v<Backward, dnnl::convolution_backward_data>;
  const Dims own = request.list("operand"), other = dims_of(request.inputs[0]),
             result = dims_of(request.inputs[1]);
  const Dims &data = kByData ? own : other, &weights = kByData ? other : own;
  Dims dilation = request.list("dilation");
  for (auto& d : dilation) --d;
  const auto layout = is_channels_last ? channels_last : any_layout;
  const auto described = [&](auto&& make) {
    return make(layout(data, kFloat), any_layout(weights), layout(result, kFloat));
  };
  const Dims &strides = request.list("strides"), &padding = request.list("padding");
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      described([&](const memory::desc& x, const memory::desc& w, const memory::desc& y) {
        return dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, kDirect, x, w, y, strides,
                                               dilation, padding, padding);
      }),
      processor());
  const typename Backward::primitive_desc made(
      described([&](const memory::desc& x, const memory::desc& w, const memory::desc& y) {
        return typename Backward::desc(kDirect, x, w, y, strides, dilation, padding, padding);
      }),
      processor(), forward);
  const std::string name = is_channels_last ? "channels last" : "any";
  Arguments arguments{{DNNL_ARG_DIFF_DST, packed(request.inputs[1], made.diff_dst_desc())}};
  if constexpr (kByData) {
    arguments.emplace(DNNL_ARG_WEIGHTS, packed(request.inputs[0], made.weights_desc()));
    arguments.emplace(DNNL_ARG_DIFF_SRC, memory(made.diff_src_desc(), processor()));
  } else {
    arguments.emplace(DNNL_ARG_SRC, packed(request.inputs[0], made.src_desc()));
    arguments.emplace(DNNL_ARG_DIFF_WEIGHTS, memory(made.diff_weights_desc(), processor()));
  }
  variants.push_back(
      variant<Backward>(name, made, arguments, kByData ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DIFF_WEIGHTS));
}

// The weights come as IOHW, and oneDNN counts their axes as OIHW.
void add_transposed_convolution(std::vector<Variant>& variants, const Request& request) {
  ConvolutionDims dims = convolution_dims(request);
  memory::desc given = row_major(dims.weights);
  std::swap(dims.weights[0], dims.weights[1]);
  dims.result[1] = dims.weights[0];
  std::vector<int> order(dims.weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  dnnl::deconvolution_forward::desc wanted(
      kInference, dnnl::algorithm::deconvolution_direct, any_layout(dims.data), any_layout(dims.weights),
      any_layout(dims.result), dims.strides, dims.dilation, dims.padding, dims.padding);
  dnnl::deconvolution_forward::primitive_desc made(wanted, processor());
  variants.push_back(variant<dnnl::deconvolution_forward>(
      "any", made,
      {{DNNL_ARG_SRC, packed(request.inputs[0], made.src_desc())},
       {DNNL_ARG_WEIGHTS, packed(request.inputs[1], given.permute_axes(order), made.weights_desc())},
       {DNNL_ARG_DST, memory(made.dst_desc(), processor())}}));
}

void add_softmax(std::vector<Variant>& variants, const Request& request) {
  memory::desc rows = row_major(dims_of(request.inputs[0]));
  dnnl::softmax_forward::primitive_desc made({kInference, rows, 1}, processor());
  variants.push_back(variant<dnnl::softmax_forward>(
      "", made,
      {{DNNL_ARG_SRC, packed(request.inputs[0], rows)}, {DNNL_ARG_DST, memory(rows, processor())}}));
}

void add_layer_norm(std::vector<Variant>& variants, const Request& request) {
  memory::desc rows = row_major(dims_of(request.inputs[0]));
  auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  dnnl::layer_normalization_forward::primitive_desc made({kInference, rows, 1e-5f, flags}, processor());
  memory::desc row = row_major(dims_of(request.inputs[1]));
  variants.push_back(
      variant<dnnl::layer_normalization_forward>("", made,
                                                 {{DNNL_ARG_SRC, packed(request.inputs[0], rows)},
                                                  {DNNL_ARG_SCALE, packed(request.inputs[1], row)},
                                                  {DNNL_ARG_SHIFT, packed(request.inputs[2], row)},
                                                  {DNNL_ARG_DST, memory(rows, processor())}}));
}

// One primitive: a product with a sum and the function after it.
void add_gelu_chain(std::vector<Variant>& variants, const Request& request) {
  memory::desc vector = row_major(dims_of(request.inputs[0]));
  dnnl::post_ops after;
  after.append_binary(dnnl::algorithm::binary_add, vector);
  after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  dnnl::binary::desc wanted(dnnl::algorithm::binary_mul, vector, vector, vector);
  dnnl::binary::primitive_desc made(wanted, attributes, processor());
  variants.push_back(variant<dnnl::binary>(
      "fused", made,
      {{DNNL_ARG_SRC_0, packed(request.inputs[0], vector)},
       {DNNL_ARG_SRC_1, packed(request.inputs[1], vector)},
       {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, packed(request.inputs[2], vector)},
       {DNNL_ARG_DST, memory(vector, processor())}}));
}

void add_transpose(std::vector<Variant>& variants, const Request& request) {
  Dims dims = dims_of(request.inputs[0]);
  memory::desc to = row_major({dims[1], dims[0]});
  memory::desc from({dims[1], dims[0]}, kFloat, Dims{1, dims[1]});
  dnnl::reorder::primitive_desc made(processor(), from, processor(), to);
  memory turned(from, processor());
  std::copy_n(request.inputs[0]->elements<float>().data(), request.inputs[0]->size(),
              static_cast<float*>(turned.get_data_handle()));
  variants.push_back(variant<dnnl::reorder>(
      "reorder", made, {{DNNL_ARG_FROM, turned}, {DNNL_ARG_TO, memory(to, processor())}}));
}

void add_sum(std::vector<Variant>& variants, const Request& request) {
  memory::desc from = row_major({1, request.inputs[0]->size()}), to = row_major({1, 1});
  dnnl::reduction::primitive_desc made({dnnl::algorithm::reduction_sum, from, to, 0, 0}, processor());
  variants.push_back(variant<dnnl::reduction>(
      "", made, {{DNNL_ARG_SRC, packed(request.inputs[0], from)}, {DNNL_ARG_DST, memory(to, processor())}}));
}

}  // namespace

std::vector<Variant> onednn_variants(const Request& request, std::string& why) {
  std::vector<Variant> variants;
  // oneDNN throws where it has no implementation.
  auto attempt = [&](auto&& add, auto... options) {
    try {
      add(variants, request, options...);
    } catch (const dnnl::error& error) {
      why = error.message;
    }
  };
  const std::string& kind = request.kind;
  if (kind == "product") {
    attempt(add_product, true);
    attempt(add_product, false);
    if (request.number("batch") == 1) attempt(add_inner_product);
  }
  if (kind == "convolution") {
    attempt(add_convolution, false);
    if (!request.number("winograd")) attempt(add_convolution, true);
  }
  for (const bool is_channels_last : {false, true}) {
    if (kind == "convolution_by_data")
      attempt(add_convolution_by<dnnl::convolution_backward_data>, is_channels_last);
    if (kind == "convolution_by_weight")
      attempt(add_convolution_by<dnnl::convolution_backward_weights>, is_channels_last);
  }
  if (kind == "transposed_convolution") attempt(add_transposed_convolution);
  if (kind == "softmax") attempt(add_softmax);
  if (kind == "layer_norm") attempt(add_layer_norm);
  if (kind == "gelu_chain") attempt(add_gelu_chain);
  if (kind == "transpose") attempt(add_transpose);
  if (kind == "sum") attempt(add_sum);
  return variants;
}

}  // namespace quern::bench
