#pragma once
// Element types of tensors: Relay's dtypes, the 64-bit `index` of index expressions, and inference variables.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

enum class DTypeCode : uint8_t {
  Int,
  UInt,
  Float,
  BFloat,
  Bool,
  Index,  ///< positions and extents: 64-bit, `/` and `%` floor
  Infer,  ///< not yet known; only while inference runs
  Var,    ///< a rigid dtype variable of a polymorphic type; never at run time
};

/// An element type: code, bits of one lane, lanes (1 unless a vector such as int8x4). A plain value.
struct DType {
  DTypeCode code = DTypeCode::Float;
  uint8_t bits = 32;
  uint16_t lanes = 1;
  uint32_t id = 0;  ///< the variable, for Infer and Var

  static DType float16() { return {DTypeCode::Float, 16}; }
  static DType float32() { return {DTypeCode::Float, 32}; }
  static DType float64() { return {DTypeCode::Float, 64}; }
  static DType bfloat16() { return {DTypeCode::BFloat, 16}; }
  static DType int8() { return {DTypeCode::Int, 8}; }
  static DType int32() { return {DTypeCode::Int, 32}; }
  static DType int64() { return {DTypeCode::Int, 64}; }
  static DType uint8() { return {DTypeCode::UInt, 8}; }
  static DType boolean() { return {DTypeCode::Bool, 8}; }
  static DType index() { return {DTypeCode::Index, 64}; }
  static DType infer(uint32_t id) { return {DTypeCode::Infer, 0, 1, id}; }

  bool is_float() const { return code == DTypeCode::Float || code == DTypeCode::BFloat; }
  bool is_int() const { return code == DTypeCode::Int || code == DTypeCode::UInt; }
  bool is_signed() const { return code == DTypeCode::Int || code == DTypeCode::Index || is_float(); }
  bool is_bool() const { return code == DTypeCode::Bool; }
  bool is_index() const { return code == DTypeCode::Index; }
  bool is_infer() const { return code == DTypeCode::Infer; }
  bool is_var() const { return code == DTypeCode::Var; }
  /// A storage-only float: arithmetic is done in float32 and rounded.
  bool is_narrow_float() const { return is_float() && bits < 32; }
  bool has_one_lane() const { return lanes == 1; }
  bool is_vector() const { return lanes > 1; }
  /// The dtype of one lane of a vector; otherwise the dtype itself.
  DType lane() const { return {code, bits, 1, id}; }
  /// Bytes of one element in memory; bool takes one.
  size_t bytes() const { return static_cast<size_t>(bits) / 8 * lanes; }

  friend bool operator==(const DType&, const DType&) = default;
};

/// The fields of a float besides its sign.
struct FloatFormat {
  int exponent_bits = 0, fraction_bits = 0;
};
/// The format of a float dtype.
FloatFormat float_format(DType dtype);
/// The largest finite number of a float dtype.
double largest_number(DType dtype);

/// A new rigid variable; the name is for display.
DType dtype_var(std::string_view name);

/// "float32", "int8x4", "bool", "index"; "_" for an inference variable, a rigid variable's name.
std::string to_string(DType dtype);
/// The dtype that `name` spells ("float32", "int8x4", …), or nothing. `index` is not a tensor dtype and is
/// rejected.
std::optional<DType> parse_dtype(std::string_view name);

/// The names of the dtypes of tensors.
std::vector<std::string> dtype_names();

inline size_t hash_value(DType d) {
  return (static_cast<size_t>(d.id) << 32) ^ (static_cast<size_t>(d.lanes) << 16) ^
         (static_cast<size_t>(d.bits) << 8) ^ static_cast<size_t>(d.code);
}

}  // namespace quern

template <>
struct std::hash<quern::DType> {
  size_t operator()(const quern::DType& d) const { return quern::hash_value(d); }
};
