#pragma once
// How much memory values take.

#include <cstddef>
#include <unordered_set>

#include "ir/value/value.h"

namespace quern {

/// Counts the bytes of tensors and single numbers in values; what several values share counts once.
class ValueBytes {
 public:
  /// How many bytes the value has beside those that were counted before.
  size_t add(const Value& value);

 private:
  std::unordered_set<const void*> seen_;
};

}  // namespace quern
