// Functions on integers, index and bool.

#include "ir/base/result.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

/// Whether all lanes share one known divisor that needs no guard.
bool is_plain_divisor(llvm::Value* value) {
  const auto* divisor = llvm::dyn_cast_or_null<llvm::ConstantInt>(known_constant(value));
  return divisor && !divisor->isZero() && !divisor->isMinusOne();
}

}  // namespace

/// Truncates; 0 for a division by zero, and the smallest integer by -1 wraps. The machine's division traps in
/// both cases, so it never gets such a divisor.
llvm::Value* Operations::divide(llvm::Value* a, llvm::Value* b, bool is_signed) {
  if (is_plain_divisor(b)) return is_signed ? b_.CreateSDiv(a, b) : b_.CreateUDiv(a, b);
  llvm::Value* zero = int_like(a, 0);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  if (!is_signed) {
    llvm::Value* safe = b_.CreateSelect(by_zero, int_like(a, 1), b);
    return b_.CreateSelect(by_zero, zero, b_.CreateUDiv(a, safe));
  }
  llvm::Value* by_minus_one = b_.CreateICmpEQ(b, int_like(a, -1));
  llvm::Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), int_like(a, 1), b);
  llvm::Value* quotient = b_.CreateSelect(by_minus_one, b_.CreateNeg(a), b_.CreateSDiv(a, safe));
  return b_.CreateSelect(by_zero, zero, quotient);
}

llvm::Value* Operations::remainder(llvm::Value* a, llvm::Value* b, bool is_signed) {
  if (is_plain_divisor(b)) return is_signed ? b_.CreateSRem(a, b) : b_.CreateURem(a, b);
  // A remainder modulo 1 is 0, the desired result for divisors 0 and -1.
  llvm::Value* special = b_.CreateICmpEQ(b, int_like(a, 0));
  if (is_signed) special = b_.CreateOr(special, b_.CreateICmpEQ(b, int_like(a, -1)));
  llvm::Value* safe = b_.CreateSelect(special, int_like(a, 1), b);
  return is_signed ? b_.CreateSRem(a, safe) : b_.CreateURem(a, safe);
}

llvm::Value* Operations::floor_div(llvm::Value* a, llvm::Value* b) {
  llvm::Value* rest = remainder(a, b, true);
  llvm::Value* zero = int_like(a, 0);
  llvm::Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, b), zero);
  llvm::Value* below = b_.CreateAnd(b_.CreateICmpNE(rest, zero), differ);
  return b_.CreateSub(divide(a, b, true), b_.CreateZExt(below, a->getType()));
}

llvm::Value* Operations::floor_mod(llvm::Value* a, llvm::Value* b) {
  llvm::Value* rest = remainder(a, b, true);
  llvm::Value* zero = int_like(a, 0);
  llvm::Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, b), zero);
  llvm::Value* below = b_.CreateAnd(b_.CreateICmpNE(rest, zero), differ);
  return b_.CreateAdd(rest, b_.CreateSelect(below, b, zero));
}

/// A count outside 0..bits-1, negative ones included, shifts everything out.
llvm::Value* Operations::shift(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* count) {
  const unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Value* all_out = b_.CreateICmpUGT(count, int_like(count, bits - 1));
  const bool arithmetic = op == ScalarOp::ShiftRight && dtype.is_signed();
  llvm::Value* safe = b_.CreateSelect(all_out, int_like(count, arithmetic ? bits - 1 : 0), count);
  if (arithmetic) return b_.CreateAShr(a, safe);
  llvm::Value* shifted = op == ScalarOp::ShiftLeft ? b_.CreateShl(a, safe) : b_.CreateLShr(a, safe);
  return b_.CreateSelect(all_out, int_like(a, 0), shifted);
}

/// Wraps. A negative power is the integer part of the true value, with 0 for a division by zero.
llvm::Value* Operations::int_power(DType dtype, llvm::Value* base, llvm::Value* exponent) {
  llvm::Value* zero = int_like(base, 0);
  llvm::Value* one = int_like(base, 1);
  if (!dtype.is_signed()) return power_by_squaring(base, exponent);
  llvm::Value* is_negative = b_.CreateICmpSLT(exponent, zero);
  llvm::Value* power = power_by_squaring(base, b_.CreateSelect(is_negative, zero, exponent));
  llvm::Value* is_odd = b_.CreateIsNotNull(b_.CreateAnd(exponent, one));
  llvm::Value* of_minus_one = b_.CreateSelect(is_odd, base, one);
  llvm::Value* inverse = b_.CreateSelect(b_.CreateICmpEQ(base, int_like(base, -1)), of_minus_one, zero);
  inverse = b_.CreateSelect(b_.CreateICmpEQ(base, one), one, inverse);
  return b_.CreateSelect(is_negative, inverse, power);
}

/// A loop over the bits of the nonnegative exponents, until no lane has any left.
llvm::Value* Operations::power_by_squaring(llvm::Value* base, llvm::Value* exponent) {
  llvm::Type* type = base->getType();
  llvm::Value* one = int_like(base, 1);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(b_.getContext(), "power", before->getParent());
  auto* done = llvm::BasicBlock::Create(b_.getContext(), "powered", before->getParent());
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* result = b_.CreatePHI(type, 2);
  llvm::PHINode* square = b_.CreatePHI(type, 2);
  llvm::PHINode* rest = b_.CreatePHI(type, 2);
  llvm::Value* is_odd = b_.CreateIsNotNull(b_.CreateAnd(rest, one));
  llvm::Value* product = b_.CreateSelect(is_odd, b_.CreateMul(result, square), result);
  llvm::Value* left = b_.CreateLShr(rest, one);
  const auto add = [&](llvm::PHINode* phi, llvm::Value* first, llvm::Value* next) {
    phi->addIncoming(first, before);
    phi->addIncoming(next, loop);
  };
  add(result, one, product);
  add(square, base, b_.CreateMul(square, square));
  add(rest, exponent, left);
  llvm::Value* goes_on = b_.CreateIsNotNull(left);
  if (type->isVectorTy()) goes_on = b_.CreateOrReduce(goes_on);
  b_.CreateCondBr(goes_on, loop, done);
  b_.SetInsertPoint(done);
  return product;
}

llvm::Value* Operations::int_op(ScalarOp op, DType dtype, Values args) {
  llvm::Value* a = args.front();
  llvm::Value* b = args.back();
  const bool is_signed = dtype.is_signed();
  const auto better = [&](ScalarOp order) { return b_.CreateSelect(compare(order, dtype, b, a), b, a); };
  switch (op) {
    case ScalarOp::Add: return b_.CreateAdd(a, b);
    case ScalarOp::Sub: return b_.CreateSub(a, b);
    case ScalarOp::Mul: return b_.CreateMul(a, b);
    case ScalarOp::Div: return dtype.is_index() ? floor_div(a, b) : divide(a, b, is_signed);
    case ScalarOp::Mod: return dtype.is_index() ? floor_mod(a, b) : remainder(a, b, is_signed);
    case ScalarOp::FloorDiv: return is_signed ? floor_div(a, b) : divide(a, b, false);
    case ScalarOp::FloorMod: return is_signed ? floor_mod(a, b) : remainder(a, b, false);
    case ScalarOp::Min: return better(ScalarOp::Lt);
    case ScalarOp::Max: return better(ScalarOp::Gt);
    case ScalarOp::Pow: return int_power(dtype, a, b);
    case ScalarOp::Neg: return b_.CreateNeg(a);
    case ScalarOp::Abs:
      return is_signed ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse()) : a;
    case ScalarOp::Sign: {
      llvm::Value* above = b_.CreateZExt(compare(ScalarOp::Gt, dtype, a, int_like(a, 0)), a->getType());
      return is_signed ? b_.CreateOr(above, b_.CreateAShr(a, int_like(a, dtype.bits - 1))) : above;
    }
    case ScalarOp::And:
    case ScalarOp::BitAnd: return b_.CreateAnd(a, b);
    case ScalarOp::Or:
    case ScalarOp::BitOr: return b_.CreateOr(a, b);
    case ScalarOp::BitXor: return b_.CreateXor(a, b);
    case ScalarOp::Not:
    case ScalarOp::BitNot: return b_.CreateNot(a);
    case ScalarOp::ShiftLeft:
    case ScalarOp::ShiftRight: return shift(op, dtype, a, b);
#include "ir/value/not_of_integers.def"
      break;
  }
  QUERN_CHECK(!"a function of integers");
  return nullptr;
}

}  // namespace quern::codegen
