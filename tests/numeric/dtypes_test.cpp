// Each scalar function, and each conversion, on each dtype: the interpreter and compiled code against an
// oracle of its own, in integers of 128 bits and in extended floats.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/value/scalar.h"
#include "tests/support/cases.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

__extension__ using Integer = __int128;
__extension__ using Bits = unsigned __int128;
using Real = long double;

const char* const kDTypes[] = {"int8",   "int16",  "int32",   "int64",    "uint8",   "uint16",
                               "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};

// --- the oracle

Integer lowest_of(DType d) { return d.is_signed() ? -(Integer{1} << (d.bits - 1)) : 0; }
Integer highest_of(DType d) { return (Integer{1} << (d.is_signed() ? d.bits - 1 : d.bits)) - 1; }

Integer wrapped(Integer value, DType d) {
  const Integer span = Integer{1} << d.bits;
  value %= span;
  if (value < lowest_of(d)) value += span;
  return value > highest_of(d) ? value - span : value;
}

int fraction_bits(DType d) {
  return d.bits == 64 ? 52 : d.bits == 32 ? 23 : d.code == DTypeCode::BFloat ? 7 : 10;
}

/// To the nearest value of the dtype, ties to even.
Real rounded(Real x, DType d) {
  if (d.bits == 64) return static_cast<double>(x);
  if (d.bits == 32) return static_cast<float>(x);
  if (!std::isfinite(x) || x == 0) return x;
  const int least = d.code == DTypeCode::BFloat ? -126 : -14, most = d.code == DTypeCode::BFloat ? 127 : 15;
  const int exponent = std::max(std::ilogb(x), least) - fraction_bits(d);
  const Real result = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::fabs(result) >= std::ldexp(Real{1}, most + 1) ? std::copysign(HUGE_VALL, x) : result;
}

/// A value of any dtype.
struct Element {
  bool is_real = false;
  Integer integer = 0;
  Real real = 0;
};

/// Modulo 2^128: exact once it is wrapped to 64 bits.
Integer product(Integer a, Integer b) {
  return static_cast<Integer>(static_cast<Bits>(a) * static_cast<Bits>(b));
}

Integer int_power(Integer base, Integer exponent, DType d) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Integer result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = wrapped(product(result, base), d);
    base = wrapped(product(base, base), d);
  }
  return result;
}

Integer int_result(ScalarOp op, Integer a, Integer b, DType d) {
  const Integer quotient = b == 0 ? 0 : a / b, rest = b == 0 ? 0 : a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0), inside = b >= 0 && b < d.bits;
  switch (op) {
    case ScalarOp::Add: return a + b;
    case ScalarOp::Sub: return a - b;
    case ScalarOp::Mul: return product(a, b);
    case ScalarOp::Div: return quotient;
    case ScalarOp::Mod: return rest;
    case ScalarOp::FloorDiv: return down ? quotient - 1 : quotient;
    case ScalarOp::FloorMod: return down ? rest + b : rest;
    case ScalarOp::Min: return std::min(a, b);
    case ScalarOp::Max: return std::max(a, b);
    case ScalarOp::Pow: return int_power(a, b, d);
    case ScalarOp::Neg: return -a;
    case ScalarOp::Abs: return a < 0 ? -a : a;
    case ScalarOp::Sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case ScalarOp::BitAnd: return a & b;
    case ScalarOp::BitOr: return a | b;
    case ScalarOp::BitXor: return a ^ b;
    case ScalarOp::BitNot: return ~a;
    case ScalarOp::ShiftLeft: return inside ? a << static_cast<int>(b) : 0;
    case ScalarOp::ShiftRight: return inside ? a >> static_cast<int>(b) : a < 0 ? -1 : 0;
    default: ADD_FAILURE() << "no integer function: " << info(op).name; return 0;
  }
}

// `floor(a / b)`: the quotient is rounded to the dtype first, as in Relay.
Real floor_of_quotient(Real a, Real b, DType d) {
  Real quotient = a / b;
  if (d.bits == 64) quotient = static_cast<double>(quotient);
  if (d.bits == 32) quotient = static_cast<float>(quotient);
  return std::floor(quotient);
}

Real real_result(ScalarOp op, Real a, Real b, DType d) {
  switch (op) {
    case ScalarOp::Add: return a + b;
    case ScalarOp::Sub: return a - b;
    case ScalarOp::Mul: return a * b;
    case ScalarOp::Div: return a / b;
    case ScalarOp::Mod: return std::fmod(a, b);
    case ScalarOp::FloorDiv: return floor_of_quotient(a, b, d);
    case ScalarOp::FloorMod: {
      const Real rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case ScalarOp::Min: return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    case ScalarOp::Max: return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    case ScalarOp::Pow: return std::pow(a, b);
    case ScalarOp::Neg: return -a;
    case ScalarOp::Abs: return std::fabs(a);
    case ScalarOp::Sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case ScalarOp::Exp: return std::exp(a);
    case ScalarOp::Log: return std::log(a);
    case ScalarOp::Tanh: return std::tanh(a);
    case ScalarOp::Sigmoid: return 1 / (1 + std::exp(-a));
    case ScalarOp::Sqrt: return std::sqrt(a);
    case ScalarOp::Rsqrt: return 1 / std::sqrt(a);
    case ScalarOp::Erf: return std::erf(a);
    case ScalarOp::Sin: return std::sin(a);
    case ScalarOp::Cos: return std::cos(a);
    case ScalarOp::Floor: return std::floor(a);
    case ScalarOp::Ceil: return std::ceil(a);
    case ScalarOp::Trunc: return std::trunc(a);
    case ScalarOp::Round: return std::round(a);
    default: ADD_FAILURE() << "no float function: " << info(op).name; return 0;
  }
}

/// Whether the result is the exactly rounded one; the others may be a few units in the last place off.
bool is_exact(ScalarOp op) {
  return info(op).signature != ScalarSignature::Float
             ? op != ScalarOp::Pow
             : op == ScalarOp::Sqrt || op == ScalarOp::Floor || op == ScalarOp::Ceil ||
                   op == ScalarOp::Trunc || op == ScalarOp::Round;
}

template <class T>
bool compared(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::Lt: return a < b;
    case ScalarOp::Le: return a <= b;
    case ScalarOp::Gt: return a > b;
    case ScalarOp::Ge: return a >= b;
    case ScalarOp::Eq: return a == b;
    case ScalarOp::Ne: return a != b;
    default: ADD_FAILURE() << "no comparison"; return false;
  }
}

Element oracle(ScalarOp op, const Element& a, const Element& b, DType d) {
  switch (info(op).signature) {
    case ScalarSignature::Compare:
      return {false, a.is_real ? compared(op, a.real, b.real) : compared(op, a.integer, b.integer)};
    case ScalarSignature::Test:
      return {false, op == ScalarOp::IsNan ? std::isnan(a.real) : std::isinf(a.real)};
    default: break;
  }
  if (!a.is_real) return {false, wrapped(int_result(op, a.integer, b.integer, d), d)};
  // The arithmetic of float64 is in float64 itself: extended precision would round twice.
  if (d.bits == 64 && is_exact(op)) {
    const auto x = static_cast<double>(a.real), y = static_cast<double>(b.real);
    volatile double r = op == ScalarOp::Add   ? x + y
                        : op == ScalarOp::Sub ? x - y
                        : op == ScalarOp::Mul ? x * y
                        : op == ScalarOp::Div ? x / y
                                              : static_cast<double>(real_result(op, a.real, b.real, d));
    return {true, 0, r};
  }
  return {true, 0, rounded(real_result(op, a.real, b.real, d), d)};
}

Element converted(const Element& x, DType to) {
  if (to.is_float()) {
    if (x.is_real) return {true, 0, rounded(x.real, to)};
    const Real near = rounded(static_cast<Real>(x.integer), to.bits == 64 ? to : DType::float32());
    return {true, 0, rounded(near, to)};
  }
  if (to.is_bool()) return {false, x.is_real ? x.real != 0 : x.integer != 0};
  if (!x.is_real) return {false, wrapped(x.integer, to)};
  if (std::isnan(x.real)) return {false, 0};
  if (x.real >= static_cast<Real>(highest_of(to))) return {false, highest_of(to)};
  if (x.real <= static_cast<Real>(lowest_of(to))) return {false, lowest_of(to)};
  return {false, static_cast<Integer>(std::trunc(x.real))};
}

// --- elements

std::vector<Element> samples(DType d) {
  std::vector<Element> out;
  if (d.is_float()) {
    for (Real x : {0.0L, -0.0L, 1.0L, -1.0L, 0.5L, 2.5L, -2.5L, 3.0L, -3.5L, 7.0L, 100.0L, 0.1L, -0.7L, 1e-3L,
                   HUGE_VALL, -HUGE_VALL, static_cast<Real>(NAN)})
      out.push_back({true, 0, rounded(x, d)});
    return out;
  }
  for (Integer x :
       {Integer{0}, Integer{1}, Integer{2}, Integer{3}, Integer{7}, Integer{9}, Integer{40}, Integer{-1},
        Integer{-2}, Integer{-7}, lowest_of(d), lowest_of(d) + 1, highest_of(d), highest_of(d) - 1})
    out.push_back({false, wrapped(x, d)});
  return out;
}

TensorPtr tensor_of(DType d, const std::vector<Element>& elements) {
  TensorPtr tensor = HostTensor::make(d, {static_cast<int64_t>(elements.size())});
  for (size_t i = 0; i < elements.size(); ++i) {
    const Element& e = elements[i];
    Scalar scalar = e.is_real ? Scalar::from_double(d, static_cast<double>(e.real))
                              : Scalar::from_int(d, static_cast<int64_t>(e.integer));
    std::memcpy(tensor->data() + i * d.bytes(), &scalar.bits, d.bytes());
  }
  return tensor;
}

/// "" where the element is as wanted.
std::string difference(const HostTensor& got, int64_t at, const Element& wanted, int units) {
  if (!wanted.is_real) {
    auto bits = static_cast<Integer>(element_as_int(got, at));
    if (!got.dtype().is_signed() && bits < 0) bits += Integer{1} << 64;
    return bits == wanted.integer ? ""
                                  : fmt::format("{} instead of {}", static_cast<double>(bits),
                                                static_cast<double>(wanted.integer));
  }
  const Real x = element_as_double(got, at), y = wanted.real;
  if (x == y || (std::isnan(x) && std::isnan(y))) return "";
  const int least = got.dtype().bits == 64                                           ? -1022
                    : got.dtype().code == DTypeCode::Float && got.dtype().bits == 16 ? -14
                                                                                     : -126;
  const Real unit = std::ldexp(Real{1}, std::max(std::isfinite(y) && y != 0 ? std::ilogb(y) : least, least) -
                                            fraction_bits(got.dtype()));
  if (std::isfinite(x) && std::isfinite(y) && std::fabs(x - y) <= units * unit) return "";
  return fmt::format("{} instead of {}", static_cast<double>(x), static_cast<double>(y));
}

std::string text_of(ScalarOp op) {
  const std::string name(info(op).name);
  if (op == ScalarOp::Neg) return "-%a[i]";
  if (op == ScalarOp::Not) return "not %a[i]";
  if (info(op).arity == 1) return name + "(%a[i])";
  const bool infix = std::isalpha(static_cast<unsigned char>(name[0])) == 0 || name == "and" || name == "or";
  return infix ? "%a[i] " + name + " %b[i]" : name + "(%a[i], %b[i])";
}

constexpr int kOps = 0
#define QUERN_SCALAR(name, text, arity, signature, code) +1
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
    ;

class DTypes : public testing::TestWithParam<const char*> {};

TEST_P(DTypes, EveryScalarFunctionIsAsTheOracleSays) {
  const DType d = *parse_dtype(GetParam());
  std::vector<Element> a, b;
  for (const Element& x : samples(d))
    for (const Element& y : samples(d)) {
      a.push_back(x);
      b.push_back(y);
    }
  TemporaryFile file(fmt::format("dtypes_{}", GetParam()));
  ASSERT_TRUE(write_tensors(file.path(), {{"a", tensor_of(d, a)}, {"b", tensor_of(d, b)}}));
  std::vector<Case> cases;
  std::vector<ScalarOp> ops;
  for (int k = 0; k < kOps; ++k) {
    const auto op = static_cast<ScalarOp>(k);
    if (!accepts(op, d)) continue;
    ops.push_back(op);
    cases.push_back({std::string(info(op).name),
                     fmt::format("[i < {}] => {}", a.size(), text_of(op)),
                     {{"a", "a"}, {"b", "b"}}});
  }
  CaseSession session(file.path(), cases, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> outcomes = session.run(evaluator);
    for (size_t k = 0; k < ops.size(); ++k) {
      ASSERT_TRUE(outcomes[k].tensor) << session.text(k) << outcomes[k].problem;
      const int units = is_exact(ops[k]) ? 0 : evaluator == Evaluator::Interpreter ? 1 : 4;
      int told = 0;
      for (size_t i = 0; i < a.size() && told < 3; ++i) {
        std::string problem =
            difference(*outcomes[k].tensor, static_cast<int64_t>(i), oracle(ops[k], a[i], b[i], d), units);
        if (problem.empty()) continue;
        ++told;
        ADD_FAILURE() << to_string(evaluator) << ": `" << info(ops[k]).name << "` on " << GetParam()
                      << ", pair " << i << " ("
                      << static_cast<double>(a[i].is_real ? a[i].real : static_cast<Real>(a[i].integer))
                      << ", "
                      << static_cast<double>(b[i].is_real ? b[i].real : static_cast<Real>(b[i].integer))
                      << "): " << problem;
      }
    }
  }
}

TEST_P(DTypes, ConversionsToEveryDType) {
  const DType from = *parse_dtype(GetParam());
  const std::vector<Element> elements = samples(from);
  TemporaryFile file(fmt::format("conversions_{}", GetParam()));
  ASSERT_TRUE(write_tensors(file.path(), {{"a", tensor_of(from, elements)}}));
  std::vector<Case> cases;
  std::vector<DType> targets = {DType::boolean()};
  for (const char* name : kDTypes) targets.push_back(*parse_dtype(name));
  for (DType to : targets)
    cases.push_back({to_string(to),
                     fmt::format("[i < {}] => cast<{}>(%a[i])", elements.size(), to_string(to)),
                     {{"a", "a"}}});
  CaseSession session(file.path(), cases, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> outcomes = session.run(evaluator);
    for (size_t k = 0; k < targets.size(); ++k) {
      ASSERT_TRUE(outcomes[k].tensor) << session.text(k) << outcomes[k].problem;
      for (size_t i = 0; i < elements.size(); ++i) {
        std::string problem =
            difference(*outcomes[k].tensor, static_cast<int64_t>(i), converted(elements[i], targets[k]), 0);
        EXPECT_EQ(problem, "") << to_string(evaluator) << ": " << GetParam() << " to "
                               << to_string(targets[k]) << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, DTypes, testing::ValuesIn(kDTypes),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace quern::numeric
