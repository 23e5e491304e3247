// Sums of products by dedicated machine instructions.

#include <llvm/IR/Intrinsics.h>

#include "ir/base/result.h"
#include "jit/codegen/codegen.h"
#include "jit/codegen/emitter.h"

namespace quern {

namespace {

/// Whether the operands are the numbers of three matrix registers.
bool takes_registers(const llvm::FunctionType& type) {
  return type.getReturnType()->isVoidTy() && type.getNumParams() == 3 &&
         llvm::all_of(type.params(), [](const llvm::Type* t) { return t->isIntegerTy(8); });
}

/// 16 rows of 64 bytes, in groups of 32 bits.
bool fits_registers(const DotIntrinsic& intrinsic) {
  const auto is_word = [&](DType dtype) { return intrinsic.group * dtype.bits == 32; };
  return intrinsic.rows <= 16 && intrinsic.lanes <= 16 && intrinsic.steps <= 16 &&
         intrinsic.accumulator.bits == 32 && is_word(intrinsic.a) && is_word(intrinsic.b);
}

}  // namespace

bool can_call(const DotIntrinsic& intrinsic) {
  // LLVM looks up only such names.
  if (!llvm::StringRef(intrinsic.llvm).starts_with("llvm.")) return false;
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(intrinsic.llvm);
  if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id)) return false;
  llvm::LLVMContext context;
  const auto* type = llvm::Intrinsic::getType(context, id);
  const unsigned lanes = static_cast<unsigned>(intrinsic.lanes);
  const auto bits = [](llvm::Type* t) { return t->getPrimitiveSizeInBits().getFixedValue(); };
  if (intrinsic.is_of_matrices()) return takes_registers(*type) && fits_registers(intrinsic);
  if (type->getNumParams() != 3 || type->getReturnType() != type->getParamType(0)) return false;
  const auto* sums = llvm::dyn_cast<llvm::FixedVectorType>(type->getReturnType());
  const unsigned group = static_cast<unsigned>(intrinsic.group);
  return sums && sums->getNumElements() == lanes &&
         sums->getScalarSizeInBits() == intrinsic.accumulator.bits &&
         sums->getElementType()->isFloatingPointTy() == intrinsic.accumulator.is_float() &&
         bits(type->getParamType(1)) == lanes * group * intrinsic.a.bits &&
         bits(type->getParamType(2)) == lanes * group * intrinsic.b.bits;
}

namespace codegen {

namespace {

llvm::Function* declaration_of(llvm::Module& module, const std::string& name) {
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(name);
  QUERN_CHECK(id != llvm::Intrinsic::not_intrinsic);
  return llvm::Intrinsic::getDeclaration(&module, id);
}

}  // namespace

llvm::Value* Emitter::dot(const loops::DotValue& v, llvm::Value* accumulator) {
  llvm::Function* function = declaration_of(module_, v.dot->llvm);
  llvm::SmallVector<llvm::Value*, 3> operands{accumulator};
  for (const loops::LoadPtr& load : {v.a, v.b}) {
    llvm::Value* groups = spread(group_load(*load, v.dot->group), static_cast<unsigned>(v.dot->lanes));
    operands.push_back(b_.CreateBitCast(groups, function->getFunctionType()->getParamType(operands.size())));
  }
  return b_.CreateCall(function, operands);
}

/// Loads a group of neighbours as one integer: one for all lanes, or one per lane.
llvm::Value* Emitter::group_load(const loops::LoadValue& v, int group) {
  const loops::LoadValue inside = inside_of(v);
  if (!inside.checks.empty()) {
    const Condition counts = condition(inside.checks);
    loops::LoadValue unchecked = inside;
    unchecked.checks.clear();
    return under_mask(counts.varying, [&] { return group_load(unchecked, group); });
  }
  const DType dtype = kernel_.buffers.at(static_cast<size_t>(v.buffer)).dtype;
  const llvm::Align align(dtype.bytes());
  llvm::Type* whole = b_.getIntNTy(static_cast<unsigned>(group) * dtype.bits);
  const Dim offset = here(inside.offset);
  Address where = address(offset, {});
  if (machine_.checks_bounds) {
    Address last = where;
    last.displacement += group - 1;
    check_bounds(v.buffer, last);
  }
  const auto along = varies(offset) ? linear_in(offset, lanes_->var) : std::nullopt;
  const bool may_be_empty = lanes_ && lanes_->may_be_empty;
  if (!varies(offset) && !may_be_empty) return b_.CreateAlignedLoad(whole, pointer(v.buffer, where), align);
  auto* type = llvm::FixedVectorType::get(whole, lanes_->width);
  llvm::Value* zeros = llvm::Constant::getNullValue(type);
  if (along && is_const(along->coefficient, group)) {
    where.per_lane = nullptr;
    where.contiguous = true;
    llvm::Value* from = pointer(v.buffer, where);
    if (lanes_->mask) return b_.CreateMaskedLoad(type, from, align, lanes_->mask, zeros);
    return b_.CreateAlignedLoad(type, from, align);
  }
  if (!where.per_lane)
    where.per_lane = where.contiguous ? lane_numbers(lanes_->width) : spread(b_.getInt64(0), lanes_->width);
  return b_.CreateMaskedGather(type, pointer(v.buffer, where), align, lanes_->mask,
                               lanes_->mask ? zeros : nullptr);
}

}  // namespace codegen
}  // namespace quern
