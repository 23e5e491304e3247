#include "frontend/syntax/literals.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace quern {

namespace {

// "i" -> int32, "i64" -> int64, "u8" -> uint8, "f" -> float32, "f16" -> float16.
std::optional<DType> suffix_dtype(std::string_view suffix) {
  std::string name(suffix.substr(0, 1) == "i" ? "int" : suffix.substr(0, 1) == "u" ? "uint" : "float");
  name += suffix.size() == 1 ? "32" : std::string(suffix.substr(1));
  return parse_dtype(name);
}

/// A few digits alone: every number of 15 of them is a double too.
std::optional<NumberLiteral> short_integer(std::string_view text) {
  constexpr size_t kDigits = 15;
  if (text.empty() || text.size() > kDigits) return std::nullopt;
  NumberLiteral literal{};
  literal.is_integer = true;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    literal.integer = literal.integer * 10 + (c - '0');
  }
  literal.real = static_cast<double>(literal.integer);
  return literal;
}

}  // namespace

std::optional<NumberLiteral> parse_number(std::string_view text) {
  if (const auto integer = short_integer(text)) return integer;
  NumberLiteral literal{};
  bool negative = text.starts_with("-");
  if (negative) text.remove_prefix(1);
  if (text.starts_with("inf") || text.starts_with("nan")) {
    literal.is_integer = false;
    literal.real = text.starts_with("inf") ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
    if (negative) literal.real = -literal.real;
    if (text.size() > 3 && !(literal.dtype = suffix_dtype(text.substr(3)))) return std::nullopt;
    return literal;
  }
  size_t digits_end = text.find_first_of("iuf");
  std::string_view number = text.substr(0, digits_end);
  if (digits_end != std::string_view::npos && !(literal.dtype = suffix_dtype(text.substr(digits_end))))
    return std::nullopt;
  bool fraction = number.find_first_of(".eE") != std::string_view::npos;
  literal.is_integer = !fraction && !(literal.dtype && literal.dtype->is_float());
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), literal.real);
  // Too small becomes 0; too big fits no dtype.
  if (error == std::errc::result_out_of_range)
    literal.real = std::strtod(std::string(number).c_str(), nullptr);
  if (!literal.is_integer && std::isinf(literal.real)) return std::nullopt;
  if (end != number.data() + number.size()) return std::nullopt;
  if (negative) literal.real = -literal.real;
  if (!literal.is_integer) return literal;
  uint64_t magnitude = 0;
  auto [last, overflow] = std::from_chars(number.data(), number.data() + number.size(), magnitude);
  if (overflow != std::errc() || last != number.data() + number.size()) return std::nullopt;
  uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
  bool unsigned64 = literal.dtype && literal.dtype->code == DTypeCode::UInt && !negative;
  if (magnitude > limit && !unsigned64) return std::nullopt;
  literal.integer = static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
  return literal;
}

size_t position_of(std::string_view digits) {
  int64_t position = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), position);
  return static_cast<size_t>(error == std::errc() ? position : std::numeric_limits<int64_t>::max());
}

NumberProblem number_problem(std::string_view text) {
  size_t suffix = text.find_first_of("iuf");
  bool digits = text.substr(0, suffix).find_first_not_of("-0123456789") == std::string_view::npos;
  bool known = suffix == std::string_view::npos || suffix_dtype(text.substr(suffix));
  bool too_big = std::isinf(std::strtod(std::string(text.substr(0, suffix)).c_str(), nullptr));
  if (known && too_big)
    return {DiagnosticKind::LiteralOutOfRange, fmt::format("`{}` does not fit float64", text)};
  if (digits && known)
    return {DiagnosticKind::LiteralOutOfRange,
            fmt::format("`{}` does not fit 64 bits; a floating-point number is written `{}.0`", text,
                        text.substr(0, suffix))};
  return {
      DiagnosticKind::MalformedLiteral,
      fmt::format("`{}` is not a number of a known dtype; suffixes are `i8` to `i64`, `u8` to `u64`, `f16`, "
                  "`f32`, `f64`",
                  text)};
}

std::optional<Scalar> literal_as(const NumberLiteral& literal, DType dtype) {
  if (dtype.is_float()) {
    // The shortest text of a 32-bit number may slightly exceed the number.
    double magnitude = std::abs(dtype.bits == 64 ? literal.real : static_cast<float>(literal.real));
    if (std::isfinite(literal.real) && magnitude > largest_number(dtype)) return std::nullopt;
    return Scalar::from_double(dtype, literal.real);
  }
  if (!literal.is_integer) return std::nullopt;
  if (dtype.is_bool()) return std::nullopt;
  Scalar value = Scalar::from_int(dtype, literal.integer);
  bool wide_unsigned = dtype.code == DTypeCode::UInt && dtype.bits == 64 && literal.real >= 0;
  if (!wide_unsigned && value.as_int() != literal.integer) return std::nullopt;
  return value;
}

}  // namespace quern
