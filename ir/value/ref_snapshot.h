#pragma once
// What references hold at one moment, so that what is written to them later can be taken back.

#include <utility>
#include <vector>

#include "ir/value/value.h"

namespace quern {

/// Of the references that this thread made and that live. It keeps them and what they hold: a thread's
/// references are few, while writes may be many.
class RefSnapshot {
 public:
  /// Of no reference.
  RefSnapshot() = default;
  static RefSnapshot take();

  /// Gives each reference what it held. References that were made since are not touched.
  void restore() const;
  /// Forgets the references that hold what they held.
  void keep_changed();
  bool is_empty() const { return held_.empty(); }

 private:
  std::vector<std::pair<Value, Value>> held_;  ///< a reference and its content
};

}  // namespace quern
