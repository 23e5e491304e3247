#include "import/text/literals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace quern::import_text {

namespace {

std::string float_digits(double number, bool is_single) {
  std::string text = is_single ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string float_literal(double number, DType dtype) {
  const std::string suffix = dtype == DType::float32() ? "" : fmt::format("f{}", dtype.bits);
  if (dtype.code == DTypeCode::BFloat)
    return fmt::format("cast({}, dtype=\"bfloat16\")", float_literal(number, DType::float32()));
  if (std::isnan(number))
    return dtype == DType::float32() ? "nan" : fmt::format("cast(nan, dtype=\"{}\")", to_string(dtype));
  if (std::isinf(number)) {
    const std::string infinity = number > 0 ? "inff" : "-inff";
    return dtype == DType::float32() ? infinity
                                     : fmt::format("cast({}, dtype=\"{}\")", infinity, to_string(dtype));
  }
  return float_digits(number, dtype.bits <= 32) + suffix;
}

std::string element(const HostTensor& constant, int64_t at) {
  const DType dtype = constant.dtype();
  if (dtype.is_float()) return float_literal(element_as_double(constant, at), dtype);
  if (dtype.is_bool()) return element_as_int(constant, at) != 0 ? "True" : "False";
  const int64_t number = element_as_int(constant, at);
  std::string digits = dtype.code == DTypeCode::UInt ? fmt::format("{}", static_cast<uint64_t>(number))
                                                     : fmt::format("{}", number);
  if (dtype == DType::int32()) return digits;
  return fmt::format("{}{}{}", digits, dtype.code == DTypeCode::UInt ? "u" : "i", dtype.bits);
}

std::string nested(const HostTensor& constant, size_t axis, int64_t& at) {
  if (axis == constant.shape().size()) return element(constant, at++);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < constant.shape()[axis]; ++i) parts.push_back(nested(constant, axis + 1, at));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace

std::string literal(const HostTensor& constant) {
  if (constant.size() == 0) {
    return fmt::format("zeros({}, dtype=\"{}\")", list_of(constant.shape()), to_string(constant.dtype()));
  }
  int64_t at = 0;
  return nested(constant, 0, at);
}

std::string literal(double number, DType dtype) {
  if (dtype.is_float()) return float_literal(number, dtype);
  const auto digits = static_cast<int64_t>(number);
  if (dtype.is_bool()) return digits != 0 ? "True" : "False";
  if (dtype == DType::int32()) return fmt::format("{}", digits);
  return fmt::format("{}{}{}", digits, dtype.code == DTypeCode::UInt ? "u" : "i", dtype.bits);
}

std::string list_of(const std::vector<int64_t>& integers) {
  return fmt::format("[{}]", fmt::join(integers, ", "));
}

std::string list_of(const std::vector<Dim>& dims) {
  std::vector<std::string> parts;
  parts.reserve(dims.size());
  for (Dim dim : dims) parts.push_back(to_string(dim));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string float_attribute(double number) { return float_literal(number, DType::float32()); }
std::string bool_attribute(bool value) { return value ? "True" : "False"; }

std::string string_attribute(std::string_view name, std::string_view value) {
  return fmt::format(", {}=\"{}\"", name, value);
}

}  // namespace quern::import_text
