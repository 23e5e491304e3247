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
/// Evaluates one element of a primitive's body, the first NaN of its result, from the result down. No tensor in `arguments`
/// has a NaN. Nothing if this evaluation makes none, since it may add in another order.
std::optional<NanSource> nan_source(ExprPtr body, const Value& result, const Environment& arguments,
                                    Host& host);
/// The same for a scalar operation on these operands, whose result is a NaN.
std::string nan_message(ScalarOp op, std::span<const Value> operands);

}  // namespace quern::vm
