// Reductions across the lanes of a vectorised loop: partial results and their combination.

#include "jit/codegen/emitter.h"

namespace quern::codegen {

void Emitter::open_partials(int index, ReduceKind kind, unsigned copies, unsigned width) {
  Local& local = locals_.at(index);
  llvm::Value* identity = spread(operations_.constant(reduce_identity(kind, local.dtype)), width);
  for (unsigned copy = 0; copy < copies; ++copy) {
    local.partials.push_back(new_slot(identity->getType()));
    b_.CreateStore(identity, local.partials.back());
  }
}

/// For an arg-reduction, which starts at position 0 in every lane.
void Emitter::open_positions(int index, unsigned copies, unsigned width) {
  Local& local = locals_.at(index);
  llvm::Value* first = spread(b_.getInt64(0), width);
  for (unsigned copy = 0; copy < copies; ++copy) {
    local.partials.push_back(new_slot(first->getType()));
    b_.CreateStore(first, local.partials.back());
  }
}

/// Among equally good values of an arg-reduction, picks the first.
Emitter::Partial Emitter::combine(ReduceKind kind, DType dtype, Partial a, Partial b) {
  if (!a.position) return {operations_.combine(kind, dtype, a.value, b.value), nullptr};
  llvm::Value* better = operations_.is_better(kind, dtype, b.value, a.value);
  llvm::Value* worse = operations_.is_better(kind, dtype, a.value, b.value);
  llvm::Value* before = b_.CreateICmpSLT(b.position, a.position);
  llvm::Value* takes = b_.CreateOr(better, b_.CreateAnd(b_.CreateNot(worse), before));
  return {b_.CreateSelect(takes, b.value, a.value), b_.CreateSelect(takes, b.position, a.position)};
}

/// The copies are combined in pairs of neighbours, then the lanes by halves.
void Emitter::close_partials(int index, ReduceKind kind, int index_local) {
  Local& local = locals_.at(index);
  Local* positions = index_local >= 0 ? &locals_.at(index_local) : nullptr;
  const auto load = [&](llvm::AllocaInst* slot) { return b_.CreateLoad(slot->getAllocatedType(), slot); };
  std::vector<Partial> parts;
  for (size_t k = 0; k < local.partials.size(); ++k)
    parts.push_back({load(local.partials[k]), positions ? load(positions->partials[k]) : nullptr});
  while (parts.size() > 1) {
    std::vector<Partial> pairs;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      pairs.push_back(combine(kind, local.dtype, parts[i], parts[i + 1]));
    if (parts.size() % 2 != 0) pairs.push_back(parts.back());
    parts = std::move(pairs);
  }
  const Partial start{load(local.slot()), positions ? load(positions->slot()) : nullptr};
  const Partial total = combine(kind, local.dtype, start, fold_lanes(kind, local.dtype, parts.front()));
  b_.CreateStore(total.value, local.slot());
  local.partials.clear();
  if (!positions) return;
  b_.CreateStore(total.position, positions->slot());
  positions->partials.clear();
}

Emitter::Partial Emitter::fold_lanes(ReduceKind kind, DType dtype, Partial vectors) {
  // Of halves of a sum of products of bytes LLVM 19 makes a dot product of four (combineVPDPBUSDPattern) without the sum of its
  // lanes.
  if (kind == ReduceKind::Sum && dtype.is_int()) return {b_.CreateAddReduce(vectors.value), nullptr};
  const auto each = [](Partial p, const auto& take) {
    return Partial{take(p.value), p.position ? take(p.position) : nullptr};
  };
  auto width = llvm::cast<llvm::FixedVectorType>(vectors.value->getType())->getNumElements();
  for (; width % 2 == 0; width /= 2) {
    llvm::SmallVector<int, 64> low;
    llvm::SmallVector<int, 64> high;
    for (unsigned lane = 0; lane < width / 2; ++lane) {
      low.push_back(static_cast<int>(lane));
      high.push_back(static_cast<int>(lane + width / 2));
    }
    const auto part = [&](llvm::ArrayRef<int> lanes) {
      return each(vectors, [&](llvm::Value* v) { return b_.CreateShuffleVector(v, lanes); });
    };
    vectors = combine(kind, dtype, part(low), part(high));
  }
  const auto lane = [&](uint64_t k) {
    return each(vectors, [&](llvm::Value* v) { return b_.CreateExtractElement(v, k); });
  };
  Partial total = lane(0);
  for (unsigned k = 1; k < width; ++k) total = combine(kind, dtype, total, lane(k));
  return total;
}

}  // namespace quern::codegen
