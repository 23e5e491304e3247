#pragma once
// Constants as literals.

#include <optional>
#include <string>
#include <string_view>

#include "import/text/term.h"

namespace quern::import_text {

/// Elements of a small constant as the language writes them, each with the suffix of its dtype where a literal would have
/// another: `0.5`, `[1i64, 2i64]`.
std::string literal(const HostTensor& constant);
/// One number of a dtype.
std::string literal(double number, DType dtype);
/// A list of integers for an attribute: `[1, 2]`.
std::string list_of(const std::vector<int64_t>& integers);
/// The same of dims, which may have names: `[n, 3]`.
std::string list_of(const std::vector<Dim>& dims);
/// A number for an attribute of floats: `0.5`, `1.0`.
std::string float_attribute(double number);
std::string bool_attribute(bool value);
/// A string among the attributes of a call: `, name="value"`.
std::string string_attribute(std::string_view name, std::string_view value);

}  // namespace quern::import_text
