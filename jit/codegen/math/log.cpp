// The logarithm.

#include <cmath>

#include "jit/codegen/math/vector_math.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

// ln 2 in two parts; multiples of the first by an exponent are exact.
constexpr double kLn2High32 = 0.693359375;
constexpr double kLn2Low32 = -2.12194440054690583e-4;
constexpr double kLn2High64 = 0x1.62e42fefa3p-1;
constexpr double kLn2Low64 = 0x1.3de6af278ece6p-42;

/// (log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) - 1 <= f <= sqrt(2) - 1; relative error of the logarithm 2^-30.
constexpr double kLogTail32[] = {0x1.555548p-2,  -0x1.000006p-2, 0x1.99a4b6p-3,
                                 -0x1.555c4ep-3, 0x1.23375ep-3,  -0x1.fc220ep-4,
                                 0x1.e6f08cp-4,  -0x1.de3bfap-4, 0x1.14573ep-4};
/// With s = f / (2 + f): (log(1+f)/s - 2) / s^2 in powers of s^2, for the same f; relative error of the
/// logarithm 2^-59.
constexpr double kLogTail64[] = {0x1.5555555555592p-1, 0x1.999999997ff63p-2, 0x1.24924941db4a6p-2,
                                 0x1.c71c521a1116dp-3, 0x1.74663ba72b50dp-3, 0x1.39a20afabcb5bp-3,
                                 0x1.2f025b72e0422p-3};
/// (log(1+f)/s - 2 - 2/3 s^2) / s^4; relative error of the logarithm 2^-73.
constexpr double kPairTail[] = {0x1.9999999999996p-2, 0x1.2492492492f51p-2, 0x1.c71c71c5968f4p-3,
                                0x1.745d182956c87p-3, 0x1.3b1364c921686p-3, 0x1.11206f3a29a78p-3,
                                0x1.de3d6d4d71f4ap-4, 0x1.eac5e74a99406p-4};
constexpr double kTwoThirds = 0x1.5555555555555p-1;
constexpr double kTwoThirdsLow = 0x1.5555555555555p-55;

}  // namespace

/// Subnormal operands are scaled into the normal range first.
VectorMath::Scaled VectorMath::scale(Value* x) {
  const bool wide = is_wide(x);
  const int fraction = wide ? 52 : 23;
  const int64_t sqrt_half = wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value* is_tiny = b_.CreateFCmpOLT(x, float_like(x, wide ? 0x1p-1022 : 0x1p-126));
  Value* normal = b_.CreateSelect(is_tiny, b_.CreateFMul(x, float_like(x, std::ldexp(1, fraction))), x);
  Value* from_root = b_.CreateSub(as_bits(normal), int_like(as_bits(x), sqrt_half));
  Value* exponent = number_of(b_.CreateAShr(from_root, int_like(from_root, fraction)));
  Value* e = b_.CreateFAdd(exponent, b_.CreateSelect(is_tiny, float_like(x, -fraction), float_like(x, 0)));
  Value* fraction_of_root = b_.CreateAnd(from_root, int_like(from_root, (int64_t{1} << fraction) - 1));
  Value* mantissa = as_float(b_.CreateAdd(fraction_of_root, int_like(from_root, sqrt_half)));
  return {e, b_.CreateFSub(mantissa, float_like(x, 1))};
}

template <>
llvm::Value* VectorMath::of<ScalarOp::Log>(llvm::ArrayRef<Value*> args) {
  Value* x = args[0];
  const Scaled scaled = scale(x);
  Value* finite = is_wide(x) ? log_float64(scaled) : log_float32(scaled);
  // +inf and NaN are their own logarithms.
  Value* result = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, HUGE_VAL)), finite, x);
  result = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, 0)), float_like(x, NAN), result);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, float_like(x, 0)), float_like(x, -HUGE_VAL), result);
}

llvm::Value* VectorMath::log_float32(const Scaled& x) {
  Value* f = x.f;
  Value* square = b_.CreateFMul(f, f);
  Value* tail = b_.CreateFMul(b_.CreateFMul(square, f), polynomial(f, kLogTail32));
  Value* small = mad(x.exponent, float_like(f, kLn2Low32), tail);
  Value* sum = b_.CreateFAdd(mad(square, float_like(f, -0.5), small), f);
  return mad(x.exponent, float_like(f, kLn2High32), sum);
}

/// log(1+f) = f - (f^2/2 - s*(f^2/2 + s^2 R)), so that f, the largest part, is not rounded (Tang 1990).
llvm::Value* VectorMath::log_float64(const Scaled& x) {
  Value* f = x.f;
  Value* s = b_.CreateFDiv(f, b_.CreateFAdd(f, float_like(f, 2)));
  Value* z = b_.CreateFMul(s, s);
  Value* half_square = b_.CreateFMul(b_.CreateFMul(f, float_like(f, 0.5)), f);
  Value* rest = mad(z, polynomial(z, kLogTail64), half_square);
  Value* small = mad(s, rest, b_.CreateFMul(x.exponent, float_like(f, kLn2Low64)));
  Value* correction = b_.CreateFSub(half_square, small);
  return mad(x.exponent, float_like(f, kLn2High64), b_.CreateFSub(f, correction));
}

/// 2s + s z (2/3 + z R(z)) with s = f / (2 + f) and z = s^2, where everything but R is in pairs.
VectorMath::Pair VectorMath::log_pair(Value* x) {
  const Scaled scaled = scale(x);
  Value* f = scaled.f;
  const Pair denominator = ordered_sum(float_like(f, 2), f);
  Value* inverse = b_.CreateFDiv(float_like(f, 1), denominator.hi);
  Value* s = b_.CreateFMul(f, inverse);
  const Pair back = product(s, denominator.hi);
  Value* rest = b_.CreateFSub(b_.CreateFSub(f, back.hi), back.lo);
  rest = b_.CreateFSub(rest, b_.CreateFMul(s, denominator.lo));
  const Pair quotient{s, b_.CreateFMul(rest, inverse)};

  const Pair square = product(quotient, quotient);
  Value* tail = b_.CreateFMul(square.hi, polynomial(square.hi, kPairTail));
  Pair factor = ordered_sum(float_like(f, kTwoThirds), tail);
  factor.lo = b_.CreateFAdd(factor.lo, float_like(f, kTwoThirdsLow));
  const Pair small = product(product(quotient, square), factor);
  Value* two = float_like(f, 2);
  const Pair mantissa = ordered_sum(b_.CreateFMul(two, s), small.hi);
  Value* low = b_.CreateFAdd(mantissa.lo, mad(two, quotient.lo, small.lo));

  const Pair whole = sum(b_.CreateFMul(scaled.exponent, float_like(f, kLn2High64)), mantissa.hi);
  low = b_.CreateFAdd(low, b_.CreateFMul(scaled.exponent, float_like(f, kLn2Low64)));
  return ordered_sum(whole.hi, b_.CreateFAdd(whole.lo, low));
}

}  // namespace quern::codegen
