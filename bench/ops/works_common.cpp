#include <fmt/format.h>

#include "bench/ops/work.h"

namespace quern::bench {

namespace {

struct Operator {
  std::string name;
  std::vector<Input> inputs;
  std::string body;                ///< of @main
  std::vector<std::string> torch;  ///< Work::torch
  double bytes = 0;                ///< Work::bytes
  double tolerance = 2e-6;
};

constexpr int64_t kMany = 1 << 20;
const Shape kImage{1, 64, 112, 112}, kRows{1024, 1024};

std::vector<Operator> elementwise() {
  std::vector<Input> any{{{kMany}}}, positive{{{kMany}, Values::Positive}};
  return {
      {"relu", any, "nn.relu(%a)", {"torch.relu(a)"}},
      {"leaky_relu", any, "nn.leaky_relu(%a, alpha=0.1)", {"F.leaky_relu(a, 0.1)"}},
      {"sigmoid", any, "sigmoid(%a)", {"torch.sigmoid(a)"}},
      {"tanh", any, "tanh(%a)", {"torch.tanh(a)"}},
      {"exp", any, "exp(%a)", {"torch.exp(a)"}},
      {"log", positive, "log(%a)", {"torch.log(a)"}},
      {"sqrt", positive, "sqrt(%a)", {"torch.sqrt(a)"}},
      {"erf", any, "erf(%a)", {"torch.erf(a)"}},
      {"add_bias", {{kRows}, {{1024}}}, "%a + %b", {"a + b"}},
      {"add_column", {{kRows}, {{1024, 1}}}, "%a + %b", {"a + b"}},
      {"where", {{kRows}, {kRows}}, "where(%a > 0f, %a, %b)", {"torch.where(a > 0, a, b)"}},
      {"batch_norm",
       {{kImage}, {{64}}, {{64}}, {{64}}, {{64}, Values::Positive}},
       "nn.batch_norm(%a, %b, %c, %d, %e).0",
       {"F.batch_norm(a, d, e, b, c)"}},
  };
}

std::vector<Operator> reductions() {
  return {
      {"sum_axis0", {{kRows}}, "sum(%a, axis=[0])", {"a.sum(0)"}, 0, 1e-4},
      {"max_last", {{kRows}}, "max(%a, axis=[-1])", {"torch.amax(a, 1)"}, 0, 0},
      {"argmax_last", {{kRows}}, "argmax(%a, axis=[-1])", {"torch.argmax(a, 1)"}, 0, 0},
      {"global_avg_pool2d", {{kImage}}, "nn.global_avg_pool2d(%a)", {"F.adaptive_avg_pool2d(a, 1)"}, 0, 1e-4},
      {"log_softmax", {{kRows}}, "nn.log_softmax(%a)", {"torch.log_softmax(a, 1)"}, 0, 1e-5},
      {"l2_normalize",
       {{kRows}},
       "nn.l2_normalize(%a, eps=1e-12, axis=[1])",
       {"F.normalize(a, dim=1)"},
       0,
       1e-5},
      {"max_pool2d",
       {{kImage}},
       "nn.max_pool2d(%a, pool_size=[3, 3], strides=[2, 2], padding=[1, 1])",
       {"F.max_pool2d(a, 3, 2, 1)"},
       0,
       0},
      {"avg_pool2d",
       {{kImage}},
       "nn.avg_pool2d(%a, pool_size=[2, 2], strides=[2, 2])",
       {"F.avg_pool2d(a, 2)"}},
      {"cumsum", {{kRows}}, "cumsum(%a, axis=1)", {"torch.cumsum(a, 1)"}, 0, 1e-4},
  };
}

std::vector<Operator> movements() {
  constexpr double kFloat = 4;
  constexpr int64_t kTaken = 4096, kWidth = 256;
  constexpr double kTakenBytes = 2 * kFloat * kTaken * kWidth + kFloat * kTaken;
  return {
      {"concatenate",
       {{{512, 1024}}, {{512, 1024}}},
       "concatenate((%a, %b), axis=1)",
       {"torch.cat((a, b), 1)"},
       0,
       0},
      {"take",
       {{{30000, kWidth}}, {{kTaken}, Values::Indices, 30000}},
       "take(%a, %b, axis=0)",
       {"F.embedding(b, a)", "torch.index_select(a, 0, b)"},
       kTakenBytes,
       0},
      {"strided_slice",
       {{kRows}},
       "strided_slice(%a, begin=[0, 0], end=[1024, 1024], strides=[2, 2])",
       {"a[::2, ::2].contiguous()"},
       2 * kFloat * 512 * 512,
       0},
      {"pad",
       {{kImage}},
       "nn.pad(%a, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])",
       {"F.pad(a, (1, 1, 1, 1))"},
       0,
       0},
      {"upsampling",
       {{{1, 64, 56, 56}}},
       "nn.upsampling(%a, scale_h=2.0, scale_w=2.0)",
       {"F.interpolate(a, scale_factor=2, mode='nearest')"},
       0,
       0},
      {"transpose_nhwc",
       {{kImage}},
       "transpose(%a, axes=[0, 2, 3, 1])",
       {"a.permute(0, 2, 3, 1).contiguous()"},
       0,
       0},
  };
}

}  // namespace

void add_common_operators(std::vector<Work>& works) {
  for (const auto& part : {elementwise(), reductions(), movements()})
    for (const Operator& o : part) {
      Work work{"op/" + o.name, "op"};
      work.inputs = o.inputs;
      work.source = main_of(o.inputs, o.body);
      work.bytes = o.bytes;
      work.tolerance = o.tolerance;
      work.torch = o.torch;
      works.push_back(work);
    }
}

}  // namespace quern::bench
