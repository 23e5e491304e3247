#pragma once

#include <vector>

namespace quern {

/// On destruction, removes the bindings made since construction.
template <class Bound>
class NameScope {
 public:
  explicit NameScope(std::vector<Bound>& bound) : bound_(bound), size_(bound.size()) {}
  ~NameScope() { bound_.resize(size_); }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  std::vector<Bound>& bound_;
  size_t size_;
};

}  // namespace quern
