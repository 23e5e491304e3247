// The conditions on an element: guards of arms, possibly zero divisors, and terms that count only under a
// condition on dims.

#include <algorithm>

#include "jit/compute/lowering.h"
#include "jit/compute/statements.h"
#include "passes/dim_conditions.h"
#include "passes/may_fail.h"

namespace quern::loops {

namespace {

// An index that is in bounds of extent 1 if it is 0.
ValuePtr choose(const ValuePtr& condition, int64_t then, int64_t otherwise) {
  return select(condition, index_value(dim_const(then)), index_value(dim_const(otherwise)));
}

}  // namespace

void Lowering::enter(Dim var, Dim extent) {
  index_vars_.insert(var);
  facts_.add_index(var, extent);
}

ValuePtr Lowering::value_where(const ValuePtr& condition, bool wanted, ExprPtr arm,
                               std::vector<Reduction>& reductions) {
  BoundsCheck guard{nullptr, wanted ? choose(condition, 0, -1) : choose(condition, -1, 0), dim_const(1)};
  guard.is_guard = true;
  guards_.push_back(std::move(guard));
  ValuePtr result = value(arm, reductions);
  guards_.pop_back();
  return result;
}

ValuePtr Lowering::shared(ValuePtr value, std::vector<Reduction>& reductions) {
  const bool reads_inside = any_of(value, [](const Value& v) {
    auto* load = as<LoadValue>(v);
    auto* checked = as<CheckedValue>(v);
    return (load && !load->computed.empty()) ||
           (checked && std::ranges::any_of(checked->checks, [](const BoundsCheck& check) {
              return check.computed != nullptr;
            }));
  });
  return reads_inside ? bound(std::move(value), reductions) : value;
}

ValuePtr Lowering::bound(ValuePtr value, std::vector<Reduction>& reductions) {
  Reduction let{ReduceKind::Sum, {}, {}};
  let.is_let = true;
  let.accumulator = value->dtype;
  let.value = std::move(value);
  let.local = result_.locals++;
  reductions.push_back(let);
  return value_of(let.local, let.accumulator);
}

BoundsCheck Lowering::not_zero(const ValuePtr& index) {
  return {nullptr, choose(loops::apply(ScalarOp::Eq, {index, index_value(dim_const(0))}), -1, 0),
          dim_const(1)};
}

void Lowering::stop_unless(CheckedValue& v, std::vector<BoundsCheck> checks, std::string_view message) {
  v.checks.insert(v.checks.end(), std::make_move_iterator(checks.begin()),
                  std::make_move_iterator(checks.end()));
  v.checks.insert(v.checks.end(), guards_.begin(), guards_.end());
  result_.traps.emplace_back(message);
  v.trap = static_cast<int>(result_.traps.size());
}

std::vector<BoundsCheck> Lowering::divisor_checks(Dim d) const {
  std::vector<BoundsCheck> checks;
  for_each_quotient(d, [&](Dim quotient) {
    const Dim divisor = quotient->args[1], one = dim_const(1);
    if (is_never_zero(divisor, facts_)) return;
    const Dim size = prove_nonnegative(divisor, facts_) ? divisor : dim_mul(divisor, divisor);
    const BoundsCheck check{dim_sub(size, one), nullptr, size};
    if (!contains(checks, check)) checks.push_back(check);
  });
  return checks;
}

ValuePtr Lowering::index_of(Dim d) {
  IndexValue v{DType::index(), d};
  if (auto checks = divisor_checks(d); !checks.empty()) stop_unless(v, std::move(checks), kDivisionByZero);
  return make(std::move(v));
}

void Lowering::require_extents(std::span<const Dim> extents, std::vector<Reduction>& reductions) {
  for (const Dim extent : extents) {
    if (divisor_checks(extent).empty()) continue;
    bound(index_of(extent), reductions);
  }
}

void Lowering::term(const ReduceExpr& e, Reduction& r) {
  auto* choice = as<IfExpr>(e.body);
  auto* nothing = choice ? as<ConstExpr>(choice->else_arm) : nullptr;
  std::vector<Dim> nonnegative, zero;
  const bool is_conditional =
      !is_arg(e.reduce) && nothing && lanes_agree(*nothing->value) &&
      constant(*nothing->value) == reduce_identity(e.reduce, nothing->type->dtype.lane()) &&
      dim_conditions(choice->condition, nonnegative, zero);
  if (!is_conditional) {
    r.value = value(e.body, r.inner);
    if (!is_arg(r.kind)) collect_absence(*r.value, r.kind, r.checks);
    return;
  }
  r.value = value_where(shared(value(choice->condition, r.inner), r.inner), true, choice->then_arm, r.inner);
  collect_absence(*r.value, r.kind, r.checks);
  Facts known = facts_;
  for (const BoundsCheck& check : r.checks) {
    if (check.computed) continue;
    known.add_nonnegative(check.index);
    known.add_nonnegative(dim_sub(dim_sub(check.extent, check.index), dim_const(1)));
  }
  for (Dim d : zero) r.checks.push_back({d, nullptr, dim_const(1)});
  std::erase_if(nonnegative, [&](Dim d) { return prove_nonnegative(d, known); });
  add_checks(nonnegative, r.checks);
}

void Lowering::add_checks(std::vector<Dim> nonnegative, std::vector<BoundsCheck>& checks) const {
  const auto moves = [&](Dim d) {
    bool any = false;
    for_each_var(d, [&](Dim var) { any |= index_vars_.contains(var); });
    return any;
  };
  while (!nonnegative.empty()) {
    const Dim index = nonnegative.front();
    nonnegative.erase(nonnegative.begin());
    const auto other =
        std::ranges::find_if(nonnegative, [&](Dim d) { return moves(index) && !moves(dim_add(index, d)); });
    const Dim last = other == nonnegative.end() ? index : dim_add(index, *other);
    if (other != nonnegative.end()) nonnegative.erase(other);
    // No extent is negative.
    checks.push_back({index, nullptr, dim_max(dim_add(last, dim_const(1)), dim_const(0))});
  }
}

void Lowering::collect_absence(const Value& v, ReduceKind kind, std::vector<BoundsCheck>& checks) {
  auto* product = as<ApplyValue>(v);
  const bool is_product = kind == ReduceKind::Sum && product && product->op == ScalarOp::Mul;
  if (is_product || as<CastValue>(v))
    return for_each_operand(v, [&](const Value& factor) { collect_absence(factor, kind, checks); });
  auto* load = as<LoadValue>(v);
  auto* padding = load ? as<ConstValue>(load->otherwise) : nullptr;
  if (padding && padding->constant == reduce_identity(kind, load->dtype))
    checks.insert(checks.end(), load->checks.begin(), load->checks.end());
}

}  // namespace quern::loops
