#pragma once
// The entries of a vocabulary.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/result.h"

namespace quern::tokens_detail {

/// Distinct texts with distinct ids.
class Vocabulary {
 public:
  /// What is wrong with an entry, as a clause, or "".
  std::string add(std::string text, int64_t id);
  std::optional<int32_t> find(std::string_view text) const;
  /// Null if there is no such id.
  const std::string* text_of(int64_t id) const;
  const std::map<int32_t, std::string>& entries() const { return texts_; }

 private:
  std::map<int32_t, std::string> texts_;
  std::unordered_map<std::string_view, int32_t> ids_;  ///< of `texts_`
};

/// Goes through a text by the longest of some entries that stands next.
class LongestMatch {
 public:
  /// The entries of `vocabulary`, which outlives this.
  explicit LongestMatch(const Vocabulary& vocabulary);
  LongestMatch() = default;
  void add(const std::string& text, int32_t id);

  struct Found {
    int32_t id;
    size_t size;
  };
  std::optional<Found> at(std::string_view rest) const;
  bool empty() const { return ids_.empty(); }

 private:
  std::unordered_map<std::string_view, int32_t> ids_;
  std::vector<size_t> sizes_;  ///< descending, distinct
};

}  // namespace quern::tokens_detail
