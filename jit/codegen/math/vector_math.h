#pragma once
// Transcendental functions of float32 and float64 as straight-line code, for scalars and any number of lanes.
// A lane's result depends neither on the other lanes nor on their number.
//
// The bounds in units in the last place of the true result, with or without a fused multiply-add, are listed
// in docs/performance.md and checked on samples of all operands by tests/jit/codegen/codegen_math_test.cpp.
// Infinities, NaN, signed zeros, subnormal operands and results, overflow and underflow follow the true
// function; pow's special cases are those of IEEE 754. The remainder is exact. The coefficients are minimax
// fits with relative weight.

#include <llvm/IR/IRBuilder.h>

#include "ir/value/scalar.h"

namespace quern::codegen {

class Operations;

class VectorMath {
 public:
  VectorMath(llvm::IRBuilderBase& builder, Operations& operations) : b_(builder), operations_(operations) {}

  /// A function whose code is Math (ir/value/scalar_ops.def), of floats. The builder must be at the end of
  /// its block, and is in another block afterwards if the function branches for rare operands.
  llvm::Value* emit(ScalarOp op, llvm::ArrayRef<llvm::Value*> args);

 private:
  using Value = llvm::Value;
  using Coefficients = llvm::ArrayRef<double>;

  /// The code of each function: a specialisation next to its pieces.
  template <ScalarOp>
  Value* of(llvm::ArrayRef<Value*> args);

  /// The unevaluated sum hi + lo with |lo| <= ulp(hi) / 2, or nearly so.
  struct Pair {
    Value* hi;
    Value* lo;
  };

  // exp.cpp
  struct Rounded {
    Value* number;   ///< a float
    Value* integer;  ///< of the same width
    Value* bits;     ///< whose low bits are the integer's
  };
  /// x = n*ln 2 + r with |r| <= ln 2 / 2, and `less_one` is e^r - 1.
  struct Reduced {
    Rounded n;
    Value* less_one;
  };
  /// `addend`, a part of x too small to be seen in it, may be null.
  Reduced reduce(Value* x, Value* addend = nullptr);
  /// e^x and e^(x + addend)
  Value* exp(Value* x, Value* addend = nullptr);
  /// For t >= 0.
  Value* erf_float32(Value* t);
  Value* erf_float64(Value* t);

  // log.cpp
  /// x = 2^exponent (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
  struct Scaled {
    Value* exponent;
    Value* f;
  };
  Scaled scale(Value* x);
  Value* log_float32(const Scaled& x);
  Value* log_float64(const Scaled& x);
  /// For positive finite float64, with a relative error of 2^-66.
  Pair log_pair(Value* x);

  // trig.cpp
  /// x = n*pi/2 + r.hi + r.lo with |r| <= pi/4 and x >= 0, in float64; r.lo is null if the result will be
  /// narrowed to float32.
  struct Angle {
    Value* n;  ///< an integer whose low bits are correct
    Pair r;
  };
  Value* sin_or_cos(ScalarOp op, Value* x);
  Angle reduce_float32(Value* x);
  Angle reduce_float64(Value* x);
  Angle reduce_huge_float32(Value* x, Value* is_huge);
  /// The sine or cosine of that angle.
  Value* of_angle(ScalarOp op, const Angle& angle);

  // pow.cpp
  Value* magnitude_of_pow_float32(Value* x, Value* y);
  Value* magnitude_of_pow_float64(Value* x, Value* y);
  Value* with_special_powers(Value* magnitude, Value* x, Value* y);

  // vector_math.cpp: pieces
  Value* as_bits(Value* x);
  Value* as_float(Value* bits);
  Value* magnitude(Value* x);
  Value* widened(Value* x);
  Value* narrowed(Value* x);
  /// 2^n for an integer n that is a normal exponent.
  Value* power_of_two(Value* n);
  /// x * 2^n, rounded once, if the result is in range or n is less than twice the exponent range.
  Value* scaled(Value* x, const Rounded& n);
  /// Looks up a table of 16 float32 by the low bits of each index.
  Value* lookup(Coefficients table, Value* index);
  /// A small integer as a float of its width.
  Value* number_of(Value* integer);
  /// The nearest integer to a*b, which must fit the fraction's bits.
  Rounded nearest(Value* a, double b);
  /// a*b + c
  Value* mad(Value* a, Value* b, Value* c);
  /// coefficients[0] + coefficients[1]*x + …
  Value* polynomial(Value* x, Coefficients coefficients);
  /// min(x, limit) and max(x, limit), where NaN stays NaN.
  Value* at_most(Value* x, double limit);
  Value* at_least(Value* x, double limit);
  /// The exact sum and product (Dekker 1971); `ordered` sums need |a| >= |b| or a = 0.
  Pair sum(Value* a, Value* b);
  Pair ordered_sum(Value* a, Value* b);
  Pair product(Value* a, Value* b);
  /// The product of two pairs, with an error of a few units in the last place of `lo`.
  Pair product(const Pair& a, const Pair& b);
  /// `otherwise()` in the lanes of `mask`, behind a branch taken only if there is one, and `usual` elsewhere.
  Value* unless(Value* mask, Value* usual, llvm::function_ref<Value*()> otherwise);

  llvm::IRBuilderBase& b_;
  Operations& operations_;
};

// A function of this kind without a specialisation does not link.
#define QUERN_CODE_Plain(name)
#define QUERN_CODE_Math(name) \
  template <>                 \
  llvm::Value* VectorMath::of<ScalarOp::name>(llvm::ArrayRef<llvm::Value*> args);
#define QUERN_SCALAR(name, text, arity, signature, code) QUERN_CODE_##code(name)
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
#undef QUERN_CODE_Math
#undef QUERN_CODE_Plain

/// Whether the elements of `x` are float64.
bool is_wide(llvm::Value* x);

}  // namespace quern::codegen
