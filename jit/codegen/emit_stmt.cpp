// Statements except loops.

#include <array>
#include <numeric>

#include "ir/base/result.h"
#include "jit/codegen/emitter.h"

namespace quern::codegen {

void Emitter::block(const loops::Block& statements) {
  for (const loops::StmtPtr& s : statements) statement(*s);
}

void Emitter::statement(const loops::Stmt& s) {
  memo_.clear();
  loops::visit(s, [this](const auto& node) { emit(node); });
}

llvm::AllocaInst* Emitter::new_slot(llvm::Type* type) {
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(slots_end_);
  return b_.CreateAlloca(type);
}

void Emitter::emit(const loops::Declare& s) {
  llvm::Value* first = value(*s.value);
  QUERN_CHECK(!lanes_ || s.shape.empty());
  if (lanes_) first = spread(first, lanes_->width);
  Local& local = locals_[s.local];
  local = {s.dtype, {}, lanes_.has_value(), s.shape, s.width};
  int64_t slots = 1;
  if (!s.shape.empty()) {
    if (s.width > 1) first = spread(first, static_cast<unsigned>(s.width));
    local.shape.back() = (s.shape.back() + s.width - 1) / s.width;
    for (const int64_t extent : local.shape) slots *= extent;
  }
  for (int64_t k = 0; k < slots; ++k) {
    local.slots.push_back(new_slot(first->getType()));
    if (!s.matrices) b_.CreateStore(first, local.slots.back());
  }
  if (!s.matrices) return;
  local.matrices = s.matrices;
  local.columns = s.shape.back();
  local.terms = s.terms;
  declare_matrices(local);
}

/// The slot of a tile's element, or of the vector of the lanes' elements.
llvm::AllocaInst* Emitter::place(const Local& local, const std::vector<Dim>& indices) {
  size_t at = 0;
  for (size_t k = 0; k < indices.size(); ++k) {
    Dim index = here(indices[k]);
    if (varies(index)) index = substitute(index, {{lanes_->var, lanes_->first}});
    const auto known = as_const(index);
    QUERN_CHECK(known && k < local.shape.size());
    const int64_t step = k + 1 == indices.size() ? local.width : 1;
    at = at * static_cast<size_t>(local.shape[k]) + static_cast<size_t>(*known / step);
  }
  return local.slots.at(at);
}

void Emitter::emit(const loops::Assign& s) {
  llvm::AllocaInst* slot = place(locals_.at(s.local), s.indices);
  llvm::Value* assigned = value(*s.value);
  if (const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(slot->getAllocatedType()))
    assigned = spread(assigned, type->getNumElements());
  b_.CreateStore(assigned, slot);
}

/// In log2(rows) rounds: in each, rows that are `half` apart swap the blocks of `half` groups that are on the
/// other side of the diagonal.
void Emitter::emit(const loops::Transpose& s) {
  const Local& tile = locals_.at(s.local);
  const size_t count = tile.slots.size(), group = static_cast<size_t>(s.width), lanes = count * group;
  QUERN_CHECK(lanes == static_cast<size_t>(tile.width) && (count & (count - 1)) == 0);
  const size_t known = s.rows ? static_cast<size_t>(*s.rows) : count;
  std::vector<llvm::Value*> rows;
  for (llvm::AllocaInst* slot : tile.slots) {
    llvm::Type* type = slot->getAllocatedType();
    rows.push_back(rows.size() < known ? static_cast<llvm::Value*>(b_.CreateLoad(type, slot))
                                       : llvm::PoisonValue::get(type));
  }
  for (size_t half = count / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 64> upper;
    llvm::SmallVector<int, 64> lower;
    for (size_t lane = 0; lane < lanes; ++lane) {
      const bool right = (lane / group & half) != 0;
      upper.push_back(static_cast<int>(right ? lanes + lane - half * group : lane));
      lower.push_back(static_cast<int>(right ? lanes + lane : lane + half * group));
    }
    for (size_t row = 0; row < count; ++row) {
      if ((row & half) != 0) continue;
      llvm::Value* a = rows[row];
      llvm::Value* b = rows[row + half];
      if (llvm::isa<llvm::PoisonValue>(a) && llvm::isa<llvm::PoisonValue>(b)) continue;
      rows[row] = b_.CreateShuffleVector(a, b, upper);
      rows[row + half] = b_.CreateShuffleVector(a, b, lower);
    }
    // LLVM would optimise across all rounds at once, which takes longer than the rest of the kernel.
    if (half > 2 && fits_register(tile)) rows = hidden(std::move(rows));
  }
  for (size_t row = 0; row < count; ++row) b_.CreateStore(rows[row], tile.slots[row]);
}

void Emitter::emit(const loops::If& s) {
  const Condition holds = condition(s.checks);
  QUERN_CHECK(!holds.varying);
  if (!holds.uniform) return block(s.body);
  only_if(holds.uniform, s.body);
}

void Emitter::emit(const loops::IfApart& s) {
  if (machine_.is_gpu) return block(s.body);
  // By their attributes the parameters are apart.
  const std::vector<llvm::Value*> both =
      hidden({buffers_[static_cast<size_t>(s.from)], buffers_[static_cast<size_t>(s.to)]});
  only_if(b_.CreateICmpNE(both[0], both[1]), s.body);
}

void Emitter::only_if(llvm::Value* holds, const loops::Block& body) {
  llvm::LLVMContext& context = module_.getContext();
  auto* then = llvm::BasicBlock::Create(context, "then", function_, exit_);
  auto* done = llvm::BasicBlock::Create(context, "done", function_, exit_);
  b_.CreateCondBr(holds, then, done);
  b_.SetInsertPoint(then);
  open_scope();
  block(body);
  close_scope();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// Sums of products round once per step if the machine has a fused instruction.
llvm::Value* Emitter::next_accumulator(const loops::Reduce& s, const Local& local, llvm::Value* accumulator) {
  const loops::Value& v = *s.value;
  if (auto* products = loops::as<loops::DotValue>(v)) return dot(*products, accumulator);
  auto* product = loops::as<loops::ApplyValue>(v);
  if (s.reduce == ReduceKind::Sum && product && product->op == ScalarOp::Mul && v.dtype.is_float() &&
      v.dtype.bits >= 32 && v.dtype == local.dtype) {
    std::array<llvm::Value*, 3> operands{accumulator, value(*product->args[0]), value(*product->args[1])};
    unify(operands);
    return operations_.multiply_add(operands[1], operands[2], operands[0]);
  }
  std::array<llvm::Value*, 2> operands{accumulator, value(v)};
  unify(operands);
  return operations_.combine(s.reduce, local.dtype, operands[0], operands[1]);
}

void Emitter::emit(const loops::Reduce& s) { return is_arg(s.reduce) ? arg_reduce(s) : reduce(s); }

void Emitter::reduce(const loops::Reduce& s) {
  const Local& local = locals_.at(s.local);
  const bool across_lanes = lanes_ && !local.in_lanes && local.shape.empty();
  llvm::AllocaInst* slot = across_lanes ? local.partials.at(lanes_->copy) : place(local, s.indices);
  const Condition counts = condition(s.checks);
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(counts.uniform);
  if (known && known->isZero()) return;
  llvm::Value* accumulator = b_.CreateLoad(slot->getAllocatedType(), slot);
  llvm::Value* next = next_accumulator(s, local, accumulator);
  llvm::Value* taken = both(counts.varying, counts.uniform ? spread_like(counts.uniform, next) : nullptr);
  if (across_lanes && lanes_->mask) taken = both(taken, lanes_->mask);
  if (taken) next = b_.CreateSelect(taken, next, accumulator);
  b_.CreateStore(next, slot);
}

void Emitter::arg_reduce(const loops::Reduce& s) {
  const Local& best_local = locals_.at(s.local);
  const Local& index_local = locals_.at(s.index_local);
  const bool across_lanes = lanes_ && !best_local.in_lanes;
  llvm::AllocaInst* best_slot = across_lanes ? best_local.partials.at(lanes_->copy) : best_local.slot();
  llvm::AllocaInst* index_slot = across_lanes ? index_local.partials.at(lanes_->copy) : index_local.slot();
  llvm::Value* best = b_.CreateLoad(best_slot->getAllocatedType(), best_slot);
  llvm::Value* index = b_.CreateLoad(index_slot->getAllocatedType(), index_slot);
  std::array<llvm::Value*, 4> operands{value(*s.value), best, value(*s.index_value), index};
  unify(operands);
  llvm::Value* better = operations_.is_better(s.reduce, best_local.dtype, operands[0], operands[1]);
  if (across_lanes && lanes_->mask) better = b_.CreateAnd(better, lanes_->mask);
  b_.CreateStore(b_.CreateSelect(better, operands[0], operands[1]), best_slot);
  b_.CreateStore(b_.CreateSelect(better, operands[2], operands[3]), index_slot);
}

void Emitter::emit(const loops::Store& s) {
  const DType dtype = kernel_.buffers.at(static_cast<size_t>(s.buffer)).dtype;
  llvm::Value* stored = operations_.to_memory(dtype, value(*s.value));
  const llvm::Align align(dtype.bytes());
  Address where = address(s.offset, {});
  if (!lanes_) {
    b_.CreateAlignedStore(stored, pointer(s.buffer, where), align);
    return;
  }
  stored = spread(stored, lanes_->width);
  if (where.contiguous) {
    llvm::Value* to = pointer(s.buffer, where);
    if (lanes_->mask) {
      b_.CreateMaskedStore(stored, to, align, lanes_->mask);
    } else {
      b_.CreateAlignedStore(stored, to, align);
    }
    return;
  }
  if (where.every_second) {
    where.per_lane = nullptr;
    return store_every_second(stored, pointer(s.buffer, where), align);
  }
  if (store_in_runs(stored, s, where)) return;
  if (!where.per_lane) where.per_lane = spread(b_.getInt64(0), lanes_->width);
  b_.CreateMaskedScatter(stored, pointer(s.buffer, where), align, lanes_->mask);
}

void Emitter::emit(const loops::Prefetch& s) {
  if (machine_.is_gpu || machine_.checks_bounds) return;
  constexpr uint32_t kNearest = 3, kData = 1;
  const bool is_written = kernel_.buffers.at(static_cast<size_t>(s.buffer)).is_output;
  llvm::Value* line = pointer(s.buffer, address(s.offset, {}));
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {line->getType()},
                     {line, b_.getInt32(is_written ? 1 : 0), b_.getInt32(kNearest), b_.getInt32(kData)});
}

/// Stores runs of contiguous lanes, such as poses of capsules among those of others: one part of the vector
/// per run, in a fifth of a scatter's time. False if there are none.
bool Emitter::store_in_runs(llvm::Value* stored, const loops::Store& s, const Address& where) {
  const auto& places = where.places;
  if (places.empty() || lanes_->mask != lanes_->strip_mask) return false;
  const auto follows = [&](size_t lane) { return places[lane] == places[lane - 1] + 1; };
  size_t run = lanes_->active;
  for (size_t lane = 1; lane < lanes_->active; ++lane)
    if (!follows(lane)) run = std::gcd(run, lane);
  if (run < 2) return false;
  const DType dtype = kernel_.buffers.at(static_cast<size_t>(s.buffer)).dtype;
  const auto active = static_cast<size_t>(lanes_->active);
  for (size_t first = 0; first < active; first += run) {
    llvm::SmallVector<int, 64> lanes(run);
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    Address part{b_.getInt64(0), 0, nullptr, false, false};
    const Dim index = dim_add(lanes_->first, dim_const(static_cast<int64_t>(first)));
    set_base(part, quern::substitute(here(s.offset), {{lanes_->var, index}}));
    b_.CreateAlignedStore(b_.CreateShuffleVector(stored, lanes), pointer(s.buffer, part),
                          llvm::Align(dtype.bytes()));
  }
  return true;
}

/// Stores every second lane of a vector twice as wide.
void Emitter::store_every_second(llvm::Value* stored, llvm::Value* to, llvm::Align align) {
  const unsigned width = lanes_->width;
  llvm::Value* mask =
      lanes_->mask ? lanes_->mask : llvm::ConstantInt::getTrue(spread(b_.getTrue(), width)->getType());
  llvm::SmallVector<int, 64> lanes, taken;
  for (unsigned lane = 0; lane < width; ++lane) {
    lanes.insert(lanes.end(), {static_cast<int>(lane), -1});
    taken.insert(taken.end(), {static_cast<int>(lane), static_cast<int>(width)});
  }
  llvm::Value* none = llvm::Constant::getNullValue(mask->getType());
  b_.CreateMaskedStore(b_.CreateShuffleVector(stored, lanes), to, align,
                       b_.CreateShuffleVector(mask, none, taken));
}

void Emitter::emit(const loops::Update& s) {
  QUERN_CHECK(!lanes_);
  const DType dtype = kernel_.buffers.at(static_cast<size_t>(s.buffer)).dtype;
  const llvm::Align align(dtype.bytes());
  llvm::Value* added = value(*s.value);
  if (const Condition inside = condition(s.checks); inside.uniform)
    trap_if(b_.CreateNot(inside.uniform), s.trap);
  llvm::Value* to = pointer(s.buffer, address(s.offset, s.computed));
  if (s.op) {
    llvm::Value* old =
        operations_.from_memory(dtype, b_.CreateAlignedLoad(operations_.in_memory(dtype), to, align));
    added = operations_.apply(*s.op, dtype, {old, added});
  }
  b_.CreateAlignedStore(operations_.to_memory(dtype, added), to, align);
}

}  // namespace quern::codegen
