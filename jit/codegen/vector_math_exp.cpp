// The exponential and the functions that are made of it.

#include "jit/codegen/operations.h"
#include "jit/codegen/vector_math.h"

namespace quern::codegen {

namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;

/// What the exponential of one format needs.
struct ExpTable {
  /// ln 2 in two parts; multiples of the first by an exponent are exact.
  double ln2_high, ln2_low;
  /// Beyond these the result is infinity and zero.
  double most, least;
  llvm::ArrayRef<double> tail;
};

/// (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; relative error of e^r 2^-28.
constexpr double kTail32[] = {0x1.fffffcp-2, 0x1.55549p-3, 0x1.5558f4p-5, 0x1.123a6cp-7, 0x1.6a234ep-10};
/// The same for float64; relative error of e^r 2^-63.
constexpr double kTail64[] = {
    0x1p-1,
    0x1.555555555555dp-3,
    0x1.555555555556cp-5,
    0x1.111111110e549p-7,
    0x1.6c16c16c0a3dcp-10,
    0x1.a01a01b5f53edp-13,
    0x1.a01a01e8e1483p-16,
    0x1.71ddeaa8aa37p-19,
    0x1.27e4497776cf7p-22,
    0x1.af745dfe9636fp-26,
    0x1.20543b4420ff5p-29,
};

const ExpTable& exp_table(llvm::Value* x) {
  static const ExpTable float32{0.693359375, -2.12194440054690583e-4, 89, -104, kTail32};
  static const ExpTable float64{0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42, 710, -746, kTail64};
  return is_wide(x) ? float64 : float32;
}

/// What the error function of one format needs.
struct ErfTable {
  llvm::ArrayRef<double> small;
  /// A polynomial in t - `from` for t from 1 to `one`, where erf is 1.
  llvm::ArrayRef<double> large;
  double from, one;
};

/// erf(x)/x - 1 in powers of x^2 on |x| <= 1; relative error of erf 2^-29.
constexpr double kErfSmall32[] = {0x1.06eba8p-3, -0x1.81273ep-2,  0x1.ce2cf8p-4, -0x1.b7f91p-6,
                                  0x1.5405ccp-8, -0x1.a3f7a6p-11, 0x1.496bc6p-14};
/// -log(1 - erf(t)) on 1 <= t <= 3.95; relative error of erf 2^-29.
constexpr double kErfLarge32[] = {0x1.661d54p-12, 0x1.2088eap+0, 0x1.46baecp-1,  0x1.a65344p-4,
                                  -0x1.65cb74p-6, 0x1.825af4p-9, -0x1.86dd7cp-13};
/// The same for float64; relative error of erf 2^-55.
constexpr double kErfSmall64[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8bap-4,  -0x1.b82ce311a99c8p-6,
    0x1.565bcceee502ep-8,  -0x1.c02daeb9f7706p-11, 0x1.f9a29731c7d3ep-14, -0x1.f4c83bb9aaf67p-17,
    0x1.b96c1b58d1ce4p-20, -0x1.5b93307fbb5fbp-23, 0x1.d41ce677b309cp-27, -0x1.a33005542f696p-31,
};
/// -log(1 - erf(t)) in powers of t - 1 on 1 <= t <= 5.95; relative error of erf 2^-55.
constexpr double kErfLarge64[] = {
    0x1.d97fbf27aa2a1p+0,   0x1.51c9b0006c21ep+1,   0x1.afabc11a2acf3p-1,   0x1.5477f099ef0e3p-5,
    -0x1.48c9d388869f8p-7,  0x1.033f5ae26a975p-9,   -0x1.f1b07c068b1c8p-13, -0x1.b929d5e42c8cp-16,
    0x1.c84b515267675p-16,  -0x1.4471013cb756bp-17, 0x1.1dd9b9f5c383bp-19,  -0x1.b481f4507daa7p-23,
    -0x1.f92ee90e1bfc5p-25, 0x1.216263e78df5fp-25,  -0x1.275d1d6793c32p-27, 0x1.6e4330164a2fep-30,
    -0x1.09681430abae8p-33, 0x1.5ac3dc326d0b7p-38,
};

const ErfTable& erf_table(llvm::Value* x) {
  static const ErfTable float32{kErfSmall32, kErfLarge32, 0, 3.95};
  static const ErfTable float64{kErfSmall64, kErfLarge64, 1, 5.95};
  return is_wide(x) ? float64 : float32;
}

}  // namespace

VectorMath::Reduced VectorMath::reduce(Value* x, Value* addend) {
  const ExpTable& table = exp_table(x);
  const Rounded n = nearest(x, kLog2E);
  Value* high = mad(n.number, float_like(x, -table.ln2_high), x);
  Value* low = float_like(x, -table.ln2_low);
  Value* r = addend ? b_.CreateFAdd(high, mad(n.number, low, addend)) : mad(n.number, low, high);
  Value* tail = b_.CreateFMul(b_.CreateFMul(r, r), polynomial(r, table.tail));
  return {n.integer, r, tail};
}

/// 2^n is applied as two factors, so that it may exceed the range of exponents, and a subnormal result is
/// rounded once.
llvm::Value* VectorMath::exp(Value* x, Value* addend) {
  const ExpTable& table = exp_table(x);
  const Reduced reduced = reduce(at_least(at_most(x, table.most), table.least), addend);
  Value* mantissa = b_.CreateFAdd(float_like(x, 1), b_.CreateFAdd(reduced.r, reduced.tail));
  Value* half = b_.CreateAShr(reduced.n, int_like(reduced.n, 1));
  Value* scaled = b_.CreateFMul(mantissa, power_of_two(half));
  return b_.CreateFMul(scaled, power_of_two(b_.CreateSub(reduced.n, half)));
}

/// With E = e^(2|x|) - 1, which is accurate near 0: tanh |x| = E / (E + 2), and 1 beyond the clamp.
llvm::Value* VectorMath::tanh(Value* x) {
  Value* t = at_most(magnitude(x), is_wide(x) ? 20 : 10);
  const Reduced reduced = reduce(b_.CreateFAdd(t, t));
  Value* scale = power_of_two(reduced.n);
  Value* less_one = b_.CreateFAdd(reduced.r, reduced.tail);
  Value* e = mad(less_one, scale, b_.CreateFSub(scale, float_like(x, 1)));
  Value* result = b_.CreateFDiv(e, b_.CreateFAdd(e, float_like(x, 2)));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

/// With e = e^-|x|, which cannot overflow: 1 / (1 + e) for x >= 0, else e / (1 + e).
llvm::Value* VectorMath::sigmoid(Value* x) {
  Value* e = exp(b_.CreateFNeg(magnitude(x)));
  Value* one = float_like(x, 1);
  Value* numerator = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, 0)), e, one);
  return b_.CreateFDiv(numerator, b_.CreateFAdd(one, e));
}

/// Near 0 a polynomial, beyond 1 the complement of an exponential.
llvm::Value* VectorMath::erf(Value* x) {
  const ErfTable& table = erf_table(x);
  Value* t = at_most(magnitude(x), table.one);
  Value* small = mad(t, polynomial(b_.CreateFMul(t, t), table.small), t);
  Value* logarithm = polynomial(b_.CreateFSub(t, float_like(x, table.from)), table.large);
  Value* large = b_.CreateFSub(float_like(x, 1), exp(b_.CreateFNeg(logarithm)));
  Value* result = b_.CreateSelect(b_.CreateFCmpOGT(t, float_like(x, 1)), large, small);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace quern::codegen
