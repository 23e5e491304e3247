#pragma once
// A demand-driven query engine in the manner of salsa: inputs, memoised functions with recorded dependencies,
// a revision counter, early cut-off. Inputs and queries themselves: session/query/query.h.
//
// Setting an input immediately marks its transitive dependents dirty, so nothing else is ever revisited. A
// dirty memo that is requested brings its dependencies up to date in the order in which they were recorded;
// if none of them changed since the memo was valid, it becomes valid without being recomputed. A recomputed
// value that equals the old one keeps its changed-at revision (and the old object), so its dependents stay
// valid: early cut-off. Dependencies on constants (the library) are not recorded at all.
//
// Cancellation is not an exception: a computation that polls `cancelled()` and gets true returns whatever it
// has. From then on until `begin_work` no result is kept: memos stay as they were, dirty.
//
// A computation that throws (a failed QUERN_CHECK, no memory) leaves its memo dirty, so that the next request
// recomputes it; the exception propagates through the requesting computations in the same way.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/interrupt.h"

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
  /// Its value may be out of date from now on.
  virtual void became_dirty() {}
  /// A dependent is one computation of a memo, not the memo: when the memo is recomputed or dropped, its run
  /// number changes and old entries become stale.
  struct Dependent {
    uint32_t slot, run;
  };
  std::vector<QueryNode*> dependencies_;
  std::vector<Dependent> dependents_;
  uint64_t recorded_in_ = 0;  ///< the last frame that recorded this node
  uint32_t slot_ = 0;
  uint32_t tidy_at_ = 8;  ///< the number of dependents at which stale ones are removed
  bool dirty_ = true;
  bool forced_ = true;     ///< must be recomputed, whatever its dependencies
  bool constant_ = false;  ///< depends on nothing that can change
};

class QueryEngine {
 public:
  uint64_t revision() const { return revision_; }
  bool idle() const { return active_.empty(); }

  /// How many times each kind of query was computed, for tests.
  std::map<std::string, uint64_t, std::less<>> computed;

  // --- cancellation
  /// Setting the flag requests the current work to end soon. Any thread may set it.
  void watch(const std::atomic<bool>* flag) { flag_ = flag; }
  const std::atomic<bool>* watched() const { return flag_; }
  bool cancelled() {
    latched_ = latched_ || is_interrupted() || (flag_ && flag_->load(std::memory_order_relaxed));
    return latched_;
  }
  /// Whether a poll has seen it.
  bool latched() const { return latched_; }
  /// Starts cancellable work and clears an earlier cancellation.
  void begin_work() {
    if (!idle()) return;
    latched_ = false;
    abandoned_.clear();
  }

  // --- for inputs and queries
  void record(QueryNode* node) {
    if (active_.empty() || node->constant_) return;
    if (node->recorded_in_ == active_.back()) return;
    node->recorded_in_ = active_.back();
    recorded_.push_back(node);
  }
  /// An input's value has changed.
  void changed(QueryNode* input) {
    assert(idle());
    input->changed_at = ++revision_;
    dirty_dependents(input);
  }
  void make_constant(QueryNode* input) { input->constant_ = true; }
  /// The node now depends on `found`.
  void attach(QueryNode* node, std::vector<QueryNode*> found) {
    if (node->slot_ == 0) node->slot_ = new_slot(node);
    uint32_t run = ++slots_[node->slot_].run;
    constexpr size_t kMostHave = 4;
    for (QueryNode* dependency : found) {
      if (dependency->dependents_.empty()) dependency->dependents_.reserve(kMostHave);
      if (dependency->dependents_.size() >= dependency->tidy_at_) tidy(dependency);
      dependency->dependents_.push_back({node->slot_, run});
    }
    node->constant_ = found.empty();
    node->dependencies_ = std::move(found);
  }
  /// The node is about to be destroyed: its dependents must be recomputed.
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
  bool is_constant(const QueryNode* node) const { return node->constant_; }
  void abandon(std::shared_ptr<const void> value) { abandoned_.push_back(std::move(value)); }

  /// Bytes of the dependency graph.
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
  // Dependents of a dirty node are already dirty.
  void dirty_dependents(QueryNode* node) {
    if (node->dependents_.empty()) return;
    std::vector<QueryNode*> stack{node};
    while (!stack.empty()) {
      QueryNode* next = stack.back();
      stack.pop_back();
      for (const QueryNode::Dependent& d : next->dependents_) {
        QueryNode* dependent = live(d);
        if (!dependent || dependent->dirty_) continue;
        dependent->dirty_ = true;
        dependent->became_dirty();
        stack.push_back(dependent);
      }
    }
  }

  uint64_t revision_ = 1, serial_ = 0;
  std::vector<uint64_t> active_;           ///< the serial numbers of the running computations
  std::vector<QueryNode*> recorded_;       ///< by each running computation, one behind the other
  std::vector<Slot> slots_{{nullptr, 0}};  ///< slot 0 is no slot
  std::vector<uint32_t> free_slots_;
  const std::atomic<bool>* flag_ = nullptr;
  bool latched_ = false;
  std::vector<std::shared_ptr<const void>>
      abandoned_;  ///< values of cancelled computations, kept alive for their holders
};

/// Work that is cancelled when a flag becomes true (null: when the enclosing work's flag does). What polls
/// `is_interrupted` (the parser, proofs, passes) stops by the same flag.
class CancellableWork {
 public:
  CancellableWork(QueryEngine& engine, const std::atomic<bool>* stop)
      : engine_(engine), around_(engine.watched()), thread_around_(stop_flag) {
    if (stop) engine_.watch(stop);
    stop_flag = engine_.watched();
    engine_.begin_work();
  }
  ~CancellableWork() {
    engine_.watch(around_);
    stop_flag = thread_around_;
    engine_.begin_work();
  }
  CancellableWork(const CancellableWork&) = delete;
  CancellableWork& operator=(const CancellableWork&) = delete;

 private:
  QueryEngine& engine_;
  const std::atomic<bool>* const around_;
  const std::atomic<bool>* const thread_around_;
};

/// During its lifetime, requests are recorded.
class Active {
 public:
  explicit Active(QueryEngine& engine) : engine_(engine), first_(engine.recorded_.size()) {
    engine_.active_.push_back(++engine_.serial_);
  }
  ~Active() {
    engine_.active_.pop_back();
    engine_.recorded_.resize(first_);
  }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

  /// So far, each once.
  std::vector<QueryNode*> recorded() const {
    return {engine_.recorded_.begin() + static_cast<std::ptrdiff_t>(first_), engine_.recorded_.end()};
  }

 private:
  QueryEngine& engine_;
  const size_t first_;
};

}  // namespace quern
