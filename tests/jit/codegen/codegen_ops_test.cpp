// Every scalar function on every dtype that it accepts, in scalar loops and in vector loops with every length
// of tail, against the reference semantics.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;
using loops::Kernel;

const std::vector<DType> kDTypes{
    DType::float16(),      DType::bfloat16(),     DType::float32(), DType::float64(), DType::int8(),
    {DTypeCode::Int, 16},  DType::int32(),        DType::int64(),   DType::uint8(),   {DTypeCode::UInt, 16},
    {DTypeCode::UInt, 32}, {DTypeCode::UInt, 64}, DType::boolean()};

const std::vector<ScalarOp> kOps{
#define QUERN_SCALAR(name, text, arity, signature, code) ScalarOp::name,
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
};

/// Values at the edges of the dtype, then random ones of all magnitudes.
Scalar sample(DType dtype, size_t i, std::mt19937_64& random) {
  if (dtype.is_bool()) return Scalar::from_int(dtype, static_cast<int64_t>(random() % 2));
  if (!dtype.is_float()) {
    const std::array edges{lowest(dtype),
                           highest(dtype),
                           Scalar::from_int(dtype, 0),
                           Scalar::from_int(dtype, -1),
                           Scalar::from_int(dtype, 1),
                           Scalar::from_int(dtype, 7),
                           Scalar::from_int(dtype, -7)};
    if (i % 3 == 0) return edges[random() % edges.size()];
    return Scalar::from_int(dtype, static_cast<int64_t>(random() >> (random() % 60)));
  }
  constexpr std::array kEdges{0.0, -0.0, 1.0,   -1.0,  0.5,      2.5,       -2.5,
                              3.5, 1e30, -1e30, 1e-40, HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN)};
  if (i % 3 == 0) return Scalar::from_double(dtype, kEdges[random() % kEdges.size()]);
  const double unit = std::uniform_real_distribution<double>(-1, 1)(random);
  return Scalar::from_double(dtype, unit * std::ldexp(1, static_cast<int>(random() % 12) - 3));
}

GuardedArray samples(DType dtype, size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  GuardedArray array(dtype, size);
  for (size_t i = 0; i < size; ++i) array.set(i, sample(dtype, i + seed, random));
  return array;
}

/// How far results of `op` may be off from those of the host, in units in the last place; 0 where they are
/// exact.
double ulps_allowed(ScalarOp op) {
  if (op == ScalarOp::Exp || op == ScalarOp::Log || op == ScalarOp::Pow) return 2;
  if (op == ScalarOp::Sin || op == ScalarOp::Cos) return 2;
  if (op == ScalarOp::Tanh || op == ScalarOp::Sigmoid || op == ScalarOp::Erf) return 4;
  return 0;
}

bool agrees(ScalarOp op, const Scalar& got, const Scalar& expected) {
  if (same(got, expected)) return true;
  if (!got.dtype.is_float()) return false;
  // 16-bit results are roundings of float32 results that may lie on two sides of a tie.
  const double ulps = got.dtype.bits == 16 ? std::min(1.0, ulps_allowed(op)) : ulps_allowed(op);
  if (std::signbit(got.as_double()) != std::signbit(expected.as_double())) return false;
  const auto distance =
      static_cast<double>(static_cast<int64_t>(got.bits) - static_cast<int64_t>(expected.bits));
  return std::fabs(distance) <= ulps;
}

/// out[i] = op(a[i], b[i]) over `as`, which is the arrays' dtype or one that is cast to and from.
Kernel elementwise(ScalarOp op, DType dtype, DType as, int width) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const DType result = result_dtype(op, as);
  const auto operand = [&](int buffer) {
    return as == dtype ? load(buffer, dtype, i) : cast(as, load(buffer, dtype, i));
  };
  std::vector<loops::ValuePtr> args{operand(0)};
  if (info(op).arity == 2) args.push_back(operand(1));
  loops::ValuePtr value = apply(op, args);
  const DType stored = result == as ? dtype : result;
  if (stored != result) value = cast(stored, value);
  return kernel("elementwise", {{"a", dtype, {n}}, {"b", dtype, {n}}, {"out", stored, {n}, true}}, {n},
                {loop_of(i, n, width, {store(2, i, value)})});
}

void check_elementwise(ScalarOp op, DType dtype, DType as, int width) {
  const auto compiled = compile(elementwise(op, dtype, as, width));
  const DType result = result_dtype(op, as);
  for (int64_t n = 0; n <= 2 * width || n < 40; ++n) {
    GuardedArray a = samples(dtype, static_cast<size_t>(n), static_cast<uint64_t>(n));
    GuardedArray b = samples(dtype, static_cast<size_t>(n), static_cast<uint64_t>(n) + 1000);
    GuardedArray out(result == as ? dtype : result, static_cast<size_t>(n));
    ASSERT_EQ(run(*compiled, {&a, &b, &out}, {n}), 0);
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      std::vector<Scalar> operands{cast(a[i], as)};
      if (info(op).arity == 2) operands.push_back(cast(b[i], as));
      const Scalar expected = quern::apply(op, operands);
      Scalar got = out[i];
      if (got.dtype != expected.dtype) got = cast(got, expected.dtype);
      ASSERT_TRUE(agrees(op, got, expected))
          << info(op).name << " on " << to_string(as) << ", width " << width << ", n " << n << ", element "
          << i << ": " << to_string(operands[0]) << ", " << to_string(operands.back()) << " gave "
          << to_string(got) << ", not " << to_string(expected);
    }
  }
}

class EveryOp : public testing::TestWithParam<ScalarOp> {};

TEST_P(EveryOp, AgreesWithTheReference) {
  for (const DType dtype : kDTypes) {
    if (!accepts(GetParam(), dtype)) continue;
    for (const int width : {1, lanes_of(dtype)}) check_elementwise(GetParam(), dtype, dtype, width);
  }
  if (accepts(GetParam(), DType::index())) {
    for (const int width : {1, 8}) check_elementwise(GetParam(), DType::int64(), DType::index(), width);
  }
}

std::string op_name(const testing::TestParamInfo<ScalarOp>& op) {
  constexpr std::array kNames{
#define QUERN_SCALAR(name, text, arity, signature, code) #name,
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
  };
  return kNames[static_cast<size_t>(op.param)];
}

INSTANTIATE_TEST_SUITE_P(Codegen, EveryOp, testing::ValuesIn(kOps), op_name);

class EveryCast : public testing::TestWithParam<DType> {};

TEST_P(EveryCast, AgreesWithTheReference) {
  const DType from = GetParam();
  for (const DType to : kDTypes) {
    for (const int width : {1, 16}) {
      const Dim n = dim_var("n");
      const Dim i = dim_var("i");
      const auto body = store(1, i, cast(to, load(0, from, i)));
      const auto compiled = compile(
          kernel("cast", {{"a", from, {n}}, {"out", to, {n}, true}}, {n}, {loop_of(i, n, width, {body})}));
      const size_t size = 203;
      GuardedArray a = samples(from, size, 7);
      GuardedArray out(to, size);
      ASSERT_EQ(run(*compiled, {&a, &out}, {static_cast<int64_t>(size)}), 0);
      for (size_t k = 0; k < size; ++k) {
        ASSERT_TRUE(same(out[k], cast(a[k], to)))
            << to_string(from) << " " << to_string(a[k]) << " to " << to_string(to) << " gave "
            << to_string(out[k]) << ", not " << to_string(cast(a[k], to));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codegen, EveryCast, testing::ValuesIn(kDTypes),
                         [](const auto& dtype) { return to_string(dtype.param); });

TEST(Codegen, Float64RoundsOnceToFloat16) {
  const Dim i = dim_var("i");
  const auto body = store(1, i, cast(DType::float16(), load(0, DType::float64(), i)));
  const auto narrow =
      compile(kernel("narrow", {{"a", DType::float64(), {num(4)}}, {"out", DType::float16(), {num(4)}, true}},
                     {}, {vectorize(i, num(4), 4, {body})}));
  const double above_tie = 1 + std::ldexp(3, -11) - std::ldexp(1, -40);
  GuardedArray a(DType::float64(), {above_tie, -above_tie, 65519.999999, 1e-300});
  GuardedArray out(DType::float16(), 4);
  ASSERT_EQ(run(*narrow, {&a, &out}), 0);
  EXPECT_EQ(out.doubles(), (std::vector<double>{1 + std::ldexp(1, -10), -1 - std::ldexp(1, -10), 65504, 0}));
}

/// The oracle is std::pow in float64.
TEST(Codegen, SmallPowersAreProductsWithAnErrorOfOneUnit) {
  const Dim i = dim_var("i");
  for (const DType dtype : {DType::float16(), DType::float32()}) {
    const double unit = dtype == DType::float16() ? std::ldexp(1, -10) : std::ldexp(1, -23);
    for (const int exponent : {-1, 1, 2, 3, 4}) {
      const auto power = apply(ScalarOp::Pow, {load(0, dtype, i), constant(dtype, exponent)});
      const Kernel powers = kernel("powers", {{"a", dtype, {num(40)}}, {"out", dtype, {num(40)}, true}}, {},
                                   {vectorize(i, num(40), 16, {store(1, i, power)})});
      EXPECT_EQ(code_generator().llvm_ir(powers)->find("quern_pow"), std::string::npos);
      EXPECT_EQ(code_generator().llvm_ir(powers)->find("copysign"), std::string::npos);
      const std::vector<double> inputs = {0.0,  -0.0, 1.0,  -1.0,     1.5,       -3.25,       7.125,
                                          -0.5, 0.75, 11.0, HUGE_VAL, -HUGE_VAL, std::nan("")};
      GuardedArray a(dtype, 40);
      for (size_t k = 0; k < 40; ++k) a.set(k, Scalar::from_double(dtype, inputs[k % inputs.size()]));
      GuardedArray out(dtype, 40);
      ASSERT_EQ(run(*compile(powers), {&a, &out}), 0);
      for (size_t k = 0; k < 40; ++k) {
        const double expected = std::pow(a.doubles()[k], exponent), got = out.doubles()[k];
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(got));
        } else if (expected == 0 || !std::isfinite(expected)) {
          EXPECT_EQ(got, expected);
          EXPECT_EQ(std::signbit(got), std::signbit(expected));
        } else {
          EXPECT_NEAR(got, expected, unit * std::fabs(expected)) << a.doubles()[k] << " to " << exponent;
        }
      }
    }
  }
}

}  // namespace
}  // namespace quern
