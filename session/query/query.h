#pragma once
// Inputs and queries of a database, each declared once: a member with its name and, of a query, its function.
//
//     Input<ByDeclaration, std::string> piece_text{*this, "texts"};
//     Query<ByDeclaration, Declaration> tree{*this, "tree", &Database::make_tree, std::equal_to<>()};
//
// A value is behind a shared pointer and never changes: who holds one (`known`) may read it on any thread,
// whatever is set afterwards. Setting and asking stay with one thread.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/base/internal_failure.h"
#include "ir/base/result.h"
#include "ir/base/series.h"
#include "session/query/table.h"

namespace quern {

/// Values set from outside, or loaded from there when they are first asked for.
template <class Space, class Value>
class Input final : public TableOf<Space> {
 public:
  using Key = typename Space::Key;
  using Load = std::function<Value(const Key&)>;

  /// What nobody set is what `load` finds, which is asked once, or else an empty value.
  Input(Tables& tables, std::string name, Load load = nullptr)
      : TableOf<Space>(tables, std::move(name)), engine_(tables.engine), load_(std::move(load)) {}

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
  const Value& get(const Key& key) {
    auto found = cells_.find(key);
    if (found == cells_.end() && load_) {
      // Before there is a cell: a failure leaves none.
      Value loaded = load_(key);
      cell_of(key).value = std::move(loaded);
    }
    Cell& cell = found == cells_.end() ? cell_of(key) : *found->second;
    engine_.record(&cell);
    return cell.value;
  }
  /// The value, without being a dependency.
  const Value& peek(const Key& key) const {
    static const Value empty{};
    auto found = cells_.find(key);
    return found == cells_.end() ? empty : found->second->value;
  }
  /// The keys that have a value.
  std::vector<Key> keys() const {
    std::vector<Key> all;
    all.reserve(cells_.size());
    for (auto& [key, cell] : cells_) all.push_back(key);
    return all;
  }
  void drop(const Key& key) override {
    auto found = cells_.find(key);
    if (found == cells_.end()) return;
    engine_.detach(found->second.get());
    cells_.erase(found);
  }
  size_t size() const override { return cells_.size(); }
  size_t bytes(MemoryCount& count) const override {
    size_t bytes = cells_.size() * (sizeof(Cell) + sizeof(Key) + 4 * sizeof(void*));
    for (auto& [key, cell] : cells_) bytes += owned_bytes(cell->value, count);
    return bytes;
  }

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
  Load load_;
  std::unordered_map<Key, std::unique_ptr<Cell>, typename Space::Hash> cells_;
};

/// A memoised function of its key (and of the inputs and queries it asks for).
template <class Space, class Value>
class Query final : public TableOf<Space> {
 public:
  using Key = typename Space::Key;
  using Compute = std::function<Value(const Key&)>;
  using Equal = std::function<bool(const Value&, const Value&)>;

  /// Without `equal`, every recomputed value counts as changed.
  Query(Tables& tables, const std::string& name, Compute compute, Equal equal = nullptr)
      : TableOf<Space>(tables, name),
        engine_(tables.engine),
        counter_(*tables.engine.computed.try_emplace(name).first),
        compute_(std::move(compute)),
        equal_(std::move(equal)) {}
  /// `compute` is a member function of the database, or of what the query is a member of.
  template <class Owner, class Returned, class Taken>
  Query(Owner& owner, const std::string& name, Returned (Owner::*compute)(Taken), Equal equal = nullptr)
      : Query(
            owner, name, [&owner, compute](const Key& key) -> Value { return (owner.*compute)(key); },
            std::move(equal)) {}
  template <class Owner, class Returned, class Taken>
  Query(Tables& tables, Owner& owner, const std::string& name, Returned (Owner::*compute)(Taken),
        Equal equal = nullptr)
      : Query(
            tables, name, [&owner, compute](const Key& key) -> Value { return (owner.*compute)(key); },
            std::move(equal)) {}

  /// The value, up to date. The reference stays good until an input changes and the query is asked again. A
  /// query that asks for itself gets an empty value.
  const Value& operator()(const Key& key) {
    Memo& memo = memo_of(key);
    memo.refresh();
    memo.used_at = engine_.revision();
    engine_.record(&memo);
    static const Value empty{};
    const auto& value = memo.abandoned ? memo.abandoned : memo.value;
    return value ? *value : empty;
  }
  /// The value that was computed last, which may be of an earlier revision; null where none was. It is no
  /// dependency: for readers on other threads, and for computations that keep what did not change.
  std::shared_ptr<const Value> known(const Key& key) const {
    auto found = memos_.find(key);
    return found == memos_.end() ? nullptr : found->second->value;
  }

  /// Whether `known` is the value as of now.
  bool is_current(const Key& key) const {
    auto found = memos_.find(key);
    return found != memos_.end() && found->second->is_current();
  }

  /// Where there are more than `most` memos, `bound` drops those that nothing depends on, the ones that were
  /// not used for the longest time first, until `keep` are left.
  Query& keeping(size_t most, size_t keep) {
    most_ = most, keep_ = keep;
    return *this;
  }
  void bound() override {
    if (memos_.size() <= most_) return;
    std::vector<std::pair<uint64_t, Key>> by_use;
    for (auto& [key, memo] : memos_)
      if (!engine_.has_dependents(memo.get())) by_use.emplace_back(memo->used_at, key);
    auto end = by_use.begin() + static_cast<std::ptrdiff_t>(std::min(by_use.size(), memos_.size() - keep_));
    std::nth_element(by_use.begin(), end, by_use.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto it = by_use.begin(); it != end; ++it) drop(it->second);
  }
  void drop(const Key& key) override {
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
  size_t size() const override { return memos_.size(); }
  size_t bytes(MemoryCount& count) const override {
    size_t bytes = memos_.size() * (sizeof(Memo) + sizeof(Key) + 4 * sizeof(void*));
    for (auto& [key, memo] : memos_) bytes += owned_bytes(memo->value, count);
    return bytes;
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
    bool is_current() const { return value && !this->dirty_; }
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
      const Subject subject = query.subject_of(key);
      Stage stage(query.counter_.first, {subject.declaration}, subject.name);
      QUERN_CHECK(running);
      std::vector<QueryNode*> found;
      auto fresh = [&] {
        Active active(engine, &found);
        Series::Turn turn(series);
        return std::make_shared<const Value>(query.compute_(key));
      }();
      if (engine.latched()) {
        abandoned = std::move(fresh);
        engine.abandon(abandoned);
        return;
      }
      bool first = valid_at == 0;
      engine.attach(this, std::move(found));
      this->dirty_ = this->forced_ = false;
      if (this->constant_) series.clear();
      valid_at = engine.revision();
      if (!first && query.equal_ && query.equal_(*value, *fresh)) return;
      value = std::move(fresh);
      this->changed_at = engine.revision();
    }
    Query& query;
    Key key;
    std::shared_ptr<const Value> value;      ///< null before the first computation
    std::shared_ptr<const Value> abandoned;  ///< what a cancelled computation came to, for its asker alone
    Series series;                           ///< of each computation of the value
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
  size_t most_ = SIZE_MAX, keep_ = SIZE_MAX;
  std::unordered_map<Key, std::unique_ptr<Memo>, typename Space::Hash> memos_;
};

}  // namespace quern
