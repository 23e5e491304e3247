// The reference semantics of the scalar functions and of the steps of reductions.

#include <array>
#include <cmath>
#include <type_traits>

#include "ir/base/result.h"
#include "ir/value/scalar.h"

namespace quern {

namespace {

/// A bool is an integer of one bit; other integers wrap to their width.
Scalar of_bits(DType dtype, uint64_t bits) {
  return dtype.is_bool() ? Scalar::from_bool((bits & 1) != 0)
                         : Scalar::from_int(dtype, static_cast<int64_t>(bits));
}

// --- float functions -----------------------------------------------------------------------------

/// A nonzero remainder takes the divisor's sign, and so does a zero one.
template <class T>
T floor_mod(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(T{0}, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

template <class T>
T sign_of(T a) {
  return a > 0 ? T{1} : a < 0 ? T{-1} : T{0};
}

/// Arithmetic is in T; transcendental functions are computed in double and rounded to T.
template <class T>
T float_function(ScalarOp op, T a, T b) {
  const double x = static_cast<double>(a);
  switch (op) {
    case ScalarOp::Add: return a + b;
    case ScalarOp::Sub: return a - b;
    case ScalarOp::Mul: return a * b;
    case ScalarOp::Div: return a / b;
    case ScalarOp::Mod: return std::fmod(a, b);
    case ScalarOp::FloorDiv: return std::floor(a / b);
    case ScalarOp::FloorMod: return floor_mod(a, b);
    case ScalarOp::Min: return b < a || std::isnan(b) ? b : a;
    case ScalarOp::Max: return b > a || std::isnan(b) ? b : a;
    case ScalarOp::Pow: return static_cast<T>(std::pow(x, static_cast<double>(b)));
    case ScalarOp::Neg: return -a;
    case ScalarOp::Abs: return std::fabs(a);
    case ScalarOp::Sign: return sign_of(a);
    case ScalarOp::Exp: return static_cast<T>(std::exp(x));
    case ScalarOp::Log: return static_cast<T>(std::log(x));
    case ScalarOp::Tanh: return static_cast<T>(std::tanh(x));
    case ScalarOp::Sigmoid: return static_cast<T>(1 / (1 + std::exp(-x)));
    case ScalarOp::Sqrt: return std::sqrt(a);
    case ScalarOp::Rsqrt: return T{1} / std::sqrt(a);
    case ScalarOp::Erf: return static_cast<T>(std::erf(x));
    case ScalarOp::Sin: return static_cast<T>(std::sin(x));
    case ScalarOp::Cos: return static_cast<T>(std::cos(x));
    case ScalarOp::Floor: return std::floor(a);
    case ScalarOp::Ceil: return std::ceil(a);
    case ScalarOp::Trunc: return std::trunc(a);
    case ScalarOp::Round: return std::round(a);
#include "ir/value/not_of_floats.def"
      break;
  }
  QUERN_CHECK(!"a function of floats");
  return a;
}

// --- integer functions ---------------------------------------------------------------------------

template <class T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return a / b;
}

template <class T>
T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return a % b;
}

template <class T>
T floor_quotient(T a, T b) {
  const T rest = remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? quotient(a, b) - 1 : quotient(a, b);
}

template <class T>
T floor_remainder(T a, T b) {
  const T rest = remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Wraps. A negative power is the integer part of the true value, with 0 for a division by zero.
template <class T>
T power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == static_cast<T>(-1) ? (exponent % 2 == 0 ? 1 : base) : 0;
  uint64_t result = 1;
  uint64_t square = static_cast<uint64_t>(base);
  for (uint64_t rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

/// A count outside 0..bits-1 shifts everything out.
template <class T>
T shift(ScalarOp op, T a, T count, int bits) {
  const bool all_out = static_cast<uint64_t>(count) >= static_cast<uint64_t>(bits);
  if (op == ScalarOp::ShiftLeft) return all_out ? 0 : static_cast<T>(static_cast<uint64_t>(a) << count);
  if (all_out) return a < 0 ? static_cast<T>(-1) : 0;
  return a >> count;
}

template <class T>
T int_function(ScalarOp op, T a, T b, DType dtype) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  switch (op) {
    case ScalarOp::Add: return static_cast<T>(ua + ub);
    case ScalarOp::Sub: return static_cast<T>(ua - ub);
    case ScalarOp::Mul: return static_cast<T>(ua * ub);
    case ScalarOp::Div: return dtype.is_index() ? floor_quotient(a, b) : quotient(a, b);
    case ScalarOp::Mod: return dtype.is_index() ? floor_remainder(a, b) : remainder(a, b);
    case ScalarOp::FloorDiv: return floor_quotient(a, b);
    case ScalarOp::FloorMod: return floor_remainder(a, b);
    case ScalarOp::Min: return b < a ? b : a;
    case ScalarOp::Max: return b > a ? b : a;
    case ScalarOp::Pow: return power(a, b);
    case ScalarOp::Neg: return static_cast<T>(0 - ua);
    case ScalarOp::Abs: return a < 0 ? static_cast<T>(0 - ua) : a;
    case ScalarOp::Sign: return a > 0 ? 1 : a < 0 ? static_cast<T>(-1) : 0;
    case ScalarOp::And:
    case ScalarOp::BitAnd: return a & b;
    case ScalarOp::Or:
    case ScalarOp::BitOr: return a | b;
    case ScalarOp::BitXor: return a ^ b;
    case ScalarOp::Not:
    case ScalarOp::BitNot: return static_cast<T>(~ua);
    case ScalarOp::ShiftLeft:
    case ScalarOp::ShiftRight: return shift(op, a, b, dtype.is_bool() ? 1 : dtype.bits);
#include "ir/value/not_of_integers.def"
      break;
  }
  QUERN_CHECK(!"a function of integers");
  return a;
}

// --- comparisons ---------------------------------------------------------------------------------

template <class T>
bool compare(ScalarOp op, T a, T b) {
  if (op == ScalarOp::Lt) return a < b;
  if (op == ScalarOp::Le) return a <= b;
  if (op == ScalarOp::Gt) return a > b;
  if (op == ScalarOp::Ge) return a >= b;
  if (op == ScalarOp::Eq) return a == b;
  QUERN_CHECK(op == ScalarOp::Ne);
  return a != b;
}

bool compare_scalars(ScalarOp op, const Scalar& a, const Scalar& b) {
  if (a.dtype.is_float()) return compare(op, a.as_double(), b.as_double());
  if (a.dtype.is_signed()) return compare(op, a.as_int(), b.as_int());
  return compare(op, a.bits, b.bits);
}

}  // namespace

Scalar apply(ScalarOp op, std::span<const Scalar> operands) {
  QUERN_CHECK(operands.size() == static_cast<size_t>(info(op).arity));
  const Scalar& a = operands.front();
  const Scalar& b = operands.back();
  const DType dtype = a.dtype;
  if (op == ScalarOp::IsNan) return Scalar::from_bool(a.is_nan());
  if (op == ScalarOp::IsInf) return Scalar::from_bool(std::isinf(a.as_double()));
  if (info(op).signature == ScalarSignature::Compare) return Scalar::from_bool(compare_scalars(op, a, b));
  if (dtype.is_float()) {
    if (dtype.bits == 64) return Scalar::from_double(dtype, float_function(op, a.as_double(), b.as_double()));
    const auto x = static_cast<float>(a.as_double());
    const auto y = static_cast<float>(b.as_double());
    return Scalar::from_double(dtype, static_cast<double>(float_function(op, x, y)));
  }
  if (dtype.is_signed()) {
    return of_bits(dtype, static_cast<uint64_t>(int_function(op, a.as_int(), b.as_int(), dtype)));
  }
  return of_bits(dtype, int_function(op, a.bits, b.bits, dtype));
}

Scalar reduce_step(ReduceKind kind, const Scalar& accumulator, const Scalar& value) {
  const std::array operands{accumulator, value};
  switch (kind) {
    case ReduceKind::Sum: return quern::apply(ScalarOp::Add, operands);
    case ReduceKind::Prod: return quern::apply(ScalarOp::Mul, operands);
    case ReduceKind::Max: return quern::apply(ScalarOp::Max, operands);
    case ReduceKind::Min: return quern::apply(ScalarOp::Min, operands);
    case ReduceKind::Any: return quern::apply(ScalarOp::Or, operands);
    case ReduceKind::All: return quern::apply(ScalarOp::And, operands);
    case ReduceKind::ArgMax:
    case ReduceKind::ArgMin: return is_better(kind, value, accumulator) ? value : accumulator;
  }
  return accumulator;
}

bool is_better(ReduceKind kind, const Scalar& value, const Scalar& best) {
  if (best.is_nan()) return false;
  if (value.is_nan()) return true;
  return compare_scalars(kind == ReduceKind::ArgMax ? ScalarOp::Gt : ScalarOp::Lt, value, best);
}

}  // namespace quern
