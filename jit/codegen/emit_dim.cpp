// Index arithmetic: dims to i64, each hoisted to the start of the outermost loop in which all its variables
// have values; and the addresses built from them.

#include <algorithm>
#include <array>

#include "ir/base/result.h"
#include "jit/codegen/emitter.h"

namespace quern::codegen {

size_t Emitter::level_of(Dim d) const {
  if (d->kind == DimKind::Var) {
    const auto found = variables_.find(d);
    QUERN_CHECK(found != variables_.end() && found->second.level < scopes_.size());
    return found->second.level;
  }
  size_t level = 0;
  for (const Dim arg : d->args) level = std::max(level, level_of(arg));
  return level;
}

bool Emitter::varies(Dim d) const { return lanes_ && contains_var(d, lanes_->var); }

Dim Emitter::here(Dim d) const { return known_.empty() ? d : substitute(d, known_); }

llvm::Value* Emitter::dim(Dim d) {
  d = here(d);
  if (const auto constant = as_const(d)) return b_.getInt64(static_cast<uint64_t>(*constant));
  Scope& scope = scopes_[level_of(d)];
  if (const auto found = scope.dims.find(d); found != scope.dims.end()) return found->second;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(scope.marker);
  llvm::Value* result = compute(d);
  scope.dims.emplace(d, result);
  return result;
}

llvm::Value* Emitter::compute(Dim d) {
  switch (d->kind) {
    case DimKind::Const: return b_.getInt64(static_cast<uint64_t>(d->value));
    case DimKind::Var: return variables_.at(d).value;
    case DimKind::Sum: return sum(d);
    case DimKind::Product: return product(d);
    case DimKind::FloorDiv:
    case DimKind::FloorMod: return quotient(d);
    case DimKind::Min:
      return combine_dims(d, [&](llvm::Value* a, llvm::Value* b) {
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
      });
    case DimKind::Max:
      return combine_dims(d, [&](llvm::Value* a, llvm::Value* b) {
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
      });
    case DimKind::Broadcast:
      return combine_dims(d, [&](llvm::Value* a, llvm::Value* b) {
        llvm::Value* is_one = b_.CreateICmpEQ(a, llvm::ConstantInt::get(a->getType(), 1));
        return b_.CreateSelect(is_one, b, a);
      });
    case DimKind::Any:
    case DimKind::Infer: break;
  }
  QUERN_CHECK(!"a dim with a value at run time");
  return nullptr;
}

llvm::Value* Emitter::combine_dims(Dim d,
                                   const std::function<llvm::Value*(llvm::Value*, llvm::Value*)>& step) {
  llvm::Value* result = dim(d->args[0]);
  for (const Dim arg : d->args.subspan(1)) {
    std::array<llvm::Value*, 2> operands{result, dim(arg)};
    unify(operands);
    result = step(operands[0], operands[1]);
  }
  return result;
}

namespace {

bool is_known(llvm::Value* value, uint64_t constant) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(value);
  return known && known->equalsInt(constant);
}

}  // namespace

llvm::Value* Emitter::add(llvm::Value* a, llvm::Value* b) {
  if (is_known(a, 0)) return b;
  return is_known(b, 0) ? a : b_.CreateNSWAdd(a, b);
}

llvm::Value* Emitter::multiply(llvm::Value* a, llvm::Value* b) {
  if (is_known(a, 1)) return b;
  return is_known(b, 1) ? a : b_.CreateNSWMul(a, b);
}

/// Terms of outer loops are summed there. The constant is added last, so that it folds into an address.
llvm::Value* Emitter::sum(Dim d) {
  std::vector<Dim> terms(d->args.begin(), d->args.end());
  const auto rank = [&](Dim term) { return term->kind == DimKind::Const ? SIZE_MAX : level_of(term); };
  std::stable_sort(terms.begin(), terms.end(), [&](Dim a, Dim b) { return rank(a) < rank(b); });
  llvm::Value* total = dim(terms.front());
  for (size_t i = 1; i < terms.size(); ++i) {
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    if (terms[i]->kind != DimKind::Const) b_.SetInsertPoint(scopes_[rank(terms[i])].marker);
    std::array<llvm::Value*, 2> operands{total, dim(terms[i])};
    unify(operands);
    total = add(operands[0], operands[1]);
  }
  return total;
}

llvm::Value* Emitter::product(Dim d) {
  std::vector<Dim> factors(d->args.begin(), d->args.end());
  std::stable_sort(factors.begin(), factors.end(), [&](Dim a, Dim b) { return level_of(a) < level_of(b); });
  llvm::Value* total = b_.getInt64(static_cast<uint64_t>(d->value));
  for (const Dim factor : factors) {
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(scopes_[level_of(factor)].marker);
    std::array<llvm::Value*, 2> operands{total, dim(factor)};
    unify(operands);
    total = multiply(operands[0], operands[1]);
  }
  return total;
}

/// If neither operand can be negative, flooring and truncation agree. No fact about a loop may be used for
/// this: the dim may be the loop's own extent, or be computed before a loop that does not run. For the same
/// reason a possibly zero divisor is guarded.
llvm::Value* Emitter::quotient(Dim d) {
  const bool is_div = d->kind == DimKind::FloorDiv;
  std::array<llvm::Value*, 2> operands{dim(d->args[0]), dim(d->args[1])};
  unify(operands);
  auto [a, b] = operands;
  const Facts none;
  if (!prove_nonnegative(d->args[0], none) || !prove_nonnegative(d->args[1], none)) {
    return is_div ? operations_.floor_div(a, b) : operations_.floor_mod(a, b);
  }
  if (as_const(d->args[1]).value_or(0) == 0) {
    llvm::Value* is_zero = b_.CreateIsNull(b);
    b = b_.CreateSelect(is_zero, llvm::ConstantInt::get(b->getType(), 1), b);
  }
  return is_div ? b_.CreateUDiv(a, b) : b_.CreateURem(a, b);
}

// --- addresses -----------------------------------------------------------------------------------

namespace {

int64_t constant_term(Dim d) {
  if (const auto constant = as_const(d)) return *constant;
  return d->kind == DimKind::Sum ? as_const(d->args.back()).value_or(0) : 0;
}

}  // namespace

void Emitter::set_base(Address& where, Dim base) {
  where.displacement = constant_term(base);
  where.base = dim(dim_sub(base, dim_const(where.displacement)));
}

Emitter::Address Emitter::address(Dim offset, const std::vector<loops::ComputedOffset>& computed) {
  Address where{b_.getInt64(0), 0, nullptr, false, false};
  offset = here(offset);
  if (!varies(offset)) {
    set_base(where, offset);
  } else if (const auto linear = linear_in(offset, lanes_->var)) {
    set_base(where, dim_add(dim_mul(linear->coefficient, lanes_->first), linear->rest));
    where.contiguous = is_const(linear->coefficient, 1);
    where.every_second = is_const(linear->coefficient, 2) && computed.empty();
    if (!where.contiguous || !computed.empty()) {
      llvm::Value* stride = spread(dim(linear->coefficient), lanes_->width);
      where.per_lane = b_.CreateMul(lane_numbers(lanes_->width), stride);
    }
  } else {
    where.per_lane = dim(offset);
    if (computed.empty()) where.places = places_of_lanes(offset);
  }
  bool lanes_differ = false;
  for (const loops::ComputedOffset& part : computed) {
    std::array<llvm::Value*, 2> factors{value(*part.index), dim(part.stride)};
    unify(factors);
    llvm::Value* moved = multiply(factors[0], factors[1]);
    if (!moved->getType()->isVectorTy()) {
      where.base = add(where.base, moved);
    } else {
      where.per_lane = where.per_lane ? b_.CreateAdd(where.per_lane, moved) : moved;
      lanes_differ = true;
    }
  }
  if (lanes_differ) where.contiguous = false;
  if (where.contiguous) where.per_lane = nullptr;
  return where;
}

/// One pointer, or one per lane if the address varies per lane.
llvm::Value* Emitter::pointer(int buffer, const Address& where) {
  if (machine_.checks_bounds) check_bounds(buffer, where);
  const auto index = static_cast<size_t>(buffer);
  llvm::Type* element = operations_.in_memory(kernel_.buffers.at(index).dtype);
  llvm::Value* base = b_.CreateGEP(element, buffers_[index], where.base);
  if (where.displacement != 0)
    base = b_.CreateConstGEP1_64(element, base, static_cast<uint64_t>(where.displacement));
  return where.per_lane ? b_.CreateGEP(element, base, where.per_lane) : base;
}

/// Stops the kernel if an active lane is out of bounds, which would be a bug in Quern.
void Emitter::check_bounds(int buffer, const Address& where) {
  llvm::Value* offset = b_.CreateAdd(where.base, b_.getInt64(static_cast<uint64_t>(where.displacement)));
  if (where.per_lane || where.contiguous || where.every_second) {
    llvm::Value* lanes = where.per_lane;
    if (!lanes) lanes = lane_numbers(lanes_->width);
    if (!where.per_lane && where.every_second) lanes = b_.CreateAdd(lanes, lanes);
    offset = b_.CreateAdd(spread(offset, lanes_->width), lanes);
  }
  llvm::Value* size = dim(dim_product(kernel_.buffers.at(static_cast<size_t>(buffer)).shape));
  llvm::Value* outside = b_.CreateICmpUGE(offset, spread_like(size, offset));
  llvm::Value* mask = lanes_ ? lanes_->mask : nullptr;
  if (outside->getType()->isVectorTy()) {
    outside = b_.CreateOrReduce(both(outside, mask));
  } else if (mask && lanes_->may_be_empty) {
    outside = b_.CreateAnd(outside, b_.CreateOrReduce(mask));
  }
  trap_if(outside, loops::kOutOfBuffer);
}

}  // namespace quern::codegen
