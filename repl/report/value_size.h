#pragma once
// The memory use of values.

#include <cstddef>
#include <unordered_set>

#include "ir/value/value.h"

namespace quern {

/// Counts the bytes of tensors and scalars in values; shared tensors count once.
class ValueBytes {
 public:
  /// The bytes of the value that were not counted before.
  size_t add(const Value& value);

 private:
  std::unordered_set<const void*> seen_;
};

}  // namespace quern
