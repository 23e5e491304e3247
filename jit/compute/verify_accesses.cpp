#include "jit/compute/verify_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "jit/compute/computation.h"

namespace quern::loops {

namespace {

class AccessVerifier {
 public:
  explicit AccessVerifier(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    block(kernel_.body);
    return std::move(wrong_);
  }

 private:
  void block(const Block& statements) {
    for (const StmtPtr& s : statements)
      if (wrong_.empty()) statement(*s);
  }

  void statement(const Stmt& s) {
    auto* loop = as<For>(s);
    auto* condition = as<If>(s);
    if (loop && is_const(loop->extent, 0)) return;
    const Facts outer = facts_;
    if (loop) {
      indices_.insert(loop->var);
      facts_.add_index(loop->var, loop->extent);
    }
    if (condition) assume(condition->checks);
    around_.push_back(&s);
    if (loop) block(loop->body);
    if (condition) block(condition->body);
    around_.pop_back();
    facts_ = outer;
    for_each_child(s, [this](const Value& v) { value(v); });
    if (auto* store = as<Store>(s)) access(store->buffer, store->offset, {}, {}, "a store to");
    if (auto* update = as<Update>(s))
      access(update->buffer, update->offset, update->computed, update->checks, "an update of");
  }

  /// Except those of Dot.
  void value(const Value& v) {
    if (auto* load = as<LoadValue>(v))
      access(load->buffer, load->offset, load->computed, load->checks, "a read of");
    const bool is_dot = as<DotValue>(v) != nullptr;
    for_each_child(v, [&](const Value& child) {
      if (!is_dot) value(child);
    });
  }

  void access(int buffer, Dim offset, const std::vector<ComputedOffset>& computed,
              const std::vector<BoundsCheck>& checks, std::string_view what) {
    if (!wrong_.empty()) return;
    const Buffer& accessed = kernel_.buffers.at(static_cast<size_t>(buffer));
    const Dim size = dim_product(accessed.shape);
    if (!computed.empty() || !as_const(size) || !is_known(offset)) return;
    const Facts outer = facts_;
    assume(checks);
    const bool is_inside = prove_nonnegative(offset, facts_) && prove_less(offset, size, facts_);
    facts_ = outer;
    if (is_inside) return;
    // The access may be in bounds without a proof: try the steps of the loops.
    Steps steps{offset, *as_const(size), checks};
    if (visit(steps, 0))
      wrong_ =
          fmt::format("{} {} is outside of it: {} is {} of {} elements, at {}", what, accessed.name,
                      to_string(offset), *evaluate(offset, steps.lookup()), *as_const(size), steps.text());
  }

  /// Searches for a step at which an access is out of bounds.
  struct Steps {
    Dim offset;
    int64_t size;
    const std::vector<BoundsCheck>& checks;
    std::unordered_map<Dim, int64_t> values = {};
    int64_t left = int64_t{1} << 18;  ///< budget of steps

    std::function<std::optional<int64_t>(Dim)> lookup() const {
      return [this](Dim var) {
        const auto found = values.find(var);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      };
    }
    bool hold(const std::vector<BoundsCheck>& conditions) const {
      return std::ranges::all_of(conditions, [&](const BoundsCheck& check) {
        if (check.computed) return true;
        const auto index = evaluate(check.index, lookup()), extent = evaluate(check.extent, lookup());
        return !index || !extent || (*index >= 0 && *index < *extent);
      });
    }
    std::string text() const {
      std::string all;
      for (const auto& [var, value] : values)
        all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", to_string(var), value);
      return all;
    }
  };

  /// True for an out-of-bounds step, within the first `depth` statements around the access.
  bool visit(Steps& steps, size_t depth) const {
    if (--steps.left < 0) return false;
    if (depth == around_.size()) {
      const auto at = evaluate(steps.offset, steps.lookup());
      return at && (*at < 0 || *at >= steps.size) && steps.hold(steps.checks);
    }
    const Stmt& s = *around_[depth];
    if (auto* condition = as<If>(s); condition && !steps.hold(condition->checks)) return false;
    auto* loop = as<For>(s);
    if (!loop) return visit(steps, depth + 1);
    const auto extent = evaluate(loop->extent, steps.lookup());
    for (int64_t i = 0; extent && i < *extent; ++i) {
      steps.values[loop->var] = i;
      if (visit(steps, depth + 1)) return true;
    }
    steps.values.erase(loop->var);
    return false;
  }

  /// Guards count: if one fails nothing is read.
  void assume(const std::vector<BoundsCheck>& checks) {
    for (const BoundsCheck& check : checks) {
      if (check.computed) continue;
      facts_.add_nonnegative(check.index);
      facts_.add_nonnegative(dim_sub(dim_sub(check.extent, check.index), dim_const(1)));
    }
  }

  /// Whether it depends only on loops with known extents.
  bool is_known(Dim d) const {
    bool known = true;
    for_each_var(d, [&](Dim var) {
      const Dim* extent = indices_.contains(var) ? facts_.extent_of(var) : nullptr;
      known = known && extent && is_known(*extent);
    });
    return known;
  }

  const Kernel& kernel_;
  Facts facts_;
  std::unordered_set<Dim> indices_;
  std::vector<const Stmt*> around_;
  std::string wrong_;
};

}  // namespace

std::string outside_access(const Kernel& kernel) { return AccessVerifier(kernel).run(); }

}  // namespace quern::loops
