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
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "session/query/memo_table.h"
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
class Query final : public MemoTable<Space> {
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
    const auto& memo = this->request(key);
    static const Value empty{};
    const auto& value = memo.abandoned ? memo.abandoned : memo.value;
    return value && !memo.running ? *static_cast<const Value*>(value.get()) : empty;
  }
  /// The last computed value, possibly of an earlier revision; null if there is none. Records no dependency:
  /// for readers on other threads, and for computations that reuse unchanged parts.
  std::shared_ptr<const Value> known(const Key& key) const {
    auto found = this->memos().find(key);
    return found == this->memos().end() ? nullptr
                                        : std::static_pointer_cast<const Value>(found->second->value);
  }
  size_t bytes(MemoryCount& count) const override;

 private:
  std::shared_ptr<const void> computed(const Key& key) const override {
    return std::make_shared<const Value>(compute_(key));
  }
  bool equal(const void* before, const void* after) const override {
    return equal_ && equal_(*static_cast<const Value*>(before), *static_cast<const Value*>(after));
  }

  Compute compute_;
  Equal equal_;
};

}  // namespace quern
