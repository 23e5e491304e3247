#pragma once
// A demand-driven query engine in the manner of salsa: inputs, memoised functions with recorded dependencies,
// a revision counter, early cut-off.
//
// Every memo knows the revision in which its value last changed and the one in which it was last found valid.
// Asking for a value first brings its dependencies up to date, in the order in which they were asked for;
// where none of them changed since the memo was valid, it is valid again without being computed. A value that
// is computed again and equals the old one keeps its old revision of change (and the old object), so that
// what depends on it stays valid: early cut-off.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/result.h"

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
  std::vector<QueryNode*> dependencies_;
};

class QueryEngine {
 public:
  uint64_t revision() const { return revision_; }
  /// An input is about to change.
  void advance() { ++revision_; }

  void record(QueryNode* node) {
    if (!active_.empty()) active_.back()->push_back(node);
  }

  /// How many times each kind of query was computed, for tests and `quern --stats`.
  std::unordered_map<std::string, uint64_t> computed;

 private:
  friend class Active;
  uint64_t revision_ = 1;
  std::vector<std::vector<QueryNode*>*> active_;
};

/// While it lives, what is asked for is recorded in `dependencies`.
class Active {
 public:
  Active(QueryEngine& engine, std::vector<QueryNode*>* dependencies) : engine_(engine) {
    engine_.active_.push_back(dependencies);
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
    if (cell.set && cell.value == value) return;
    engine_.advance();
    cell.value = std::move(value);
    cell.set = true;
    cell.changed_at = engine_.revision();
  }
  const Value& get(const Key& key) {
    Cell& cell = cell_of(key);
    engine_.record(&cell);
    return cell.value;
  }

 private:
  struct Cell final : QueryNode {
    void refresh() override {}
    Value value{};
    bool set = false;
  };
  Cell& cell_of(const Key& key) {
    auto& cell = cells_[key];
    if (!cell) cell = std::make_unique<Cell>();
    return *cell;
  }
  QueryEngine& engine_;
  std::unordered_map<Key, std::unique_ptr<Cell>, Hash> cells_;
};

/// A memoised function of its key (and of the inputs and queries it asks for).
template <class Key, class Value, class Hash = std::hash<Key>>
class Query {
 public:
  using Compute = std::function<Value(const Key&)>;
  using Equal = std::function<bool(const Value&, const Value&)>;

  /// Without `equal`, every recomputed value counts as changed.
  Query(QueryEngine& engine, std::string name, Compute compute, Equal equal = nullptr)
      : engine_(engine), name_(std::move(name)), compute_(std::move(compute)), equal_(std::move(equal)) {}

  /// The value, up to date. The reference stays good until an input changes and the query is asked again. A
  /// query that asks for itself gets an empty value.
  const Value& operator()(const Key& key) {
    auto& memo = memos_[key];
    if (!memo) memo = std::make_unique<Memo>(*this, key);
    memo->refresh();
    engine_.record(memo.get());
    return memo->value;
  }

  size_t size() const { return memos_.size(); }

 private:
  struct Memo final : QueryNode {
    Memo(Query& query, Key key) : query(query), key(std::move(key)) {}
    void refresh() override {
      uint64_t now = query.engine_.revision();
      if (valid_at == now || running) return;
      // Left in order also where a computation throws (memory may run out): the memo is then as stale as
      // before.
      struct Running {
        bool& flag;
        ~Running() { flag = false; }
      } guard{running};
      running = true;
      if (valid_at == 0 || outdated()) compute();
      valid_at = now;
    }
    bool outdated() {
      for (QueryNode* dependency : dependencies_) {
        dependency->refresh();
        if (dependency->changed_at > valid_at) return true;
      }
      return false;
    }
    void compute() {
      ++query.engine_.computed[query.name_];
      std::vector<QueryNode*> found;
      Value fresh = [&] {
        Active active(query.engine_, &found);
        return query.compute_(key);
      }();
      dependencies_ = std::move(found);
      if (valid_at != 0 && query.equal_ && query.equal_(value, fresh)) return;
      value = std::move(fresh);
      changed_at = query.engine_.revision();
    }
    Query& query;
    Key key;
    Value value{};
    uint64_t valid_at = 0;
    bool running = false;
  };

  QueryEngine& engine_;
  std::string name_;
  Compute compute_;
  Equal equal_;
  std::unordered_map<Key, std::unique_ptr<Memo>, Hash> memos_;
};

}  // namespace quern
