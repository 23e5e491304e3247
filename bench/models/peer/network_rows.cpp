#include "bench/models/peer/network.h"

namespace quern::bench {

using dnnl::memory;
using Dims = memory::dims;

memory Network::linear(const memory& x, const Dense& dense, Activation activation, const memory& sum) {
  // An image goes in as it is, whose layout only an inner product takes.
  const bool by_matmul = choices_.matmul && x.get_desc().dims().size() == 2 && x.get_desc().dims()[0] > 1;
  return by_matmul ? linear_by_matmul(x, dense, activation, sum)
                   : linear_by_inner_product(x, dense, activation, sum);
}

memory Network::linear_by_inner_product(const memory& x, const Dense& dense, Activation activation,
                                        const memory& sum) {
  const Dims from = x.get_desc().dims();
  Dims weights = from;
  weights[0] = dense.outputs();
  const Desc given =
      dense.inputs_first ? Desc(weights, kFloat, Dims{1, dense.outputs()}) : row_major(weights);
  // One row reads weights once, which is faster from rows than from the panels of a product.
  const bool is_plain = from[0] == 1 && from.size() == 2 && !dense.inputs_first;
  const dnnl::inner_product_forward::desc wanted(
      kInference, x.get_desc(), is_plain ? row_major(weights) : any_layout(weights),
      dense.bias ? any_layout({dense.outputs()}) : Desc(), row_major({from[0], dense.outputs()}));
  const dnnl::inner_product_forward::primitive_desc made(wanted, attributes(activation, sum), processor());
  memory result = sum ? sum : make(made.dst_desc());
  Arguments arguments{{DNNL_ARG_SRC, x},
                      {DNNL_ARG_WEIGHTS, packed(dense.weight, given, made.weights_desc())},
                      {DNNL_ARG_DST, result}};
  if (dense.bias) arguments.emplace_back(DNNL_ARG_BIAS, packed(dense.bias, made.bias_desc()));
  add(made, arguments);
  return result;
}

memory Network::linear_by_matmul(const memory& x, const Dense& dense, Activation activation,
                                 const memory& sum) {
  const int64_t rows = x.get_desc().dims()[0], inputs = dense.inputs(), outputs = dense.outputs();
  const Desc given({inputs, outputs}, kFloat, dense.inputs_first ? Dims{outputs, 1} : Dims{1, inputs});
  const Desc bias = dense.bias ? row_major({1, outputs}) : Desc();
  const dnnl::matmul::desc wanted(x.get_desc(), any_layout({inputs, outputs}), bias,
                                  row_major({rows, outputs}));
  const dnnl::matmul::primitive_desc made(wanted, attributes(activation, sum), processor());
  memory result = sum ? sum : make(made.dst_desc());
  Arguments arguments{{DNNL_ARG_SRC, x},
                      {DNNL_ARG_WEIGHTS, packed(dense.weight, given, made.weights_desc())},
                      {DNNL_ARG_DST, result}};
  if (dense.bias) arguments.emplace_back(DNNL_ARG_BIAS, packed(dense.bias, bias));
  add(made, arguments);
  return result;
}

memory Network::layer_norm(const memory& x, const std::string& name, float epsilon) {
  const Desc rows = x.get_desc(), row = row_major({rows.dims()[1]});
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const dnnl::layer_normalization_forward::primitive_desc made({kInference, rows, epsilon, flags},
                                                               attributes(Activation::None), processor());
  memory result = make(made.dst_desc());
  add(made, {{DNNL_ARG_SRC, x},
             {DNNL_ARG_SCALE, packed(weights_[name + ".weight"], row)},
             {DNNL_ARG_SHIFT, packed(weights_[name + ".bias"], row)},
             {DNNL_ARG_DST, result}});
  return result;
}

memory Network::attention(const memory& rows, int64_t heads, const memory& mask) {
  const int64_t tokens = rows.get_desc().dims()[0], width = rows.get_desc().dims()[1] / 3;
  const int64_t size = width / heads, step = 3 * width;
  const memory query = part(rows, {{heads, tokens, size}, kFloat, Dims{size, step, 1}}, 0);
  const memory key = part(rows, {{heads, size, tokens}, kFloat, Dims{size, 1, step}}, width);
  const memory value = part(rows, {{heads, tokens, size}, kFloat, Dims{size, step, 1}}, 2 * width);

  const memory scores = make(row_major({heads, tokens, tokens}));
  const dnnl::primitive_attr plain = attributes(Activation::None);
  add(dnnl::matmul::primitive_desc({query.get_desc(), key.get_desc(), scores.get_desc()}, plain, processor()),
      {{DNNL_ARG_SRC, query}, {DNNL_ARG_WEIGHTS, key}, {DNNL_ARG_DST, scores}});
  // A step of its own: a product of such operands that adds it too has only a reference implementation.
  if (mask)
    add(dnnl::binary::primitive_desc(
            {dnnl::algorithm::binary_add, scores.get_desc(), mask.get_desc(), scores.get_desc()}, plain,
            processor()),
        {{DNNL_ARG_SRC_0, scores}, {DNNL_ARG_SRC_1, mask}, {DNNL_ARG_DST, scores}});

  add(dnnl::softmax_forward::primitive_desc({kInference, scores.get_desc(), 2}, plain, processor()),
      {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});

  memory mixed = make(row_major({tokens, width}));
  const memory mixed_heads = part(mixed, {{heads, tokens, size}, kFloat, Dims{size, width, 1}}, 0);
  add(dnnl::matmul::primitive_desc({scores.get_desc(), value.get_desc(), mixed_heads.get_desc()}, plain,
                                   processor()),
      {{DNNL_ARG_SRC, scores}, {DNNL_ARG_WEIGHTS, value}, {DNNL_ARG_DST, mixed_heads}});
  return mixed;
}

}  // namespace quern::bench
