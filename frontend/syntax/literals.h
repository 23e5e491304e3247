#pragma once
// Number literals with Relay's suffixes.

#include <optional>
#include <string_view>

#include "frontend/text/diagnostics.h"
#include "ir/type/dtype.h"
#include "ir/value/scalar.h"

namespace quern {

struct NumberLiteral {
  bool is_integer;
  int64_t integer = 0;
  double real = 0;
  std::optional<DType> dtype;  ///< of a suffixed literal
};

/// `7`, `-7i64`, `2f`, `2.5f16`, `1e-3f64`, `-inff`, `nan`; nothing for an unknown suffix or an integer
/// beyond 64 bits.
std::optional<NumberLiteral> parse_number(std::string_view text);
/// Why `parse_number` returns nothing: not a number, or one that no dtype holds.
struct NumberProblem {
  DiagnosticKind kind;
  std::string message;
};
NumberProblem number_problem(std::string_view text);

/// The position that digits name; the greatest of an int64 where they are more.
size_t position_of(std::string_view digits);

/// The literal as an element of `dtype`; nothing if an integer does not fit (`300` as int8) or a fraction
/// would be lost.
std::optional<Scalar> literal_as(const NumberLiteral& literal, DType dtype);

}  // namespace quern
