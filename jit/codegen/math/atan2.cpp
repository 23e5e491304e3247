// The angle of a point.

#include <cmath>

#include "jit/codegen/math/vector_math.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

/// pi/4 in two parts; multiples of the first up to 4 are exact.
constexpr double kQuarterPi = 0x1.921fb54442d18p-1, kQuarterPiLow = 0x1.1a62633145c07p-55;

/// (atan(z)/z - 1) / z^2 in powers of z^2 on |z| <= 1/2; relative error of the arc tangent 2^-38 and 2^-57.
constexpr double kAtan32[] = {-0x1.555555552678fp-2, 0x1.999998ddd3effp-3,  -0x1.24920afabb364p-3,
                              0x1.c70ca1d37da64p-4,  -0x1.735d43623b1c9p-4, 0x1.321ffa97f0f0fp-4,
                              -0x1.c5e42ba8e2ecep-5, 0x1.a6e7e2a1bd115p-6};
constexpr double kAtan64[] = {-0x1.5555555555555p-2, 0x1.99999999998e1p-3,  -0x1.2492492488296p-3,
                              0x1.c71c71c01b232p-4,  -0x1.745d16026ebbep-4, 0x1.3b138e636cb38p-4,
                              -0x1.110ea501f8f99p-4, 0x1.e1a7b24edfe37p-5,  -0x1.ad44d9d41d618p-5,
                              0x1.7b20b67d1f65bp-5,  -0x1.37d74dfbcd624p-5, 0x1.99b4d96f2621fp-6,
                              -0x1.2dfba0912ec79p-7};

}  // namespace

/// In float64. The smaller of |y| and |x| over the larger is the tangent of an angle up to pi/4; above 1/2 its
/// difference from pi/4 is taken. From there multiples of pi/4 and a sign lead to the octant of the point.
/// Two infinities are as two ones; of two zeros the tangent is 0.
template <>
llvm::Value* VectorMath::of<ScalarOp::Atan2>(llvm::ArrayRef<Value*> args) {
  const bool wide = is_wide(args[0]);
  Value* y = wide ? args[0] : widened(args[0]);
  Value* x = wide ? args[1] : widened(args[1]);
  const auto number = [&](double value) { return float_like(x, value); };

  Value *rise = magnitude(y), *run = magnitude(x);
  Value* is_steep = b_.CreateFCmpOGT(rise, run);
  Value* small = b_.CreateSelect(is_steep, run, rise);
  Value* large = b_.CreateSelect(is_steep, rise, run);
  Value* is_equal = b_.CreateFCmpOEQ(small, large);
  small = b_.CreateSelect(b_.CreateAnd(is_equal, b_.CreateFCmpONE(large, number(0))), number(1), small);
  large = b_.CreateSelect(is_equal, number(1), large);
  // Their sum is to be finite; what a small one loses here is nothing beside a large one.
  Value* scale = b_.CreateSelect(b_.CreateFCmpOGT(large, number(0x1p1000)), number(0.25), number(1));
  small = b_.CreateFMul(small, scale);
  large = b_.CreateFMul(large, scale);

  Value* is_upper = b_.CreateFCmpOGT(small, b_.CreateFMul(large, number(0.5)));
  Value* z = b_.CreateFDiv(b_.CreateSelect(is_upper, b_.CreateFSub(small, large), small),
                           b_.CreateSelect(is_upper, b_.CreateFAdd(small, large), large));
  Value* square = b_.CreateFMul(z, z);
  Value* tail = b_.CreateFMul(b_.CreateFMul(z, square),
                              polynomial(square, wide ? Coefficients(kAtan64) : Coefficients(kAtan32)));

  Value* is_behind = b_.CreateICmpSLT(as_bits(x), int_like(as_bits(x), 0));
  Value* quarters = b_.CreateSelect(is_upper, number(1), number(0));
  quarters = b_.CreateSelect(is_steep, b_.CreateFSub(number(2), quarters), quarters);
  quarters = b_.CreateSelect(is_behind, b_.CreateFSub(number(4), quarters), quarters);
  Value* sign = b_.CreateSelect(b_.CreateXor(is_steep, is_behind), number(-1), number(1));

  const Pair angle = ordered_sum(b_.CreateFMul(quarters, number(kQuarterPi)), b_.CreateFMul(z, sign));
  Value* rest = mad(tail, sign, b_.CreateFAdd(angle.lo, b_.CreateFMul(quarters, number(kQuarterPiLow))));
  Value* result = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, b_.CreateFAdd(angle.hi, rest), y);
  return wide ? result : narrowed(result);
}

}  // namespace quern::codegen
