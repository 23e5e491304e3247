#pragma once
// Text as the ids of tokens, and back, by a vocabulary in a file of JSON.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"

namespace quern {

/// Text is any bytes; what is meant to be characters is UTF-8. The messages of Failures are clauses. Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  virtual Result<std::vector<int32_t>> encode(std::string_view text) const = 0;
  /// The text of an id; null if there is no such id.
  virtual const std::string* text_of(int64_t id) const = 0;
  Result<std::string> decode(std::span<const int64_t> ids) const;

 protected:
  Tokenizer() = default;
};

/// The tokenizer that a file describes:
/// - a list of strings, whose places are their ids, or an object with their ids: the longest that fits comes next. What
///   none fits is `<unk>`, or a Failure with its place where there is no such entry;
/// - GPT-2's `vocab.json`, an object with an entry for each byte, with `merges.txt` beside it (Sennrich et al. 2016,
///   Radford et al. 2019). An entry that no merge makes, such as `<|endoftext|>`, stands for itself in a text;
/// - Hugging Face's `tokenizer.json`, of type BPE over bytes.
/// No token is added at the begin or the end of a text.
Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const std::string& path);

}  // namespace quern
