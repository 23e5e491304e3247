// The inlined functions of floats, in units in the last place of the true result.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;

using Real = long double;

struct Function {
  ScalarOp op;
  Real (*exact)(Real, Real);
  double ulps32, ulps64;
};

/// The bounds that docs/performance.md states.
const std::vector<Function> kFunctions{
    {ScalarOp::Exp, [](Real x, Real) { return std::exp(x); }, 1, 1},
    {ScalarOp::Log, [](Real x, Real) { return std::log(x); }, 1, 1},
    {ScalarOp::Tanh, [](Real x, Real) { return std::tanh(x); }, 3, 3},
    {ScalarOp::Sigmoid, [](Real x, Real) { return 1 / (1 + std::exp(-x)); }, 3, 3},
    {ScalarOp::Erf, [](Real x, Real) { return std::erf(x); }, 2, 2},
    {ScalarOp::Sin, [](Real x, Real) { return std::sin(x); }, 1, 1},
    {ScalarOp::Cos, [](Real x, Real) { return std::cos(x); }, 1, 1},
    {ScalarOp::Pow, [](Real x, Real y) { return std::pow(x, y); }, 1, 1},
    {ScalarOp::Mod, [](Real x, Real y) { return std::fmod(x, y); }, 0, 0},
};

template <class T>
constexpr bool kIsWide = std::is_same_v<T, double>;
template <class T>
using BitsOf = std::conditional_t<kIsWide<T>, uint64_t, uint32_t>;
template <class T>
DType dtype_of() {
  return kIsWide<T> ? DType::float64() : DType::float32();
}

/// The distance of neighbouring floats of type T around `x`.
template <class T>
Real ulp(Real x) {
  constexpr int kLeast = std::numeric_limits<T>::min_exponent - 1;
  const int exponent = x == 0 ? kLeast : std::max(std::ilogb(x), kLeast);
  return std::ldexp(Real{1}, exponent - (std::numeric_limits<T>::digits - 1));
}

template <class T>
double error_in_ulps(T got, Real exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : HUGE_VAL;
  const auto rounded = static_cast<T>(exact);
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : HUGE_VAL;
  // An overflow of either is one step from the largest float.
  if (std::isinf(got) || std::isinf(rounded)) {
    const T other = std::isinf(got) ? rounded : got;
    return std::fabs(other) == std::numeric_limits<T>::max() ? 1 : HUGE_VAL;
  }
  return static_cast<double>(std::fabs(static_cast<Real>(got) - exact) / ulp<T>(exact));
}

template <class T>
struct Operands {
  std::vector<T> x, y;
  void add(T a, T b) {
    x.push_back(a);
    y.push_back(b);
  }
};

/// out[i] = op(x[i], y[i])
template <class T>
loops::Kernel function_of(ScalarOp op, int width) {
  const DType dtype = dtype_of<T>();
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  std::vector<loops::ValuePtr> args{load(0, dtype, i)};
  if (quern::info(op).arity == 2) args.push_back(load(1, dtype, i));
  return kernel("function", {{"x", dtype, {n}}, {"y", dtype, {n}}, {"out", dtype, {n}, true}}, {n},
                {loop_of(i, n, width, {store(2, i, apply(op, args))})});
}

template <class T>
std::vector<T> results(const CompiledKernel& compiled, Operands<T>& in) {
  std::vector<T> out(in.x.size());
  const std::array<void*, 3> buffers{in.x.data(), in.y.data(), out.data()};
  const auto size = static_cast<int64_t>(out.size());
  EXPECT_EQ(compiled.entry.load()(buffers.data(), &size), 0);
  return out;
}

/// The largest error so far, and where it is.
template <class T>
struct Worst {
  double ulps = 0;
  T x = 0, y = 0;

  void see(const Function& f, const CompiledKernel& compiled, Operands<T>& in) {
    const std::vector<T> out = results(compiled, in);
    for (size_t k = 0; k < out.size(); ++k) {
      const Real exact = f.exact(static_cast<Real>(in.x[k]), static_cast<Real>(in.y[k]));
      const double error = error_in_ulps(out[k], exact);
      if (error <= ulps) continue;
      ulps = error;
      x = in.x[k];
      y = in.y[k];
    }
  }
};

template <class T>
const std::vector<T>& edges() {
  using L = std::numeric_limits<T>;
  static const std::vector<T> all = [] {
    std::vector<T> values{L::quiet_NaN()};
    for (const T x : {T{0},
                      L::denorm_min(),
                      L::min(),
                      std::nextafter(L::min(), T{0}),
                      T(0.25),
                      T(0.5),
                      std::nextafter(T{1}, T{0}),
                      T{1},
                      std::nextafter(T{1}, T{2}),
                      T(1.5),
                      T{2},
                      T{3},
                      T(3.5),
                      T{20},
                      T{89},
                      T{104},
                      T{710},
                      T{745},
                      std::ldexp(T{1}, L::digits - 1),
                      std::ldexp(T{1}, L::digits) - 1,
                      std::ldexp(T{1}, L::digits),
                      std::ldexp(T{1}, 20),
                      std::ldexp(T{1}, 70),
                      L::max(),
                      L::infinity()})
      for (const T signed_x : {x, -x}) values.push_back(signed_x);
    return values;
  }();
  return all;
}

template <class T>
Operands<T> pairs_of_edges() {
  Operands<T> in;
  for (const T x : edges<T>())
    for (const T y : edges<T>()) in.add(x, y);
  return in;
}

/// Random bits; numbers of ordinary size; bases near 1 with large exponents; and the neighbours of multiples
/// of pi/2 and of a divisor's multiples.
template <class T>
Operands<T> random_operands(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto any = [&] { return std::bit_cast<T>(static_cast<BitsOf<T>>(random())); };
  const auto within = [&](double limit) {
    return static_cast<T>(std::uniform_real_distribution<double>(-limit, limit)(random));
  };
  Operands<T> in;
  while (in.x.size() < size) {
    in.add(any(), any());
    in.add(within(1), within(1));
    in.add(within(7), within(20));
    in.add(within(750), within(2));
    in.add(within(2e6), within(50));
    in.add(std::fabs(within(3)), within(1100));
    const T near_one = 1 + within(std::ldexp(1, -static_cast<int>(random() % 20)));
    in.add(near_one, within(std::ldexp(1, static_cast<int>(random() % 30))));
    const T turns = std::rint(within(std::ldexp(1, static_cast<int>(random() % 22))));
    in.add(static_cast<T>(turns * Real{1.57079632679489661923L}), std::rint(within(9)));
    const T divisor = within(100);
    in.add(divisor * std::rint(within(std::ldexp(1, static_cast<int>(random() % 60)))), divisor);
  }
  return in;
}

template <class T>
void expect_bound(const Function& f, Worst<T> worst, double bound) {
  testing::Test::RecordProperty("worst_ulps", std::to_string(worst.ulps));
  EXPECT_LE(worst.ulps, bound) << "at "
                               << to_string(Scalar::from_double(dtype_of<T>(), static_cast<double>(worst.x)))
                               << ", "
                               << to_string(Scalar::from_double(dtype_of<T>(), static_cast<double>(worst.y)))
                               << " of " << quern::info(f.op).name;
}

class EveryFunction : public testing::TestWithParam<Function> {};

TEST_P(EveryFunction, KeepsItsBoundOnSamplesOfAllFloat32) {
  constexpr size_t kBlock = 4096;
  constexpr uint64_t kStride = 1009;  // a prime: all exponents and all kinds of mantissas
  if (quern::info(GetParam().op).arity == 2) GTEST_SKIP() << "two operands";
  const auto compiled = compile(function_of<float>(GetParam().op, lanes_of(DType::float32())));
  Worst<float> worst;
  Operands<float> in;
  in.x.resize(kBlock);
  in.y.resize(kBlock);
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += kStride * kBlock) {
    for (size_t k = 0; k < kBlock; ++k)
      in.x[k] = std::bit_cast<float>(static_cast<uint32_t>(bits + k * kStride));
    worst.see(GetParam(), *compiled, in);
  }
  expect_bound(GetParam(), worst, GetParam().ulps32);
}

template <class T>
void expect_bound_on_random_operands(const Function& f, double bound) {
  const auto compiled = compile(function_of<T>(f.op, lanes_of(dtype_of<T>())));
  Worst<T> worst;
  Operands<T> edges = pairs_of_edges<T>();
  worst.see(f, *compiled, edges);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Operands<T> in = random_operands<T>(10'000, seed);
    worst.see(f, *compiled, in);
  }
  expect_bound(f, worst, bound);
}

TEST_P(EveryFunction, KeepsItsBoundOnRandomFloat32) {
  expect_bound_on_random_operands<float>(GetParam(), GetParam().ulps32);
}

TEST_P(EveryFunction, KeepsItsBoundOnRandomFloat64) {
  expect_bound_on_random_operands<double>(GetParam(), GetParam().ulps64);
}

/// Loops of any width, their tails and scalar loops agree in every bit.
template <class T>
void expect_same_for_all_widths(ScalarOp op) {
  Operands<T> in = pairs_of_edges<T>();
  const Operands<T> more = random_operands<T>(2'000, 1);
  for (size_t k = 0; k < more.x.size(); ++k) in.add(more.x[k], more.y[k]);
  const std::vector<T> expected = results(*compile(function_of<T>(op, 1)), in);
  for (const int width : {2, 3, 4, 8, 16, 32}) {
    const std::vector<T> got = results(*compile(function_of<T>(op, width)), in);
    for (size_t k = 0; k < got.size(); ++k) {
      const bool both_nan = std::isnan(got[k]) && std::isnan(expected[k]);
      ASSERT_TRUE(both_nan || std::bit_cast<BitsOf<T>>(got[k]) == std::bit_cast<BitsOf<T>>(expected[k]))
          << quern::info(op).name << " of " << in.x[k] << ", " << in.y[k] << " is " << expected[k]
          << " alone and " << got[k] << " in " << width << " lanes";
    }
  }
}

TEST_P(EveryFunction, DoesNotDependOnTheNumberOfLanes) {
  expect_same_for_all_widths<float>(GetParam().op);
  expect_same_for_all_widths<double>(GetParam().op);
}

INSTANTIATE_TEST_SUITE_P(VectorMath, EveryFunction, testing::ValuesIn(kFunctions), [](const auto& f) {
  return f.param.op == ScalarOp::Mod ? std::string("mod") : std::string(quern::info(f.param.op).name);
});

/// Without the instruction each multiply-add rounds twice, for which the bound has half a unit more.
TEST(VectorMath, KeepsItsBoundsWithoutFusedMultiplyAdd) {
  auto generator = CodeGenerator::create({.features = "-fma"});
  ASSERT_TRUE(generator) << generator.error().message;
  const auto check = [&]<class T>(T) {
    for (const Function& f : kFunctions) {
      const auto compiled = (*generator)->compile(function_of<T>(f.op, 4));
      ASSERT_TRUE(compiled) << compiled.error().message;
      Worst<T> worst;
      Operands<T> in = pairs_of_edges<T>(), more = random_operands<T>(100'000, 2);
      worst.see(f, **compiled, in);
      worst.see(f, **compiled, more);
      expect_bound(f, worst, (kIsWide<T> ? f.ulps64 : f.ulps32) + 0.5);
    }
  };
  check(float{});
  check(double{});
}

/// A difference to 1 that a factor makes visible, as in x * (1 + erf x).
TEST(VectorMath, TheErrorFunctionReachesOne) {
  for (const char* features : {"", "-fma"}) {
    auto generator = CodeGenerator::create({.features = features});
    ASSERT_TRUE(generator) << generator.error().message;
    const auto check = [&]<class T>(T) {
      const auto compiled = (*generator)->compile(function_of<T>(ScalarOp::Erf, 4));
      ASSERT_TRUE(compiled) << compiled.error().message;
      Operands<T> in;
      for (T x = 6; x < std::numeric_limits<T>::max() / 2; x *= 2) in.add(x, 0);
      in.add(std::numeric_limits<T>::infinity(), 0);
      for (const T out : results(**compiled, in)) ASSERT_EQ(out, 1) << "with the features " << features;
      for (T& x : in.x) x = -x;
      for (const T out : results(**compiled, in)) ASSERT_EQ(out, -1) << "with the features " << features;
    };
    check(float{});
    check(double{});
  }
}

TEST(VectorMath, PowHasTheSpecialCasesOfTheStandard) {
  const auto check = [&]<class T>(T) {
    Operands<T> in = pairs_of_edges<T>();
    const std::vector<T> out = results(*compile(function_of<T>(ScalarOp::Pow, 1)), in);
    for (size_t k = 0; k < out.size(); ++k) {
      const T expected = std::pow(in.x[k], in.y[k]);
      const T x = in.x[k], y = in.y[k];
      const bool is_special = x == 0 || std::fabs(x) == 1 || !std::isfinite(x) || y == 0 || !std::isfinite(y);
      if (!is_special && !std::isnan(expected)) continue;
      EXPECT_TRUE(std::isnan(expected)
                      ? std::isnan(out[k])
                      : std::bit_cast<BitsOf<T>>(out[k]) == std::bit_cast<BitsOf<T>>(expected))
          << in.x[k] << " to the power of " << in.y[k] << " gave " << out[k] << ", not " << expected;
    }
  };
  check(float{});
  check(double{});
}

TEST(VectorMath, PowersThatAreFloatsAreExact) {
  const auto check = [&]<class T>(T) {
    const T limit = std::ldexp(T{1}, std::numeric_limits<T>::digits);
    Operands<T> in;
    std::vector<T> expected;
    const auto add = [&](T x, int y, T power) {
      in.add(x, static_cast<T>(y));
      expected.push_back(power);
    };
    for (int base = 2; base <= 2000; ++base) {
      T power = 1;
      for (int y = 1; power * static_cast<T>(base) < limit; ++y)
        add(static_cast<T>(base), y, power *= static_cast<T>(base));
      add(power, 1, power);
      add(1 / static_cast<T>(base), 1, 1 / static_cast<T>(base));
    }
    for (int y = -100; y <= 100; ++y) add(2, y, std::ldexp(T{1}, y));
    const std::vector<T> out = results(*compile(function_of<T>(ScalarOp::Pow, 4)), in);
    for (size_t k = 0; k < out.size(); ++k)
      EXPECT_EQ(out[k], expected[k]) << in.x[k] << " to the power of " << in.y[k];
  };
  check(float{});
  check(double{});
}

/// Only operands that are rare leave the inlined code.
TEST(VectorMath, CallsTheHostForRareOperandsOnly) {
  for (const Function& f : kFunctions) {
    const bool angle = f.op == ScalarOp::Sin || f.op == ScalarOp::Cos;
    const bool rest = f.op == ScalarOp::Mod;
    const auto calls = [](const Result<std::string>& ir) {
      return ir->find("declare float @quern_") != std::string::npos ||
             ir->find("declare double @quern_") != std::string::npos;
    };
    EXPECT_EQ(calls(code_generator().llvm_ir(function_of<float>(f.op, 16))), rest) << quern::info(f.op).name;
    EXPECT_EQ(calls(code_generator().llvm_ir(function_of<double>(f.op, 8))), rest || angle)
        << quern::info(f.op).name;
  }
}

}  // namespace
}  // namespace quern
