#pragma once
// Inputs, queries and interned values of a database, each declared once: a member with its name and, for a query,
// its function.
//
//     Input<ByDeclaration, std::string> piece_text{*this, "texts"};
//     Query<ByDeclaration, Declaration> tree{*this, "tree", &Database::make_tree, std::equal_to<>()};
//     InternTable<ByCopy, InstanceRequest> copies{*this, "names of copies"};
//
// session/query/define_query.h computes and drops them; only the file with the database's constructor
// includes it, since it instantiates code for many tables.
//
// A value is behind a shared pointer and never changes: whoever holds one (`known`) may read it on any
// thread, whatever is set afterwards. Setting and asking happen on one thread.

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/base/series.h"
#include "session/query/left_series.h"
#include "session/query/table.h"

namespace quern {

/// Values set from outside, or loaded on first request.
template <class Space, class Value>
class Input final : public TableOf<Space> {
 public:
  using Key = typename Space::Key;
  using Load = std::function<Value(const Key&)>;

  /// A value that was not set comes from `load`, called once (and again, if it was cancelled), or is empty.
  Input(Tables& tables, std::string name, Load load = nullptr);

  /// Setting an equal value is not a change.
  void set(const Key& key, Value value) {
    Cell& cell = cell_of(key);
    if (cell.value == value) return;
    cell.value = std::move(value);
    engine_.changed(&cell);
  }
  /// Sets a value that never changes once it was requested: dependents do not record it.
  void fix(const Key& key, Value value) {
    set(key, std::move(value));
    engine_.make_constant(&cell_of(key));
  }
  const Value& get(const Key& key) {
    auto found = cells_.find(key);
    if (found == cells_.end() && load_) {
      // Load before creating the cell, so that a failure leaves none.
      auto loaded = std::make_shared<Value>(load_(key));
      if (engine_.cancelled()) {
        engine_.abandon(loaded);
        return *loaded;
      }
      cell_of(key).value = std::move(*loaded);
    }
    Cell& cell = found == cells_.end() ? cell_of(key) : *found->second;
    engine_.record(&cell);
    return cell.value;
  }
  /// The value, without recording a dependency.
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
  void drop(const Key& key) override;
  /// Drops empty cells that nothing depends on any more, such as those of names that were never declared. Once in a
  /// while: when there are twice as many cells as it left.
  void bound() override;
  size_t size() const override { return cells_.size(); }
  size_t bytes(MemoryCount& count) const override;

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
  size_t bound_at_ = 64;
  std::unordered_map<Key, std::unique_ptr<Cell>, typename Space::Hash> cells_;
};

/// What names stand for that queries make up. A name determines its value, so which query interns it first does not
/// matter, and nobody depends on it.
template <class Space, class Value>
class InternTable final : public TableOf<Space> {
 public:
  using Key = typename Space::Key;
  InternTable(Tables& tables, std::string name) : TableOf<Space>(tables, std::move(name)) {}

  void intern(Key key, const Value& value) { values_.try_emplace(std::move(key), value); }
  /// Null if nobody has interned it.
  const Value* find(const Key& key) const {
    auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  void drop(const Key& key) override { values_.erase(key); }
  size_t size() const override { return values_.size(); }
  size_t bytes(MemoryCount& count) const override;

 private:
  std::unordered_map<Key, Value, typename Space::Hash> values_;
};

/// A memoised function of its key and of the inputs and queries it requests.
template <class Space, class Value>
class Query final : public TableOf<Space> {
 public:
  using Key = typename Space::Key;
  using Compute = std::function<Value(const Key&)>;
  using Equal = std::function<bool(const Value&, const Value&)>;

  /// Without `equal`, every recomputed value counts as changed.
  Query(Tables& tables, const std::string& name, Compute compute, Equal equal = nullptr);
  /// `compute` is a member function of the database, or of the query's owner.
  template <class Owner, class Returned, class Taken>
  Query(Owner& owner, const std::string& name, Returned (Owner::*compute)(Taken), Equal equal = nullptr);
  template <class Owner, class Returned, class Taken>
  Query(Tables& tables, Owner& owner, const std::string& name, Returned (Owner::*compute)(Taken),
        Equal equal = nullptr);

  /// The up-to-date value. The reference is valid until an input changes and the query is asked again. A
  /// query that requests itself gets an empty value.
  const Value& operator()(const Key& key) {
    Memo& memo = memo_of(key);
    memo.refresh();
    memo.used_at = engine_.revision();
    engine_.record(&memo);
    static const Value empty{};
    const auto& value = memo.abandoned ? memo.abandoned : memo.value;
    return value && !memo.running ? *value : empty;
  }
  /// The last computed value, possibly of an earlier revision; null if there is none. Records no dependency:
  /// for readers on other threads, and for computations that reuse unchanged parts.
  std::shared_ptr<const Value> known(const Key& key) const {
    auto found = memos_.find(key);
    return found == memos_.end() ? nullptr : found->second->value;
  }
  /// Whether `known` is up to date.
  bool is_current(const Key& key) const {
    auto found = memos_.find(key);
    return found != memos_.end() && found->second->is_current();
  }

  /// If there are more than `most` memos, and half as many again as it left before, `bound` drops those without
  /// dependents that were not asked for since it did so last, least recently used first, until `keep` are left.
  /// Nothing records that it depends on a constant: `constants` tells whether these are dropped too.
  Query& keeping(size_t most, size_t keep, bool constants) {
    most_ = bound_at_ = most, keep_ = keep, drops_constants_ = constants;
    return *this;
  }
  /// `told` is called with each key whose computed value may be out of date, when an input changes. It asks no query.
  void when_outdated(std::function<void(const Key&)> told) { outdated_ = std::move(told); }
  void bound() override;
  void drop(const Key& key) override;
  /// Drops the memos of all keys for which `goes` is true.
  template <class F>
  void drop_if(const F& goes) {
    for (auto it = memos_.begin(); it != memos_.end();) it = goes(it->first) ? drop_at(it) : std::next(it);
  }
  size_t size() const override { return memos_.size(); }
  size_t bytes(MemoryCount& count) const override;

 private:
  struct Memo : QueryNode {
    bool is_current() const { return value && !this->dirty_; }
    std::shared_ptr<const Value> value;      ///< null before the first computation
    std::shared_ptr<const Value> abandoned;  ///< the result of a cancelled computation, only for its
                                             ///< requester
    uint64_t used_at = 0;
    bool running = false;  ///< it or one of its dependencies is being computed
    Series series;         ///< shared by all computations of the value
  };
  using Memos = std::unordered_map<Key, std::unique_ptr<Memo>, typename Space::Hash>;
  struct ComputedMemo;
  Memo& memo_of(const Key& key) {
    auto& memo = memos_[key];
    if (memo) return *memo;
    memo = make_memo_(*this, key);
    if (!left_.empty()) memo->series = left_.take(this->lasting_name_of(key));
    return *memo;
  }
  /// Its key is gone. What follows it is returned.
  typename Memos::iterator drop_at(typename Memos::iterator at) {
    Memo& memo = *at->second;
    if (!memo.series.empty())
      if (std::string name = this->lasting_name_of(at->first); !name.empty())
        left_.leave(std::move(name), std::move(memo.series));
    engine_.detach(&memo);
    return memos_.erase(at);
  }

  QueryEngine& engine_;
  std::pair<const std::string, uint64_t>& counter_;  ///< its name, and the number of computations
  std::unique_ptr<Memo> (*make_memo_)(Query&, const Key&);
  Compute compute_;
  Equal equal_;
  std::function<void(const Key&)> outdated_;
  size_t most_ = SIZE_MAX, keep_ = SIZE_MAX, bound_at_ = SIZE_MAX;
  bool drops_constants_ = false;
  uint64_t bounded_in_ = 0;  ///< the revision in which `bound` last looked
  Memos memos_;
  LeftSeries left_;
};

}  // namespace quern
