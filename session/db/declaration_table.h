#pragma once
// What is known of each declaration.

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "session/db/ids.h"

namespace quern {

/// By id, from 1. An id is never reused. Removed declarations of one source and kind share a record without a name, so that
/// a session does not grow with each edit.
class DeclarationTable {
 public:
  const DeclarationInfo& operator[](DeclarationId id) const { return records_[record_of_[id]]; }
  /// The number of ids given so far, with 0, which is no declaration.
  size_t size() const { return record_of_.size(); }
  size_t bytes() const {
    return record_of_.capacity() * sizeof(uint32_t) + records_.size() * sizeof(DeclarationInfo);
  }

  DeclarationId add(DeclarationInfo info) {
    uint32_t record = static_cast<uint32_t>(records_.size());
    if (unused_.empty()) {
      records_.push_back(std::move(info));
    } else {
      record = unused_.back();
      unused_.pop_back();
      records_[record] = std::move(info);
    }
    record_of_.push_back(record);
    return static_cast<DeclarationId>(record_of_.size() - 1);
  }

  /// References to its record must not be used any more.
  void remove(DeclarationId id) {
    const DeclarationInfo& info = (*this)[id];
    const auto [gone, is_new] = gone_.try_emplace({info.source, info.kind}, 0);
    if (is_new) {
      gone->second = static_cast<uint32_t>(records_.size());
      records_.push_back({info.source, info.module, info.kind, {}, 0});
    }
    if (record_of_[id] == gone->second) return;
    unused_.push_back(std::exchange(record_of_[id], gone->second));
  }

 private:
  std::vector<uint32_t> record_of_{0};
  std::deque<DeclarationInfo> records_{DeclarationInfo{}};  ///< references stay valid
  std::vector<uint32_t> unused_;
  std::map<std::pair<SourceId, PieceKind>, uint32_t> gone_;
};

}  // namespace quern
