#include "passes/layout/choose_orders.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "ir/base/interrupt.h"
#include "passes/uses.h"

namespace quern {

namespace {

/// Vectors keep their order, and matrices at a product: it reads either factor along any axis.
constexpr size_t kFewestAxes = 2, kFewestAtProducts = 3;
/// The gain that a move must have: a share of what the affected kernels take, and cycles in all.
constexpr double kLeastShare = 0.005, kLeastCycles = 200;
/// How much more a move gains that is taken before one to a later axis: outer axes are those of images, of which there may be
/// few.
constexpr double kClearlyMore = 1.01;
constexpr int kMostRounds = 4;

/// Whether the next value of the variable is the next index: `x + s` moves along x.
bool moves_along(Dim index, Dim var) {
  if (!index || !contains_var(index, var)) return false;
  const std::optional<Linear> linear = linear_in(index, var);
  return linear && is_const(linear->coefficient, 1);
}

/// The axes that become innermost.
using Move = std::unordered_map<const Variable*, size_t>;

class OrderSearch {
 public:
  OrderSearch(ExprPtr expr, EffectAnalysis& effects) : effects_(effects) {
    collect(expr, nullptr);
    drop_matrices_at_products();
    Uses uses;
    count_uses(expr, uses);
    for (const Variable* tensor : tensors_)
      if (reads_[tensor] != uses[tensor]) pinned_.insert(tensor);
    const Given candidates(tensors_.begin(), tensors_.end());
    for (size_t k = 0; k < kernels_.size(); ++k)
      for (const KernelAccesses::Access& access : kernels_[k].accesses())
        if (access.tensor) {
          if (candidates.contains(access.tensor)) touching_[access.tensor].push_back(k);
          if (!made_.contains(access.tensor)) given_.insert(access.tensor);
        }
    for (const KernelAccesses& kernel : kernels_) cycles_.push_back(kernel.cycles(orders_, given_));
  }

  Orders run() {
    improve([this](const Variable* tensor, size_t axis) { return linked(tensor, axis); });
    improve([this](const Variable* tensor, size_t axis) {
      std::vector<Move> moves = linked(tensor, axis);
      moves.push_back({{tensor, axis}});
      return moves;
    });
    Orders out{std::move(orders_), {}};
    for (const auto& [tensor, order] : out.chosen)
      if (pinned_.contains(tensor)) out.copied.insert(tensor);
    return out;
  }

 private:
  /// Of the moves that each axis of a tensor suggests, the best one is made, until none pays.
  void improve(const std::function<std::vector<Move>(const Variable*, size_t)>& moves_of) {
    bool moved = true;
    for (int round = 0; moved && round < kMostRounds && !is_interrupted(); ++round) {
      moved = false;
      for (const Variable* tensor : tensors_) {
        std::vector<Move> moves;
        for (size_t axis = tensor->type->dims.size(); axis-- > 0;)
          std::ranges::move(moves_of(tensor, axis), std::back_inserter(moves));
        moved = make_best(moves) || moved;
      }
    }
  }

  void collect(ExprPtr expr, const Variable* bound) {
    if (auto* kernel = as<ComprehensionExpr>(expr)) {
      const bool has_choice = bound && !kernel->schedule && kernel->vars.size() >= kFewestAxes &&
                              kernel->body->kind != ExprKind::Scatter && effects_.of(kernel).removable();
      if (has_choice) tensors_.push_back(bound);
      if (bound) made_.insert(bound);
      if (kernel->schedule) return;
      kernels_.emplace_back(*kernel, bound);
      const auto& accesses = kernels_.back().accesses();
      for (size_t k = 0; k + 1 < accesses.size(); ++k) ++reads_[accesses[k].tensor];
      return;
    }
    auto* block = as<BlockExpr>(expr);
    if (!block) return for_each_child(expr, [&](ExprPtr child) { collect(child, nullptr); });
    for (const Binding& b : block->bindings) collect(b.value, b.variable);
    collect(block->result, nullptr);
  }

  void drop_matrices_at_products() {
    Given at_products;
    for (const KernelAccesses& kernel : kernels_)
      if (std::ranges::any_of(kernel.accesses(), &KernelAccesses::Access::factor))
        for (const KernelAccesses::Access& access : kernel.accesses()) at_products.insert(access.tensor);
    std::erase_if(tensors_, [&](const Variable* tensor) {
      return tensor->type->dims.size() < kFewestAtProducts && at_products.contains(tensor);
    });
  }

  /// Which products pass a move on, from the channels that they make to those that they sum over, and back: those with
  /// weights alone, which have no choice, or all. A gradient by weights sums over images, which are no channels.
  enum class Across : uint8_t { Weights, All };

  std::vector<Move> linked(const Variable* tensor, size_t axis) const {
    std::vector<Move> moves{linked(tensor, axis, Across::Weights)};
    if (Move all = linked(tensor, axis, Across::All); all != moves[0]) moves.push_back(std::move(all));
    return moves;
  }

  /// The tensor's axis with those of all tensors that kernels access along the same index variable, and across products.
  Move linked(const Variable* tensor, size_t axis, Across across) const {
    Move move{{tensor, axis}};
    std::vector<const Variable*> waiting{tensor};
    while (!waiting.empty()) {
      const Variable* from = waiting.back();
      waiting.pop_back();
      for (size_t k : touching_.at(from))
        for (const KernelAccesses::Access& access : kernels_[k].accesses()) {
          if (access.tensor != from) continue;
          const Dim index = access.indices[move.at(from)];
          for (const KernelAccesses::Loop& loop : kernels_[k].loops())
            if (!loop.reduced && moves_along(index, loop.var))
              add_along(kernels_[k], loop.var, move, waiting);
          if (across == Across::All || has_weights(kernels_[k]))
            add_across(kernels_[k], access, index, move, waiting);
        }
    }
    return move;
  }

  void add(const KernelAccesses::Access& access, Dim var, Move& move,
           std::vector<const Variable*>& waiting) const {
    if (!touching_.contains(access.tensor) || move.contains(access.tensor)) return;
    const auto at = std::ranges::find_if(access.indices, [&](Dim index) { return moves_along(index, var); });
    if (at == access.indices.end()) return;
    move.emplace(access.tensor, static_cast<size_t>(at - access.indices.begin()));
    waiting.push_back(access.tensor);
  }

  void add_along(const KernelAccesses& kernel, Dim var, Move& move,
                 std::vector<const Variable*>& waiting) const {
    for (const KernelAccesses::Access& access : kernel.accesses()) add(access, var, move, waiting);
  }

  bool has_weights(const KernelAccesses& kernel) const {
    return std::ranges::any_of(kernel.accesses(), [&](const KernelAccesses::Access& access) {
      return access.factor && !touching_.contains(access.tensor);
    });
  }

  /// From a factor's axis that is summed over to the axis of the result that the factor lacks, or back.
  void add_across(const KernelAccesses& kernel, const KernelAccesses::Access& access, Dim index, Move& move,
                  std::vector<const Variable*>& waiting) const {
    const auto lacks = [](const KernelAccesses::Access& factor, Dim var) {
      return std::ranges::none_of(factor.indices, [&](Dim i) { return !i || contains_var(i, var); });
    };
    const auto longest = [&](bool reduced, auto&& fits) {
      Dim found = nullptr;
      double most = 1;
      for (const KernelAccesses::Loop& loop : kernel.loops())
        if (loop.reduced == reduced && loop.extent > most && fits(loop.var)) {
          found = loop.var;
          most = loop.extent;
        }
      return found;
    };
    if (access.factor) {
      const Dim summed = longest(true, [&](Dim var) { return moves_along(index, var); });
      const Dim column = summed ? longest(false, [&](Dim var) { return lacks(access, var); }) : nullptr;
      if (column) add_along(kernel, column, move, waiting);
    } else if (&access == &kernel.store()) {
      for (const KernelAccesses::Access& factor : kernel.accesses())
        if (factor.factor && lacks(factor, index))
          if (const Dim summed = longest(true, [&](Dim var) {
                return std::ranges::any_of(factor.indices, [&](Dim i) { return i == var; });
              }))
            add(factor, summed, move, waiting);
    }
  }

  bool make_best(const std::vector<Move>& moves) {
    const Move* best = nullptr;
    double most = 0;
    for (const Move& move : moves)
      if (const double gain = gain_of(move); gain > kClearlyMore * most) {
        best = &move;
        most = gain;
      }
    if (!best) return false;
    for (const auto& [tensor, axis] : *best) set_innermost(tensor, axis);
    for (const size_t k : affected_by(*best)) cycles_[k] = kernels_[k].cycles(orders_, given_);
    return true;
  }

  std::vector<size_t> affected_by(const Move& move) const {
    std::vector<size_t> affected;
    for (const auto& [tensor, axis] : move)
      affected.insert(affected.end(), touching_.at(tensor).begin(), touching_.at(tensor).end());
    std::ranges::sort(affected);
    affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
    return affected;
  }

  /// The cycles that the move saves; 0 if they are too few.
  double gain_of(const Move& move) {
    AxisOrders before;
    bool changes = false;
    for (const auto& [tensor, axis] : move) {
      changes |= innermost_axis(orders_, tensor) != axis;
      if (const auto known = orders_.find(tensor); known != orders_.end()) before.insert(*known);
    }
    if (!changes) return 0;
    double old_cycles = copies(move), gain = old_cycles;
    for (const auto& [tensor, axis] : move) set_innermost(tensor, axis);
    gain -= copies(move);
    for (const size_t k : affected_by(move)) {
      old_cycles += cycles_[k];
      gain += cycles_[k] - kernels_[k].cycles(orders_, given_);
    }
    for (const auto& [tensor, axis] : move) orders_.erase(tensor);
    orders_.insert(before.begin(), before.end());
    return gain > std::max(kLeastCycles, kLeastShare * old_cycles) ? gain : 0;
  }

  /// What the copies of the move's tensors take.
  double copies(const Move& move) const {
    double cycles = 0;
    for (const auto& [tensor, axis] : move)
      if (pinned_.contains(tensor) && orders_.contains(tensor)) cycles += copy_cycles(tensor->type);
    return cycles;
  }

  /// The other axes keep their order.
  void set_innermost(const Variable* tensor, size_t axis) {
    AxisOrder order(tensor->type->dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    orders_.erase(tensor);
    const std::span<const Dim> extents = tensor->type->dims;
    if (axis == last_axis(extents) || is_const(extents[axis], 1)) return;
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(at, at + 1, order.end());
    orders_.emplace(tensor, std::move(order));
  }

  EffectAnalysis& effects_;
  std::vector<const Variable*> tensors_;  ///< that index expressions make, in the order of the program
  Given made_, given_;
  std::unordered_set<const Variable*> pinned_;  ///< of them, those that others than index expressions read
  Uses reads_;                                  ///< of index expressions without a stated schedule
  std::vector<KernelAccesses> kernels_;
  std::vector<double> cycles_;  ///< of the kernels, with the orders so far
  std::unordered_map<const Variable*, std::vector<size_t>> touching_;  ///< the kernels that access a tensor
  AxisOrders orders_;
};

}  // namespace

Orders choose_orders(ExprPtr expr, EffectAnalysis& effects) { return OrderSearch(expr, effects).run(); }

}  // namespace quern
