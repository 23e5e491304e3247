#include "ir/tokens/byte_pairs.h"

#include <fmt/format.h>

#include <queue>
#include <tuple>
#include <unordered_map>

#include "ir/base/interrupt.h"

namespace quern::tokens_detail {

namespace {

std::string in_utf8(int code) {
  return code < 0x80
             ? std::string(1, static_cast<char>(code))
             : std::string{static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

/// A rule: two neighbours become one token.
struct Merge {
  size_t rank;
  int32_t to;
};

class BytePairTokenizer final : public Tokenizer {
 public:
  /// What is wrong, as a clause, or "".
  std::string take(BytePairs parts) {
    parts_ = std::move(parts);
    for (size_t byte = 0; byte < 256; ++byte)
      bytes_[byte] = parts_.vocabulary.find(byte_characters()[byte]).value_or(-1);
    for (size_t rank = 0; rank < parts_.merges.size(); ++rank)
      if (std::string fault = add_merge(rank); !fault.empty()) return fault;
    for (const auto& [id, text] : parts_.added.entries()) {
      added_.add(text, id);
      texts_.insert_or_assign(id, text);
    }
    return add_texts();
  }

  Result<std::vector<int32_t>> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    Known known;
    size_t begin = 0;
    for (size_t at = 0; at < text.size() && !added_.empty();) {
      const auto found = added_.at(text.substr(at));
      if (!found) {
        ++at;
        continue;
      }
      if (auto done = split(text.substr(begin, at - begin), 0, known, ids); !done) return done.error();
      ids.push_back(found->id);
      begin = at += found->size;
    }
    if (auto done = split(text.substr(begin), 0, known, ids); !done) return done.error();
    return ids;
  }

  const std::string* text_of(int64_t id) const override {
    const auto found = texts_.find(id);
    return found == texts_.end() ? nullptr : &found->second;
  }

 private:
  /// The tokens of words that have been seen.
  using Known = std::unordered_map<std::string_view, std::vector<int32_t>>;

  static uint64_t pair_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  std::string add_merge(size_t rank) {
    const auto& [left, right] = parts_.merges[rank];
    const auto a = parts_.vocabulary.find(left), b = parts_.vocabulary.find(right),
               to = parts_.vocabulary.find(left + right);
    if (a && b && to) {
      merges_.emplace(pair_of(*a, *b), Merge{rank, *to});
      return "";
    }
    return fmt::format("merge {} is of `{}` and `{}`, and the vocabulary has no `{}`", rank + 1, left, right,
                       !a   ? left
                       : !b ? right
                            : left + right);
  }

  /// The bytes of each entry.
  std::string add_texts() {
    std::unordered_map<std::string_view, char> byte_of;
    for (size_t byte = 0; byte < 256; ++byte)
      byte_of.emplace(byte_characters()[byte], static_cast<char>(byte));
    for (const auto& [id, text] : parts_.vocabulary.entries()) {
      if (texts_.contains(id)) continue;
      std::string bytes;
      for (size_t at = 0; at < text.size();) {
        const size_t size = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : 2;
        const auto found = byte_of.find(std::string_view(text).substr(at, size));
        if (found == byte_of.end()) return fmt::format("`{}` has a character that stands for no byte", text);
        bytes += found->second;
        at += size;
      }
      texts_.emplace(id, std::move(bytes));
    }
    return "";
  }

  Result<Done> split(std::string_view text, size_t level, Known& known, std::vector<int32_t>& ids) const {
    if (text.empty()) return Done{};
    if (level == parts_.words.size()) return add_word(text, known, ids);
    Result<Done> all = Done{};
    auto done = parts_.words[level]->split(text, [&](std::string_view word) {
      if (all) all = split(word, level + 1, known, ids);
    });
    return done ? all : done;
  }

  Result<Done> add_word(std::string_view word, Known& known, std::vector<int32_t>& ids) const {
    auto found = known.find(word);
    if (found == known.end()) {
      auto tokens = merged(word);
      if (!tokens) return tokens.error();
      found = known.emplace(word, std::move(*tokens)).first;
    }
    ids.insert(ids.end(), found->second.begin(), found->second.end());
    return Done{};
  }

  /// The pairs wait in the order of their ranks, those of one rank from left to right.
  Result<std::vector<int32_t>> merged(std::string_view word) const {
    std::vector<int32_t> tokens;  // -1: a part of the token before it
    for (const char byte : word) {
      tokens.push_back(bytes_[static_cast<unsigned char>(byte)]);
      if (tokens.back() < 0)
        return Failure{
            fmt::format("the vocabulary has no token for the byte {}", static_cast<unsigned char>(byte))};
    }
    const size_t size = tokens.size();
    std::vector<size_t> next(size), before(size);
    for (size_t k = 0; k < size; ++k) next[k] = k + 1, before[k] = k - 1;
    using Waiting = std::tuple<size_t, size_t, int32_t, int32_t>;  // the rank, the place, and the two tokens
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
    const auto wait = [&](size_t left) {
      if (left >= size || next[left] >= size) return;
      const auto rule = merges_.find(pair_of(tokens[left], tokens[next[left]]));
      if (rule != merges_.end()) queue.emplace(rule->second.rank, left, tokens[left], tokens[next[left]]);
    };
    for (size_t k = 0; k + 1 < size; ++k) wait(k);
    while (!queue.empty()) {
      if (is_interrupted()) return Failure{kInterrupted};
      const auto [rank, left, a, b] = queue.top();
      queue.pop();
      const size_t right = next[left];
      if (right >= size || tokens[left] != a || tokens[right] != b) continue;
      tokens[left] = merges_.find(pair_of(a, b))->second.to;
      tokens[right] = -1;
      next[left] = next[right];
      if (next[left] < size) before[next[left]] = left;
      wait(before[left]);
      wait(left);
    }
    std::erase(tokens, -1);
    return tokens;
  }

  BytePairs parts_;
  std::array<int32_t, 256> bytes_{};
  std::unordered_map<uint64_t, Merge> merges_;
  LongestMatch added_;
  std::unordered_map<int64_t, std::string> texts_;
};

}  // namespace

const std::array<std::string, 256>& byte_characters() {
  static const auto characters = [] {
    std::array<std::string, 256> made;
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      made[static_cast<size_t>(byte)] = in_utf8(is_printable ? byte : next++);
    }
    return made;
  }();
  return characters;
}

Result<std::shared_ptr<const Tokenizer>> make_tokenizer(BytePairs parts) {
  auto tokenizer = std::make_shared<BytePairTokenizer>();
  if (std::string fault = tokenizer->take(std::move(parts)); !fault.empty()) return Failure{std::move(fault)};
  return std::shared_ptr<const Tokenizer>(std::move(tokenizer));
}

}  // namespace quern::tokens_detail
