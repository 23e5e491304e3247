#pragma once
// Operators that an index expression cannot express (sorting, unique elements, box overlap): C++ kernels by
// the name of their `extern op`, in one table, called by both the interpreter and the virtual machine.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/result.h"
#include "ir/expr/expr.h"
#include "ir/value/value.h"

namespace quern {

/// The attributes of a call, with their defaults, by name.
class ExternAttributes {
 public:
  explicit ExternAttributes(std::vector<std::pair<std::string, StaticValue>> values)
      : values_(std::move(values)) {}

  /// The value of an attribute that the operator's declaration has.
  const StaticValue& operator[](std::string_view name) const;
  int64_t integer(std::string_view name) const { return (*this)[name].as_int().value_or(0); }
  double real(std::string_view name) const;
  bool boolean(std::string_view name) const {
    const bool* value = (*this)[name].as_bool();
    return value && *value;
  }
  DType dtype(std::string_view name, DType missing) const {
    const DType* value = (*this)[name].as_dtype();
    return value ? *value : missing;
  }

 private:
  std::vector<std::pair<std::string, StaticValue>> values_;
};

/// Maps arguments and attributes to a value, or to a description of what is wrong with them. The arguments
/// have the declared types, and may be moved from.
using ExternKernel = Result<Value> (*)(std::span<Value> args, const ExternAttributes& attributes);

/// The kernel of `extern op name`, or null.
ExternKernel find_extern_kernel(std::string_view name);

}  // namespace quern
