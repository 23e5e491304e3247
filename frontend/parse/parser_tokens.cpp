// The lexer. Of what may begin at a place the longest token counts, and of equally long ones the word or symbol of
// the grammar's rules, then a number.
//
//     REDUCE            ('sum' | 'prod' | 'max' | 'min' | 'argmax' | 'argmin' | 'any' | 'all') '['
//     LOCAL             '%' IDENT, in files with TVM's header longer (`local_name_size`)
//     UNDERSCORE_LOCAL  '%_'
//     GRAPH             '%' DIGIT+
//     GLOBAL            '@' IDENT ('.' IDENT)*
//     PROJECTION        '.' DIGIT+
//     INT               DIGIT+ ([iu] DIGIT*)?
//     FLOAT             DIGIT+ ('.' DIGIT*)? EXPONENT? SUFFIX?, with one of the three, or ('inf' | 'nan') SUFFIX?; none
//                       behind whose `.` another `.` or a letter but an exponent's stands
//     EXPONENT          [eE] [+-]? DIGIT+
//     SUFFIX            'f' DIGIT*, not right behind the `.`
//     NAME              IDENT ('.' IDENT)*
//     STRING            between quotes in one line; a backslash takes the next character with it
//
// Blanks and comments are between tokens; comments nest.

#include "frontend/parse/parser_tokens.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "QuernParser.h"
#include "frontend/text/lexeme.h"

namespace quern {

namespace {

using P = quern_grammar::QuernParser;

enum Class : uint8_t { kBlank = 1, kLetter = 2, kDigit = 4 };
constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\n', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = kBlank;
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kLetter;
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  classes['_'] = kLetter;
  return classes;
}();

bool is_a(char c, uint8_t classes) { return kClasses[static_cast<unsigned char>(c)] & classes; }

/// The words and symbols that the grammar's rules write in quotes.
class Literals {
 public:
  static const Literals& get() {
    static const Literals literals;
    return literals;
  }
  /// The type of a word, or 0.
  uint16_t word(std::string_view text) const {
    if (text.size() > longest_word_) return 0;
    auto found = words_.find(text);
    return found == words_.end() ? 0 : found->second;
  }
  /// The longest symbol at the begin of a text; of size 0 if there is none.
  std::pair<uint16_t, size_t> symbol(std::string_view text) const {
    for (const auto& [symbol, type] : symbols_[static_cast<unsigned char>(text[0])])
      if (text.starts_with(symbol)) return {type, symbol.size()};
    return {0, 0};
  }

 private:
  Literals() {
    const antlr4::dfa::Vocabulary& vocabulary = P(nullptr).getVocabulary();
    for (size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type) {
      const std::string quoted = vocabulary.getLiteralName(type);
      if (quoted.size() < 3) continue;
      const std::string& text = texts_.emplace_back(quoted.substr(1, quoted.size() - 2));
      if (is_a(text[0], kLetter)) {
        words_.emplace(text, static_cast<uint16_t>(type));
        longest_word_ = std::max(longest_word_, text.size());
      } else {
        symbols_[static_cast<unsigned char>(text[0])].emplace_back(text, static_cast<uint16_t>(type));
      }
    }
    for (auto& list : symbols_)
      std::ranges::sort(list, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }

  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, uint16_t> words_;
  std::array<std::vector<std::pair<std::string_view, uint16_t>>, 256> symbols_;
  size_t longest_word_ = 0;
};

class Lexer {
 public:
  Lexer(std::string_view text, bool slash_names) : text_(text), slash_names_(slash_names) {}

  std::vector<ParserToken> all() {
    std::vector<ParserToken> tokens;
    tokens.reserve(text_.size() / 3 + 1);
    while (skip_blanks()) {
      const size_t begin = at_;
      const uint16_t type = next();
      tokens.push_back({type, {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)}});
    }
    const auto size = static_cast<uint32_t>(text_.size());
    tokens.push_back({kEndOfText, {size, size}});
    return tokens;
  }

 private:
  /// Whether a token follows. A comment that nothing closes is none.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (is_a(text_[at_], kBlank)) {
        ++at_;
        continue;
      }
      if (text_[at_] != '/') return true;
      const TokenEnd comment = comment_end(text_, at_);
      if (!comment.closed || comment.end == at_) return true;
      at_ = comment.end;
    }
    return false;
  }
  uint16_t next() {
    const char c = text_[at_];
    if (is_a(c, kLetter)) return word();
    if (is_a(c, kDigit)) return number();
    if (c == '%')
      if (uint16_t type = local()) return type;
    if (c == '@' && is_letter(at_ + 1)) {
      at_ = name_end(at_ + 1);
      return P::GLOBAL;
    }
    if (c == '.' && is_digit(at_ + 1)) {
      at_ = digits_end(at_ + 1);
      return P::PROJECTION;
    }
    if (c == '"')
      if (const TokenEnd string = string_end(text_, at_); string.closed) {
        at_ = string.end;
        return P::STRING;
      }
    if (const auto [type, size] = literals_.symbol(text_.substr(at_)); size > 0) {
      at_ += size;
      return type;
    }
    at_ += std::max<size_t>(1, utf8_length(text_, at_));
    return P::UNKNOWN;
  }

  uint16_t word() {
    const size_t begin = at_, first = word_end(begin);
    at_ = name_end(begin);
    // A word and the character behind it: `sum[`, `match?`.
    if (at_ == first && (follows(first, '[') || follows(first, '?'))) {
      const std::string_view joined = text_.substr(begin, first + 1 - begin);
      const uint16_t type = is_reduction(joined) ? static_cast<uint16_t>(P::REDUCE) : literals_.word(joined);
      if (type) {
        ++at_;
        return type;
      }
    }
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (uint16_t type = literals_.word(text)) return type;
    return is_special_float(text) ? P::FLOAT : P::NAME;
  }
  static bool is_reduction(std::string_view text) {
    static constexpr std::array<std::string_view, 8> kReductions{"sum[",    "prod[",   "max[", "min[",
                                                                 "argmax[", "argmin[", "any[", "all["};
    return std::ranges::find(kReductions, text) != kReductions.end();
  }
  /// `inf`, `nan`, `inff`, `nanf16`.
  static bool is_special_float(std::string_view text) {
    if (!text.starts_with("inf") && !text.starts_with("nan")) return false;
    text.remove_prefix(3);
    return text.empty() ||
           (text[0] == 'f' && std::ranges::all_of(text.substr(1), [](char c) { return is_a(c, kDigit); }));
  }

  /// `7`, `7i64`, `2.5`, `1.`, `1e-3f`.
  uint16_t number() {
    const size_t digits = digits_end(at_);
    size_t end = exponent_end(digits);
    if (follows(digits, '.')) {
      end = exponent_end(digits + 1);
      if (is_digit(digits + 1)) end = std::max(digits_end(digits + 1), exponent_end(digits_end(digits + 1)));
      if (end == 0 && ends_number(digits + 1)) {
        at_ = digits + 1;
        return P::FLOAT;
      }
    } else if (end == 0 && follows(digits, 'f')) {
      end = digits;
    }
    if (end == 0) {
      const bool has_suffix = follows(digits, 'i') || follows(digits, 'u');
      at_ = has_suffix ? digits_end(digits + 1) : digits;
      return P::INT;
    }
    at_ = follows(end, 'f') ? digits_end(end + 1) : end;
    return P::FLOAT;
  }
  /// The end of an exponent that begins at a place; 0 for none.
  size_t exponent_end(size_t at) const {
    if (!follows(at, 'e') && !follows(at, 'E')) return 0;
    const size_t digits = at + (follows(at + 1, '+') || follows(at + 1, '-') ? 2 : 1);
    return is_digit(digits) ? digits_end(digits) : 0;
  }
  /// `1.`, and neither `1..n` nor `1.f`.
  bool ends_number(size_t at) const { return !follows(at, '.') && !is_letter(at); }

  /// `%x`, `%_`, `%0`; 0 where a `%` stands for itself.
  uint16_t local() {
    if (is_digit(at_ + 1)) {
      at_ = digits_end(at_ + 1);
      return P::GRAPH;
    }
    const size_t size = local_name_size(text_.substr(at_ + 1), slash_names_);
    if (size == 0) return 0;
    const bool is_hole = size == 1 && text_[at_ + 1] == '_';
    at_ += 1 + size;
    return is_hole ? P::UNDERSCORE_LOCAL : P::LOCAL;
  }

  bool follows(size_t at, char c) const { return at < text_.size() && text_[at] == c; }
  bool is_digit(size_t at) const { return at < text_.size() && is_a(text_[at], kDigit); }
  bool is_letter(size_t at) const { return at < text_.size() && is_a(text_[at], kLetter); }
  size_t digits_end(size_t at) const {
    while (is_digit(at)) ++at;
    return at;
  }
  size_t word_end(size_t at) const {
    while (at < text_.size() && is_a(text_[at], kLetter | kDigit)) ++at;
    return at;
  }
  /// Of words with dots between them.
  size_t name_end(size_t at) const {
    at = word_end(at);
    while (follows(at, '.') && is_letter(at + 1)) at = word_end(at + 1);
    return at;
  }

  const Literals& literals_ = Literals::get();
  std::string_view text_;
  bool slash_names_;
  size_t at_ = 0;
};

}  // namespace

std::vector<ParserToken> tokens_of(std::string_view text, bool slash_names) {
  return Lexer(text, slash_names).all();
}

}  // namespace quern
