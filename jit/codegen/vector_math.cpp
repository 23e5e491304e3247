#include "jit/codegen/vector_math.h"

#include <cmath>

#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

constexpr double kLog2E = 1.44269504088896341;
// ln 2 in two parts; multiples of the first by an exponent are exact.
constexpr double kLn2High = 0.693359375;
constexpr double kLn2Low = -2.12194440054690583e-4;
/// 1.5 * 2^23: adding it rounds to an integer, which then stands in the low bits.
constexpr double kRoundShift = 12582912.0;

/// (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; relative error of e^r 2^-28.
constexpr float kExpTail[] = {0x1.fffffcp-2F, 0x1.55549p-3F, 0x1.5558f4p-5F, 0x1.123a6cp-7F, 0x1.6a234ep-10F};
/// (log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) - 1 <= f <= sqrt(2) - 1; relative error of the logarithm 2^-30.
constexpr float kLogTail[] = {0x1.555548p-2F,  -0x1.000006p-2F, 0x1.99a4b6p-3F,
                              -0x1.555c4ep-3F, 0x1.23375ep-3F,  -0x1.fc220ep-4F,
                              0x1.e6f08cp-4F,  -0x1.de3bfap-4F, 0x1.14573ep-4F};
/// erf(x)/x - 1 in powers of x^2 on |x| <= 1; relative error of erf 2^-29.
constexpr float kErfSmall[] = {0x1.06eba8p-3F, -0x1.81273ep-2F,  0x1.ce2cf8p-4F, -0x1.b7f91p-6F,
                               0x1.5405ccp-8F, -0x1.a3f7a6p-11F, 0x1.496bc6p-14F};
/// -log(1 - erf(t)) on 1 <= t <= 3.95; relative error of erf 2^-29.
constexpr float kErfLarge[] = {0x1.661d54p-12F, 0x1.2088eap+0F, 0x1.46baecp-1F,  0x1.a65344p-4F,
                               -0x1.65cb74p-6F, 0x1.825af4p-9F, -0x1.86dd7cp-13F};

}  // namespace

llvm::Value* VectorMath::emit(ScalarOp op, llvm::ArrayRef<llvm::Value*> args) {
  if (op == ScalarOp::Exp) return exp(args[0]);
  if (op == ScalarOp::Log) return log(args[0]);
  if (op == ScalarOp::Tanh) return tanh(args[0]);
  if (op == ScalarOp::Sigmoid) return sigmoid(args[0]);
  if (op == ScalarOp::Erf) return erf(args[0]);
  return nullptr;
}

// --- pieces --------------------------------------------------------------------------------------

llvm::Value* VectorMath::as_bits(llvm::Value* x) {
  return b_.CreateBitCast(x, shaped_like(x, b_.getInt32Ty()));
}

llvm::Value* VectorMath::as_float(llvm::Value* bits) {
  return b_.CreateBitCast(bits, shaped_like(bits, b_.getFloatTy()));
}

llvm::Value* VectorMath::magnitude(llvm::Value* x) {
  return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

llvm::Value* VectorMath::power_of_two(llvm::Value* n) {
  return as_float(b_.CreateShl(b_.CreateAdd(n, int_like(n, 127)), int_like(n, 23)));
}

llvm::Value* VectorMath::mad(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  return operations_.multiply_add(a, b, c);
}

llvm::Value* VectorMath::polynomial(llvm::Value* x, llvm::ArrayRef<float> coefficients) {
  llvm::Value* sum = float_like(x, static_cast<double>(coefficients.back()));
  for (const float coefficient : llvm::reverse(coefficients.drop_back())) {
    sum = mad(sum, x, float_like(x, static_cast<double>(coefficient)));
  }
  return sum;
}

llvm::Value* VectorMath::at_most(llvm::Value* x, double limit) {
  llvm::Value* bound = float_like(x, limit);
  return b_.CreateSelect(b_.CreateFCmpOLT(bound, x), bound, x);
}

llvm::Value* VectorMath::at_least(llvm::Value* x, double limit) {
  llvm::Value* bound = float_like(x, limit);
  return b_.CreateSelect(b_.CreateFCmpOGT(bound, x), bound, x);
}

// --- functions -----------------------------------------------------------------------------------

VectorMath::Reduced VectorMath::reduce(llvm::Value* x) {
  llvm::Value* shifted = mad(x, float_like(x, kLog2E), float_like(x, kRoundShift));
  llvm::Value* n = b_.CreateFSub(shifted, float_like(x, kRoundShift));
  llvm::Value* r = mad(n, float_like(x, -kLn2Low), mad(n, float_like(x, -kLn2High), x));
  llvm::Value* tail = b_.CreateFMul(b_.CreateFMul(r, r), polynomial(r, kExpTail));
  return {as_bits(shifted), r, tail};
}

/// Beyond the clamps the result is infinity and zero. 2^n is applied as two factors, so that it may exceed
/// the range of exponents, and a subnormal result is rounded once.
llvm::Value* VectorMath::exp(llvm::Value* x) {
  const Reduced reduced = reduce(at_least(at_most(x, 89), -104));
  llvm::Value* mantissa = b_.CreateFAdd(float_like(x, 1), b_.CreateFAdd(reduced.r, reduced.tail));
  llvm::Value* n = b_.CreateSub(reduced.n_bits, as_bits(float_like(x, kRoundShift)));
  llvm::Value* half = b_.CreateAShr(n, int_like(n, 1));
  llvm::Value* scaled = b_.CreateFMul(mantissa, power_of_two(half));
  return b_.CreateFMul(scaled, power_of_two(b_.CreateSub(n, half)));
}

/// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); subnormal operands are scaled into the normal range
/// first.
llvm::Value* VectorMath::log(llvm::Value* x) {
  constexpr int64_t kSqrtHalfBits = 0x3f3504f3;
  llvm::Value* is_tiny = b_.CreateFCmpOLT(x, float_like(x, 0x1p-126));
  llvm::Value* normal = b_.CreateSelect(is_tiny, b_.CreateFMul(x, float_like(x, 0x1p23)), x);
  llvm::Value* from_root = b_.CreateSub(as_bits(normal), int_like(as_bits(x), kSqrtHalfBits));
  llvm::Value* exponent = b_.CreateSIToFP(b_.CreateAShr(from_root, int_like(from_root, 23)), x->getType());
  llvm::Value* e = b_.CreateFAdd(exponent, b_.CreateSelect(is_tiny, float_like(x, -23), float_like(x, 0)));
  llvm::Value* mantissa = b_.CreateAnd(from_root, int_like(from_root, 0x7fffff));
  llvm::Value* f =
      b_.CreateFSub(as_float(b_.CreateAdd(mantissa, int_like(mantissa, kSqrtHalfBits))), float_like(x, 1));

  llvm::Value* square = b_.CreateFMul(f, f);
  llvm::Value* small =
      mad(e, float_like(x, kLn2Low), b_.CreateFMul(b_.CreateFMul(square, f), polynomial(f, kLogTail)));
  llvm::Value* sum = b_.CreateFAdd(mad(square, float_like(x, -0.5), small), f);
  llvm::Value* finite = mad(e, float_like(x, kLn2High), sum);

  // +inf and NaN are their own logarithms.
  llvm::Value* result = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, HUGE_VAL)), finite, x);
  llvm::Value* below_zero = b_.CreateFCmpOLT(x, float_like(x, 0));
  result = b_.CreateSelect(below_zero, float_like(x, NAN), result);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, float_like(x, 0)), float_like(x, -HUGE_VAL), result);
}

/// With E = e^(2|x|) - 1, which is accurate near 0: tanh |x| = E / (E + 2).
llvm::Value* VectorMath::tanh(llvm::Value* x) {
  llvm::Value* t = at_most(magnitude(x), 10);
  const Reduced reduced = reduce(b_.CreateFAdd(t, t));
  llvm::Value* n = b_.CreateSub(reduced.n_bits, as_bits(float_like(x, kRoundShift)));
  llvm::Value* scale = power_of_two(n);
  llvm::Value* less_one = b_.CreateFAdd(reduced.r, reduced.tail);
  llvm::Value* e = mad(less_one, scale, b_.CreateFSub(scale, float_like(x, 1)));
  llvm::Value* result = b_.CreateFDiv(e, b_.CreateFAdd(e, float_like(x, 2)));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

/// With e = e^-|x|, which cannot overflow: 1 / (1 + e) for x >= 0, else e / (1 + e).
llvm::Value* VectorMath::sigmoid(llvm::Value* x) {
  llvm::Value* e = exp(b_.CreateFNeg(magnitude(x)));
  llvm::Value* one = float_like(x, 1);
  llvm::Value* numerator = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, 0)), e, one);
  return b_.CreateFDiv(numerator, b_.CreateFAdd(one, e));
}

/// Near 0 a polynomial, beyond 1 the complement of an exponential.
llvm::Value* VectorMath::erf(llvm::Value* x) {
  llvm::Value* t = at_most(magnitude(x), 3.95);
  llvm::Value* square = b_.CreateFMul(t, t);
  llvm::Value* small = mad(t, polynomial(square, kErfSmall), t);
  llvm::Value* complement = exp(b_.CreateFNeg(polynomial(t, kErfLarge)));
  llvm::Value* large = b_.CreateFSub(float_like(x, 1), complement);
  llvm::Value* result = b_.CreateSelect(b_.CreateFCmpOGT(t, float_like(x, 1)), large, small);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace quern::codegen
