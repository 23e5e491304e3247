#include "jit/codegen/operations.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ir/base/result.h"
#include "jit/codegen/math/vector_math.h"

namespace quern::codegen {

llvm::Type* shaped_like(llvm::Value* like, llvm::Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Constant* int_like(llvm::Value* like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true);
}

llvm::Constant* float_like(llvm::Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

const llvm::Constant* known_constant(llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return constant;
}

namespace {

bool known_not_nan(llvm::Value* value) {
  const auto* constant = llvm::dyn_cast_or_null<llvm::ConstantFP>(known_constant(value));
  return constant && !constant->isNaN();
}

/// Functions whose results are representable in a 16-bit dtype if their operands are.
constexpr ScalarOp kExact[] = {ScalarOp::Mod,   ScalarOp::Min,  ScalarOp::Max,   ScalarOp::Neg,
                               ScalarOp::Abs,   ScalarOp::Sign, ScalarOp::Floor, ScalarOp::Ceil,
                               ScalarOp::Trunc, ScalarOp::Round};

bool may_round(ScalarOp op) {
  return std::find(std::begin(kExact), std::end(kExact), op) == std::end(kExact);
}

ScalarOp step_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum: return ScalarOp::Add;
    case ReduceKind::Prod: return ScalarOp::Mul;
    case ReduceKind::Max:
    case ReduceKind::ArgMax: return ScalarOp::Max;
    case ReduceKind::Min:
    case ReduceKind::ArgMin: return ScalarOp::Min;
    case ReduceKind::Any: return ScalarOp::Or;
    case ReduceKind::All: return ScalarOp::And;
  }
  return ScalarOp::Add;
}

}  // namespace

// --- types and constants -------------------------------------------------------------------------

llvm::Type* Operations::in_register(DType dtype) {
  if (dtype.is_bool()) return b_.getInt1Ty();
  if (dtype.is_float()) return dtype.bits == 64 ? b_.getDoubleTy() : b_.getFloatTy();
  return b_.getIntNTy(dtype.bits);
}

llvm::Type* Operations::in_memory(DType dtype) {
  if (dtype.is_bool()) return b_.getInt8Ty();
  return dtype.is_narrow_float() ? b_.getIntNTy(dtype.bits) : in_register(dtype);
}

llvm::Value* Operations::from_memory(DType dtype, llvm::Value* bits) {
  if (dtype.is_bool()) return b_.CreateIsNotNull(bits);
  if (in_memory(dtype) == in_register(dtype)) return bits;
  if (dtype.code == DTypeCode::Float) {
    llvm::Value* half = b_.CreateBitCast(bits, shaped_like(bits, b_.getHalfTy()));
    return b_.CreateFPExt(half, shaped_like(bits, b_.getFloatTy()));
  }
  llvm::Value* wide = b_.CreateZExt(bits, shaped_like(bits, b_.getInt32Ty()));
  return b_.CreateBitCast(b_.CreateShl(wide, int_like(wide, 16)), shaped_like(bits, b_.getFloatTy()));
}

llvm::Value* Operations::to_memory(DType dtype, llvm::Value* value) {
  if (dtype.is_bool()) return b_.CreateZExt(value, shaped_like(value, b_.getInt8Ty()));
  if (in_memory(dtype) == in_register(dtype)) return value;
  llvm::Type* short_type = shaped_like(value, b_.getInt16Ty());
  if (dtype.code == DTypeCode::Float) {
    return b_.CreateBitCast(b_.CreateFPTrunc(value, shaped_like(value, b_.getHalfTy())), short_type);
  }
  llvm::Value* bits = b_.CreateBitCast(value, shaped_like(value, b_.getInt32Ty()));
  return b_.CreateTrunc(b_.CreateLShr(bits, int_like(bits, 16)), short_type);
}

llvm::Constant* Operations::constant(const Scalar& scalar) {
  llvm::Type* type = in_register(scalar.dtype);
  if (scalar.dtype.is_float()) return llvm::ConstantFP::get(type, scalar.as_double());
  return llvm::ConstantInt::get(type, scalar.bits);
}

// --- 16-bit floats and conversions ---------------------------------------------------------------

/// The nearest representable value, ties to even. bfloat16 is rounded in integers: its instruction flushes
/// subnormals to zero.
llvm::Value* Operations::round_to_grid(DType dtype, llvm::Value* value) {
  if (!dtype.is_narrow_float()) return value;
  if (dtype.code == DTypeCode::Float) {
    llvm::Value* half = b_.CreateFPTrunc(value, shaped_like(value, b_.getHalfTy()));
    return b_.CreateFPExt(half, value->getType());
  }
  llvm::Value* bits = b_.CreateBitCast(value, shaped_like(value, b_.getInt32Ty()));
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, int_like(bits, 16)), int_like(bits, 1));
  llvm::Value* up = b_.CreateAdd(b_.CreateAdd(bits, int_like(bits, 0x7fff)), odd);
  llvm::Value* rounded = b_.CreateAnd(up, int_like(bits, 0xffff0000));
  llvm::Value* is_nan = b_.CreateFCmpUNO(value, value);
  return b_.CreateBitCast(b_.CreateSelect(is_nan, int_like(bits, 0x7fc00000), rounded), value->getType());
}

/// float64 to float32 by rounding to odd, after which rounding to a 16-bit float equals direct rounding
/// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
/// odd").
llvm::Value* Operations::to_odd_float32(llvm::Value* value) {
  llvm::Value* nearest = b_.CreateFPTrunc(value, shaped_like(value, b_.getFloatTy()));
  llvm::Value* back = b_.CreateFPExt(nearest, value->getType());
  llvm::Value* bits = b_.CreateBitCast(nearest, shaped_like(value, b_.getInt32Ty()));
  llvm::Value* is_even = b_.CreateIsNull(b_.CreateAnd(bits, int_like(bits, 1)));
  llvm::Value* adjust = b_.CreateAnd(b_.CreateFCmpONE(back, value), is_even);
  llvm::Value* too_large = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                            b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  llvm::Value* step = b_.CreateSelect(too_large, int_like(bits, -1), int_like(bits, 1));
  llvm::Value* odd = b_.CreateSelect(adjust, b_.CreateAdd(bits, step), bits);
  return b_.CreateBitCast(odd, nearest->getType());
}

llvm::Value* Operations::float_to_float(llvm::Value* value, DType from, DType to) {
  if (from.bits == 64) {
    if (to.bits == 64) return value;
    if (to.is_narrow_float()) return round_to_grid(to, to_odd_float32(value));
    return b_.CreateFPTrunc(value, shaped_like(value, b_.getFloatTy()));
  }
  if (to.bits == 64) return b_.CreateFPExt(value, shaped_like(value, b_.getDoubleTy()));
  return from == to ? value : round_to_grid(to, value);
}

llvm::Value* Operations::cast(llvm::Value* value, DType from, DType to) {
  llvm::Type* type = shaped_like(value, in_register(to));
  if (from.is_float()) {
    if (to.is_float()) return float_to_float(value, from, to);
    if (to.is_bool()) return b_.CreateFCmpUNE(value, float_like(value, 0));
    const auto saturating = to.is_signed() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(saturating, {type, value->getType()}, {value});
  }
  if (to.is_float()) {
    llvm::Value* converted = from.is_signed() ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
    return round_to_grid(to, converted);
  }
  if (to.is_bool()) return b_.CreateIsNotNull(value);
  return b_.CreateIntCast(value, type, from.is_signed());
}

// --- dispatch ------------------------------------------------------------------------------------

llvm::Value* Operations::apply(ScalarOp op, DType operand, Values args) {
  if (info(op).signature == ScalarSignature::Compare) return compare(op, operand, args[0], args[1]);
  if (op == ScalarOp::IsNan) return b_.CreateFCmpUNO(args[0], args[0]);
  if (op == ScalarOp::IsInf) {
    llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, args[0]);
    return b_.CreateFCmpOEQ(magnitude, float_like(magnitude, HUGE_VAL));
  }
  if (!operand.is_float()) return int_op(op, operand, args);
  llvm::Value* result = float_op(op, args);
  return may_round(op) ? round_to_grid(operand, result) : result;
}

llvm::Value* Operations::compare(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* b) {
  using P = llvm::CmpInst::Predicate;
  const bool is_float = dtype.is_float();
  const bool is_signed = dtype.is_signed();
  const auto pick = [&](P on_floats, P on_signed, P on_unsigned) {
    return b_.CreateCmp(is_float ? on_floats : is_signed ? on_signed : on_unsigned, a, b);
  };
  if (op == ScalarOp::Lt) return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
  if (op == ScalarOp::Le) return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
  if (op == ScalarOp::Gt) return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
  if (op == ScalarOp::Ge) return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
  if (op == ScalarOp::Eq) return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
  QUERN_CHECK(op == ScalarOp::Ne);
  return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
}

llvm::Value* Operations::combine(ReduceKind kind, DType dtype, llvm::Value* accumulator, llvm::Value* value) {
  return apply(step_of(kind), dtype, {accumulator, value});
}

llvm::Value* Operations::is_better(ReduceKind kind, DType dtype, llvm::Value* value, llvm::Value* best) {
  llvm::Value* better = compare(kind == ReduceKind::ArgMax ? ScalarOp::Gt : ScalarOp::Lt, dtype, value, best);
  if (!dtype.is_float()) return better;
  llvm::Value* first_nan = b_.CreateAnd(b_.CreateFCmpUNO(value, value), b_.CreateFCmpORD(best, best));
  return b_.CreateOr(better, first_nan);
}

llvm::Value* Operations::call_host(const std::string& function, Values args) {
  llvm::Type* result = args[0]->getType();
  llvm::Type* element = result->getScalarType();
  if (machine_.is_gpu) {
    refuse(function);
    return llvm::PoisonValue::get(result);
  }
  const llvm::SmallVector<llvm::Type*, 2> types(args.size(), element);
  auto callee =
      module_.getOrInsertFunction("quern_" + function, llvm::FunctionType::get(element, types, false));
  if (auto* declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    declared->setDoesNotThrow();
    declared->setDoesNotAccessMemory();
  }
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(result);
  if (!vector) return b_.CreateCall(callee, args);
  llvm::Value* out = llvm::PoisonValue::get(result);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::SmallVector<llvm::Value*, 2> elements;
    for (llvm::Value* arg : args) elements.push_back(b_.CreateExtractElement(arg, uint64_t{lane}));
    out = b_.CreateInsertElement(out, b_.CreateCall(callee, elements), uint64_t{lane});
  }
  return out;
}

// --- floats --------------------------------------------------------------------------------------

llvm::Value* Operations::multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  if (!machine_.has_fma) return b_.CreateFAdd(b_.CreateFMul(a, b), c);
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

/// `b` if it is better or NaN, otherwise `a`.
llvm::Value* Operations::float_min_max(ScalarOp op, llvm::Value* a, llvm::Value* b) {
  // An unordered comparison takes a NaN of `b`.
  if (known_not_nan(a))
    return b_.CreateSelect(op == ScalarOp::Min ? b_.CreateFCmpULT(b, a) : b_.CreateFCmpUGT(b, a), b, a);
  llvm::Value* better = op == ScalarOp::Min ? b_.CreateFCmpOLT(b, a) : b_.CreateFCmpOGT(b, a);
  llvm::Value* best = b_.CreateSelect(better, b, a);
  return known_not_nan(b) ? best : b_.CreateSelect(b_.CreateFCmpUNO(b, b), b, best);
}

llvm::Value* Operations::float_floor_mod(llvm::Value* a, llvm::Value* b) {
  llvm::Value* rest = math(ScalarOp::Mod, {a, b});
  llvm::Value* zero = float_like(a, 0);
  llvm::Value* differ = b_.CreateXor(b_.CreateFCmpOLT(rest, zero), b_.CreateFCmpOLT(b, zero));
  llvm::Value* moved = b_.CreateSelect(differ, b_.CreateFAdd(rest, b), rest);
  llvm::Value* signed_zero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, b);
  return b_.CreateSelect(b_.CreateFCmpOEQ(rest, zero), signed_zero, moved);
}

llvm::Value* Operations::float_sign(llvm::Value* a) {
  llvm::Value* zero = float_like(a, 0);
  llvm::Value* not_above = b_.CreateSelect(b_.CreateFCmpOLT(a, zero), float_like(a, -1), zero);
  return b_.CreateSelect(b_.CreateFCmpOGT(a, zero), float_like(a, 1), not_above);
}

llvm::Value* Operations::float_op(ScalarOp op, Values args) {
  llvm::Value* a = args.front();
  llvm::Value* b = args.back();
  const auto unary = [&](llvm::Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  switch (op) {
    case ScalarOp::Add: return b_.CreateFAdd(a, b);
    case ScalarOp::Sub: return b_.CreateFSub(a, b);
    case ScalarOp::Mul: return b_.CreateFMul(a, b);
    case ScalarOp::Div: return b_.CreateFDiv(a, b);
    case ScalarOp::FloorDiv: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b_.CreateFDiv(a, b));
    case ScalarOp::FloorMod: return float_floor_mod(a, b);
    case ScalarOp::Min:
    case ScalarOp::Max: return float_min_max(op, a, b);
    case ScalarOp::Neg: return b_.CreateFNeg(a);
    case ScalarOp::Abs: return unary(llvm::Intrinsic::fabs);
    case ScalarOp::Sign: return float_sign(a);
    case ScalarOp::Sqrt: return unary(llvm::Intrinsic::sqrt);
    case ScalarOp::Rsqrt: return b_.CreateFDiv(float_like(a, 1), unary(llvm::Intrinsic::sqrt));
    case ScalarOp::Floor: return unary(llvm::Intrinsic::floor);
    case ScalarOp::Ceil: return unary(llvm::Intrinsic::ceil);
    case ScalarOp::Trunc: return unary(llvm::Intrinsic::trunc);
    case ScalarOp::Round: return unary(llvm::Intrinsic::round);
#define QUERN_CODE_Plain(name)
#define QUERN_CODE_Math(name) case ScalarOp::name:
#define QUERN_SCALAR(name, text, arity, signature, code) QUERN_CODE_##code(name)
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
#undef QUERN_CODE_Math
#undef QUERN_CODE_Plain
      return math(op, args);
#include "ir/value/not_of_floats.def"
      break;
  }
  QUERN_CHECK(!"a function of floats");
  return nullptr;
}

/// x^y by at most two multiplications or a division, for exponents that are written in programs; null for others.
/// The error is at most one unit in the last place.
llvm::Value* Operations::constant_power(llvm::Value* x, llvm::Value* y) {
  const auto* exponent = llvm::dyn_cast_or_null<llvm::ConstantFP>(known_constant(y));
  if (!exponent) return nullptr;
  const auto is = [&](double number) { return exponent->isExactlyValue(number); };
  if (is(1)) return x;
  if (is(-1)) return b_.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x);
  if (!is(2) && !is(3) && !is(4)) return nullptr;
  llvm::Value* square = b_.CreateFMul(x, x);
  return is(2) ? square : b_.CreateFMul(square, is(3) ? x : square);
}

llvm::Value* Operations::math(ScalarOp op, Values args) {
  if (op == ScalarOp::Pow)
    if (llvm::Value* product = constant_power(args[0], args[1])) return product;
  return VectorMath(b_, *this).emit(op, args);
}

}  // namespace quern::codegen
