// Derived gradients against differences in float64.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpreter.h"
#include "passes/gradient/reverse.h"
#include "passes/pipeline.h"
#include "session/session.h"
#include "tests/support/evaluate.h"
#include "tests/support/random_tensors.h"
#include "tests/unit/recording_host.h"

namespace quern::numeric {
namespace {

/// A definition `@f` in the language, and extents for the dims that it leaves open.
struct GradientCase {
  friend void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.definition; }
  std::string name, definition;
  std::vector<Shape> shapes = {};  ///< of the parameters, where their types do not say
  Values values = Values::Moderate;
  std::string fallback = {};  ///< why it is added up by a scatter; none where it is empty
};

double dot(const Value& a, const Value& b) {
  if (auto* fields = a.fields()) {
    double sum = 0;
    for (size_t i = 0; i < fields->size() && i < b.fields()->size(); ++i)
      sum += dot((*fields)[i], (*b.fields())[i]);
    return sum;
  }
  TensorPtr x = a.as_tensor(), y = b.as_tensor();
  EXPECT_EQ(x->shape(), y->shape());
  double sum = 0;
  for (int64_t i = 0; i < x->size(); ++i) sum += element_as_double(*x, i) * element_as_double(*y, i);
  return sum;
}

Value moved(const Value& from, const Value& direction, double by) {
  TensorPtr x = from.as_tensor(), d = direction.as_tensor();
  auto out = HostTensor::make(DType::float64(), x->shape());
  for (int64_t i = 0; i < x->size(); ++i)
    out->elements<double>()[static_cast<size_t>(i)] =
        element_as_double(*x, i) + by * element_as_double(*d, i);
  return Value::tensor(out);
}

Value cotangent_for(const Value& result, Random& random) {
  if (auto* fields = result.fields()) {
    std::vector<Value> parts;
    for (const Value& f : *fields) parts.push_back(cotangent_for(f, random));
    return Value::tuple(parts);
  }
  TensorPtr tensor = result.as_tensor();
  if (!tensor->dtype().is_float()) return Value::unit();
  return Value::tensor(random.tensor(DType::float64(), tensor->shape(), Values::Moderate));
}

/// <cotangent, result>, over what has a gradient.
double pairing(const Value& result, const Value& cotangent) {
  if (auto* fields = result.fields()) {
    double sum = 0;
    for (size_t i = 0; i < fields->size(); ++i) sum += pairing((*fields)[i], (*cotangent.fields())[i]);
    return sum;
  }
  return result.as_tensor()->dtype().is_float() ? dot(result, cotangent) : 0;
}

class Gradients : public testing::TestWithParam<GradientCase> {};

TEST_P(Gradients, AreThoseOfDifferences) {
  const GradientCase& c = GetParam();
  Session session;
  ModuleId module = session.make_module();
  SourceId source = session.add_source(module, "case.relay", c.definition);
  for (const LocatedDiagnostic& d : session.check(source)) FAIL() << d.message;
  SessionFunctions functions(session);
  const Definition* definition = session.definition(module, "f");
  ASSERT_TRUE(definition);
  Optimised typed = optimise(*definition, functions, "simplify_index");
  auto* forward = as<FnExpr>(typed.expr);
  ASSERT_TRUE(forward);
  auto arena = std::make_shared<Arena>();
  auto derived = vector_jacobian(*arena, *forward);
  ASSERT_TRUE(std::holds_alternative<VectorJacobian>(derived));
  const auto& [backward, fallbacks] = std::get<VectorJacobian>(derived);
  if (c.fallback.empty())
    for (const ScatterFallback& f : fallbacks) ADD_FAILURE() << "a scatter: " << f.reason;
  else
    EXPECT_TRUE(!fallbacks.empty() && fallbacks[0].reason.find(c.fallback) != std::string::npos);

  Random random(7);
  std::vector<Value> args;
  for (size_t i = 0; i < forward->params.size(); ++i) {
    Type type = forward->params[i]->type;
    Shape shape;
    for (Dim d : type->dims) shape.push_back(as_const(d).value_or(0));
    if (i < c.shapes.size()) shape = c.shapes[i];
    Values values = type->dtype.is_float() ? c.values : Values::SmallIntegers;
    args.push_back(Value::tensor(random.tensor(type->dtype, shape, values)));
  }
  Value result = called(*forward, args);
  std::vector<Value> more = args;
  Value cotangent = cotangent_for(result, random);
  more.push_back(cotangent);
  Value both = called(*backward, more);
  ASSERT_TRUE(both.fields());
  Value gradients = (*both.fields())[1];
  ASSERT_TRUE(gradients.fields());
  for (size_t i = 0; i < args.size(); ++i) {
    if (!forward->params[i]->type->dtype.is_float()) continue;
    TensorPtr gradient = (*gradients.fields())[i].as_tensor();
    ASSERT_EQ(gradient->shape(), args[i].as_tensor()->shape());
    for (int turn = 0; turn < 6; ++turn) {
      // Sparse directions tell where a gradient is wrong that sums hide.
      TensorPtr along = random.tensor(DType::float64(), gradient->shape(), Values::Moderate);
      if (turn > 1)
        for (int64_t k = 0; k < along->size(); ++k)
          if (!random.chance(0.1))
            std::const_pointer_cast<HostTensor>(along)->elements<double>()[static_cast<size_t>(k)] = 0;
      Value direction = Value::tensor(along);
      constexpr double h = 1e-5;
      std::vector<Value> plus = args, minus = args;
      plus[i] = moved(args[i], direction, h);
      minus[i] = moved(args[i], direction, -h);
      double up = pairing(called(*forward, plus), cotangent);
      double down = pairing(called(*forward, minus), cotangent);
      double expected = (up - down) / (2 * h), found = dot(Value::tensor(gradient), direction);
      EXPECT_NEAR(found, expected, 1e-4 * std::max({1.0, std::fabs(expected), std::fabs(up)}))
          << "parameter " << i << ", direction " << turn;
    }
  }
}

const GradientCase kCases[] = {
    {"add", "def @f(%x: Tensor[(2, 3), float64], %y: Tensor[(3,), float64]) { %x + %y * %x }"},
    {"dense", "def @f(%x: Tensor[(4, 5), float64], %w: Tensor[(3, 5), float64]) { nn.dense(%x, %w) }"},
    {"dense_dims",
     "def @f[n, m, k](%x: Tensor[(n, k), float64], %w: Tensor[(m, k), float64]) { nn.dense(%x, %w) }",
     {{4, 5}, {3, 5}}},
    {"conv2d",
     "def @f(%x: Tensor[(2, 3, 7, 6), float64], %w: Tensor[(4, 3, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "padding=[1, 1]) }"},
    {"conv2d_strided",
     "def @f(%x: Tensor[(1, 2, 7, 8), float64], %w: Tensor[(3, 2, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "strides=[2, 2], padding=[1, 1]) }"},
    {"conv2d_dilated",
     "def @f(%x: Tensor[(1, 2, 9, 9), float64], %w: Tensor[(2, 2, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "strides=[2, 3], padding=[2, 1], dilation=[2, 2]) }"},
    {"conv2d_grouped",
     "def @f(%x: Tensor[(1, 4, 5, 5), float64], %w: Tensor[(6, 2, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "groups=2) }"},
    {"conv2d_dims",
     "def @f[n, c, h, w, o, k](%x: Tensor[(n, c, h, w), float64], %w: Tensor[(o, c, k, k), float64]) { "
     "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1]) }",
     {{1, 2, 7, 6}, {3, 2, 3, 3}}},
    {"conv2d_nhwc",
     "def @f(%x: Tensor[(1, 6, 5, 2), float64], %w: Tensor[(3, 3, 2, 4), float64]) { nn.conv2d(%x, %w, "
     "data_layout=\"NHWC\", kernel_layout=\"HWIO\", padding=[1, 1]) }"},
    {"conv2d_transpose",
     "def @f(%x: Tensor[(1, 2, 4, 5), float64], %w: Tensor[(2, 3, 3, 3), float64]) { nn.conv2d_transpose(%x, "
     "%w, strides=[2, 2], padding=[1, 1], output_padding=[1, 1]) }"},
    {"max_pool",
     "def @f(%x: Tensor[(1, 2, 6, 7), float64]) { nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
     "padding=[1, 1]) }"},
    {"avg_pool",
     "def @f(%x: Tensor[(1, 2, 6, 7), float64]) { nn.avg_pool2d(%x, pool_size=[3, 2], strides=[2, 2], "
     "padding=[1, 0]) }"},
    {"avg_pool_ceil",
     "def @f(%x: Tensor[(1, 2, 6, 7), float64]) { nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
     "padding=[1, 1], ceil_mode=True, count_include_pad=True) }"},
    {"adaptive_avg_pool",
     "def @f(%x: Tensor[(1, 2, 7, 8), float64]) { nn.adaptive_avg_pool2d(%x, output_size=[3, 4]) }"},
    {"batch_norm",
     "def @f(%x: Tensor[(2, 3, 4), float64], %g: Tensor[(3,), float64], %b: Tensor[(3,), float64], %m: "
     "Tensor[(3,), float64], %v: Tensor[(3,), float64]) { nn.batch_norm(%x, %g, %b, %m, %v) }",
     {},
     Values::Positive},
    {"layer_norm",
     "def @f(%x: Tensor[(3, 5), float64], %g: Tensor[(5,), float64], %b: Tensor[(5,), float64]) { "
     "nn.layer_norm(%x, %g, %b) }"},
    {"softmax", "def @f(%x: Tensor[(3, 5), float64]) { nn.softmax(%x) }"},
    {"log_softmax", "def @f(%x: Tensor[(3, 5), float64]) { nn.log_softmax(%x, axis=0) }"},
    {"depth_to_space", "def @f(%x: Tensor[(1, 8, 2, 3), float64]) { nn.depth_to_space(%x, block_size=2) }"},
    {"space_to_depth", "def @f(%x: Tensor[(1, 2, 4, 6), float64]) { nn.space_to_depth(%x, block_size=2) }"},
    {"strided_slice",
     "def @f(%x: Tensor[(7, 8), float64]) { strided_slice(%x, begin=[6, 1], end=[0, 8], strides=[-2, 3]) }"},
    {"reshape",
     "def @f(%x: Tensor[(2, 6), float64]) { reshape(%x, newshape=[3, 4]) * reshape(%x, newshape=[3, -1]) }"},
    {"transpose", "def @f(%x: Tensor[(2, 3, 4), float64]) { transpose(%x, axes=[2, 0, 1]) }"},
    {"concatenate",
     "def @f(%x: Tensor[(2, 3), float64], %y: Tensor[(2, 4), float64]) { concatenate((%x, %y, %x), axis=1) "
     "}"},
    {"split", "def @f(%x: Tensor[(2, 6), float64]) { split(%x, indices_or_sections=3, axis=1) }"},
    {"take", "def @f(%x: Tensor[(5, 3), float64], %i: Tensor[(4,), int32]) { take(%x, %i, axis=0) }"},
    {"gather_nd",
     "def @f(%x: Tensor[(9, 3), float64], %i: Tensor[(1, 4), int32]) { gather_nd(%x, abs(%i), index_rank=1) "
     "}"},
    {"cumsum", "def @f(%x: Tensor[(3, 5), float64]) { cumsum(%x, axis=1) }"},
    {"cumsum_exclusive", "def @f(%x: Tensor[(4, 3), float64]) { cumsum(%x * %x, axis=0, exclusive=True) }"},
    {"cumprod", "def @f(%x: Tensor[(3, 5), float64]) { cumprod(%x, axis=1) }"},
    {"prod", "def @f(%x: Tensor[(3, 4), float64]) { prod(%x, axis=[1]) }"},
    {"variance",
     "def @f(%x: Tensor[(3, 4), float64]) { variance(%x, mean(%x, axis=[1], keepdims=True), axis=[1]) }"},
    {"max", "def @f(%x: Tensor[(3, 4, 2), float64]) { max(%x, axis=[1, 2]) }"},
    {"pad_edge",
     "def @f(%x: Tensor[(3, 4), float64], %v: float64) { nn.pad(%x, %v, pad_width=[[1, 2], [2, 0]], "
     "pad_mode=\"edge\") }"},
    {"pad_constant",
     "def @f(%x: Tensor[(3, 4), float64], %v: float64) { nn.pad(%x, %v, pad_width=[[1, 2], [2, 0]]) }"},
    {"pad_reflect",
     "def @f(%x: Tensor[(4, 5), float64], %v: float64) { nn.pad(%x, %v, pad_width=[[1, 2], [2, 3]], "
     "pad_mode=\"reflect\") }"},
    {"upsampling",
     "def @f(%x: Tensor[(1, 2, 3, 2), float64]) { nn.upsampling(%x, scale_h=2.0, scale_w=3.0) }"},
    {"lrn", "def @f(%x: Tensor[(1, 7, 2, 2), float64]) { nn.lrn(%x, size=3) }"},
    {"tile", "def @f(%x: Tensor[(2, 3), float64]) { tile(%x, reps=[2, 2]) }"},
    {"repeat", "def @f(%x: Tensor[(2, 3), float64]) { repeat(%x, repeats=3, axis=1) }"},
    {"where",
     "def @f(%c: Tensor[(3, 4), int32], %x: Tensor[(3, 4), float64], %y: Tensor[(4,), float64]) { where(%c > "
     "0, %x, %y) }"},
    {"scalars",
     "def @f(%x: Tensor[(4,), float64]) { exp(sin(%x)) / sqrt(%x) + log(%x) * tanh(%x) + sigmoid(%x) * "
     "erf(%x) + power(%x, %x) }",
     {},
     Values::Positive},
    {"max_plus",
     "op mp(%a: Tensor[(n, k), t], %b: Tensor[(k, m), t]) -> Tensor[(n, m), t] { [i, j] => max[r] (%a[i, r] "
     "+ %b[r, j]) }\n"
     "def @f(%a: Tensor[(3, 4), float64], %b: Tensor[(4, 5), float64]) { mp(%a, %b) }"},
    {"capsule",
     "op caps(%x: Tensor[(n, c, h, w, p, q), t], %k: Tensor[(o, c, r, s, q, z), t]) -> Tensor[(n, o, h - r + "
     "1, w - s + 1, p, z), t] "
     "{ [b, f, y, x, i, j] => sum[d, u, v, e] %x[b, d, y + u, x + v, i, e] * %k[f, d, u, v, e, j] }\n"
     "def @f(%x: Tensor[(1, 2, 4, 4, 2, 2), float64], %k: Tensor[(3, 2, 2, 2, 2, 2), float64]) { caps(%x, "
     "%k) }"},
    {"triangle",
     "op tri(%x: Tensor[(n, n), t]) -> Tensor[(n,), t] { [i] => sum[j < i + 1] %x[i, j] * %x[j, i] }\n"
     "def @f(%x: Tensor[(5, 5), float64]) { tri(%x) }"},
    {"diagonal",
     "op diag(%x: Tensor[(n, n), t]) -> Tensor[(n,), t] { [i] => %x[i, n - 1 - i] }\ndef @f(%x: Tensor[(4, "
     "4), float64]) { diag(%x) }"},
    {"if",
     "def @f(%c: Tensor[(2,), int32], %x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) { let %z = %x * "
     "%y; if (%c[0] > 0) { %z * %x } else { let %w = %z + %y; (%w * %w) } }"},
    {"tuples",
     "def @f(%x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) { let %t = (%x * %y, (%x, %y)); (%t.1.0 * "
     "%t.0, %t.1) }"},
    {"scatter_add",
     "def @f(%x: Tensor[(4, 3), float64], %i: Tensor[(2, 3), int32], %u: Tensor[(2, 3), float64]) { "
     "scatter_elements(%x, abs(%i) % 4, %u * %u, reduction=\"add\") * %x }"},
    {"scatter_set",
     "def @f(%x: Tensor[(5,), float64], %i: Tensor[(7,), int32], %u: Tensor[(7,), float64]) { "
     "scatter_elements(%x * %x, abs(%i), %u * %u) }"},
    {"scatter_mul",
     "def @f(%x: Tensor[(5,), float64], %i: Tensor[(7,), int32], %u: Tensor[(7,), float64]) { "
     "scatter_elements(%x * %x, abs(%i), %u * %u, reduction=\"mul\") }"},
    {"scatter_max",
     "def @f(%x: Tensor[(5,), float64], %i: Tensor[(7,), int32], %u: Tensor[(7,), float64]) { "
     "scatter_elements(%x * %x, abs(%i), %u * %u, reduction=\"max\") }"},
    {"scatter_min",
     "def @f(%x: Tensor[(5, 2), float64], %i: Tensor[(1, 7), int32], %u: Tensor[(7, 2), float64]) { "
     "scatter_nd(%x * %x, abs(%i), %u * %u, mode=\"min\") }"},
    {"squares",
     "op sq(%x: Tensor[(n,), t]) -> Tensor[(n / 2,), t] { [i] => %x[i * i] else 0 }\ndef @f(%x: Tensor[(9,), "
     "float64]) { sq(%x) }",
     {},
     Values::Moderate,
     "not linear"},
};

INSTANTIATE_TEST_SUITE_P(Operators, Gradients, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace quern::numeric
