// Values: loads and their bounds, functions, locals.

#include <algorithm>
#include <array>

#include "ir/base/result.h"
#include "jit/codegen/emitter.h"
#include "jit/loops/build.h"

namespace quern::codegen {

llvm::Value* Emitter::value(const loops::Value& v) {
  if (const auto found = memo_.find(&v); found != memo_.end()) return found->second;
  llvm::Value* result = evaluate(v);
  memo_.emplace(&v, result);
  return result;
}

llvm::Value* Emitter::evaluate(const loops::Value& v) {
  if (auto* checked = loops::as<loops::CheckedValue>(v); checked && checked->trap > 0)
    stop_unless_inside(*checked);
  return loops::visit(v, [this](const auto& node) { return emit(node); });
}

llvm::Value* Emitter::emit(const loops::ConstValue& v) { return operations_.constant(v.constant); }

llvm::Value* Emitter::emit(const loops::IndexValue& v) { return dim(v.dim); }

llvm::Value* Emitter::emit(const loops::ApplyValue& v) {
  llvm::SmallVector<llvm::Value*, 2> args;
  for (const loops::ValuePtr& arg : v.args) args.push_back(value(*arg));
  unify(args);
  return operations_.apply(v.op, v.args[0]->dtype, args);
}

llvm::Value* Emitter::emit(const loops::CastValue& v) {
  return operations_.cast(value(*v.value), v.value->dtype, v.dtype);
}

llvm::Value* Emitter::emit(const loops::SelectValue& v) {
  llvm::Value* chosen = value(*v.condition);
  std::array<llvm::Value*, 2> arms{value(*v.then_arm), value(*v.else_arm)};
  unify(arms);
  if (chosen->getType()->isVectorTy())
    arms = {spread(arms[0], lanes_->width), spread(arms[1], lanes_->width)};
  return b_.CreateSelect(chosen, arms[0], arms[1]);
}

llvm::Value* Emitter::emit(const loops::LocalValue& v) {
  const Local& local = locals_.at(v.local);
  QUERN_CHECK(local.partials.empty());
  llvm::AllocaInst* slot = place(local, v.indices);
  return b_.CreateLoad(slot->getAllocatedType(), slot);
}

llvm::Value* Emitter::emit(const loops::DotValue&) {
  QUERN_CHECK(false && "a dot product without its accumulator");
  return nullptr;
}

// --- shapes and masks ----------------------------------------------------------------------------

llvm::Value* Emitter::spread(llvm::Value* v, unsigned width) {
  return v->getType()->isVectorTy() ? v : b_.CreateVectorSplat(width, v);
}

/// Broadcasts to as many lanes as `like` has.
llvm::Value* Emitter::spread_like(llvm::Value* v, llvm::Value* like) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return type ? spread(v, type->getNumElements()) : v;
}

void Emitter::unify(llvm::MutableArrayRef<llvm::Value*> values) {
  const bool any = llvm::any_of(values, [](const llvm::Value* v) { return v->getType()->isVectorTy(); });
  if (!any) return;
  for (llvm::Value*& v : values) v = spread(v, lanes_->width);
}

/// The conjunction; null is true.
llvm::Value* Emitter::both(llvm::Value* a, llvm::Value* b) {
  if (!a || !b) return a ? a : b;
  return b_.CreateAnd(a, b);
}

llvm::Value* Emitter::under_mask(llvm::Value* mask, const std::function<llvm::Value*()>& body) {
  const Lanes outer = *lanes_;
  const auto seen = memo_;
  lanes_->mask = both(outer.mask, mask);
  lanes_->may_be_empty = true;
  llvm::Value* result = body();
  lanes_ = outer;
  memo_ = seen;
  return result;
}

// --- loads ---------------------------------------------------------------------------------------

llvm::Value* Emitter::emit(const loops::LoadValue& v) {
  if (v.checks.empty()) return unchecked_load(v, nullptr);
  if (v.unseen) return unseen_load(v);
  return v.otherwise ? load_or_otherwise(v) : load_past_traps(v);
}

/// `pass_through`, of the type in memory, fills inactive lanes; null for zeros.
llvm::Value* Emitter::unchecked_load(const loops::LoadValue& v, llvm::Value* pass_through) {
  const DType dtype = kernel_.buffers.at(static_cast<size_t>(v.buffer)).dtype;
  QUERN_CHECK(dtype == v.dtype);
  llvm::Type* element = operations_.in_memory(dtype);
  const llvm::Align align(dtype.bytes());
  Address where = address(v.offset, v.computed);
  const bool uniform = !where.per_lane && !where.contiguous;
  if (uniform && !(lanes_ && lanes_->may_be_empty)) {
    return operations_.from_memory(dtype, b_.CreateAlignedLoad(element, pointer(v.buffer, where), align));
  }
  auto* type = llvm::FixedVectorType::get(element, lanes_->width);
  llvm::Value* mask = lanes_->mask;
  const bool given = pass_through != nullptr;
  if (mask)
    pass_through = pass_through ? spread(pass_through, lanes_->width) : llvm::Constant::getNullValue(type);
  if (uniform) where.per_lane = spread(b_.getInt64(0), lanes_->width);
  if (where.every_second && !mask && lanes_->width % 2 == 0) {
    where.per_lane = nullptr;
    return operations_.from_memory(dtype, load_every_second(element, pointer(v.buffer, where), align));
  }
  const auto is_near = [&](int64_t place) { return place >= 0 && place < int64_t{lanes_->width}; };
  if (!where.places.empty() && !given && mask == lanes_->strip_mask &&
      std::ranges::all_of(where.places, is_near)) {
    const Dim first = quern::substitute(here(v.offset), {{lanes_->var, lanes_->first}});
    const int64_t before = steps_before(first, where.places);
    for (int64_t& place : where.places) place += before;
    Address lowest = where;
    set_base(lowest, dim_sub(first, dim_const(before)));
    lowest.per_lane = nullptr;
    return operations_.from_memory(dtype,
                                   load_in_places(element, pointer(v.buffer, lowest), align, where.places));
  }
  llvm::Value* from = pointer(v.buffer, where);
  llvm::Value* loaded = nullptr;
  if (where.per_lane) {
    loaded = b_.CreateMaskedGather(type, from, align, mask, mask ? pass_through : nullptr);
  } else if (mask) {
    loaded = b_.CreateMaskedLoad(type, from, align, mask, pass_through);
  } else {
    loaded = b_.CreateAlignedLoad(type, from, align);
  }
  return operations_.from_memory(dtype, loaded);
}

/// For unrolled steps it pays to know which stay in bounds.
bool Emitter::holds(const loops::BoundsCheck& check) const {
  if (known_.empty() || check.computed) return false;
  const Dim index = here(check.index);
  return prove_nonnegative(index, facts_) && prove_less(index, here(check.extent), facts_);
}

/// The load with its index clamped where a uniform check may fail; checks that vary across lanes remain.
loops::LoadValue Emitter::inside_of(const loops::LoadValue& v) {
  loops::LoadValue inside = v;
  inside.checks.clear();
  for (const loops::BoundsCheck& check : v.checks) {
    if (holds(check)) continue;
    if (varies(here(check.index))) {
      inside.checks.push_back(check);
      continue;
    }
    const Dim last = dim_sub(check.extent, dim_const(1));
    const Dim clamped = dim_max(dim_min(check.index, last), dim_const(0));
    inside.offset = dim_add(inside.offset, dim_mul(dim_sub(clamped, check.index), check.stride));
  }
  return inside;
}

/// Checks that vary across lanes become a mask, so that the lanes stay contiguous.
llvm::Value* Emitter::unseen_load(const loops::LoadValue& v) {
  const loops::LoadValue inside = inside_of(v);
  return inside.checks.empty() ? unchecked_load(inside, nullptr) : load_or_otherwise(inside);
}

/// Lanes that traverse channels of neighbouring groups are a few elements apart.
llvm::SmallVector<int64_t, 64> Emitter::places_of_lanes(Dim offset) {
  llvm::SmallVector<int64_t, 64> places;
  const auto at = [&](unsigned lane) {
    const Dim index = dim_add(lanes_->first, dim_const(int64_t{lane}));
    return quern::substitute(offset, {{lanes_->var, index}});
  };
  if (!as_const(lanes_->first) || lanes_->active == 0) return places;
  for (unsigned lane = 0; lane < lanes_->width; ++lane) {
    const auto place = lane < lanes_->active ? as_const(dim_sub(at(lane), at(0))) : std::optional<int64_t>(0);
    if (!place) return {};
    places.push_back(*place);
  }
  return places;
}

/// How many elements before the first lane an aligned vector that covers all places begins: it lies in one
/// cache line, and neighbouring steps read the same one. 0 if none is known.
int64_t Emitter::steps_before(Dim first, const llvm::SmallVector<int64_t, 64>& places) const {
  const int64_t width = lanes_->width;
  const auto before = as_const(simplify(dim_floormod(first, dim_const(width)), facts_));
  return before && *before + *std::ranges::max_element(places) < width ? *before : 0;
}

/// Loads one vector and permutes its elements to their lanes; reads nothing beyond the last of them.
llvm::Value* Emitter::load_in_places(llvm::Type* element, llvm::Value* from, llvm::Align align,
                                     const llvm::SmallVector<int64_t, 64>& places) {
  const unsigned width = lanes_->width;
  const llvm::SmallVector<int, 64> taken(places.begin(), places.end());
  auto* type = llvm::FixedVectorType::get(element, width);
  llvm::SmallVector<llvm::Constant*, 64> read;
  const int last = *std::max_element(taken.begin(), taken.end());
  for (unsigned lane = 0; lane < width; ++lane) read.push_back(b_.getInt1(static_cast<int>(lane) <= last));
  llvm::Value* loaded = b_.CreateMaskedLoad(type, from, align, llvm::ConstantVector::get(read),
                                            llvm::Constant::getNullValue(type));
  return b_.CreateShuffleVector(loaded, taken);
}

/// Loads two vectors, the second of which ends at the last lane: reads nothing beyond it.
llvm::Value* Emitter::load_every_second(llvm::Type* element, llvm::Value* from, llvm::Align align) {
  const unsigned width = lanes_->width;
  auto* type = llvm::FixedVectorType::get(element, width);
  llvm::Value* first = b_.CreateAlignedLoad(type, from, align);
  llvm::Value* second = b_.CreateAlignedLoad(type, b_.CreateConstGEP1_64(element, from, width - 1), align);
  llvm::SmallVector<int, 64> lanes;
  for (unsigned lane = 0; lane < width; ++lane) {
    const unsigned at = 2 * lane;
    lanes.push_back(static_cast<int>(at < width ? at : width + at - (width - 1)));
  }
  return b_.CreateShuffleVector(first, second, lanes);
}

/// 0 <= index < extent is one unsigned comparison, since no extent is negative.
Emitter::Condition Emitter::condition(const std::vector<loops::BoundsCheck>& checks) {
  Condition all;
  for (const loops::BoundsCheck& check : checks) {
    if (holds(check)) continue;
    llvm::Value* index = check.computed ? value(*check.computed) : dim(check.index);
    std::array<llvm::Value*, 2> operands{index, dim(check.extent)};
    unify(operands);
    llvm::Value* inside = b_.CreateICmpULT(operands[0], operands[1]);
    if (const auto* known = llvm::dyn_cast<llvm::Constant>(inside); known && known->isAllOnesValue())
      continue;
    llvm::Value*& part = inside->getType()->isVectorTy() ? all.varying : all.uniform;
    part = both(part, inside);
  }
  return all;
}

void Emitter::trap_if(llvm::Value* failed, int trap) {
  if (machine_.is_gpu) return operations_.refuse("bounds checks that stop the kernel");
  if (!trap_number_) {
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(exit_);
    trap_number_ = b_.CreatePHI(b_.getInt32Ty(), 4);
  }
  auto* on = llvm::BasicBlock::Create(module_.getContext(), "inside", function_, exit_);
  trap_number_->addIncoming(b_.getInt32(static_cast<uint32_t>(trap)), b_.GetInsertBlock());
  b_.CreateCondBr(failed, exit_, on);
  b_.SetInsertPoint(on);
}

namespace {

/// Its checks that are guards, or those that are not.
std::vector<loops::BoundsCheck> checks_of(const loops::CheckedValue& v, bool guards) {
  std::vector<loops::BoundsCheck> found;
  for (const loops::BoundsCheck& check : v.checks)
    if (check.is_guard == guards) found.push_back(check);
  return found;
}

}  // namespace

/// Stops the kernel if a check fails in an active lane whose guards all hold.
void Emitter::stop_unless_inside(const loops::CheckedValue& v) {
  const Condition inside = condition(checks_of(v, false)), guards = condition(checks_of(v, true));
  llvm::Value* lanes = both(lanes_ ? lanes_->mask : nullptr, guards.varying);
  if (inside.uniform) {
    llvm::Value* failed = both(b_.CreateNot(inside.uniform), guards.uniform);
    const bool may_be_empty = guards.varying || (lanes_ && lanes_->may_be_empty);
    if (lanes && may_be_empty) failed = b_.CreateAnd(failed, b_.CreateOrReduce(lanes));
    trap_if(failed, v.trap);
  }
  if (inside.varying) {
    llvm::Value* failed = b_.CreateOrReduce(both(lanes, b_.CreateNot(inside.varying)));
    trap_if(both(failed, guards.uniform), v.trap);
  }
}

/// After the traps every active lane is in bounds, unless a guard fails.
llvm::Value* Emitter::load_past_traps(const loops::LoadValue& v) {
  loops::LoadValue inside = v;
  inside.trap = 0;
  inside.checks = checks_of(v, true).empty() ? std::vector<loops::BoundsCheck>() : checks_of(v, false);
  if (inside.checks.empty()) return unchecked_load(inside, nullptr);
  inside.otherwise = unseen_.emplace_back(loops::constant(Scalar::from_int(v.dtype, 0)));
  return load_or_otherwise(inside);
}

/// Uniform conditions become a branch, varying ones a mask.
llvm::Value* Emitter::load_or_otherwise(const loops::LoadValue& v) {
  const Condition inside = condition(v.checks);
  if (!inside.uniform) return masked_or_otherwise(v, inside.varying);
  llvm::LLVMContext& context = module_.getContext();
  auto* in = llvm::BasicBlock::Create(context, "in", function_, exit_);
  auto* out = llvm::BasicBlock::Create(context, "out", function_, exit_);
  auto* join = llvm::BasicBlock::Create(context, "join", function_, exit_);
  const auto seen = memo_;
  b_.CreateCondBr(inside.uniform, in, out);
  b_.SetInsertPoint(in);
  llvm::Value* loaded = masked_or_otherwise(v, inside.varying);
  in = b_.GetInsertBlock();
  memo_ = seen;
  b_.SetInsertPoint(out);
  llvm::Value* otherwise = value(*v.otherwise);
  out = b_.GetInsertBlock();
  memo_ = seen;
  // Unify the shapes at the end of each arm, since a broadcast must dominate its use.
  if (loaded->getType() != otherwise->getType()) {
    otherwise = spread(otherwise, lanes_->width);
    b_.SetInsertPoint(in);
    loaded = spread(loaded, lanes_->width);
  }
  b_.SetInsertPoint(in);
  b_.CreateBr(join);
  b_.SetInsertPoint(out);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* result = b_.CreatePHI(loaded->getType(), 2);
  result->addIncoming(loaded, in);
  result->addIncoming(otherwise, out);
  return result;
}

llvm::Value* Emitter::masked_or_otherwise(const loops::LoadValue& v, llvm::Value* inside) {
  if (!inside) return unchecked_load(v, nullptr);
  const bool same_in_memory = operations_.in_memory(v.dtype) == operations_.in_register(v.dtype);
  if (loops::as<loops::ConstValue>(v.otherwise) && same_in_memory) {
    llvm::Value* constant = value(*v.otherwise);
    return under_mask(inside, [&] { return unchecked_load(v, constant); });
  }
  llvm::Value* loaded = under_mask(inside, [&] { return unchecked_load(v, nullptr); });
  llvm::Value* otherwise = under_mask(b_.CreateNot(inside), [&] { return value(*v.otherwise); });
  return b_.CreateSelect(inside, spread(loaded, lanes_->width), spread(otherwise, lanes_->width));
}

}  // namespace quern::codegen
