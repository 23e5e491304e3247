// Loops, and the lanes of vectorised ones.

#include <algorithm>
#include <map>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ir/base/result.h"
#include "jit/codegen/emitter.h"
#include "jit/loops/build.h"
#include "jit/loops/walk.h"
#include "jit/schedule/grid.h"

namespace quern::codegen {

namespace {

/// The reduction of a local, and the position's local for an arg-reduction.
struct Reduced {
  ReduceKind kind;
  int index_local;
};

/// The locals that a body reduces into but does not declare, and whether it is long: it has a loop, or calls
/// a function with many instructions.
struct BodyFacts {
  std::map<int, Reduced> reduced;
  bool is_long = false;

  explicit BodyFacts(const loops::Block& body) {
    std::vector<int> declared;
    loops::for_each_stmt(body, [&](const loops::Stmt& s) {
      if (auto* local = loops::as<loops::Declare>(s)) declared.push_back(local->local);
      if (auto* sum = loops::as<loops::Reduce>(s))
        reduced.emplace(sum->local, Reduced{sum->reduce, sum->index_local});
      is_long = is_long || loops::as<loops::For>(s);
      loops::for_each_operand(s, [this](const loops::Value& operand) { look(operand); });
    });
    for (const int local : declared) reduced.erase(local);
  }

 private:
  void look(const loops::Value& v) {
    if (auto* apply = loops::as<loops::ApplyValue>(v)) is_long = is_long || loops::takes_long(*apply);
    if (!is_long) loops::for_each_operand(v, [this](const loops::Value& operand) { look(operand); });
  }
};

/// How many strips of lanes run side by side, each with its own partial results, to hide the latency of
/// additions. This fixes the order of the reduction described in jit/loops/stmt.h.
unsigned copies_of(Dim extent, int width, const BodyFacts& facts) {
  constexpr int64_t kCopies = 4;
  if (facts.reduced.empty() || facts.is_long) return 1;
  const auto known = as_const(extent);
  return static_cast<unsigned>(known ? std::clamp<int64_t>(*known / width, 1, kCopies) : kCopies);
}

}  // namespace

// --- scopes --------------------------------------------------------------------------------------

void Emitter::open_scope() {
  // A no-op instruction marks the place; it is removed before the function is complete.
  scopes_.push_back({b_.Insert(new llvm::FreezeInst(b_.getInt64(0)))});
}

void Emitter::close_scope() {
  scopes_.back().marker->eraseFromParent();
  scopes_.pop_back();
}

void Emitter::bind(Dim var, llvm::Value* value) {
  if (!value->hasName() && !llvm::isa<llvm::Constant>(value)) value->setName(llvm::StringRef(var->name));
  variables_[var] = {value, scopes_.size() - 1};
}

// --- loops ---------------------------------------------------------------------------------------

void Emitter::counted_loop(llvm::Value* begin, llvm::Value* end, uint64_t step, Repeat repeat,
                           const std::function<void(llvm::Value*)>& body) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Value* enters = b_.CreateICmpSLT(begin, end);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(enters);
  if (known && known->isZero()) return;
  if (known && repeat == Repeat::AtMostOnce) return body(begin);
  auto* loop = llvm::BasicBlock::Create(context, "loop", function_, exit_);
  auto* done = llvm::BasicBlock::Create(context, "done", function_, exit_);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  if (known) {
    b_.CreateBr(loop);
  } else {
    b_.CreateCondBr(enters, loop, done);
  }
  b_.SetInsertPoint(loop);
  if (repeat == Repeat::AtMostOnce) {
    body(begin);
    b_.CreateBr(done);
  } else {
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(begin, before);
    body(i);
    llvm::Value* next = b_.CreateNSWAdd(i, b_.getInt64(step));
    i->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, done);
  }
  b_.SetInsertPoint(done);
}

/// The bounds of a loop: all of it, or the part in the range that the caller requests.
std::pair<llvm::Value*, llvm::Value*> Emitter::part_of_range(const loops::For& s,
                                                             const loops::Serial& steps) {
  llvm::Value* zero = b_.getInt64(0);
  llvm::Value* extent = dim(s.extent);
  if (!steps.before || !range_begin_) return {zero, extent};
  const auto inside = [&](llvm::Value* step) {
    llvm::Value* own = b_.CreateNSWSub(step, dim(steps.before));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                    b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, own, zero), extent);
  };
  return {inside(range_begin_), inside(range_end_)};
}

llvm::Value* Emitter::grid_index(loops::GridIndex index) {
  const auto id = [&]() -> llvm::Intrinsic::ID {
    switch (index) {
      case loops::GridIndex::None: break;
      case loops::GridIndex::BlockX: return llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x;
      case loops::GridIndex::BlockY: return llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y;
      case loops::GridIndex::BlockZ: return llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z;
      case loops::GridIndex::ThreadX: return llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x;
      case loops::GridIndex::ThreadY: return llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y;
      case loops::GridIndex::ThreadZ: return llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z;
    }
    QUERN_CHECK(!"an index of the grid");
    return llvm::Intrinsic::not_intrinsic;
  }();
  return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
}

/// Emits a loop's body at one index.
void Emitter::loop_step(const loops::For& s, llvm::Value* index) {
  open_scope();
  bind(s.var, index);
  const Facts outside = facts_;
  facts_.add_index(s.var, here(s.extent));
  block(s.body);
  facts_ = outside;
  close_scope();
}

/// Emits this thread's step, under a test if the grid may exceed the loop.
void Emitter::bound_loop(const loops::For& s, loops::GridIndex bound) {
  llvm::Value* index = grid_index(bound);
  if (loops::launch_extents(kernel_).at(bound) == s.extent) return loop_step(s, index);
  llvm::LLVMContext& context = module_.getContext();
  auto* then = llvm::BasicBlock::Create(context, "step", function_, exit_);
  auto* done = llvm::BasicBlock::Create(context, "done", function_, exit_);
  b_.CreateCondBr(b_.CreateICmpSLT(index, dim(s.extent)), then, done);
  b_.SetInsertPoint(then);
  loop_step(s, index);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void Emitter::emit(const loops::For& s) {
  if (const auto product = product_in(s)) return multiply_matrices(*product);
  std::visit([&](const auto& execution) { emit_loop(s, execution); }, s.execution);
}

void Emitter::emit_loop(const loops::For& s, const loops::Serial& steps) {
  QUERN_CHECK(!varies(s.extent));
  if (steps.bound != loops::GridIndex::None && machine_.is_gpu) return bound_loop(s, steps.bound);
  const auto [begin, end] = part_of_range(s, steps);
  const auto step = [&](llvm::Value* i) {
    // Steps of a range are long and few: strength-reduced pointers would waste a register each.
    loop_step(s, steps.before && range_begin_ ? hidden({i})[0] : i);
  };
  const Repeat repeat = is_const(s.extent, 1) && !steps.before ? Repeat::AtMostOnce : Repeat::Loop;
  polled_loop(begin, end, 1, repeat, cycles_of(s.body), step);
}

/// Replaces the inputs' pointers by opaque ones, so that the compiler cannot reuse earlier loads, and cannot
/// hoist loads above the previous step's terms, since the pointers seem to depend on the tiles; there are no
/// registers for either. Returns the pointers to restore.
std::vector<llvm::Value*> Emitter::hide_buffers(const loops::Block& body) {
  constexpr size_t kMostPointers = 6;
  const size_t most = machine_.has_avx512 ? 28 : 13;  // registers not needed for loads
  std::vector<llvm::AllocaInst*> slots;
  for (const auto& [local, reduced] : BodyFacts(body).reduced)
    if (const Local& tile = locals_.at(local);
        !tile.shape.empty() && slots.size() + tile.slots.size() <= most && fits_register(tile))
      slots.insert(slots.end(), tile.slots.begin(), tile.slots.end());
  std::vector<llvm::Value*> buffers = buffers_;
  std::vector<size_t> inputs;
  std::vector<llvm::Value*> values;
  for (size_t k = 0; k < buffers_.size(); ++k)
    if (!kernel_.buffers[k].is_output && inputs.size() < kMostPointers) {
      inputs.push_back(k);
      values.push_back(buffers_[k]);
    }
  for (llvm::AllocaInst* slot : slots) values.push_back(b_.CreateLoad(slot->getAllocatedType(), slot));
  const std::vector<llvm::Value*> same = hidden(values);
  for (size_t k = 0; k < inputs.size(); ++k) buffers_[inputs[k]] = same[k];
  for (size_t k = 0; k < slots.size(); ++k) b_.CreateStore(same[inputs.size() + k], slots[k]);
  return buffers;
}

/// Whether a place of the tile is a vector that fits one register.
bool Emitter::fits_register(const Local& tile) const {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(tile.slot()->getAllocatedType());
  if (!type || !type->getElementType()->isFloatTy()) return false;
  const auto bits = type->getPrimitiveSizeInBits().getFixedValue();
  return (bits == 512 && machine_.has_avx512) || (bits == 256 && machine_.has_avx2);
}

/// Makes the values opaque to the compiler, and seemingly dependent on each other, by empty inline assembly
/// with all of them in registers. Poison stays poison.
std::vector<llvm::Value*> Emitter::hidden(std::vector<llvm::Value*> values) {
  std::vector<llvm::Value**> known;
  std::vector<llvm::Value*> operands;
  std::vector<llvm::Type*> types;
  std::string results, ties;
  for (llvm::Value*& value : values) {
    if (llvm::isa<llvm::PoisonValue>(value)) continue;
    results += value->getType()->isVectorTy() ? (machine_.has_avx512 ? "=v," : "=x,") : "=r,";
    ties += (types.empty() ? "" : ",") + std::to_string(types.size());
    types.push_back(value->getType());
    operands.push_back(value);
    known.push_back(&value);
  }
  llvm::Type* all = types.size() == 1 ? types[0] : llvm::StructType::get(module_.getContext(), types);
  auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(all, types, false), "", results + ties, true);
  llvm::Value* same = b_.CreateCall(code, operands);
  for (unsigned k = 0; k < known.size(); ++k)
    *known[k] = known.size() == 1 ? same : b_.CreateExtractValue(same, k);
  return values;
}

void Emitter::at_known_index(Dim var, Dim index, const loops::Block& body) {
  known_[var] = index;
  block(body);
  known_.erase(var);
}

/// Emits a step; with `fenced`, the next step cannot reuse its loads.
void Emitter::unrolled_step(const loops::For& s, const loops::Unrolled& steps, Dim index) {
  const auto buffers = steps.fenced ? hide_buffers(s.body) : buffers_;
  at_known_index(s.var, index, s.body);
  buffers_ = buffers;
}

/// In a partially unrolled loop, indices of neighbouring steps differ by a constant, which addresses exploit.
void Emitter::emit_loop(const loops::For& s, const loops::Unrolled& steps) {
  QUERN_CHECK(!varies(s.extent));
  if (is_const(s.extent, steps.width)) {
    for (int64_t i = 0; i < steps.width; ++i) unrolled_step(s, steps, dim_const(i));
    if (steps.fenced) buffers_ = hide_buffers(s.body);
    return;
  }
  const auto width = static_cast<uint64_t>(steps.width);
  llvm::Value* extent = dim(s.extent);
  llvm::Value* whole = b_.CreateSub(extent, b_.CreateURem(extent, b_.getInt64(width)));
  const auto several = [&](llvm::Value* begin, llvm::Value* end, uint64_t step) {
    const Repeat repeat = step == width ? Repeat::Loop : Repeat::FewTimes;
    polled_loop(begin, end, step, repeat, static_cast<double>(step) * cycles_of(s.body), [&](llvm::Value* i) {
      open_scope();
      const Dim first = dim_var(s.var->name);
      bind(first, i);
      const Facts outside = facts_;
      facts_.add_index(first, here(s.extent));
      for (uint64_t ahead = 0; ahead < step; ++ahead)
        unrolled_step(s, steps, dim_add(first, dim_const(static_cast<int64_t>(ahead))));
      if (steps.fenced) buffers_ = hide_buffers(s.body);
      facts_ = outside;
      close_scope();
    });
  };
  several(b_.getInt64(0), whole, width);
  several(whole, extent, 1);
}

void Emitter::emit_loop(const loops::For& s, const loops::Vectorized& lanes) {
  if (machine_.is_gpu && lanes.unrolled) return operations_.refuse("tiles in lanes");
  if (lanes.width <= 1 || machine_.is_gpu) return emit_loop(s, loops::Serial());
  QUERN_CHECK(!lanes_);
  if (lanes.unrolled) return unrolled_strips(s, lanes);
  const BodyFacts facts(s.body);
  const unsigned copies = copies_of(s.extent, lanes.width, facts);
  const auto width = static_cast<unsigned>(lanes.width);
  llvm::Value* extent = dim(s.extent);
  llvm::Value* whole = b_.CreateSub(extent, b_.CreateURem(extent, b_.getInt64(width * copies)));
  for (const auto& [local, reduced] : facts.reduced) {
    open_partials(local, reduced.kind, copies, width);
    if (reduced.index_local >= 0) open_positions(reduced.index_local, copies, width);
  }
  strips(s, lanes, b_.getInt64(0), whole, copies, false, Repeat::Loop);
  const auto known = as_const(s.extent);
  const bool masked = !known || *known % width != 0;
  strips(s, lanes, whole, extent, 1, masked, copies == 1 ? Repeat::AtMostOnce : Repeat::FewTimes);
  for (const auto& [local, reduced] : facts.reduced) close_partials(local, reduced.kind, reduced.index_local);
}

void Emitter::strips(const loops::For& s, const loops::Vectorized& lanes, llvm::Value* begin,
                     llvm::Value* end, unsigned copies, bool masked, Repeat repeat) {
  const uint64_t step = static_cast<uint64_t>(lanes.width) * copies;
  const auto body = [&](llvm::Value* i) {
    open_scope();
    const Dim first = dim_var(s.var->name);
    bind(first, i);
    for (unsigned copy = 0; copy < copies; ++copy)
      strip(s, lanes, dim_add(first, dim_const(int64_t{copy} * lanes.width)), copy, masked ? end : nullptr);
    close_scope();
  };
  polled_loop(begin, end, step, repeat, copies * cycles_of(s.body), body);
}

void Emitter::unrolled_strips(const loops::For& s, const loops::Vectorized& lanes) {
  const auto known = as_const(here(s.extent));
  const int64_t extent = known.value_or(lanes.most);
  for (int64_t first = 0; first < extent; first += lanes.width) {
    const bool masked = !known || first + lanes.width > extent;
    strip(s, lanes, dim_const(first), 0, masked ? dim(s.extent) : nullptr);
  }
}

namespace {

/// How many of the lanes are before the end of the loop; 0 if unknown.
unsigned known_lanes(Dim first, Dim extent, unsigned width) {
  const auto left = as_const(dim_sub(extent, first));
  return left ? static_cast<unsigned>(std::clamp<int64_t>(*left, 0, width)) : 0;
}

}  // namespace

/// Emits one vector of points; only those before `masked_end`, if given.
void Emitter::strip(const loops::For& s, const loops::Vectorized& lanes, Dim first, unsigned copy,
                    llvm::Value* masked_end) {
  const auto width = static_cast<unsigned>(lanes.width);
  llvm::Value* mask = nullptr;
  llvm::Value* start = dim(first);
  if (masked_end) {
    llvm::Value* left =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(masked_end, start), b_.getInt64(width));
    if (lanes.most > 0) left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, b_.getInt64(0));
    llvm::Value* narrow = spread(b_.CreateTrunc(left, b_.getInt32Ty()), width);
    mask = b_.CreateICmpULT(b_.CreateStepVector(narrow->getType()), narrow);
  }
  lanes_ = {s.var, width, first, mask, false, copy, known_lanes(first, here(s.extent), width), mask};
  llvm::Value* points = b_.CreateNSWAdd(spread(start, width), lane_numbers(width));
  const Facts outside = facts_;
  if (const auto begin = as_const(first)) {
    const Dim end = dim_const(*begin + lanes.width);
    facts_.add_index(s.var, masked_end ? dim_min(end, here(s.extent)) : end);
    facts_.add_lower(s.var, *begin);
  }
  open_scope();
  bind(s.var, points);
  block(s.body);
  close_scope();
  facts_ = outside;
  lanes_.reset();
}

llvm::Value* Emitter::lane_numbers(unsigned width) {
  return b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt64Ty(), width));
}

}  // namespace quern::codegen
