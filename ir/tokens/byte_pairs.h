#pragma once
// Byte-level byte pair encoding: the bytes of a word are merged, the pair that was learned first before the others.
// Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016; over bytes: Radford et al.,
// "Language Models are Unsupervised Multitask Learners", 2019.

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/tokens/tokenizer.h"
#include "ir/tokens/vocabulary.h"
#include "ir/tokens/words.h"

namespace quern::tokens_detail {

/// The character, in UTF-8, that stands for each byte in the files: printable ones for themselves, the others in order
/// from U+0100 on.
const std::array<std::string, 256>& byte_characters();

struct BytePairs {
  Vocabulary vocabulary;                                    ///< in those characters
  std::vector<std::pair<std::string, std::string>> merges;  ///< in the order in which they were learned
  Vocabulary added;                                         ///< what stands for itself in a text, as it is
  std::vector<std::shared_ptr<const Words>> words;          ///< each splits what the ones before it left
};

/// The message of the Failure is a clause.
Result<std::shared_ptr<const Tokenizer>> make_tokenizer(BytePairs parts);

}  // namespace quern::tokens_detail
