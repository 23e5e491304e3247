#pragma once
// A demand-driven query engine in the manner of salsa: inputs, memoised functions with recorded dependencies,
// a revision counter, early cut-off. Inputs and queries themselves: session/query/query.h.
//
// Setting an input marks what depends on it as dirty, at once and as far as it goes, so that nothing that
// does not depend on it is ever looked at again. A dirty memo that is asked for brings its dependencies up to
// date in the order in which they were asked for; where none of them changed since the memo was valid, it is
// valid again without being computed. A value that is computed again and equals the old one keeps its old
// revision of change (and the old object), so that what depends on it stays valid: early cut-off. What
// depends on nothing that can change (the library) is not recorded at all.
//
// Cancellation is a value: a computation that polls `cancelled()` and gets true returns whatever it has. From
// then on until `begin_work` nothing that is computed is kept: memos stay as they were, dirty.
//
// A computation that throws (a failed QUERN_CHECK, no memory) leaves its memo dirty, so that who asks again
// has it computed again; the exception goes through the computations that asked for it, in the same way.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quern {

class QueryEngine;

/// A memo or an input as the engine sees it.
class QueryNode {
 public:
  virtual ~QueryNode() = default;
  /// Brings the value up to date with the current revision.
  virtual void refresh() = 0;
  uint64_t changed_at = 0;

 protected:
  friend class QueryEngine;
  /// A dependent is the computation of a memo, not the memo: when it is computed again, or dropped, its
  /// number changes and old entries mean nothing.
  struct Dependent {
    uint32_t slot, run;
  };
  std::vector<QueryNode*> dependencies_;
  std::vector<Dependent> dependents_;
  uint64_t recorded_in_ = 0;  ///< the frame that recorded this node last
  uint32_t slot_ = 0;
  uint32_t tidy_at_ = 8;  ///< when there are so many dependents, those that mean nothing any more are removed
  bool dirty_ = true;
  bool forced_ = true;     ///< has to be computed, whatever its dependencies say
  bool constant_ = false;  ///< depends on nothing that can change
};

class QueryEngine {
 public:
  uint64_t revision() const { return revision_; }
  bool idle() const { return active_.empty(); }

  /// How many times each kind of query was computed, for tests.
  std::map<std::string, uint64_t, std::less<>> computed;

  // --- cancellation
  /// Whoever sets it wants the work that is going on to end soon. Any thread may set it.
  void watch(const std::atomic<bool>* flag) { flag_ = flag; }
  const std::atomic<bool>* watched() const { return flag_; }
  bool cancelled() {
    if (!latched_ && flag_ && flag_->load(std::memory_order_relaxed)) latched_ = true;
    return latched_;
  }
  /// Whether some poll has seen it.
  bool latched() const { return latched_; }
  /// Starts a piece of work that may be cancelled; what was cancelled before is over.
  void begin_work() {
    if (!idle()) return;
    latched_ = false;
    abandoned_.clear();
  }

  // --- for inputs and queries
  void record(QueryNode* node) {
    if (active_.empty() || node->constant_) return;
    Frame& frame = active_.back();
    if (node->recorded_in_ == frame.serial) return;
    node->recorded_in_ = frame.serial;
    frame.dependencies->push_back(node);
  }
  /// An input's value is another one.
  void changed(QueryNode* input) {
    assert(idle());
    input->changed_at = ++revision_;
    dirty_dependents(input);
  }
  void make_constant(QueryNode* input) { input->constant_ = true; }
  /// The node depends on `found`, as of now.
  void attach(QueryNode* node, std::vector<QueryNode*> found) {
    if (node->slot_ == 0) node->slot_ = new_slot(node);
    uint32_t run = ++slots_[node->slot_].run;
    for (QueryNode* dependency : found) {
      if (dependency->dependents_.size() >= dependency->tidy_at_) tidy(dependency);
      dependency->dependents_.push_back({node->slot_, run});
    }
    node->constant_ = found.empty();
    found.shrink_to_fit();
    node->dependencies_ = std::move(found);
  }
  /// The node is about to be destroyed: what depends on it has to be computed again.
  void detach(QueryNode* node) {
    assert(idle());
    dirty_dependents(node);
    for (const QueryNode::Dependent& d : node->dependents_)
      if (QueryNode* dependent = live(d)) {
        ++slots_[d.slot].run;
        dependent->dependencies_.clear();
        dependent->forced_ = true;
      }
    if (node->slot_ == 0) return;
    ++slots_[node->slot_].run;
    slots_[node->slot_].node = nullptr;
    free_slots_.push_back(node->slot_);
  }
  bool has_dependents(const QueryNode* node) const {
    return std::any_of(node->dependents_.begin(), node->dependents_.end(),
                       [&](const QueryNode::Dependent& d) { return live(d) != nullptr; });
  }
  void abandon(std::shared_ptr<const void> value) { abandoned_.push_back(std::move(value)); }

  /// Bytes of what records who depends on whom.
  size_t bookkeeping_bytes() const {
    constexpr size_t kPointer = sizeof(void*);
    size_t bytes = slots_.capacity() * sizeof(Slot);
    for (const Slot& slot : slots_)
      if (slot.node)
        bytes += slot.node->dependencies_.capacity() * kPointer +
                 slot.node->dependents_.capacity() * sizeof(QueryNode::Dependent);
    return bytes;
  }

 private:
  friend class Active;
  struct Frame {
    std::vector<QueryNode*>* dependencies;
    uint64_t serial;
  };
  struct Slot {
    QueryNode* node;
    uint32_t run;
  };

  QueryNode* live(const QueryNode::Dependent& d) const {
    const Slot& slot = slots_[d.slot];
    return slot.run == d.run ? slot.node : nullptr;
  }
  uint32_t new_slot(QueryNode* node) {
    if (free_slots_.empty()) {
      slots_.push_back({node, 0});
      return static_cast<uint32_t>(slots_.size() - 1);
    }
    uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot].node = node;
    return slot;
  }
  void tidy(QueryNode* node) {
    std::erase_if(node->dependents_, [&](const QueryNode::Dependent& d) { return !live(d); });
    node->tidy_at_ = static_cast<uint32_t>(std::max<size_t>(8, node->dependents_.size() * 2));
  }
  // Those of a dirty node are dirty already.
  void dirty_dependents(QueryNode* node) {
    std::vector<QueryNode*> stack{node};
    while (!stack.empty()) {
      QueryNode* next = stack.back();
      stack.pop_back();
      for (const QueryNode::Dependent& d : next->dependents_) {
        QueryNode* dependent = live(d);
        if (!dependent || dependent->dirty_) continue;
        dependent->dirty_ = true;
        stack.push_back(dependent);
      }
    }
  }

  uint64_t revision_ = 1, serial_ = 0;
  std::vector<Frame> active_;
  std::vector<Slot> slots_{{nullptr, 0}};  ///< slot 0 is no slot
  std::vector<uint32_t> free_slots_;
  const std::atomic<bool>* flag_ = nullptr;
  bool latched_ = false;
  std::vector<std::shared_ptr<const void>>
      abandoned_;  ///< values of cancelled computations, for who holds one
};

/// A piece of work that is given up when a flag becomes true (null: when that of the work around it does).
class CancellableWork {
 public:
  CancellableWork(QueryEngine& engine, const std::atomic<bool>* stop)
      : engine_(engine), around_(engine.watched()) {
    if (stop) engine_.watch(stop);
    engine_.begin_work();
  }
  ~CancellableWork() {
    engine_.watch(around_);
    engine_.begin_work();
  }
  CancellableWork(const CancellableWork&) = delete;
  CancellableWork& operator=(const CancellableWork&) = delete;

 private:
  QueryEngine& engine_;
  const std::atomic<bool>* const around_;
};

/// While it lives, what is asked for is recorded in `dependencies`.
class Active {
 public:
  Active(QueryEngine& engine, std::vector<QueryNode*>* dependencies) : engine_(engine) {
    engine_.active_.push_back({dependencies, ++engine_.serial_});
  }
  ~Active() { engine_.active_.pop_back(); }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  QueryEngine& engine_;
};

}  // namespace quern
