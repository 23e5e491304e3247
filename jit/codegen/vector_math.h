#pragma once
// Transcendental functions of float32 as straight vector code, for any number of lanes.
//
// Bounds over all inputs, in units in the last place of the true result, with a fused multiply-add:
//     exp 1   log 1   tanh 3   sigmoid 3   erf 2
// Infinities, NaN, signed zeros, subnormal operands and results, overflow and underflow are handled as the
// true function has them. The coefficients are minimax fits with relative weight.

#include <llvm/IR/IRBuilder.h>

#include "ir/scalar.h"

namespace quern::codegen {

class Operations;

class VectorMath {
 public:
  VectorMath(llvm::IRBuilderBase& builder, Operations& operations) : b_(builder), operations_(operations) {}

  /// The function of float32 operands, or null where there is no inlined code for it.
  llvm::Value* emit(ScalarOp op, llvm::ArrayRef<llvm::Value*> args);

 private:
  /// x = n*ln 2 + r with |r| <= ln 2 / 2; `n_bits` holds n in its low bits, and `tail` is e^r - 1 - r.
  struct Reduced {
    llvm::Value* n_bits;
    llvm::Value* r;
    llvm::Value* tail;
  };
  Reduced reduce(llvm::Value* x);
  llvm::Value* exp(llvm::Value* x);
  llvm::Value* log(llvm::Value* x);
  llvm::Value* tanh(llvm::Value* x);
  llvm::Value* sigmoid(llvm::Value* x);
  llvm::Value* erf(llvm::Value* x);

  llvm::Value* as_bits(llvm::Value* x);
  llvm::Value* as_float(llvm::Value* bits);
  llvm::Value* magnitude(llvm::Value* x);
  /// 2^n for n in -126..127.
  llvm::Value* power_of_two(llvm::Value* n);
  /// a*b + c
  llvm::Value* mad(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// coefficients[0] + coefficients[1]*x + …
  llvm::Value* polynomial(llvm::Value* x, llvm::ArrayRef<float> coefficients);
  /// min(x, limit) and max(x, limit), where NaN stays NaN.
  llvm::Value* at_most(llvm::Value* x, double limit);
  llvm::Value* at_least(llvm::Value* x, double limit);

  llvm::IRBuilderBase& b_;
  Operations& operations_;
};

}  // namespace quern::codegen
