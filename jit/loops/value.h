#pragma once
// What kernels compute with: a struct for each kind of value. Values are immutable and shared.

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

/// A test that `0 <= index < extent`; the index is a dim, or a computed value of dtype index where `computed`
/// is set.
struct BoundsCheck {
  Dim index = nullptr;
  ValuePtr computed;
  Dim extent = nullptr;
  Dim stride = nullptr;  ///< of a load: how many elements lie between neighbours of the index
  /// Of a value with a `trap`: where it fails nobody looks at the value, and the kernel goes on.
  bool is_guard = false;
};

/// A part of an address that is computed at run time: value * stride (in elements).
struct ComputedOffset {
  ValuePtr index;
  Dim stride;
};

/// A value that depends on checks. Where one fails the kernel stops and returns `trap`, if that is above 0.
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
/// An element of a buffer. Where a check fails the value is `otherwise`, and without an `otherwise` the
/// kernel stops. Every axis is inside of the buffer at all points of the loops around the load, or has its
/// check, whatever conditions the value stands under: a load may be moved without them.
struct LoadValue : ValueOf<ValueKind::Load, CheckedValue> {
  int buffer = -1;
  Dim offset = nullptr;  ///< the part of the element offset that is a dim
  std::vector<ComputedOffset> computed{};
  ValuePtr otherwise{};
  /// Nobody looks at the value where a check fails, which an enclosing Reduce tests too. It may come from any
  /// place of the buffer then.
  bool unseen = false;
  /// Along the buffer's axes, where they are known; codegen has no use for them.
  std::vector<Dim> indices{};
};
using LoadPtr = std::shared_ptr<const LoadValue>;
/// A scalar function of arguments that have one dtype.
struct ApplyValue : ValueOf<ValueKind::Apply, CheckedValue> {
  ScalarOp op = ScalarOp::Add;
  std::vector<ValuePtr> args{};
};
struct CastValue : ValueOf<ValueKind::Cast> {
  ValuePtr value{};
};
/// Both arms may be evaluated, so what may stop the kernel in an arm has the condition as a guard.
struct SelectValue : ValueOf<ValueKind::Select> {
  ValuePtr condition{}, then_arm{}, else_arm{};
};
/// What a declared local holds; of a tile, at `indices`.
struct LocalValue : ValueOf<ValueKind::Local, CheckedValue> {
  int local = -1;
  std::vector<Dim> indices{};
};
/// The products of two groups of neighbours, which `dot` adds to a tile's accumulator; the value of a Reduce
/// alone. The loads are of the first of each group, and all of a group passes their checks or is `unseen`. Of
/// matrices: of several groups, for a tile that is in `Declare::matrices`, in loops over all of it.
struct DotValue : ValueOf<ValueKind::Dot> {
  DotIntrinsicPtr dot{};
  LoadPtr a{}, b{};
  int64_t terms = 0;     ///< of matrices: how many it takes
  Dim stride = nullptr;  ///< of matrices: how far the groups of `b` are apart in memory
};

/// Calls `f` with the value as its own struct; a kind that `f` does not take does not compile.
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

/// The value as a struct of its kind, or as a CheckedValue; null where it is of another kind.
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

/// A value or a statement that others may share.
template <class Node>
requires requires { Node::kKind; }
std::shared_ptr<const Node> make(Node node) { return std::make_shared<const Node>(std::move(node)); }

}  // namespace quern::loops
