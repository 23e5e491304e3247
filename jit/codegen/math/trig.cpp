// Sine and cosine.

#include <array>
#include <cmath>
#include <vector>

#include "jit/codegen/math/vector_math.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
/// From here on operands are huge: products of n with the parts of pi/2 would no longer be exact.
constexpr double kHuge = 0x1p20;

/// pi/2 in parts of 33 bits, whose products with n below 2^20 are exact; the last part of each has 53 bits.
constexpr double kHalfPi32[] = {0x1.921fb544p+0, 0x1.0b4611a626331p-34};
constexpr double kHalfPi64[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

/// (sin(r)/r - 1) / r^2 in powers of r^2 on |r| <= pi/4; relative error of the sine 2^-37 and 2^-57.
constexpr double kSin32[] = {-0x1.5555554c72e5ep-3, 0x1.1111086b0d7c6p-7, -0x1.a00f7f717481ap-13,
                             0x1.6cd1f148a5c03p-19};
constexpr double kSin64[] = {-0x1.5555555555548p-3, 0x1.111111110f73p-7,    -0x1.a01a019be919ep-13,
                             0x1.71de35551dda1p-19, -0x1.ae5e4b73f6c27p-26, 0x1.5d8b4f6b880a2p-33};
/// (cos(r) - 1 + r^2/2) / r^4, the same; relative error of the cosine 2^-42 and 2^-63.
constexpr double kCos32[] = {0x1.5555554ed9844p-5, -0x1.6c16b829d5321p-10, 0x1.a010de8509178p-16,
                             -0x1.241e8688ff7bdp-22};
constexpr double kCos64[] = {0x1.555555555554bp-5,   -0x1.6c16c16c15016p-10, 0x1.a01a019c8f507p-16,
                             -0x1.27e4f7f1baa2dp-22, 0x1.1ee9dbf09655dp-29,  -0x1.8fa6983c1b0ap-37};

/// 2/pi, after a word of zeros before the binary point.
constexpr std::array<uint64_t, 5> kTwoOverPiBits{0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                                 0xdb6295993c439041, 0xfe5163abdebbc561};

/// `count` bits of 2/pi from weight 2^highest on, scaled as in 2^e * 2/pi.
double part_of_two_over_pi(int e, int highest, int count) {
  const int at = 63 + e - highest;
  const auto word = static_cast<size_t>(at / 64);
  uint64_t bits = kTwoOverPiBits[word] << (at % 64);
  if (at % 64 != 0) bits |= kTwoOverPiBits[word + 1] >> (64 - at % 64);
  return std::ldexp(static_cast<double>(bits >> (64 - count)), highest - count + 1);
}

/// A huge float32 is m * 2^e with a 24-bit integer m and these e.
constexpr int kLeastExponent = -3;
constexpr int kMostExponent = 104;

/// 2^e * 2/pi less its multiples of 4, for each e: 29 bits, whose products with m are exact, and the 53 that
/// follow.
llvm::GlobalVariable* huge_table(llvm::Module& module) {
  constexpr const char* kName = "quern_two_over_pi";
  if (llvm::GlobalVariable* made = module.getNamedGlobal(kName)) return made;
  std::vector<double> parts;
  for (int e = kLeastExponent; e <= kMostExponent; ++e) {
    parts.push_back(part_of_two_over_pi(e, 1, 29));
    parts.push_back(part_of_two_over_pi(e, -28, 53));
  }
  llvm::Constant* table = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef<double>(parts));
  return new llvm::GlobalVariable(module, table->getType(), true, llvm::GlobalValue::InternalLinkage, table,
                                  kName);
}

}  // namespace

/// Computed for |x|, then given the sign of x, which preserves signed zeros. Infinity and NaN give NaN
/// through the reduction.
llvm::Value* VectorMath::sin_or_cos(ScalarOp op, Value* x) {
  Value* size = magnitude(x);
  Value* is_finite = b_.CreateFCmpOLT(size, float_like(x, HUGE_VAL));
  Value* is_huge = b_.CreateAnd(b_.CreateFCmpOGE(size, float_like(x, kHuge)), is_finite);
  Value* result = nullptr;
  if (is_wide(x)) {
    Value* usual = of_angle(op, reduce_float64(size));
    const std::string host = op == ScalarOp::Sin ? "sin_f64" : "cos_f64";
    result = unless(is_huge, usual, [&] { return operations_.call_host(host, {size}); });
  } else {
    Value* usual = narrowed(of_angle(op, reduce_float32(size)));
    result =
        unless(is_huge, usual, [&] { return narrowed(of_angle(op, reduce_huge_float32(size, is_huge))); });
  }
  if (op == ScalarOp::Cos) return result;
  Value* sign = b_.CreateXor(as_bits(x), as_bits(size));
  return as_float(b_.CreateXor(as_bits(result), sign));
}

template <>
llvm::Value* VectorMath::of<ScalarOp::Sin>(llvm::ArrayRef<Value*> args) {
  return sin_or_cos(ScalarOp::Sin, args[0]);
}

template <>
llvm::Value* VectorMath::of<ScalarOp::Cos>(llvm::ArrayRef<Value*> args) {
  return sin_or_cos(ScalarOp::Cos, args[0]);
}

/// In two parts (Cody and Waite).
VectorMath::Angle VectorMath::reduce_float32(Value* x) {
  Value* wide = widened(x);
  const Rounded n = nearest(wide, kTwoOverPi);
  Value* r = mad(n.number, float_like(wide, -kHalfPi32[0]), wide);
  return {n.integer, {mad(n.number, float_like(wide, -kHalfPi32[1]), r), nullptr}};
}

/// In four parts: operands in this range come as near as 2^-60 to a multiple of pi/2.
VectorMath::Angle VectorMath::reduce_float64(Value* x) {
  const Rounded n = nearest(x, kTwoOverPi);
  const auto times = [&](double part) { return b_.CreateFMul(n.number, float_like(x, -part)); };
  const Pair second = sum(mad(n.number, float_like(x, -kHalfPi64[0]), x), times(kHalfPi64[1]));
  const Pair third = sum(second.hi, times(kHalfPi64[2]));
  Value* low = b_.CreateFAdd(b_.CreateFAdd(second.lo, third.lo), times(kHalfPi64[3]));
  return {n.integer, ordered_sum(third.hi, low)};
}

/// The multiples of 4 that the table omits are full turns (Payne and Hanek 1983).
VectorMath::Angle VectorMath::reduce_huge_float32(Value* x, Value* is_huge) {
  Value* bits = as_bits(x);
  Value* exponent =
      b_.CreateSub(b_.CreateLShr(bits, int_like(bits, 23)), int_like(bits, 150 + kLeastExponent));
  Value* row = b_.CreateSelect(is_huge, exponent, int_like(bits, 0));
  Value* index = b_.CreateShl(b_.CreateZExt(row, shaped_like(x, b_.getInt64Ty())), uint64_t{1});
  llvm::GlobalVariable* table = huge_table(*b_.GetInsertBlock()->getModule());
  llvm::Type* type = shaped_like(x, b_.getDoubleTy());
  const auto column = [&](int64_t number) -> Value* {
    Value* at = b_.CreateGEP(b_.getDoubleTy(), table, b_.CreateAdd(index, int_like(index, number)));
    if (type->isVectorTy()) return b_.CreateMaskedGather(type, at, llvm::Align(8));
    return b_.CreateAlignedLoad(type, at, llvm::Align(8));
  };
  Value* high = column(0);
  Value* low = column(1);
  Value* fraction = b_.CreateAnd(bits, int_like(bits, 0x7fffff));
  Value* m = b_.CreateSIToFP(b_.CreateOr(fraction, int_like(bits, 0x800000)), type);
  Value* whole = b_.CreateFMul(m, high);
  const Rounded n = nearest(mad(m, low, whole), 1);
  Value* turns = mad(m, low, b_.CreateFSub(whole, n.number));
  return {n.integer, {b_.CreateFMul(turns, float_like(turns, kHalfPi)), nullptr}};
}

llvm::Value* VectorMath::of_angle(ScalarOp op, const Angle& angle) {
  const bool is_pair = angle.r.lo != nullptr;
  Value* r = angle.r.hi;
  Value* z = b_.CreateFMul(r, r);
  Value* sine = b_.CreateFMul(b_.CreateFMul(r, z), polynomial(z, is_pair ? Coefficients(kSin64) : kSin32));
  Value* half = b_.CreateFMul(z, float_like(r, -0.5));
  Pair cosine = ordered_sum(float_like(r, 1), half);
  cosine.lo = mad(b_.CreateFMul(z, z), polynomial(z, is_pair ? Coefficients(kCos64) : kCos32), cosine.lo);
  if (is_pair) {  // the first terms of the series in r.lo
    sine = b_.CreateFAdd(sine, mad(half, angle.r.lo, angle.r.lo));
    cosine.lo = mad(b_.CreateFNeg(r), angle.r.lo, cosine.lo);
  }
  Value* quadrant = op == ScalarOp::Cos ? b_.CreateAdd(angle.n, int_like(angle.n, 1)) : angle.n;
  Value* is_odd = b_.CreateIsNotNull(b_.CreateAnd(quadrant, int_like(quadrant, 1)));
  Value* sign = b_.CreateShl(b_.CreateAnd(quadrant, int_like(quadrant, 2)), int_like(quadrant, 62));
  Value* chosen =
      b_.CreateFAdd(b_.CreateSelect(is_odd, cosine.hi, r), b_.CreateSelect(is_odd, cosine.lo, sine));
  return as_float(b_.CreateXor(as_bits(chosen), sign));
}

}  // namespace quern::codegen
