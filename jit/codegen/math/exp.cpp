// The exponential and the functions built on it.

#include "jit/codegen/math/vector_math.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;

/// The constants of the exponential for one format.
struct ExpTable {
  /// ln 2 in two parts; multiples of the first by an exponent are exact.
  double ln2_high, ln2_low;
  /// Beyond these the result is infinity or zero.
  double most, least;
  llvm::ArrayRef<double> tail;
};

/// (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; relative error of e^r 2^-28.
constexpr double kExpTail32[] = {0x1.fffffcp-2, 0x1.55549p-3, 0x1.5558f4p-5, 0x1.123a6cp-7, 0x1.6a234ep-10};
/// The same for float64; relative error of e^r 2^-63.
constexpr double kExpTail64[] = {
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
  static const ExpTable float32{0.693359375, -2.12194440054690583e-4, 89, -104, kExpTail32};
  static const ExpTable float64{0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42, 710, -746, kExpTail64};
  return is_wide(x) ? float64 : float32;
}

/// erf(t)/t in powers of t - k*kErfStep, a column for each k, within half a step of it; relative error 2^-28.
/// erf is 1 from kErfOne on.
constexpr double kErfStep = 33.0 / 128, kErfOne = 3.99;
constexpr double kErf32[6][16] = {
    {0x1.20dd76p+0, 0x1.1a9736p+0, 0x1.092f1ap+0, 0x1.e0921cp-1, 0x1.a8a126p-1, 0x1.720f26p-1, 0x1.417dbep-1,
     0x1.18ab38p-1, 0x1.eebaaap-2, 0x1.b8dd32p-2, 0x1.8d1504p-2, 0x1.690edap-2, 0x1.4afc62p-2, 0x1.31874ap-2,
     0x1.1bb49ep-2, 0x1.08cabap-2},
    {-0x1.1ad2ecp-25, -0x1.7db812p-3, -0x1.5373cep-2, -0x1.a55484p-2, -0x1.b4af9ap-2, -0x1.9401a8p-2,
     -0x1.5b6a08p-2, -0x1.1e63b6p-2, -0x1.cfd13ep-3, -0x1.776eb8p-3, -0x1.32e03p-3, -0x1.fcbcaap-4,
     -0x1.abd654p-4, -0x1.6c9f2ep-4, -0x1.3a6822p-4, -0x1.11e2ap-4},
    {-0x1.81267ep-2, -0x1.54d9acp-2, -0x1.c6bf94p-3, -0x1.6a15d2p-4, 0x1.88616ep-6, 0x1.7852d8p-4,
     0x1.dc0f3ap-4, 0x1.c8cb44p-4, 0x1.801846p-4, 0x1.2e644ep-4, 0x1.d01f7p-5, 0x1.63ceap-5, 0x1.13efecp-5,
     0x1.b2ebep-6, 0x1.5c647ep-6, 0x1.1b4914p-6},
    {-0x1.9f325cp-14, 0x1.b83c84p-4, 0x1.59b254p-3, 0x1.559ceap-3, 0x1.e62108p-4, 0x1.d64a34p-5, 0x1.25fc8p-7,
     -0x1.1f6cd4p-6, -0x1.aa2c42p-6, -0x1.92380ap-6, -0x1.41e61cp-6, -0x1.e0c7b4p-7, -0x1.5fbb04p-7,
     -0x1.027d4ep-7, -0x1.81b8aap-8, -0x1.24f49ep-8},
    {0x1.d444a6p-4, 0x1.650d76p-4, 0x1.d2929ap-6, -0x1.d7e1dcp-6, -0x1.db0be8p-5, -0x1.c99d7cp-5,
     -0x1.2ad3c2p-5, -0x1.033cf2p-6, -0x1.20ee7p-9, 0x1.f42b0ep-9, 0x1.4d3576p-8, 0x1.1ef33p-8, 0x1.ab5d4ep-9,
     0x1.2e9b6ap-9, 0x1.a9ae1ap-10, 0x1.2f13c4p-10},
    {-0x1.513da2p-7, -0x1.2b109ep-5, -0x1.96e3cep-5, -0x1.22f05cp-5, -0x1.3210e8p-7, 0x1.5f1d8ep-7,
     0x1.1a308p-6, 0x1.c2d98ap-7, 0x1.e096ecp-8, 0x1.3a0a3cp-9, -0x1.27c13cp-14, -0x1.b49f3cp-11,
     -0x1.b5c78cp-11, -0x1.4b8878p-11, -0x1.caca66p-12, -0x1.3710ecp-12},
};
/// erf(x)/x - 1 in powers of x^2 on |x| <= 1; relative error of erf 2^-55.
constexpr double kErfSmall64[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8bap-4,  -0x1.b82ce311a99c8p-6,
    0x1.565bcceee502ep-8,  -0x1.c02daeb9f7706p-11, 0x1.f9a29731c7d3ep-14, -0x1.f4c83bb9aaf67p-17,
    0x1.b96c1b58d1ce4p-20, -0x1.5b93307fbb5fbp-23, 0x1.d41ce677b309cp-27, -0x1.a33005542f696p-31,
};
/// -log(1 - erf(t)) in powers of t - 1 on 1 <= t <= 5.95, beyond which erf is 1; relative error of erf 2^-55.
constexpr double kErfOne64 = 5.95;
constexpr double kErfLarge64[] = {
    0x1.d97fbf27aa2a1p+0,   0x1.51c9b0006c21ep+1,   0x1.afabc11a2acf3p-1,   0x1.5477f099ef0e3p-5,
    -0x1.48c9d388869f8p-7,  0x1.033f5ae26a975p-9,   -0x1.f1b07c068b1c8p-13, -0x1.b929d5e42c8cp-16,
    0x1.c84b515267675p-16,  -0x1.4471013cb756bp-17, 0x1.1dd9b9f5c383bp-19,  -0x1.b481f4507daa7p-23,
    -0x1.f92ee90e1bfc5p-25, 0x1.216263e78df5fp-25,  -0x1.275d1d6793c32p-27, 0x1.6e4330164a2fep-30,
    -0x1.09681430abae8p-33, 0x1.5ac3dc326d0b7p-38,
};

}  // namespace

VectorMath::Reduced VectorMath::reduce(Value* x, Value* addend) {
  const ExpTable& table = exp_table(x);
  const Rounded n = nearest(x, kLog2E);
  Value* high = mad(n.number, float_like(x, -table.ln2_high), x);
  Value* low = float_like(x, -table.ln2_low);
  Value* r = addend ? b_.CreateFAdd(high, mad(n.number, low, addend)) : mad(n.number, low, high);
  return {n, mad(b_.CreateFMul(r, r), polynomial(r, table.tail), r)};
}

llvm::Value* VectorMath::exp(Value* x, Value* addend) {
  const ExpTable& table = exp_table(x);
  const Reduced reduced = reduce(at_least(at_most(x, table.most), table.least), addend);
  return scaled(b_.CreateFAdd(float_like(x, 1), reduced.less_one), reduced.n);
}

template <>
llvm::Value* VectorMath::of<ScalarOp::Exp>(llvm::ArrayRef<Value*> args) {
  return exp(args[0]);
}

/// With E = e^(2|x|) - 1, which is accurate near 0: tanh |x| = E / (E + 2), and 1 beyond the clamp.
template <>
llvm::Value* VectorMath::of<ScalarOp::Tanh>(llvm::ArrayRef<Value*> args) {
  Value* x = args[0];
  Value* t = at_most(magnitude(x), is_wide(x) ? 20 : 10);
  const Reduced reduced = reduce(b_.CreateFAdd(t, t));
  Value* scale = power_of_two(reduced.n.integer);
  Value* e = mad(reduced.less_one, scale, b_.CreateFSub(scale, float_like(x, 1)));
  Value* result = b_.CreateFDiv(e, b_.CreateFAdd(e, float_like(x, 2)));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

/// With e = e^-|x|, which cannot overflow: 1 / (1 + e) for x >= 0, otherwise e / (1 + e).
template <>
llvm::Value* VectorMath::of<ScalarOp::Sigmoid>(llvm::ArrayRef<Value*> args) {
  Value* x = args[0];
  Value* e = exp(b_.CreateFNeg(magnitude(x)));
  Value* one = float_like(x, 1);
  Value* numerator = b_.CreateSelect(b_.CreateFCmpOLT(x, float_like(x, 0)), e, one);
  return b_.CreateFDiv(numerator, b_.CreateFAdd(one, e));
}

template <>
llvm::Value* VectorMath::of<ScalarOp::Erf>(llvm::ArrayRef<Value*> args) {
  Value* x = args[0];
  Value* result = is_wide(x) ? erf_float64(magnitude(x)) : erf_float32(magnitude(x));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

/// A table of polynomials, at a third of the cost of an exponential. The leading coefficient is applied last,
/// so that only its own rounding matters.
llvm::Value* VectorMath::erf_float32(Value* t) {
  t = at_most(t, kErfOne);
  const Rounded k = nearest(t, 1 / kErfStep);
  Value* u = mad(k.number, float_like(t, -kErfStep), t);
  Value* sum = lookup(kErf32[5], k.bits);
  for (size_t power = 4; power >= 1; --power) sum = mad(sum, u, lookup(kErf32[power], k.bits));
  Value* rest = b_.CreateFMul(t, b_.CreateFMul(sum, u));
  Value* result = at_most(mad(t, lookup(kErf32[0], k.bits), rest), 1);
  if (operations_.machine().has_fma) return result;
  // The two roundings of the last step may end below 1.
  return b_.CreateSelect(b_.CreateFCmpOEQ(t, float_like(t, kErfOne)), float_like(t, 1), result);
}

/// A polynomial near 0, the complement of an exponential beyond 1.
llvm::Value* VectorMath::erf_float64(Value* t) {
  Value* one = float_like(t, 1);
  t = at_most(t, kErfOne64);
  Value* small = mad(t, polynomial(b_.CreateFMul(t, t), kErfSmall64), t);
  Value* logarithm = polynomial(b_.CreateFSub(t, one), kErfLarge64);
  Value* large = b_.CreateFSub(one, exp(b_.CreateFNeg(logarithm)));
  return b_.CreateSelect(b_.CreateFCmpOGT(t, one), large, small);
}

}  // namespace quern::codegen
