#pragma once
// The implementation of inputs and queries, for the file that constructs them (session/query/query.h).

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/internal_failure.h"
#include "ir/base/result.h"
#include "ir/base/series.h"
#include "ir/dim/arena.h"
#include "session/query/query.h"

namespace quern {

constexpr size_t kBytesOfEntry = 4 * sizeof(void*);  ///< of a hash table, about

template <class Space, class Value>
Input<Space, Value>::Input(Tables& tables, std::string name, Load load)
    : TableOf<Space>(tables, std::move(name)), engine_(tables.engine), load_(std::move(load)) {}

template <class Space, class Value>
void Input<Space, Value>::drop(const Key& key) {
  auto found = cells_.find(key);
  if (found == cells_.end()) return;
  engine_.detach(found->second.get());
  cells_.erase(found);
}

template <class Space, class Value>
void Input<Space, Value>::bound() {
  if (load_ || cells_.size() <= bound_at_) return;
  const Value empty{};
  for (auto it = cells_.begin(); it != cells_.end();) {
    const QueryNode* cell = it->second.get();
    if (it->second->value == empty && !engine_.is_constant(cell) && !engine_.has_dependents(cell)) {
      engine_.detach(it->second.get());
      it = cells_.erase(it);
    } else {
      ++it;
    }
  }
  bound_at_ = std::max<size_t>(64, 2 * cells_.size());
}

template <class Space, class Value>
size_t Input<Space, Value>::bytes(MemoryCount& count) const {
  size_t bytes = cells_.size() * (sizeof(Cell) + sizeof(Key) + kBytesOfEntry);
  for (auto& [key, cell] : cells_) bytes += owned_bytes(cell->value, count);
  return bytes;
}

template <class Space, class Value>
size_t InternTable<Space, Value>::bytes(MemoryCount& count) const {
  size_t bytes = values_.size() * (sizeof(Key) + sizeof(Value) + kBytesOfEntry);
  for (auto& [key, value] : values_) bytes += owned_bytes(value, count);
  return bytes;
}

template <class Space>
struct MemoTable<Space>::ComputedMemo final : Memo {
  ComputedMemo(MemoTable& table, const Key& key) : table(table), key(key) {}
  void became_dirty() override {
    if (table.outdated_) table.outdated_(key);
  }
  void refresh() override {
    if (!this->dirty_ || this->running) return;
    this->abandoned = nullptr;
    struct Running {
      bool& flag;
      ~Running() { flag = false; }
    } guard{this->running};
    this->running = true;
    if (!this->forced_ && !outdated()) {
      // If work was cancelled meanwhile, the dependencies are unknown.
      if (table.engine_.latched()) return;
      valid_at = table.engine_.revision();
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
    QueryEngine& engine = table.engine_;
    ++table.counter_.second;
    const Subject subject = table.subject_of(key);
    Stage stage(table.counter_.first, {subject.declaration}, subject.name);
    QUERN_CHECK(this->running);
    std::vector<QueryNode*> found;
    auto fresh = [&] {
      Active active(engine);
      Series::Turn turn(this->series);
      DimArena::Outside outside;
      auto value = table.computed(key);
      found = active.recorded();
      return value;
    }();
    // Proofs stop at an interrupt too, and do not ask the engine.
    if (engine.cancelled()) {
      this->abandoned = std::move(fresh);
      engine.abandon(this->abandoned);
      return;
    }
    bool first = valid_at == 0;
    engine.attach(this, std::move(found));
    this->dirty_ = this->forced_ = false;
    if (this->constant_ && table.lasting_name_of(key).empty()) this->series.clear();
    valid_at = engine.revision();
    if (!first && table.equal(this->value.get(), fresh.get())) return;
    this->value = std::move(fresh);
    this->changed_at = engine.revision();
  }

  MemoTable& table;
  Key key;
  uint64_t valid_at = 0;
};

template <class Space>
MemoTable<Space>::MemoTable(Tables& tables, const std::string& name)
    : TableOf<Space>(tables, name),
      engine_(tables.engine),
      counter_(*tables.engine.computed.try_emplace(name).first) {}

template <class Space>
typename MemoTable<Space>::Memo& MemoTable<Space>::memo_of(const Key& key) {
  auto& memo = memos_[key];
  if (memo) return *memo;
  memo = std::make_unique<ComputedMemo>(*this, key);
  if (!left_.empty()) memo->series = left_.take(this->lasting_name_of(key));
  return *memo;
}

template <class Space>
const typename MemoTable<Space>::Memo& MemoTable<Space>::request(const Key& key) {
  Memo& memo = memo_of(key);
  memo.refresh();
  memo.used_at = engine_.revision();
  engine_.record(&memo);
  return memo;
}

template <class Space>
void MemoTable<Space>::bound() {
  if (memos_.size() <= bound_at_) return;
  using Entry = std::pair<const Key, std::unique_ptr<Memo>>;
  std::vector<std::pair<uint64_t, const Entry*>> by_use;
  for (const Entry& entry : memos_)
    if (const Memo& memo = *entry.second; memo.used_at <= bounded_in_ &&
                                          (drops_constants_ || !engine_.is_constant(&memo)) &&
                                          !engine_.has_dependents(&memo))
      by_use.emplace_back(memo.used_at, &entry);
  auto end = by_use.begin() + static_cast<std::ptrdiff_t>(std::min(by_use.size(), memos_.size() - keep_));
  std::ranges::nth_element(by_use, end, {}, &std::pair<uint64_t, const Entry*>::first);
  // What is dropped may be held by values that depend on constants: its variables stay its own.
  for (auto it = by_use.begin(); it != end; ++it) {
    const auto found = memos_.find(it->second->first);
    engine_.detach(found->second.get());
    memos_.erase(found);
  }
  // Half as many new ones come until then: what is left is at most twice what is asked for again and again. With as many
  // new ones it would grow each time.
  bound_at_ = std::max(most_, memos_.size() + memos_.size() / 2);
  bounded_in_ = engine_.revision();
}

template <class Space>
void MemoTable<Space>::drop(const Key& key) {
  if (const auto found = memos_.find(key); found != memos_.end()) drop_at(found);
}

template <class Space, class Value>
Query<Space, Value>::Query(Tables& tables, const std::string& name, Compute compute, Equal equal)
    : MemoTable<Space>(tables, name), compute_(std::move(compute)), equal_(std::move(equal)) {}

template <class Space, class Value>
template <class Owner, class Returned, class Taken>
Query<Space, Value>::Query(Owner& owner, const std::string& name, Returned (Owner::*compute)(Taken),
                           Equal equal)
    : Query(owner, owner, name, compute, std::move(equal)) {}

template <class Space, class Value>
template <class Owner, class Returned, class Taken>
Query<Space, Value>::Query(Tables& tables, Owner& owner, const std::string& name,
                           Returned (Owner::*compute)(Taken), Equal equal)
    : Query(
          tables, name, [&owner, compute](const Key& key) -> Value { return (owner.*compute)(key); },
          std::move(equal)) {}

template <class Space, class Value>
size_t Query<Space, Value>::bytes(MemoryCount& count) const {
  constexpr size_t kMemo = sizeof(typename MemoTable<Space>::Memo) + 2 * sizeof(Key) + 2 * sizeof(void*);
  size_t bytes = this->memos().size() * (kMemo + kBytesOfEntry);
  for (auto& [key, memo] : this->memos())
    bytes += owned_bytes(std::static_pointer_cast<const Value>(memo->value), count);
  return bytes;
}

}  // namespace quern
