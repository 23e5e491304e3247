#pragma once
// A demand-driven query engine in the manner of salsa: inputs, memoised functions with recorded dependencies,
// a revision counter, early cut-off.
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
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/base/internal_failure.h"
#include "ir/base/result.h"
#include "ir/base/series.h"

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

/// Values set from outside.
template <class Key, class Value, class Hash = std::hash<Key>>
class Input {
 public:
  explicit Input(QueryEngine& engine) : engine_(engine) {}

  /// Setting an equal value is no change.
  void set(const Key& key, Value value) {
    Cell& cell = cell_of(key);
    if (cell.value == value) return;
    cell.value = std::move(value);
    engine_.changed(&cell);
  }
  /// Sets a value that never changes again once it was asked for: nothing that is computed of it records it.
  void fix(const Key& key, Value value) {
    set(key, std::move(value));
    engine_.make_constant(&cell_of(key));
  }
  /// A key that nobody set has an empty value.
  const Value& get(const Key& key) {
    Cell& cell = cell_of(key);
    engine_.record(&cell);
    return cell.value;
  }
  /// The value, without being a dependency.
  const Value& peek(const Key& key) const {
    static const Value empty{};
    auto found = cells_.find(key);
    return found == cells_.end() ? empty : found->second->value;
  }
  template <class F>
  void for_each(const F& visit) const {
    for (auto& [key, cell] : cells_) visit(key, cell->value);
  }
  void drop(const Key& key) {
    auto found = cells_.find(key);
    if (found == cells_.end()) return;
    engine_.detach(found->second.get());
    cells_.erase(found);
  }
  size_t size() const { return cells_.size(); }

 private:
  struct Cell final : QueryNode {
    void refresh() override {}
    Value value{};
  };
  Cell& cell_of(const Key& key) {
    auto& cell = cells_[key];
    if (!cell) cell = std::make_unique<Cell>();
    return *cell;
  }
  QueryEngine& engine_;
  std::unordered_map<Key, std::unique_ptr<Cell>, Hash> cells_;
};

/// A declaration as what a check that fails tells of it.
struct Subject {
  uint32_t declaration = 0;
  std::string_view name = {};
};

/// A memoised function of its key (and of the inputs and queries it asks for).
template <class Key, class Value, class Hash = std::hash<Key>>
class Query {
 public:
  using Compute = std::function<Value(const Key&)>;
  using Equal = std::function<bool(const Value&, const Value&)>;

  /// Without `equal`, every recomputed value counts as changed.
  Query(QueryEngine& engine, const std::string& name, Compute compute, Equal equal = nullptr)
      : engine_(engine),
        counter_(*engine.computed.try_emplace(name).first),
        compute_(std::move(compute)),
        equal_(std::move(equal)) {}

  /// `subject` finds the declaration that a key is about, for what a check that fails tells.
  void set_subject(std::function<Subject(const Key&)> subject) { subject_ = std::move(subject); }

  /// The value, up to date. The reference stays good until an input changes and the query is asked again. A
  /// query that asks for itself gets an empty value.
  const Value& operator()(const Key& key) {
    Memo& memo = memo_of(key);
    memo.refresh();
    memo.used_at = engine_.revision();
    engine_.record(&memo);
    return memo.abandoned ? *memo.abandoned : memo.value;
  }

  size_t size() const { return memos_.size(); }
  /// Of the memos themselves, without what their values own.
  size_t bytes() const { return memos_.size() * (sizeof(Memo) + sizeof(Key) + 4 * sizeof(void*)); }
  void drop(const Key& key) {
    auto found = memos_.find(key);
    if (found == memos_.end()) return;
    engine_.detach(found->second.get());
    memos_.erase(found);
  }
  /// Drops the memos of all keys that `goes` holds for.
  template <class F>
  void drop_if(const F& goes) {
    for (auto it = memos_.begin(); it != memos_.end();) {
      if (goes(it->first)) {
        engine_.detach(it->second.get());
        it = memos_.erase(it);
      } else {
        ++it;
      }
    }
  }
  /// Where there are more than `most` memos, drops those that nothing depends on, the ones that were not used
  /// for the longest time first, until `keep` are left.
  void shrink(size_t most, size_t keep) {
    if (memos_.size() <= most) return;
    std::vector<std::pair<uint64_t, Key>> by_use;
    for (auto& [key, memo] : memos_)
      if (!engine_.has_dependents(memo.get())) by_use.emplace_back(memo->used_at, key);
    auto end = by_use.begin() + static_cast<std::ptrdiff_t>(std::min(by_use.size(), memos_.size() - keep));
    std::nth_element(by_use.begin(), end, by_use.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto it = by_use.begin(); it != end; ++it) drop(it->second);
  }
  template <class F>
  void for_each(const F& visit) const {
    for (auto& [key, memo] : memos_) visit(key, memo->value);
  }

 private:
  struct Memo final : QueryNode {
    Memo(Query& query, const Key& key) : query(query), key(key) {}
    void refresh() override {
      if (!this->dirty_ || running) return;
      abandoned = nullptr;
      struct Running {
        bool& flag;
        ~Running() { flag = false; }
      } guard{running};
      running = true;
      if (!this->forced_ && !outdated()) {
        // Where work was cancelled in between, what the dependencies are is not known.
        if (query.engine_.latched()) return;
        valid_at = query.engine_.revision();
        this->dirty_ = false;
        return;
      }
      compute();
    }
    bool outdated() {
      for (QueryNode* dependency : this->dependencies_) {
        dependency->refresh();
        if (dependency->changed_at > valid_at) return true;
      }
      return false;
    }
    void compute() {
      QueryEngine& engine = query.engine_;
      ++query.counter_.second;
      const Subject subject = query.subject_ ? query.subject_(key) : Subject{};
      Stage stage(query.counter_.first, {subject.declaration}, subject.name);
      QUERN_CHECK(running);
      std::vector<QueryNode*> found;
      Value fresh = [&] {
        Active active(engine, &found);
        Series::Turn turn(series);
        return query.compute_(key);
      }();
      if (engine.latched()) {
        abandoned = std::make_shared<Value>(std::move(fresh));
        engine.abandon(abandoned);
        return;
      }
      bool first = valid_at == 0;
      engine.attach(this, std::move(found));
      this->dirty_ = this->forced_ = false;
      if (this->constant_) series.clear();
      valid_at = engine.revision();
      if (!first && query.equal_ && query.equal_(value, fresh)) return;
      value = std::move(fresh);
      this->changed_at = engine.revision();
    }
    Query& query;
    Key key;
    Value value{};
    std::shared_ptr<Value> abandoned;  ///< what a cancelled computation came to, for its asker alone
    Series series;                     ///< of each computation of the value
    uint64_t valid_at = 0;
    uint64_t used_at = 0;
    bool running = false;
  };
  Memo& memo_of(const Key& key) {
    auto& memo = memos_[key];
    if (!memo) memo = std::make_unique<Memo>(*this, key);
    return *memo;
  }

  QueryEngine& engine_;
  std::pair<const std::string, uint64_t>& counter_;  ///< its name, and how often it was computed
  Compute compute_;
  Equal equal_;
  std::function<Subject(const Key&)> subject_;
  std::unordered_map<Key, std::unique_ptr<Memo>, Hash> memos_;
};

}  // namespace quern
