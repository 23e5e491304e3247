#include "jit/codegen/host_functions.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "ir/scalar.h"

namespace quern::codegen {

namespace {

// The double functions rounded to float are within half an ulp or little more.
float erf_f32(float x) { return static_cast<float>(std::erf(static_cast<double>(x))); }
float sin_f32(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
float cos_f32(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
float pow_f32(float x, float y) {
  return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
}
float fmod_f32(float x, float y) { return std::fmod(x, y); }

double exp_f64(double x) { return std::exp(x); }
double log_f64(double x) { return std::log(x); }
double tanh_f64(double x) { return std::tanh(x); }
double sigmoid_f64(double x) { return 1 / (1 + std::exp(-x)); }
double erf_f64(double x) { return std::erf(x); }
double sin_f64(double x) { return std::sin(x); }
double cos_f64(double x) { return std::cos(x); }
double pow_f64(double x, double y) { return std::pow(x, y); }
double fmod_f64(double x, double y) { return std::fmod(x, y); }

uint64_t int_power(DType dtype, uint64_t base, uint64_t exponent) {
  return quern::apply(ScalarOp::Pow, std::array{Scalar{dtype, base}, Scalar{dtype, exponent}}).bits;
}
uint64_t pow_i64(uint64_t base, uint64_t exponent) { return int_power(DType::int64(), base, exponent); }
uint64_t pow_u64(uint64_t base, uint64_t exponent) {
  return int_power({DTypeCode::UInt, 64}, base, exponent);
}

template <class F>
HostFunction entry(const char* symbol, F* function) {
  return {symbol, reinterpret_cast<const void*>(function)};
}

}  // namespace

std::span<const HostFunction> host_functions() {
  static const std::array functions{
      entry("quern_erf_f32", &erf_f32),         entry("quern_sin_f32", &sin_f32),
      entry("quern_cos_f32", &cos_f32),         entry("quern_pow_f32", &pow_f32),
      entry("quern_fmod_f32", &fmod_f32),       entry("quern_exp_f64", &exp_f64),
      entry("quern_log_f64", &log_f64),         entry("quern_tanh_f64", &tanh_f64),
      entry("quern_sigmoid_f64", &sigmoid_f64), entry("quern_erf_f64", &erf_f64),
      entry("quern_sin_f64", &sin_f64),         entry("quern_cos_f64", &cos_f64),
      entry("quern_pow_f64", &pow_f64),         entry("quern_fmod_f64", &fmod_f64),
      entry("quern_pow_i64", &pow_i64),         entry("quern_pow_u64", &pow_u64),
  };
  return functions;
}

}  // namespace quern::codegen
