#pragma once
// Names of kernels for people: profiles, perf and gdb.

#include <functional>
#include <string>
#include <string_view>

#include "ir/expr/expr.h"

namespace quern {

/// What somebody would call the place that an expression comes from: an operator, a function; "" for nothing.
using NameOfOrigin = std::function<std::string(const Origin&)>;

/// `dense_add_relu_1f0c77ab`: what the parts of a primitive come from, in the order in which it is done, at
/// most 40 characters of letters, digits and underscores, and a hash of its canonical text. Equal primitives
/// that come from different operators have the hash alone in common.
std::string kernel_name(const FnExpr& primitive, std::string_view canonical_text,
                        const NameOfOrigin& name_of);

}  // namespace quern
