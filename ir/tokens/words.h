#pragma once
// The words that a text is split into before its bytes are merged, by PCRE2 with Unicode's classes.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ir/base/result.h"

namespace quern::tokens_detail {

/// GPT-2's: contractions, words, numbers and signs with a blank before them, and blanks. (PCRE2's `\s` has U+180E too.)
inline constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+)"
    R"(|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)";

/// A pattern of words. Thread-safe.
class Words {
 public:
  /// The message of the Failure is a clause.
  static Result<std::shared_ptr<const Words>> of(std::string_view pattern);
  ~Words();
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// Visits the words of a text in order, and what stands between them, so that they make up the text: bytes that are no
  /// characters belong to no word. The message of the Failure is a clause.
  Result<Done> split(std::string_view text, const std::function<void(std::string_view)>& visit) const;

 private:
  struct Compiled;
  explicit Words(std::unique_ptr<Compiled> compiled);
  const std::unique_ptr<Compiled> compiled_;
};

}  // namespace quern::tokens_detail
