// The building blocks of the functions, and the remainder.

#include "jit/codegen/math/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cmath>

#include "ir/base/result.h"
#include "jit/codegen/operations.h"

namespace quern::codegen {

namespace {

int fraction_bits(llvm::Value* x) { return is_wide(x) ? 52 : 23; }

double round_shift(llvm::Value* x) { return std::ldexp(1.5, fraction_bits(x)); }

}  // namespace

bool is_wide(llvm::Value* x) { return x->getType()->getScalarSizeInBits() == 64; }

llvm::Value* VectorMath::emit(ScalarOp op, llvm::ArrayRef<Value*> args) {
#define QUERN_CODE_Plain(name)
#define QUERN_CODE_Math(name) \
  if (op == ScalarOp::name) return of<ScalarOp::name>(args);
#define QUERN_SCALAR(name, text, arity, signature, code) QUERN_CODE_##code(name)
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
#undef QUERN_CODE_Math
#undef QUERN_CODE_Plain
  QUERN_CHECK(!"a function of floats");
  return nullptr;
}

// --- bits ----------------------------------------------------------------------------------------

llvm::Value* VectorMath::as_bits(Value* x) {
  return b_.CreateBitCast(x, shaped_like(x, b_.getIntNTy(x->getType()->getScalarSizeInBits())));
}

llvm::Value* VectorMath::as_float(Value* bits) {
  return b_.CreateBitCast(bits, shaped_like(bits, is_wide(bits) ? b_.getDoubleTy() : b_.getFloatTy()));
}

llvm::Value* VectorMath::magnitude(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

llvm::Value* VectorMath::widened(Value* x) { return b_.CreateFPExt(x, shaped_like(x, b_.getDoubleTy())); }

llvm::Value* VectorMath::narrowed(Value* x) { return b_.CreateFPTrunc(x, shaped_like(x, b_.getFloatTy())); }

llvm::Value* VectorMath::power_of_two(Value* n) {
  const int64_t bias = is_wide(n) ? 1023 : 127;
  return as_float(b_.CreateShl(b_.CreateAdd(n, int_like(n, bias)), int_like(n, fraction_bits(n))));
}

/// Adding 1.5 * 2^fraction rounds to an integer, which is then in the low bits.
VectorMath::Rounded VectorMath::nearest(Value* a, double b) {
  Value* shift = float_like(a, round_shift(a));
  Value* shifted = mad(a, float_like(a, b), shift);
  Value* bits = as_bits(shifted);
  return {b_.CreateFSub(shifted, shift), b_.CreateSub(bits, as_bits(shift)), bits};
}

namespace {

/// The instruction that multiplies by powers of two; 0 if there is none for vectors of this type.
llvm::Intrinsic::ID scalef(llvm::Value* x) {
  if (!x->getType()->isVectorTy()) return 0;
  switch (x->getType()->getPrimitiveSizeInBits()) {
    case 512:
      return is_wide(x) ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512
                        : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
    case 256:
      return is_wide(x) ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_256
                        : llvm::Intrinsic::x86_avx512_mask_scalef_ps_256;
    case 128:
      return is_wide(x) ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_128
                        : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
    default: return 0;
  }
}

}  // namespace

/// With 2^n split into two factors, n may exceed the exponent range, and a subnormal result is rounded once.
llvm::Value* VectorMath::scaled(Value* x, const Rounded& n) {
  const auto instruction = scalef(x);
  if (!operations_.machine().has_avx512 || instruction == 0) {
    Value* half = b_.CreateAShr(n.integer, int_like(n.integer, 1));
    Value* nearly = b_.CreateFMul(x, power_of_two(half));
    return b_.CreateFMul(nearly, power_of_two(b_.CreateSub(n.integer, half)));
  }
  const auto lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  llvm::SmallVector<Value*, 5> args{x, n.number, x,
                                    llvm::ConstantInt::getAllOnesValue(b_.getIntNTy(std::max(8U, lanes)))};
  constexpr int kRoundingOfThread = 4;
  if (x->getType()->getPrimitiveSizeInBits() == 512) args.push_back(b_.getInt32(kRoundingOfThread));
  return b_.CreateIntrinsic(instruction, {}, args);
}

llvm::Value* VectorMath::lookup(Coefficients table, Value* index) {
  llvm::SmallVector<float, 16> numbers(table.begin(), table.end());
  auto* const all = llvm::ConstantDataArray::get(b_.getContext(), numbers);
  const auto part = [&](size_t begin, size_t count) {
    return llvm::ConstantDataVector::get(b_.getContext(), llvm::ArrayRef(numbers).slice(begin, count));
  };
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(index->getType());
  if (lanes && lanes->getNumElements() == 16 && operations_.machine().has_avx512)
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {part(0, 16), index});
  if (lanes && lanes->getNumElements() == 8 && operations_.machine().has_avx2) {
    const auto half = [&](size_t begin) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {}, {part(begin, 8), index});
    };
    Value* is_high = b_.CreateICmpNE(b_.CreateAnd(index, int_like(index, 8)), int_like(index, 0));
    return b_.CreateSelect(is_high, half(8), half(0));
  }
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  auto* memory =
      new llvm::GlobalVariable(module, all->getType(), true, llvm::GlobalValue::PrivateLinkage, all);
  Value* position = b_.CreateAnd(index, int_like(index, 15));
  Value* from = b_.CreateGEP(b_.getFloatTy(), memory, position);
  if (!lanes) return b_.CreateLoad(b_.getFloatTy(), from);
  return b_.CreateMaskedGather(shaped_like(index, b_.getFloatTy()), from, llvm::Align(4));
}

llvm::Value* VectorMath::number_of(Value* integer) {
  Value* shift = float_like(as_float(integer), round_shift(integer));
  return b_.CreateFSub(as_float(b_.CreateAdd(integer, as_bits(shift))), shift);
}

// --- arithmetic ----------------------------------------------------------------------------------

llvm::Value* VectorMath::mad(Value* a, Value* b, Value* c) { return operations_.multiply_add(a, b, c); }

llvm::Value* VectorMath::polynomial(Value* x, Coefficients coefficients) {
  Value* sum = float_like(x, coefficients.back());
  for (const double coefficient : llvm::reverse(coefficients.drop_back())) {
    sum = mad(sum, x, float_like(x, coefficient));
  }
  return sum;
}

llvm::Value* VectorMath::at_most(Value* x, double limit) {
  Value* bound = float_like(x, limit);
  return b_.CreateSelect(b_.CreateFCmpOLT(bound, x), bound, x);
}

llvm::Value* VectorMath::at_least(Value* x, double limit) {
  Value* bound = float_like(x, limit);
  return b_.CreateSelect(b_.CreateFCmpOGT(bound, x), bound, x);
}

VectorMath::Pair VectorMath::ordered_sum(Value* a, Value* b) {
  Value* hi = b_.CreateFAdd(a, b);
  return {hi, b_.CreateFSub(b, b_.CreateFSub(hi, a))};
}

VectorMath::Pair VectorMath::sum(Value* a, Value* b) {
  Value* hi = b_.CreateFAdd(a, b);
  Value* of_b = b_.CreateFSub(hi, a);
  Value* of_a = b_.CreateFSub(hi, of_b);
  return {hi, b_.CreateFAdd(b_.CreateFSub(a, of_a), b_.CreateFSub(b, of_b))};
}

VectorMath::Pair VectorMath::product(Value* a, Value* b) {
  Value* hi = b_.CreateFMul(a, b);
  if (operations_.machine().has_fma) return {hi, mad(a, b, b_.CreateFNeg(hi))};
  const auto halves = [&](Value* x) {
    Value* scaled = b_.CreateFMul(x, float_like(x, is_wide(x) ? 0x1p27 + 1 : 0x1p12 + 1));
    Value* high = b_.CreateFSub(scaled, b_.CreateFSub(scaled, x));
    return Pair{high, b_.CreateFSub(x, high)};
  };
  const Pair of_a = halves(a);
  const Pair of_b = halves(b);
  Value* lo = b_.CreateFSub(b_.CreateFMul(of_a.hi, of_b.hi), hi);
  lo = b_.CreateFAdd(lo, b_.CreateFMul(of_a.hi, of_b.lo));
  lo = b_.CreateFAdd(lo, b_.CreateFMul(of_a.lo, of_b.hi));
  return {hi, b_.CreateFAdd(lo, b_.CreateFMul(of_a.lo, of_b.lo))};
}

VectorMath::Pair VectorMath::product(const Pair& a, const Pair& b) {
  const Pair high = product(a.hi, b.hi);
  return {high.hi, mad(a.hi, b.lo, mad(a.lo, b.hi, high.lo))};
}

llvm::Value* VectorMath::unless(Value* mask, Value* usual, llvm::function_ref<Value*()> otherwise) {
  Value* any = mask->getType()->isVectorTy() ? b_.CreateOrReduce(mask) : mask;
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* rare = llvm::BasicBlock::Create(b_.getContext(), "rare", before->getParent());
  auto* join = llvm::BasicBlock::Create(b_.getContext(), "usual", before->getParent());
  b_.CreateCondBr(any, rare, join, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(rare);
  Value* mixed = b_.CreateSelect(mask, otherwise(), usual);
  rare = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* result = b_.CreatePHI(usual->getType(), 2);
  result->addIncoming(usual, before);
  result->addIncoming(mixed, rare);
  return result;
}

// --- the remainder -------------------------------------------------------------------------------

/// Below 2^fraction, the rounded and truncated quotient is the true one or one above it, and x - quotient*y
/// is a float: a multiple of ulp(y) not larger than y. Other quotients are rare and left to the host.
template <>
llvm::Value* VectorMath::of<ScalarOp::Mod>(llvm::ArrayRef<Value*> args) {
  Value *x = args[0], *y = args[1];
  const std::string host = is_wide(x) ? "fmod_f64" : "fmod_f32";
  if (!operations_.machine().has_fma) return operations_.call_host(host, {x, y});
  Value* dividend = magnitude(x);
  Value* divisor = magnitude(y);
  Value* quotient = b_.CreateFDiv(dividend, divisor);
  Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, quotient);
  Value* rest = mad(b_.CreateFNeg(whole), divisor, dividend);
  Value* is_below = b_.CreateFCmpOLT(rest, float_like(x, 0));
  rest = b_.CreateSelect(is_below, b_.CreateFAdd(rest, divisor), rest);
  rest = b_.CreateSelect(b_.CreateFCmpOLT(dividend, divisor), dividend, rest);
  Value* usual = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, x);
  Value* is_large = b_.CreateFCmpUGE(quotient, float_like(x, std::ldexp(1, fraction_bits(x))));
  return unless(is_large, usual, [&] { return operations_.call_host(host, {x, y}); });
}

}  // namespace quern::codegen
