#pragma once
// Scalar functions and single elements: one table (scalar_ops.def) names the functions and drives types,
// reference results and code generation.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/type/dtype.h"

namespace quern {

enum class ScalarOp : uint8_t {
#define QUERN_SCALAR(name, text, arity, signature, code) name,
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
};

enum class ScalarSignature : uint8_t { Same, Float, Bits, Compare, Logic, Test };

struct ScalarOpInfo {
  std::string_view name;
  int arity;
  ScalarSignature signature;
};
const ScalarOpInfo& info(ScalarOp op);
/// The function with this text ("+", "exp"), or nothing.
std::optional<ScalarOp> find_scalar_op(std::string_view name);
/// Whether `op` accepts operands of this dtype; vectors lane by lane, unless the result would be bool.
bool accepts(ScalarOp op, DType operand);
/// The dtype of op's result on operands of this dtype.
DType result_dtype(ScalarOp op, DType operand);
/// Division and remainder of any rounding.
constexpr bool is_division(ScalarOp op) {
  return op == ScalarOp::Div || op == ScalarOp::Mod || op == ScalarOp::FloorDiv || op == ScalarOp::FloorMod;
}
/// Whether the second operand is evaluated only if the first one does not determine the result.
constexpr bool is_lazy(ScalarOp op) { return op == ScalarOp::And || op == ScalarOp::Or; }
/// For messages: "floating-point numbers", "bool", …
std::string_view accepted_operands(ScalarOp op);

enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, ArgMax, ArgMin, Any, All };
std::string_view to_string(ReduceKind kind);
std::optional<ReduceKind> find_reduce_kind(std::string_view name);
inline bool is_arg(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

/// One element, or one lane of a vector: the bits of a value in its dtype's memory representation
/// (little-endian, low bytes), so that a pointer to `bits` is a pointer to the element.
struct Scalar {
  DType dtype;
  uint64_t bits = 0;

  static Scalar from_double(DType dtype,
                            double value);  ///< rounds; saturates nothing (wraps integers as a cast does)
  static Scalar from_int(DType dtype, int64_t value);  ///< wraps to the dtype's width
  static Scalar from_bool(bool value) { return {DType::boolean(), value ? uint64_t{1} : 0}; }
  double as_double() const;
  int64_t as_int() const;  ///< integers, bool and index exactly; floats truncated
  bool as_bool() const { return as_int() != 0; }
  bool is_nan() const;  ///< false for non-floats
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// Reference semantics of a scalar function. float32 computes in float32; float16 and bfloat16 compute in
/// float32 and round once. Integer division by zero gives 0 (and remainder 0), the smallest integer by -1
/// wraps. For indices it has no value: evaluation stops before it.
Scalar apply(ScalarOp op, std::span<const Scalar> operands);
/// Conversion as Relay's cast: floats to integers truncate (saturating at the ends, NaN to 0), to bool is `!=
/// 0`.
Scalar cast(Scalar value, DType to);

/// The neutral element of a reduction over `dtype`: 0, 1, the lowest, the largest, False, True.
Scalar reduce_identity(ReduceKind kind, DType dtype);
/// One step of a reduction: the new accumulator.
Scalar reduce_step(ReduceKind kind, const Scalar& accumulator, const Scalar& value);
/// ArgMax, ArgMin: whether `value` replaces `best`: it is strictly better, or the first NaN.
bool is_better(ReduceKind kind, const Scalar& value, const Scalar& best);
/// The dtype in which a reduction accumulates: float32 for float16 and bfloat16, otherwise the dtype itself.
DType accumulator_dtype(DType element);
/// The smallest and largest values (infinities for floats).
Scalar lowest(DType dtype);
Scalar highest(DType dtype);

/// "1.5", "True", "-3", "inf": the shortest text that reads back the same.
std::string to_string(const Scalar& value);

}  // namespace quern
