#pragma once
// Kernel values: a struct per kind. Values are immutable and shared.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/expr/dot_intrinsic.h"
#include "ir/type/dtype.h"
#include "ir/value/scalar.h"

namespace quern::loops {

enum class ValueKind : uint8_t {
#define QUERN_VALUE(kind) kind,
#include "jit/loops/values.def"
#undef QUERN_VALUE
};

struct Value {
  const ValueKind kind;
  DType dtype;

 protected:
  Value(ValueKind kind, DType dtype) : kind(kind), dtype(dtype) {}
  Value(const Value&) = default;
  ~Value() = default;
};
using ValuePtr = std::shared_ptr<const Value>;

/// Checks `0 <= index < extent`; the index is a dim, or a computed value of dtype index if `computed` is set.
struct BoundsCheck {
  Dim index = nullptr;
  ValuePtr computed;
  Dim extent = nullptr;
  Dim stride = nullptr;  ///< of a load: the distance in elements between neighbours along the index
  /// For a value with a `trap`: if it fails, the value is unused and the kernel continues.
  bool is_guard = false;
};

/// The run-time part of an address: value * stride (in elements).
struct ComputedOffset {
  ValuePtr index;
  Dim stride;
};

/// A value with checks. If one fails, the kernel stops and returns `trap`, if that is above 0.
struct CheckedValue : Value {
  std::vector<BoundsCheck> checks{};
  int trap = 0;

 protected:
  using Value::Value;
  CheckedValue(const CheckedValue&) = default;
  ~CheckedValue() = default;
};

template <ValueKind Kind, class Base = Value>
struct ValueOf : Base {
  static constexpr ValueKind kKind = Kind;
  ValueOf(DType dtype = {}) : Base(Kind, dtype) {}
};

struct ConstValue : ValueOf<ValueKind::Const> {
  Scalar constant{};
};
/// The value of a dim, of dtype index.
struct IndexValue : ValueOf<ValueKind::Index, CheckedValue> {
  Dim dim = nullptr;
};
/// An element of a buffer. If a check fails the value is `otherwise`; without an `otherwise` the kernel
/// stops. Every axis is in bounds at all points of the enclosing loops or has its check, whatever conditions
/// enclose the value: a load may be hoisted above them.
struct LoadValue : ValueOf<ValueKind::Load, CheckedValue> {
  int buffer = -1;
  Dim offset = nullptr;  ///< the part of the element offset that is a dim
  std::vector<ComputedOffset> computed{};
  ValuePtr otherwise{};
  /// The value is unused if a check fails, which an enclosing Reduce tests too. It may then be loaded from
  /// anywhere in the buffer.
  bool unseen = false;
  /// Indices along the buffer's axes, if known; codegen ignores them.
  std::vector<Dim> indices{};
};
using LoadPtr = std::shared_ptr<const LoadValue>;
/// A scalar function; its arguments have the same dtype.
struct ApplyValue : ValueOf<ValueKind::Apply, CheckedValue> {
  ScalarOp op = ScalarOp::Add;
  std::vector<ValuePtr> args{};
};
struct CastValue : ValueOf<ValueKind::Cast> {
  ValuePtr value{};
};
/// Both arms may be evaluated, so anything in an arm that may stop the kernel has the condition as a guard.
struct SelectValue : ValueOf<ValueKind::Select> {
  ValuePtr condition{}, then_arm{}, else_arm{};
};
/// The value of a local; for a tile, at `indices`.
struct LocalValue : ValueOf<ValueKind::Local, CheckedValue> {
  int local = -1;
  std::vector<Dim> indices{};
};
/// The products of two groups of neighbours, which `dot` adds to a tile's accumulator; occurs only as the
/// value of a Reduce. The loads address the first of each group, and the whole group passes their checks or
/// is `unseen`. For matrices: several groups, for a tile in `Declare::matrices`, in loops over the whole
/// tile.
struct DotValue : ValueOf<ValueKind::Dot> {
  DotIntrinsicPtr dot{};
  LoadPtr a{}, b{};
  int64_t terms = 0;     ///< for matrices: the number of terms
  Dim stride = nullptr;  ///< for matrices: the distance of the groups of `b` in memory
};

/// Calls `f` with the value as its own struct; a kind that `f` does not accept does not compile.
template <class F>
decltype(auto) visit(const Value& value, F&& f) {
  switch (value.kind) {
#define QUERN_VALUE(kind) \
  case ValueKind::kind:   \
    return f(static_cast<const kind##Value&>(value));
#include "jit/loops/values.def"
#undef QUERN_VALUE
  }
  std::abort();
}

/// The value as a struct of this kind, or as a CheckedValue; null if it is of another kind.
template <class T>
const T* as(const Value& value) {
  if constexpr (requires { T::kKind; })
    return value.kind == T::kKind ? static_cast<const T*>(&value) : nullptr;
  else
    return visit(value, []<class Node>(const Node& node) -> const T* {
      if constexpr (std::is_base_of_v<T, Node>) return &node;
      return nullptr;
    });
}
template <class T>
const T* as(const ValuePtr& value) {
  return value ? as<T>(*value) : nullptr;
}
template <class T>
std::shared_ptr<const T> as_shared(const ValuePtr& value) {
  return as<T>(value) ? std::static_pointer_cast<const T>(value) : nullptr;
}

/// Makes a shareable value or statement.
template <class Node>
requires requires { Node::kKind; }
std::shared_ptr<const Node> make(Node node) { return std::make_shared<const Node>(std::move(node)); }

}  // namespace quern::loops
