#pragma once
// The variables that values of a query had whose keys are gone. A key of the same name that comes takes them over: a
// definition that is taken away and typed again has the variables it had, and nothing new is interned.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <string>
#include <utility>

#include "ir/base/series.h"

namespace quern {

class LeftSeries {
 public:
  bool empty() const { return left_.empty(); }
  /// Those that left first are forgotten.
  void leave(std::string name, Series series) {
    constexpr size_t kMost = 64;
    left_.emplace_back(std::move(name), std::move(series));
    if (left_.size() > kMost) left_.pop_front();
  }
  /// The one that left last; an empty one if none has the name.
  Series take(const std::string& name) {
    const auto found =
        std::find_if(left_.rbegin(), left_.rend(), [&](const auto& one) { return one.first == name; });
    if (found == left_.rend()) return {};
    Series series = std::move(found->second);
    left_.erase(std::prev(found.base()));
    return series;
  }

 private:
  std::deque<std::pair<std::string, Series>> left_;
};

}  // namespace quern
