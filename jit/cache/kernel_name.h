#pragma once
// Readable names of kernels, for profiles, perf and gdb.

#include <functional>
#include <string>
#include <string_view>

#include "ir/expr/expr.h"

namespace quern {

/// The name of the place that an expression comes from: an operator, a function; "" for none.
using NameOfOrigin = std::function<std::string(const Origin&)>;

/// `dense_add_relu_1f0c77ab`: the origins of a primitive's parts in evaluation order, at most 40 letters,
/// digits and underscores, and a hash of its canonical text. Equal primitives from different operators share
/// only the hash.
std::string kernel_name(const FnExpr& primitive, std::string_view canonical_text,
                        const NameOfOrigin& name_of);

}  // namespace quern
