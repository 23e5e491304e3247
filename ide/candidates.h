#pragma once
// The items of a completion as they are collected: how well each goes with what is typed, and their order.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/completion.h"

namespace quern::ide {

/// How a name goes with what is typed of it, the best first. Of a name of several parts one goes for the whole.
enum class NameMatch : uint8_t { Prefix, PrefixWithoutCase, PartPrefix, Subsequence };
std::optional<NameMatch> match_name(std::string_view name, std::string_view typed);

class Candidates {
 public:
  /// Above so many, the worst are left out.
  static constexpr size_t kMost = 256;

  explicit Candidates(std::string_view typed) : typed_(typed) {}

  struct Candidate {
    std::string label;
    CompletionKind kind;
    int group = 0;                                  ///< the lower the better, before all else but the match
    int fit = 0;                                    ///< the higher the better, within a group
    int recency = 0;                                ///< the higher the better, among those that fit as well
    std::function<std::string()> detail = nullptr;  ///< asked for where the item is shown
  };
  /// Nothing where its label does not go with what is typed.
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
