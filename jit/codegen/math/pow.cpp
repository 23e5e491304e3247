// Powers.

#include <cmath>

#include "jit/codegen/math/vector_math.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

/// With s = (m-1) / (m+1): log2(m) / s in powers of s^2 on sqrt(1/2) <= m < sqrt(2); relative error 2^-37.
constexpr double kLog2[] = {0x1.71547652bede5p+1, 0x1.ec709d12e09e2p-1, 0x1.27777fea0885dp-1,
                            0x1.a58d82b08bd46p-2, 0x1.5ce8fd42eb9a4p-2};
/// 2^r on |r| <= 1/2; relative error 2^-34.
constexpr double kExp2[] = {0x1.ffffffffabbcep-1,  0x1.62e42ff116445p-1, 0x1.ebfbe0a4bd9f4p-3,
                            0x1.c6b08aaef6531p-5,  0x1.3b29dc4159018p-7, 0x1.5d8a70be45002p-10,
                            0x1.446a1f986e7f3p-13, 0x1.fe1749ee1818cp-17};

}  // namespace

/// |x|^y, then its sign and the special cases. A y beyond 2^65 is clamped to 2^65, so that no product of
/// infinity and 0 = log 1 arises.
template <>
llvm::Value* VectorMath::of<ScalarOp::Pow>(llvm::ArrayRef<Value*> args) {
  Value *x = args[0], *y = args[1];
  Value* bounded = at_least(at_most(y, 0x1p65), -0x1p65);
  Value* result = is_wide(x) ? magnitude_of_pow_float64(magnitude(x), bounded)
                             : magnitude_of_pow_float32(magnitude(x), bounded);
  return with_special_powers(result, x, y);
}

llvm::Value* VectorMath::with_special_powers(Value* result, Value* x, Value* y) {
  const auto is_whole = [&](Value* v) {
    return b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v), v);
  };
  Value* y_is_whole = is_whole(y);
  Value* half_is_whole = is_whole(b_.CreateFMul(y, float_like(y, 0.5)));
  Value* is_odd = b_.CreateAnd(y_is_whole, b_.CreateNot(half_is_whole));
  Value* with_sign = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
  result = b_.CreateSelect(is_odd, with_sign, result);
  Value* is_below =
      b_.CreateAnd(b_.CreateFCmpOLT(x, float_like(x, 0)), b_.CreateFCmpOGT(x, float_like(x, -HUGE_VAL)));
  Value* has_no_power = b_.CreateAnd(is_below, b_.CreateNot(y_is_whole));
  result = b_.CreateSelect(has_no_power, float_like(x, NAN), result);
  Value* one = float_like(x, 1);
  Value* is_one = b_.CreateOr(b_.CreateFCmpOEQ(x, one), b_.CreateFCmpOEQ(y, float_like(y, 0)));
  return b_.CreateSelect(is_one, one, result);
}

/// 2^(y log2 x) in float64.
llvm::Value* VectorMath::magnitude_of_pow_float32(Value* narrow_x, Value* narrow_y) {
  Value* x = widened(narrow_x);
  Value* y = widened(narrow_y);
  const Scaled scaled = scale(x);
  Value* s = b_.CreateFDiv(scaled.f, b_.CreateFAdd(scaled.f, float_like(x, 2)));
  Value* logarithm = mad(s, polynomial(b_.CreateFMul(s, s), kLog2), scaled.exponent);
  logarithm = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, HUGE_VAL)), logarithm, x);
  logarithm = b_.CreateSelect(b_.CreateFCmpOEQ(x, float_like(x, 0)), float_like(x, -HUGE_VAL), logarithm);
  Value* t = at_least(at_most(b_.CreateFMul(y, logarithm), 130), -160);
  const Rounded n = nearest(t, 1);
  Value* mantissa = polynomial(b_.CreateFSub(t, n.number), kExp2);
  return narrowed(b_.CreateFMul(mantissa, power_of_two(n.integer)));
}

/// e^(y log x), with the logarithm and the product in pairs.
llvm::Value* VectorMath::magnitude_of_pow_float64(Value* x, Value* y) {
  constexpr double kMost = 800;  // beyond the exponential's range
  const Pair logarithm = log_pair(x);
  Value* is_finite = b_.CreateFCmpOLT(x, float_like(x, HUGE_VAL));
  Value* is_zero = b_.CreateFCmpOEQ(x, float_like(x, 0));
  Value* high = b_.CreateSelect(is_finite, logarithm.hi, x);
  high = b_.CreateSelect(is_zero, float_like(x, -HUGE_VAL), high);
  const Pair exact = product(y, high);
  Value* low = mad(y, logarithm.lo, exact.lo);
  Value* is_small = b_.CreateFCmpOLT(magnitude(exact.hi), float_like(x, kMost));
  return exp(exact.hi, b_.CreateSelect(is_small, low, float_like(x, 0)));
}

}  // namespace quern::codegen
