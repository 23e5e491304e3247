// Matrix products in the processor's matrix registers (Intel's Advanced Matrix Extensions). Allocation is
// done here, so intrinsics with register numbers suffice.

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "ir/base/result.h"
#include "jit/codegen/emitter.h"

namespace quern::codegen {

namespace {

constexpr int64_t kRowBytes = 64;  ///< maximum per register

int64_t part(int64_t all, int64_t size, int64_t number) { return std::min(size, all - number * size); }

/// The shape of a register: rows, and bytes per row.
struct MatrixShape {
  int64_t rows, bytes;
};

/// The memory operand of `ldtilecfg`: the palette, then each register's bytes per row from byte 16 on, in 16
/// bits, and its rows from byte 48 on (Intel SDM, volume 1, chapter 18).
llvm::Constant* configuration(llvm::Module& module, llvm::ArrayRef<MatrixShape> shapes) {
  std::array<uint8_t, 64> bytes{1};
  for (size_t k = 0; k < shapes.size(); ++k) {
    bytes.at(16 + 2 * k) = static_cast<uint8_t>(shapes[k].bytes);
    bytes.at(48 + k) = static_cast<uint8_t>(shapes[k].rows);
  }
  llvm::Constant* content = llvm::ConstantDataArray::get(module.getContext(), bytes);
  auto* memory = new llvm::GlobalVariable(module, content->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          content, "matrices");
  memory->setAlignment(llvm::Align(64));
  return memory;
}

}  // namespace

Emitter::Registers Emitter::registers_of(const Local& local) {
  return {(local.shape[0] + local.matrices->rows - 1) / local.matrices->rows, local.shape[1]};
}

void Emitter::call_on_matrices(const std::string& intrinsic, llvm::ArrayRef<llvm::Value*> operands) {
  if (machine_.stand_ins.contains(intrinsic)) {
    llvm::SmallVector<llvm::Type*, 3> types;
    for (const llvm::Value* operand : operands) types.push_back(operand->getType());
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
    b_.CreateCall(module_.getOrInsertFunction("quern_stand_in." + intrinsic, type), operands);
    return;
  }
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(intrinsic);
  QUERN_CHECK(id != llvm::Intrinsic::not_intrinsic);
  b_.CreateCall(llvm::Intrinsic::getDeclaration(&module_, id), operands);
}

void Emitter::declare_matrices(const Local& local) {
  if (machine_.is_gpu) return operations_.refuse("products of matrices");
  const DotIntrinsic& dot = *local.matrices;
  const Registers registers = registers_of(local);
  QUERN_CHECK(DotIntrinsic::has_registers(registers.above, registers.beside));
  llvm::SmallVector<MatrixShape, 8> shapes(DotIntrinsic::kRegisters, {0, 0});
  const auto shape = [&](int64_t number) -> MatrixShape& { return shapes[static_cast<size_t>(number)]; };
  const auto bytes = static_cast<int64_t>(dot.accumulator.bytes());
  for (int64_t i = 0; i < registers.above; ++i) {
    const int64_t rows = part(local.shape[0], dot.rows, i);
    shape(registers.left(i)) = {rows, local.terms * static_cast<int64_t>(dot.a.bytes())};
    for (int64_t j = 0; j < registers.beside; ++j)
      shape(registers.sums(i, j)) = {rows, part(local.columns, dot.lanes, j) * bytes};
  }
  for (int64_t j = 0; j < registers.beside; ++j)
    shape(registers.right(j)) = {local.terms / dot.group, part(local.columns, dot.lanes, j) * dot.group *
                                                              static_cast<int64_t>(dot.b.bytes())};
  call_on_matrices("llvm.x86.ldtilecfg", {configuration(module_, shapes)});
  for (int64_t k = 0; k < registers.above * registers.beside; ++k)
    call_on_matrices("llvm.x86.tilezero", {matrix_number(k)});
}

/// Handles the omitted loop over a single row; nothing for any other loop.
std::optional<Emitter::MatrixProduct> Emitter::product_in(const loops::For& loop) {
  const loops::Stmt* inner = &loop;
  int depth = 0;
  for (auto* around = &loop; around && around->body.size() == 1; ++depth) {
    inner = around->body.front().get();
    around = loops::as<loops::For>(*inner);
  }
  auto* sum = loops::as<loops::Reduce>(*inner);
  auto* dot = sum ? loops::as<loops::DotValue>(sum->value) : nullptr;
  if (!dot || !dot->dot->is_of_matrices()) return std::nullopt;
  const bool is_all = depth == (sum->indices[0]->kind == DimKind::Const ? 1 : 2);
  return is_all ? std::optional(MatrixProduct{*sum, *dot}) : std::nullopt;
}

void Emitter::multiply_matrices(const MatrixProduct& product) {
  const Local& local = locals_.at(product.sum.local);
  const Registers registers = registers_of(local);
  for (int64_t i = 0; i < registers.above; ++i) load_left(product, i);
  for (int64_t j = 0; j < registers.beside; ++j) {
    load_right(product, j);
    for (int64_t i = 0; i < registers.above; ++i)
      call_on_matrices(local.matrices->llvm,
                       {matrix_number(registers.sums(i, j)), matrix_number(registers.left(i)),
                        matrix_number(registers.right(j))});
  }
}

/// Loads in place, if its rows are evenly spaced and all present.
void Emitter::load_left(const MatrixProduct& product, int64_t above) {
  const Local& local = locals_.at(product.sum.local);
  const loops::LoadValue& load = *product.dot.a;
  const int64_t first = above * local.matrices->rows,
                rows = part(local.shape[0], local.matrices->rows, above);
  const Dim row = product.sum.indices[0];
  const bool moves = row->kind == DimKind::Var;
  const auto along = moves ? linear_in(here(load.offset), row) : std::nullopt;
  llvm::Value* from = nullptr;
  llvm::Value* apart = b_.getInt64(kRowBytes);
  if (load.checks.empty() && product.sum.checks.empty() && (along || !moves)) {
    const auto at = [&](int64_t index, int64_t term) {
      if (moves) known_[row] = dim_const(index);
      Address where = address(load.offset, {});
      where.displacement += term;
      llvm::Value* place = pointer(load.buffer, where);
      known_.erase(row);
      return place;
    };
    if (machine_.checks_bounds) at(first + rows - 1, local.terms - 1);
    from = at(first, 0);
    if (moves) apart = b_.CreateMul(dim(along->coefficient), b_.getInt64(load.dtype.bytes()));
  } else {
    from = left_rows(product, first, rows);
  }
  call_on_matrices("llvm.x86.tileloadd64", {matrix_number(registers_of(local).left(above)), from, apart});
}

/// Rows of the left factor, contiguous, with zeros for those that do not count.
llvm::Value* Emitter::left_rows(const MatrixProduct& product, int64_t first, int64_t rows) {
  const Local& local = locals_.at(product.sum.local);
  const loops::LoadValue& load = *product.dot.a;
  const Dim index = product.sum.indices[0];
  const auto bytes = static_cast<unsigned>(local.terms) * load.dtype.bytes();
  llvm::AllocaInst* memory =
      new_slot(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(kRowBytes * local.matrices->rows)));
  memory->setAlignment(llvm::Align(64));
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), static_cast<unsigned>(bytes));
  llvm::Value* zeros = llvm::Constant::getNullValue(type);
  for (int64_t row = 0; row < rows; ++row) {
    memo_.clear();
    const bool moves = index->kind == DimKind::Var;
    if (moves) known_[index] = dim_const(first + row);
    const Condition counts = condition(product.sum.checks);
    QUERN_CHECK(!counts.varying);
    llvm::Value* content = b_.CreateBitCast(group_load(load, static_cast<int>(local.terms)), type);
    if (counts.uniform) content = b_.CreateSelect(counts.uniform, content, zeros);
    if (moves) known_.erase(index);
    llvm::Value* to = b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, static_cast<uint64_t>(row * kRowBytes));
    b_.CreateAlignedStore(content, to, llvm::Align(64));
  }
  return memory;
}

void Emitter::load_right(const MatrixProduct& product, int64_t beside) {
  const Local& local = locals_.at(product.sum.local);
  const DotIntrinsic& dot = *local.matrices;
  const loops::LoadValue& load = *product.dot.b;
  const Dim column = product.sum.indices[1], stride = here(product.dot.stride);
  const int64_t columns = part(local.columns, dot.lanes, beside);
  const bool moves = column->kind == DimKind::Var;
  if (moves) known_[column] = dim_const(beside * dot.lanes);
  Address where = address(load.offset, {});
  if (machine_.checks_bounds) {
    Address last = where;
    last.base = b_.CreateAdd(
        last.base,
        b_.CreateMul(dim(stride), b_.getInt64(static_cast<uint64_t>(local.terms / dot.group - 1))));
    last.displacement += columns * dot.group - 1;
    check_bounds(load.buffer, last);
  }
  llvm::Value* from = pointer(load.buffer, where);
  if (moves) known_.erase(column);
  llvm::Value* apart = b_.CreateMul(dim(stride), b_.getInt64(load.dtype.bytes()));
  call_on_matrices("llvm.x86.tileloadd64", {matrix_number(registers_of(local).right(beside)), from, apart});
}

/// Goes through memory: no instruction moves between the two kinds of registers.
void Emitter::emit(const loops::Settle& s) {
  Local& local = locals_.at(s.local);
  if (machine_.is_gpu) return;
  const DotIntrinsic& dot = *local.matrices;
  const Registers registers = registers_of(local);
  const auto bytes = static_cast<int64_t>(dot.accumulator.bytes());
  const int64_t row_bytes = registers.beside * dot.lanes * bytes;
  llvm::AllocaInst* memory = new_slot(
      llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(row_bytes * registers.above * dot.rows)));
  memory->setAlignment(llvm::Align(64));
  const auto at = [&](int64_t row, int64_t vector) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), memory,
                                 static_cast<uint64_t>(row * row_bytes + vector * dot.lanes * bytes));
  };
  for (int64_t i = 0; i < registers.above; ++i)
    for (int64_t j = 0; j < registers.beside; ++j)
      call_on_matrices("llvm.x86.tilestored64", {matrix_number(registers.sums(i, j)), at(i * dot.rows, j),
                                                 b_.getInt64(static_cast<uint64_t>(row_bytes))});
  call_on_matrices("llvm.x86.tilerelease", {});
  for (int64_t k = 0; k < static_cast<int64_t>(local.slots.size()); ++k) {
    llvm::AllocaInst* slot = local.slots[static_cast<size_t>(k)];
    llvm::Value* vector = b_.CreateAlignedLoad(
        slot->getAllocatedType(), at(k / registers.beside, k % registers.beside), llvm::Align(64));
    b_.CreateStore(vector, slot);
  }
  local.matrices = nullptr;
}

}  // namespace quern::codegen
