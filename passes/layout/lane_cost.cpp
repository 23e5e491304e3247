#include "passes/layout/lane_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/fusion_class.h"

namespace quern {

namespace {

/// Elements of a vector; the time of a strided access, of a broadcast and of packing an element, in contiguous
/// accesses of a vector; that of a factor's element whose neighbours the next steps of the sum do not read.
constexpr double kLanes = 16, kStrided = 5, kBroadcast = 0.25, kPacked = 2, kScattered = 0.05;
/// The extent that is assumed of a dim without a known value.
constexpr int64_t kAssumed = 64;

double extent_of(Dim extent) {
  return static_cast<double>(std::max<int64_t>(as_const(extent).value_or(kAssumed), 0));
}

double elements_of(Type type) { return extent_of(dim_product(type->dims)); }

enum class Along : uint8_t { Absent, Contiguous, Strided };

/// How an access moves from one step of a loop to the next.
Along along_loop(const KernelAccesses::Access& access, Dim var, size_t innermost) {
  Along found = Along::Absent;
  for (size_t axis = 0; axis < access.indices.size(); ++axis) {
    const Dim index = access.indices[axis];
    if (index && !contains_var(index, var)) continue;
    const std::optional<Linear> linear = index ? linear_in(index, var) : std::nullopt;
    if (axis != innermost || !linear || !is_const(linear->coefficient, 1)) return Along::Strided;
    found = Along::Contiguous;
  }
  return found;
}

}  // namespace

size_t innermost_axis(const AxisOrders& orders, const Variable* tensor, size_t rank) {
  const auto known = orders.find(tensor);
  return known == orders.end() ? rank - 1 : known->second.back();
}

KernelAccesses::KernelAccesses(const ComprehensionExpr& kernel, const Variable* result) : kernel_(kernel) {
  double times = 1;
  for (size_t k = 0; k < kernel.vars.size(); ++k) {
    loops_.push_back({kernel.vars[k], extent_of(kernel.extents[k]), false});
    times *= loops_.back().extent;
  }
  most_times_ = times;
  collect(kernel.body, times);
  accesses_.push_back({result, {kernel.vars.begin(), kernel.vars.end()}, times, times});
}

void KernelAccesses::enter(std::span<const Dim> vars, std::span<const Dim> extents, double& times) {
  for (size_t k = 0; k < vars.size(); ++k) {
    loops_.push_back({vars[k], extent_of(extents[k]), true});
    times *= loops_.back().extent;
  }
  most_times_ = std::max(most_times_, times);
}

void KernelAccesses::collect(ExprPtr expr, double times) {
  const size_t before = accesses_.size();
  auto* reduce = as<ReduceExpr>(expr);
  if (reduce) enter(reduce->vars, reduce->extents, times);
  if (auto* scan = as<ScanExpr>(expr)) enter(scan->vars, scan->extents, times);
  if (auto* read = as<ReadExpr>(expr); read && !read->indices.empty()) {
    auto* var = as<VarExpr>(read->tensor);
    Access access{var ? var->variable : nullptr, {}, times, elements_of(read->tensor->type)};
    for (ExprPtr index : read->indices) {
      auto* dim = as<DimValueExpr>(index);
      access.indices.push_back(dim ? dim->dim : nullptr);
    }
    accesses_.push_back(std::move(access));
  }
  for_each_child(expr, [&](ExprPtr child) { collect(child, times); });
  if (!reduce || !is_contraction(*reduce)) return;
  contraction_ = true;
  for (size_t k = before; k < accesses_.size(); ++k) accesses_[k].factor = true;
}

double KernelAccesses::along(const Loop& lane, const AxisOrders& orders, const Given& given) const {
  const double waste = std::ceil(lane.extent / kLanes) * kLanes / lane.extent;
  double total = most_times_ / kLanes * waste;
  for (const Access& access : accesses_) {
    const size_t innermost = innermost_axis(orders, access.tensor, access.indices.size());
    const Along how = along_loop(access, lane.var, innermost);
    const double vectors = access.times / kLanes * waste;
    if (!access.factor) {
      total += vectors * (how == Along::Strided ? kStrided : how == Along::Contiguous ? 1 : kBroadcast);
    } else if (how == Along::Strided) {
      total += given.contains(access.tensor) ? 0 : access.elements * kPacked;
    } else if (how == Along::Absent) {
      const bool in_order = std::ranges::any_of(loops_, [&](const Loop& loop) {
        return loop.reduced && along_loop(access, loop.var, innermost) == Along::Contiguous;
      });
      total += in_order ? 0 : access.times / kLanes * kScattered;
    }
  }
  return total;
}

double KernelAccesses::cycles(const AxisOrders& orders, const Given& given) const {
  double best = std::numeric_limits<double>::infinity();
  for (const Loop& loop : loops_)
    if (loop.extent > 1 && !(contraction_ && loop.reduced)) best = std::min(best, along(loop, orders, given));
  return std::isinf(best) ? 0 : best;
}

}  // namespace quern
