#include "passes/layout/lane_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/fusion_class.h"

namespace quern {

namespace {

/// Elements of a vector; the time of a strided access, of a broadcast, of a mask and of packing an element, in
/// contiguous accesses of a vector; that of a factor's element whose neighbours the next steps of the sum do not read,
/// and its share where the next rows of the tile do; that of a transpose in squares of a vector's width.
constexpr double kLanes = 16, kStrided = 5, kGathered = 16, kBroadcast = 0.25, kMask = 4, kPacked = 6,
                 kScattered = 0.05, kAmongRows = 0.1, kCopied = 6;
/// How much longer a sum takes whose elements are no tile of neighbours in lanes.
constexpr double kNoTile = 4;
/// How much longer lanes may take that run along a dim without a known value, such as the number of images: few of them
/// leave most lanes empty.
constexpr double kUnknownLane = 2;
/// The extent that is assumed of it.
constexpr int64_t kAssumed = 64;

double extent_of(Dim extent) {
  return static_cast<double>(std::max<int64_t>(as_const(extent).value_or(kAssumed), 0));
}

bool is_known(Dim extent) { return as_const(extent).has_value(); }

double elements_of(Type type) { return extent_of(dim_product(type->dims)); }

size_t innermost_axis(const AxisOrders& orders, const KernelAccesses::Access& access) {
  return access.tensor ? innermost_axis(orders, access.tensor) : access.innermost;
}

enum class Along : uint8_t { Absent, Contiguous, Strided };

bool moves(Dim index, Dim var) { return !index || contains_var(index, var); }

KernelAccesses::Way way_of(const KernelAccesses::Access& access, Dim var) {
  const auto moves_with = [&](Dim index) { return moves(index, var); };
  KernelAccesses::Way way;
  way.masked = std::ranges::any_of(access.checked, moves_with);
  const auto first = std::ranges::find_if(access.indices, moves_with);
  way.moves = first != access.indices.end();
  if (!way.moves || !*first || std::any_of(first + 1, access.indices.end(), moves_with)) return way;
  const std::optional<Linear> linear = linear_in(*first, var);
  if (linear && is_const(linear->coefficient, 1))
    way.by_one = static_cast<size_t>(first - access.indices.begin());
  return way;
}

/// How an access moves from one step of a loop to the next.
Along along_loop(const KernelAccesses::Way& way, size_t innermost) {
  if (!way.moves) return Along::Absent;
  return way.by_one == innermost ? Along::Contiguous : Along::Strided;
}

}  // namespace

double copy_cycles(Type tensor) { return elements_of(tensor) / kLanes * kCopied; }

size_t last_axis(std::span<const Dim> extents) {
  size_t last = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (!is_const(extents[axis], 1)) last = axis;
  return last;
}

size_t innermost_axis(const AxisOrders& orders, const Variable* tensor) {
  const std::span<const Dim> extents = tensor->type->dims;
  const auto known = orders.find(tensor);
  if (known == orders.end()) return last_axis(extents);
  for (size_t k = known->second.size(); k-- > 0;)
    if (!is_const(extents[known->second[k]], 1)) return known->second[k];
  return 0;
}

KernelAccesses::KernelAccesses(const ComprehensionExpr& kernel, const Variable* result) {
  is_copy_ = kernel.body->kind == ExprKind::Read;
  double times = 1;
  for (size_t k = 0; k < kernel.vars.size(); ++k) {
    loops_.push_back({kernel.vars[k], extent_of(kernel.extents[k]), false, is_known(kernel.extents[k])});
    times *= loops_.back().extent;
  }
  most_times_ = times;
  collect(kernel.body, times);
  accesses_.push_back(
      {result, {kernel.vars.begin(), kernel.vars.end()}, {}, times, times, last_axis(kernel.extents)});
  for (Access& access : accesses_)
    for (const Loop& loop : loops_) access.ways.push_back(way_of(access, loop.var));
}

void KernelAccesses::enter(std::span<const Dim> vars, std::span<const Dim> extents, double& times) {
  for (size_t k = 0; k < vars.size(); ++k) {
    loops_.push_back({vars[k], extent_of(extents[k]), true, is_known(extents[k])});
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
    const Type type = read->tensor->type;
    Access access{var ? var->variable : nullptr, {}, {}, times, elements_of(type), last_axis(type->dims)};
    for (size_t k = 0; k < read->indices.size(); ++k) {
      auto* dim = as<DimValueExpr>(read->indices[k]);
      access.indices.push_back(dim ? dim->dim : nullptr);
      if (read->checked[k]) access.checked.push_back(access.indices.back());
    }
    accesses_.push_back(std::move(access));
  }
  for_each_child(expr, [&](ExprPtr child) { collect(child, times); });
  if (!reduce || !is_contraction(*reduce) || !is_tile(std::span(accesses_).subspan(before))) return;
  contraction_ = true;
  for (size_t k = before; k < accesses_.size(); ++k) accesses_[k].factor = true;
}

bool KernelAccesses::is_tile(std::span<const Access> factors) const {
  const auto has_own = [&](const Access& a, const Access& b) {
    return std::ranges::any_of(loops_, [&](const Loop& loop) {
      const auto moves_with = [&](Dim index) { return moves(index, loop.var); };
      return !loop.reduced && loop.extent > 1 && std::ranges::any_of(a.indices, moves_with) &&
             std::ranges::none_of(b.indices, moves_with);
    });
  };
  for (size_t k = 1; k < factors.size(); ++k)
    if (has_own(factors[0], factors[k]) && has_own(factors[k], factors[0])) return true;
  return false;
}

double KernelAccesses::repeated(const Access& access) const {
  double places = 1;
  for (size_t k = 0; k < loops_.size(); ++k)
    if (access.ways[k].moves) places *= loops_[k].extent;
  return std::max(0.0, places - access.elements);
}

double KernelAccesses::of_factor(const Access& access, size_t lane, const AxisOrders& orders,
                                 const Given& given) const {
  const size_t innermost = innermost_axis(orders, access);
  switch (along_loop(access.ways[lane], innermost)) {
    case Along::Strided: {
      // A window that moves over a tensor is no weight, which is packed for good.
      const double again = repeated(access);
      return given.contains(access.tensor) && again == 0 ? 0 : (access.elements + again) * kPacked;
    }
    case Along::Contiguous:
      return (access.ways[lane].masked ? access.times / kLanes * kMask : repeated(access)) / kLanes;
    case Along::Absent: break;
  }
  // Neighbours are read by the next step of the sum, or by the next row of the tile, or never.
  double scattered = 1;
  for (size_t k = 0; k < loops_.size(); ++k)
    if (along_loop(access.ways[k], innermost) == Along::Contiguous)
      scattered = loops_[k].reduced ? 0 : std::min(scattered, kAmongRows);
  return scattered * kScattered * access.times / kLanes;
}

double KernelAccesses::of_stream(const Access& access, size_t lane, const AxisOrders& orders) const {
  const size_t innermost = innermost_axis(orders, access);
  const double mask = access.ways[lane].masked ? kMask : 0;
  switch (along_loop(access.ways[lane], innermost)) {
    case Along::Absent: return kBroadcast;
    case Along::Contiguous: return 1 + mask;
    case Along::Strided: break;
  }
  // What moves along the lanes alone, like the filters of a depthwise convolution, is packed for good.
  bool alone = access.times > access.elements;
  for (size_t k = 0; k < loops_.size(); ++k)
    alone &= k == lane || loops_[k].reduced || loops_[k].extent <= 1 || !access.ways[k].moves;
  return alone ? 1 : (is_copy_ || contraction_ ? kStrided : kGathered) + mask;
}

double KernelAccesses::along(size_t lane, const AxisOrders& orders, const Given& given) const {
  const double extent = loops_[lane].extent, filled = std::ceil(extent / kLanes) * kLanes / extent;
  const double waste = loops_[lane].known ? filled : filled * kUnknownLane;
  double total = most_times_ / kLanes * waste;
  bool tile = true;
  for (const Access& access : accesses_) {
    const double cost =
        access.factor ? of_factor(access, lane, orders, given) : of_stream(access, lane, orders);
    total += access.factor ? cost : access.times / kLanes * waste * cost;
    tile &= access.factor || cost <= 1;
  }
  const bool sums = most_times_ > store().times && !contraction_;
  return sums && !tile ? kNoTile * total : total;
}

double KernelAccesses::cycles(const AxisOrders& orders, const Given& given) const {
  double best = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < loops_.size(); ++k)
    if (loops_[k].extent > 1 && !(contraction_ && loops_[k].reduced))
      best = std::min(best, along(k, orders, given));
  return std::isinf(best) ? 0 : best;
}

}  // namespace quern
