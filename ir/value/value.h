#pragma once
// Run-time values, shared by the interpreter and the virtual machine. A Value is 16 bytes: rank-0 tensors of
// one lane are unboxed (dtype and bits), everything else is a counted reference to an Object.

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/type/type.h"
#include "ir/value/scalar.h"
#include "ir/value/tensor.h"
#include "ir/value/value_style.h"

namespace quern {

enum class ObjectKind : uint8_t { Tensor, Tuple, Data, Ref, Closure };

class Value;

class Object {
 public:
  explicit Object(ObjectKind kind) : kind(kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  bool unique() const { return holders() == 1; }
  /// The number of values that refer to it.
  uint32_t holders() const { return count_.load(std::memory_order_acquire); }
  /// The values that it holds.
  virtual std::span<const Value> parts() const = 0;
  const ObjectKind kind;

 private:
  mutable std::atomic<uint32_t> count_{0};
};

class Value {
 public:
  Value() = default;
  Value(const Scalar& scalar) : bits_(scalar.bits), dtype_(pack(scalar.dtype)), is_scalar_(true) {}  // NOLINT
  explicit Value(Object* object) : object_(object) {
    if (object_) object_->retain();
  }
  /// A tensor; rank 0 becomes an unboxed scalar, unless its element is a vector.
  static Value tensor(TensorPtr tensor);
  static Value tuple(std::vector<Value> fields);
  static Value unit() { return tuple({}); }
  static Value data(const Constructor& constructor, std::vector<Value> fields);
  /// A new reference.
  static Value reference(Value content);

  Value(const Value& other) : bits_(other.bits_), dtype_(other.dtype_), is_scalar_(other.is_scalar_) {
    if (!is_scalar_ && object_) object_->retain();
  }
  Value(Value&& other) noexcept : bits_(other.bits_), dtype_(other.dtype_), is_scalar_(other.is_scalar_) {
    other.bits_ = 0;
    other.is_scalar_ = false;
  }
  Value& operator=(Value other) noexcept {
    std::swap(bits_, other.bits_);
    std::swap(dtype_, other.dtype_);
    std::swap(is_scalar_, other.is_scalar_);
    return *this;
  }
  ~Value() {
    if (!is_scalar_ && object_) object_->release();
  }

  bool is_scalar() const { return is_scalar_; }
  bool is_empty() const { return !is_scalar_ && !object_; }
  Scalar scalar() const { return {unpack(dtype_), bits_}; }
  /// Address of a scalar's element, for kernels.
  const void* scalar_address() const { return &bits_; }
  Object* object() const { return is_scalar_ ? nullptr : object_; }
  template <class T>
  T* object_as() const {
    Object* o = object();
    return o && o->kind == T::kKind ? static_cast<T*>(o) : nullptr;
  }
  /// The tensor of a tensor or scalar value (a scalar is boxed); null for others.
  TensorPtr as_tensor() const;
  /// Fields of a tuple or of a constructor's value; null for others.
  const std::vector<Value>* fields() const;

 private:
  // Four bytes of a DType are enough at run time: unknowns do not occur.
  static uint32_t pack(DType d) {
    return static_cast<uint32_t>(d.code) | static_cast<uint32_t>(d.bits) << 8 |
           static_cast<uint32_t>(d.lanes) << 16;
  }
  static DType unpack(uint32_t packed) {
    return {static_cast<DTypeCode>(packed & 0xff), static_cast<uint8_t>(packed >> 8),
            static_cast<uint16_t>(packed >> 16)};
  }
  union {
    uint64_t bits_ = 0;
    Object* object_;
  };
  uint32_t dtype_ = 0;
  bool is_scalar_ = false;
};
static_assert(sizeof(Value) == 16);

/// Drops the parts of a dying object without recursion: a list of a million elements is a million objects
/// deep. Destructors of objects that hold values call it.
void drop(std::vector<Value>&& parts);
void drop(Value&& part);

struct TensorObject final : Object {
  static constexpr ObjectKind kKind = ObjectKind::Tensor;
  explicit TensorObject(TensorPtr t) : Object(kKind), tensor(std::move(t)) {}
  std::span<const Value> parts() const override { return {}; }
  TensorPtr tensor;
};
struct TupleObject final : Object {
  static constexpr ObjectKind kKind = ObjectKind::Tuple;
  explicit TupleObject(std::vector<Value> f) : Object(kKind), fields(std::move(f)) {}
  ~TupleObject() override { drop(std::move(fields)); }
  std::span<const Value> parts() const override { return fields; }
  std::vector<Value> fields;
};
struct DataObject final : Object {
  static constexpr ObjectKind kKind = ObjectKind::Data;
  DataObject(const Constructor& c, std::vector<Value> f)
      : Object(kKind), constructor(c), fields(std::move(f)) {}
  ~DataObject() override { drop(std::move(fields)); }
  std::span<const Value> parts() const override { return fields; }
  const Constructor& constructor;
  std::vector<Value> fields;
};
class RefHeap;
/// A mutable cell that holds a value.
struct RefObject final : Object {
  static constexpr ObjectKind kKind = ObjectKind::Ref;
  explicit RefObject(Value c);
  ~RefObject() override;
  std::span<const Value> parts() const override { return {&content, 1}; }
  Value content;

 private:
  std::shared_ptr<RefHeap> heap_;
};
/// A function value; the interpreter and the virtual machine each derive their own.
struct ClosureObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::Closure;
  explicit ClosureObject(Type t) : Object(kKind), type(t) {}
  ~ClosureObject() override { drop(std::move(captures)); }
  std::span<const Value> parts() const override { return captures; }
  const Type type;
  std::vector<Value> captures;
};

/// Frees unreachable cycles that this thread made: through a write, a reference can reach itself. Runs
/// automatically when references become many.
void collect_cycles();

/// Text of a value, on one line if it fits when it begins at `column`. Lists print as their elements, trees
/// are drawn, functions show their types.
std::string to_string(const Value& value, const ValueStyle& style = {}, int column = 0);
/// The `value` member of `--format json` (design.md section 4): numbers, lists, {"ctor", "fields"}; null for
/// functions.
std::string to_json(const Value& value);

}  // namespace quern
