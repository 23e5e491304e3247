#pragma once
// Where a NaN comes from: the first operation of a kernel whose operands have none.

#include <optional>
#include <string>

#include "ir/interpret/interpreter.h"

namespace quern::vm {

/// A kernel calls no function.
class NoFunctions final : public FunctionSource {
 public:
  const Definition* function(uint32_t, std::string_view) override { return nullptr; }
};

/// Whether an element is a NaN; false for values that are no floating-point tensors.
bool has_nan(const Value& value);

struct NanSource {
  Origin origin;
  std::string message;  ///< "`log` of -1 is a NaN"
};
/// Evaluates one element of a primitive's body, the first that is a NaN in its result, from the result down. The tensors in
/// `arguments` have none. Nothing if the element has none, which another order of additions may cause.
std::optional<NanSource> nan_source(ExprPtr body, const Value& result, const Environment& arguments,
                                    Host& host);
/// The same of a scalar operation on these operands, whose result is a NaN.
std::string nan_message(ScalarOp op, std::span<const Value> operands);

}  // namespace quern::vm
