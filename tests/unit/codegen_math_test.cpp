// The inlined functions of float32 over samples of all floats, in units in the last place of the true result.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/unit/kernel_runner.h"
#include "tests/unit/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;

struct Function {
  ScalarOp op;
  double (*exact)(double);
  double ulps;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const std::vector<Function> kFunctions{{ScalarOp::Exp, std::exp, 1},
                                       {ScalarOp::Log, std::log, 1},
                                       {ScalarOp::Tanh, std::tanh, 3},
                                       {ScalarOp::Sigmoid, sigmoid, 3},
                                       {ScalarOp::Erf, std::erf, 2}};

/// The distance of neighbouring floats around `x`.
double ulp(double x) {
  const int exponent = x == 0 ? -126 : std::max(std::ilogb(x), -126);
  return std::ldexp(1, exponent - 23);
}

double error_in_ulps(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : HUGE_VAL;
  const auto rounded = static_cast<float>(exact);
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : HUGE_VAL;
  // An overflow of either is one step from the largest float.
  if (std::isinf(got) || std::isinf(rounded)) {
    const float other = std::isinf(got) ? rounded : got;
    return std::fabs(other) == std::numeric_limits<float>::max() ? 1 : HUGE_VAL;
  }
  return std::fabs(static_cast<double>(got) - exact) / ulp(exact);
}

class EveryFunction : public testing::TestWithParam<Function> {};

TEST_P(EveryFunction, KeepsItsBoundOnSamplesOfAllFloats) {
  constexpr size_t kBlock = 4096;
  constexpr uint64_t kStride = 1009;  // a prime: all exponents and all kinds of mantissas
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const DType f32 = DType::float32();
  const auto body = store(1, i, apply(GetParam().op, {load(0, f32, i)}));
  const auto compiled = compile(kernel("function", {{"a", f32, {n}}, {"out", f32, {n}, true}}, {n},
                                       {vectorize(i, n, lanes_of(f32), {body})}));

  std::vector<float> in(kBlock);
  std::vector<float> out(kBlock);
  double worst = 0;
  float worst_at = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += kStride * kBlock) {
    for (size_t k = 0; k < kBlock; ++k)
      in[k] = std::bit_cast<float>(static_cast<uint32_t>(bits + k * kStride));
    const std::array<void*, 2> buffers{in.data(), out.data()};
    const int64_t size = kBlock;
    ASSERT_EQ(compiled->entry(buffers.data(), &size), 0);
    for (size_t k = 0; k < kBlock; ++k) {
      const double error = error_in_ulps(out[k], GetParam().exact(static_cast<double>(in[k])));
      if (error > worst) {
        worst = error;
        worst_at = in[k];
      }
    }
  }
  RecordProperty("worst_ulps", std::to_string(worst));
  EXPECT_LE(worst, GetParam().ulps) << "at " << worst_at;
}

INSTANTIATE_TEST_SUITE_P(VectorMath, EveryFunction, testing::ValuesIn(kFunctions),
                         [](const auto& f) { return std::string(quern::info(f.param.op).name); });

}  // namespace
}  // namespace quern
