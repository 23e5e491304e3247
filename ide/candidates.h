#pragma once
// The items of a completion as they are collected: how well each matches the typed text, and their order.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/completion.h"

namespace quern::ide {

/// How a name matches the typed text, the best first. A match of one part of a name counts for the whole.
enum class NameMatch : uint8_t { Prefix, PrefixWithoutCase, LastNamePrefix, PartPrefix, Subsequence };
std::optional<NameMatch> match_name(std::string_view name, std::string_view typed);

class Candidates {
 public:
  /// Beyond this number, the worst are dropped.
  static constexpr size_t kMost = 256;

  explicit Candidates(std::string_view typed) : typed_(typed) {}

  struct Candidate {
    std::string label;
    CompletionKind kind;
    int group = 0;                                  ///< lower is better; compared after the match
    int fit = 0;                                    ///< higher is better, within a group
    int recency = 0;                                ///< higher is better, among equal fits
    std::function<std::string()> detail = nullptr;  ///< called if the item is shown
  };
  /// Ignores a candidate whose label does not match the typed text.
  void add(Candidate candidate);
  bool wants(std::string_view label) const { return match_name(label, typed_).has_value(); }
  std::string_view typed() const { return typed_; }

  /// The best, each label once.
  CompletionList take(Range replaced);

 private:
  struct Ranked {
    Candidate candidate;
    NameMatch match;
  };
  std::string_view typed_;
  std::vector<Ranked> all_;
};

}  // namespace quern::ide
