#pragma once
// What the queries of one key space have in common, whatever their values: memos, when they are computed again, and
// which of them are dropped. It is compiled once per key space, and a query adds the type of its value
// (session/query/query.h).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/base/series.h"
#include "session/query/left_series.h"
#include "session/query/table.h"

namespace quern {

template <class Space>
class MemoTable : public TableOf<Space> {
 public:
  using Key = typename Space::Key;

  /// Whether the last computed value is up to date.
  bool is_current(const Key& key) const {
    auto found = memos_.find(key);
    return found != memos_.end() && found->second->is_current();
  }
  /// If there are more than `most` memos, and half as many again as it left before, `bound` drops those without
  /// dependents that were not asked for since it did so last, least recently used first, until `keep` are left.
  /// Nothing records that it depends on a constant: `constants` tells whether these are dropped too.
  void keeping(size_t most, size_t keep, bool constants) {
    most_ = bound_at_ = most, keep_ = keep, drops_constants_ = constants;
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

 protected:
  struct Memo : QueryNode {
    bool is_current() const { return value && !this->dirty_; }
    std::shared_ptr<const void> value;      ///< null before the first computation
    std::shared_ptr<const void> abandoned;  ///< the result of a cancelled computation, only for its requester
    uint64_t used_at = 0;
    bool running = false;  ///< it or one of its dependencies is being computed
    Series series;         ///< shared by all computations of the value
  };
  using Memos = std::unordered_map<Key, std::unique_ptr<Memo>, typename Space::Hash>;

  MemoTable(Tables& tables, const std::string& name);
  /// Brings the memo up to date and records that the running computation depends on it.
  virtual const Memo& request(const Key& key);
  virtual std::shared_ptr<const void> computed(const Key& key) const = 0;
  /// Whether a value that was computed again has not changed.
  virtual bool equal(const void* before, const void* after) const = 0;
  const Memos& memos() const { return memos_; }

 private:
  struct ComputedMemo;
  Memo& memo_of(const Key& key);
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
  std::function<void(const Key&)> outdated_;
  size_t most_ = SIZE_MAX, keep_ = SIZE_MAX, bound_at_ = SIZE_MAX;
  bool drops_constants_ = false;
  uint64_t bounded_in_ = 0;  ///< the revision in which `bound` last looked
  Memos memos_;
  LeftSeries left_;
};

}  // namespace quern
