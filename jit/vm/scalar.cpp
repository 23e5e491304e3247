#include "jit/vm/scalar.h"

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace quern::vm {

namespace {

// --- classes of dtypes with functions of their own

enum class Class : uint8_t { Int32, Int64, Index, Float32, Float64, Bool, Other };
constexpr size_t kClasses = 7;
constexpr ScalarOp kAllOps[] = {
#define QUERN_SCALAR(name, text, arity, signature, code) ScalarOp::name,
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
};
constexpr size_t kOps = std::size(kAllOps);

Class class_of(DType dtype) {
  if (dtype == DType::int32()) return Class::Int32;
  if (dtype == DType::int64()) return Class::Int64;
  if (dtype == DType::index()) return Class::Index;
  if (dtype == DType::float32()) return Class::Float32;
  if (dtype == DType::float64()) return Class::Float64;
  if (dtype == DType::boolean()) return Class::Bool;
  return Class::Other;
}

template <Class C>
struct Traits;
template <>
struct Traits<Class::Int32> {
  using type = int32_t;
  static DType dtype() { return DType::int32(); }
};
template <>
struct Traits<Class::Int64> {
  using type = int64_t;
  static DType dtype() { return DType::int64(); }
};
template <>
struct Traits<Class::Index> {
  using type = int64_t;
  static DType dtype() { return DType::index(); }
};
template <>
struct Traits<Class::Float32> {
  using type = float;
  static DType dtype() { return DType::float32(); }
};
template <>
struct Traits<Class::Float64> {
  using type = double;
  static DType dtype() { return DType::float64(); }
};
template <>
struct Traits<Class::Bool> {
  using type = bool;
  static DType dtype() { return DType::boolean(); }
};

template <class T>
T read(const Value& value) {
  T element;
  std::memcpy(&element, value.scalar_address(), sizeof element);
  return element;
}

template <class T>
void write(DType dtype, T element, Value& result) {
  Scalar scalar{dtype};
  std::memcpy(&scalar.bits, &element, sizeof element);
  std::construct_at(&result, scalar);
}

// --- arithmetic, as `apply` defines it

/// Wraps: signed arithmetic is done on unsigned numbers.
template <class T>
T wrap(std::make_unsigned_t<T> value) {
  return static_cast<T>(value);
}

template <class T>
T quotient(T a, T b, bool floor) {
  if (b == 0) return 0;
  if (b == -1) return wrap<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  T result = a / b;
  return floor && a % b != 0 && (a < 0) != (b < 0) ? result - 1 : result;
}

template <class T>
T remainder(T a, T b, bool floor) {
  if (b == 0 || b == -1) return 0;
  T rest = a % b;
  return floor && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Nothing if there is no fast version.
template <ScalarOp Op, class T>
std::optional<T> integer(T a, T b, bool is_index) {
  using U = std::make_unsigned_t<T>;
  if constexpr (Op == ScalarOp::Add) return wrap<T>(static_cast<U>(a) + static_cast<U>(b));
  if constexpr (Op == ScalarOp::Sub) return wrap<T>(static_cast<U>(a) - static_cast<U>(b));
  if constexpr (Op == ScalarOp::Mul) return wrap<T>(static_cast<U>(a) * static_cast<U>(b));
  if constexpr (Op == ScalarOp::Div) return quotient(a, b, is_index);
  if constexpr (Op == ScalarOp::Mod) return remainder(a, b, is_index);
  if constexpr (Op == ScalarOp::FloorDiv) return quotient(a, b, true);
  if constexpr (Op == ScalarOp::FloorMod) return remainder(a, b, true);
  if constexpr (Op == ScalarOp::Min) return b < a ? b : a;
  if constexpr (Op == ScalarOp::Max) return b > a ? b : a;
  if constexpr (Op == ScalarOp::Neg) return wrap<T>(0 - static_cast<U>(a));
  return std::nullopt;
}

template <ScalarOp Op, class T>
std::optional<T> floating(T a, T b) {
  if constexpr (Op == ScalarOp::Add) return a + b;
  if constexpr (Op == ScalarOp::Sub) return a - b;
  if constexpr (Op == ScalarOp::Mul) return a * b;
  if constexpr (Op == ScalarOp::Div) return a / b;
  if constexpr (Op == ScalarOp::Min) return b < a || std::isnan(b) ? b : a;
  if constexpr (Op == ScalarOp::Max) return b > a || std::isnan(b) ? b : a;
  if constexpr (Op == ScalarOp::Neg) return -a;
  return std::nullopt;
}

template <ScalarOp Op>
std::optional<bool> logic(bool a, bool b) {
  if constexpr (Op == ScalarOp::And) return a && b;
  if constexpr (Op == ScalarOp::Or) return a || b;
  if constexpr (Op == ScalarOp::Not) return !a;
  return std::nullopt;
}

template <ScalarOp Op, class T>
std::optional<bool> comparison(T a, T b) {
  if constexpr (Op == ScalarOp::Lt) return a < b;
  if constexpr (Op == ScalarOp::Le) return a <= b;
  if constexpr (Op == ScalarOp::Gt) return a > b;
  if constexpr (Op == ScalarOp::Ge) return a >= b;
  if constexpr (Op == ScalarOp::Eq) return a == b;
  if constexpr (Op == ScalarOp::Ne) return a != b;
  return std::nullopt;
}

constexpr bool is_unary(ScalarOp op) {
  constexpr std::array arity = {
#define QUERN_SCALAR(name, text, arity, signature, code) arity,
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
  };
  return arity[static_cast<size_t>(op)] == 1;
}

template <ScalarOp Op>
void general(const Value& a, const Value& b, Value& result) {
  const std::array operands{a.scalar(), b.scalar()};
  std::construct_at(&result, quern::apply(Op, std::span(operands.data(), is_unary(Op) ? 1 : 2)));
}

/// The test for a fast version is decided at compile time: each function is one of these cases.
template <ScalarOp Op, Class C>
void specific(const Value& a, const Value& b, Value& result) {
  using T = typename Traits<C>::type;
  const T x = read<T>(a), y = read<T>(b);
  if (auto truth = comparison<Op>(x, y)) return write(DType::boolean(), *truth, result);
  std::optional<T> value;
  if constexpr (std::is_same_v<T, bool>)
    value = logic<Op>(x, y);
  else if constexpr (std::is_floating_point_v<T>)
    value = floating<Op>(x, y);
  else
    value = integer<Op>(x, y, C == Class::Index);
  if (value) return write(Traits<C>::dtype(), *value, result);
  general<Op>(a, b, result);
}

template <size_t I>
constexpr ScalarFunction function() {
  constexpr auto op = static_cast<ScalarOp>(I / kClasses);
  constexpr auto dtype = static_cast<Class>(I % kClasses);
  if constexpr (dtype == Class::Other)
    return general<op>;
  else
    return specific<op, dtype>;
}

template <size_t... I>
constexpr std::array<ScalarFunction, sizeof...(I)> functions(std::index_sequence<I...>) {
  return {function<I>()...};
}

constexpr auto kFunctions = functions(std::make_index_sequence<kOps * kClasses>());

// --- conversions

/// If the language's conversion is C++'s: integers wrap, floats round.
template <Class From, Class To>
void convert(const Value& a, const Value&, Value& result) {
  using F = typename Traits<From>::type;
  using T = typename Traits<To>::type;
  write(Traits<To>::dtype(), static_cast<T>(read<F>(a)), result);
}

/// Includes conversion to bool: `!= 0`. Floats to integers saturate and are left to `cast`.
constexpr bool is_plain(Class from, Class to) {
  bool from_float = from == Class::Float32 || from == Class::Float64;
  bool to_integer = to == Class::Int32 || to == Class::Int64 || to == Class::Index;
  return from != Class::Other && to != Class::Other && !(from_float && to_integer);
}

template <size_t I>
constexpr ScalarFunction conversion() {
  constexpr Class from = static_cast<Class>(I / kClasses), to = static_cast<Class>(I % kClasses);
  if constexpr (is_plain(from, to))
    return convert<from, to>;
  else
    return nullptr;
}

template <size_t... I>
constexpr std::array<ScalarFunction, sizeof...(I)> conversions(std::index_sequence<I...>) {
  return {conversion<I>()...};
}

constexpr auto kConversions = conversions(std::make_index_sequence<kClasses * kClasses>());

}  // namespace

const ScalarFunction* const scalar_functions = kFunctions.data();
const ScalarFunction* const cast_functions = kConversions.data();

uint16_t scalar_function(ScalarOp op, DType operand) {
  return static_cast<uint16_t>(static_cast<size_t>(op) * kClasses + static_cast<size_t>(class_of(operand)));
}

ScalarOp scalar_op(uint16_t function) { return static_cast<ScalarOp>(function / kClasses); }

uint16_t cast_function(DType from, DType to) {
  size_t number = static_cast<size_t>(class_of(from)) * kClasses + static_cast<size_t>(class_of(to));
  return kConversions[number] ? static_cast<uint16_t>(number) : kSlowCast;
}

}  // namespace quern::vm
