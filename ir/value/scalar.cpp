#include "ir/value/scalar.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace quern {

namespace {

constexpr ScalarOpInfo kOps[] = {
#define QUERN_SCALAR(name, text, arity, signature, code) {text, arity, ScalarSignature::signature},
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
};

constexpr std::string_view kReduceNames[] = {"sum", "prod", "max", "min", "argmax", "argmin", "any", "all"};

// --- floats of fewer than 32 bits ----------------------------------------------------------------

int bias_of(FloatFormat format) { return (1 << (format.exponent_bits - 1)) - 1; }
uint64_t infinity_of(FloatFormat format) {
  return ((uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
}
uint64_t sign_bit_of(FloatFormat format) {
  return uint64_t{1} << (format.exponent_bits + format.fraction_bits);
}

/// Rounds once, to nearest even, whatever the distance between the formats.
uint64_t encode_narrow(FloatFormat format, double value) {
  const uint64_t sign = std::signbit(value) ? sign_bit_of(format) : 0;
  const uint64_t infinity = infinity_of(format);
  if (std::isnan(value)) return sign | infinity | (uint64_t{1} << (format.fraction_bits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return sign | infinity;
  // Subnormals share the smallest normal exponent, so one formula covers both.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias_of(format));
  const double in_units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  const uint64_t bits = (static_cast<uint64_t>(exponent + bias_of(format) - 1) << format.fraction_bits) +
                        static_cast<uint64_t>(in_units);
  return sign | std::min(bits, infinity);
}

double decode_narrow(FloatFormat format, uint64_t bits) {
  const double sign = (bits & sign_bit_of(format)) != 0 ? -1.0 : 1.0;
  const auto exponent = static_cast<int>((bits & (sign_bit_of(format) - 1)) >> format.fraction_bits);
  const uint64_t fraction = bits & ((uint64_t{1} << format.fraction_bits) - 1);
  if (exponent == (1 << format.exponent_bits) - 1) {
    return std::copysign(fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL, sign);
  }
  const uint64_t hidden = exponent == 0 ? 0 : uint64_t{1} << format.fraction_bits;
  const int power = std::max(exponent, 1) - bias_of(format) - format.fraction_bits;
  return sign * std::ldexp(static_cast<double>(hidden + fraction), power);
}

// --- bits and values -----------------------------------------------------------------------------

/// The low bits that an integer of this dtype has in memory.
uint64_t wrap(DType dtype, uint64_t bits) {
  return dtype.bits >= 64 ? bits : bits & ((uint64_t{1} << dtype.bits) - 1);
}

int64_t sign_extended(DType dtype, uint64_t bits) {
  if (!dtype.is_signed() || dtype.bits >= 64) return static_cast<int64_t>(bits);
  const int shift = 64 - dtype.bits;
  return static_cast<int64_t>(bits << shift) >> shift;
}

Scalar of_float(DType dtype, float value) {
  if (dtype.bits == 32) return {dtype, std::bit_cast<uint32_t>(value)};
  return Scalar::from_double(dtype, static_cast<double>(value));
}
Scalar of_float(DType dtype, double value) { return {dtype, std::bit_cast<uint64_t>(value)}; }

// --- conversions ---------------------------------------------------------------------------------

/// Truncates, saturates at the ends of `to`; NaN gives 0.
Scalar float_to_int(double value, DType to) {
  if (std::isnan(value)) return {to, 0};
  const double whole = std::trunc(value);
  const int value_bits = to.is_signed() ? to.bits - 1 : to.bits;
  if (whole >= std::ldexp(1.0, value_bits)) return highest(to);
  if (!to.is_signed()) return {to, whole <= 0 ? 0 : static_cast<uint64_t>(whole)};
  if (whole < -std::ldexp(1.0, value_bits)) return lowest(to);
  return Scalar::from_int(to, static_cast<int64_t>(whole));
}

/// Rounds once to float64 and float32; narrower floats go through float32.
template <class T>
Scalar int_to_float(T value, DType to) {
  if (to.bits == 64) return of_float(to, static_cast<double>(value));
  return of_float(to, static_cast<float>(value));
}

template <class T>
std::string shortest(T value) {
  std::array<char, 64> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

/// Narrow floats need fewer digits than the float32 of the same value.
std::string shortest_narrow(const Scalar& value) {
  std::array<char, 64> text;
  const double exact = value.as_double();
  if (!std::isfinite(exact)) return shortest(exact);
  for (int digits = 1;; ++digits) {
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), exact, std::chars_format::general, digits);
    double read_back = 0;
    std::from_chars(text.data(), end, read_back);
    if (Scalar::from_double(value.dtype, read_back) == value || digits == 17)
      return std::string(text.data(), end);
  }
}

}  // namespace

// --- the table -----------------------------------------------------------------------------------

const ScalarOpInfo& info(ScalarOp op) { return kOps[static_cast<size_t>(op)]; }

std::optional<ScalarOp> find_scalar_op(std::string_view name) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    if (kOps[i].name == name) return static_cast<ScalarOp>(i);
  }
  return std::nullopt;
}

bool accepts(ScalarOp op, DType operand) {
  if (operand.is_infer()) return false;
  const bool integer = operand.is_int() || operand.is_index();
  switch (info(op).signature) {
    case ScalarSignature::Same: return integer || operand.is_float();
    case ScalarSignature::Float: return operand.is_float();
    case ScalarSignature::Test: return operand.is_float() && !operand.is_vector();
    case ScalarSignature::Bits: return integer || operand.is_bool();
    case ScalarSignature::Compare: return !operand.is_vector();
    case ScalarSignature::Logic: return operand.is_bool();
  }
  return false;
}

DType result_dtype(ScalarOp op, DType operand) {
  switch (info(op).signature) {
    case ScalarSignature::Same:
    case ScalarSignature::Float:
    case ScalarSignature::Bits:
    case ScalarSignature::Logic: return operand;
    case ScalarSignature::Compare:
    case ScalarSignature::Test: return DType::boolean();
  }
  return operand;
}

std::string_view accepted_operands(ScalarOp op) {
  switch (info(op).signature) {
    case ScalarSignature::Same: return "numbers";
    case ScalarSignature::Float:
    case ScalarSignature::Test: return "floating-point numbers";
    case ScalarSignature::Bits: return "integers or bool";
    case ScalarSignature::Compare: return "numbers or bool";
    case ScalarSignature::Logic: return "bool";
  }
  return "";
}

std::string_view to_string(ReduceKind kind) { return kReduceNames[static_cast<size_t>(kind)]; }

std::optional<ReduceKind> find_reduce_kind(std::string_view name) {
  for (size_t i = 0; i < std::size(kReduceNames); ++i) {
    if (kReduceNames[i] == name) return static_cast<ReduceKind>(i);
  }
  return std::nullopt;
}

// --- values --------------------------------------------------------------------------------------

Scalar Scalar::from_double(DType dtype, double value) {
  if (dtype.is_float()) {
    if (dtype.bits == 64) return {dtype, std::bit_cast<uint64_t>(value)};
    if (dtype.bits == 32) return {dtype, std::bit_cast<uint32_t>(static_cast<float>(value))};
    return {dtype, encode_narrow(float_format(dtype), value)};
  }
  if (dtype.is_bool()) return {dtype, value != 0 ? uint64_t{1} : 0};
  if (!std::isfinite(value)) return {dtype, 0};
  const double whole = std::fmod(std::trunc(value), std::ldexp(1.0, 64));
  const auto magnitude = static_cast<uint64_t>(std::fabs(whole));
  return {dtype, wrap(dtype, whole < 0 ? 0 - magnitude : magnitude)};
}

Scalar Scalar::from_int(DType dtype, int64_t value) {
  if (dtype.is_float()) return int_to_float(value, dtype);
  if (dtype.is_bool()) return Scalar::from_bool(value != 0);
  return {dtype, wrap(dtype, static_cast<uint64_t>(value))};
}

double Scalar::as_double() const {
  if (dtype.is_float()) {
    if (dtype.bits == 64) return std::bit_cast<double>(bits);
    if (dtype.bits == 32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    return decode_narrow(float_format(dtype), bits);
  }
  if (!dtype.is_signed()) return static_cast<double>(bits);
  return static_cast<double>(sign_extended(dtype, bits));
}

bool Scalar::is_nan() const { return dtype.is_float() && std::isnan(as_double()); }

int64_t Scalar::as_int() const {
  if (dtype.is_float()) return static_cast<int64_t>(float_to_int(as_double(), DType::int64()).bits);
  return sign_extended(dtype, bits);
}

Scalar cast(Scalar value, DType to) {
  const DType from = value.dtype;
  if (from == to) return value;
  if (from.is_float()) {
    const double exact = value.as_double();
    return to.is_float() || to.is_bool() ? Scalar::from_double(to, exact) : float_to_int(exact, to);
  }
  if (to.is_float() && !from.is_signed()) return int_to_float(value.bits, to);
  return Scalar::from_int(to, value.as_int());
}

// --- reductions ----------------------------------------------------------------------------------

Scalar reduce_identity(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::Sum: return Scalar::from_int(dtype, 0);
    case ReduceKind::Prod: return Scalar::from_int(dtype, 1);
    case ReduceKind::Max:
    case ReduceKind::ArgMax: return lowest(dtype);
    case ReduceKind::Min:
    case ReduceKind::ArgMin: return highest(dtype);
    case ReduceKind::Any: return Scalar::from_bool(false);
    case ReduceKind::All: return Scalar::from_bool(true);
  }
  return {dtype, 0};
}

DType accumulator_dtype(DType element) { return element.is_narrow_float() ? DType::float32() : element; }

Scalar lowest(DType dtype) {
  if (dtype.is_float()) return Scalar::from_double(dtype, -HUGE_VAL);
  if (!dtype.is_signed()) return {dtype, 0};
  return {dtype, uint64_t{1} << (dtype.bits - 1)};
}

Scalar highest(DType dtype) {
  if (dtype.is_float()) return Scalar::from_double(dtype, HUGE_VAL);
  if (!dtype.is_signed()) return {dtype, wrap(dtype, ~uint64_t{0})};
  return {dtype, (uint64_t{1} << (dtype.bits - 1)) - 1};
}

std::string to_string(const Scalar& value) {
  if (value.dtype.is_bool()) return value.as_bool() ? "True" : "False";
  if (!value.dtype.is_float())
    return value.dtype.is_signed() ? shortest(value.as_int()) : shortest(value.bits);
  if (value.is_nan()) return "nan";
  if (value.dtype.bits == 64) return shortest(value.as_double());
  if (value.dtype.bits == 32) return shortest(static_cast<float>(value.as_double()));
  return shortest_narrow(value);
}

}  // namespace quern
