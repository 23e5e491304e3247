#pragma once
// The contents of references at one moment, so that later writes can be undone.

#include <utility>
#include <vector>

#include "ir/value/value.h"

namespace quern {

/// Covers the live references that this thread made, and keeps them and their contents alive: a thread's
/// references are few, while writes may be many.
class RefSnapshot {
 public:
  /// Covers no reference.
  RefSnapshot() = default;
  static RefSnapshot take();

  /// Restores each reference's content. References made since are not touched.
  void restore() const;
  /// Forgets the references whose content is unchanged.
  void keep_changed();
  bool is_empty() const { return held_.empty(); }

 private:
  std::vector<std::pair<Value, Value>> held_;  ///< a reference and its content
};

}  // namespace quern
