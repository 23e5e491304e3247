#include "lsp/parse_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/text/source.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

/// The characters of strings that stand for themselves, of those that are one byte.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  json run() {
    json root;
    for (json* place = &root; place;) place = value(*place);
    blanks();
    if (is_wrong_ || at_ < text_.size()) return json(json::value_t::discarded);
    return root;
  }

 private:
  // Reads a value, or the beginning of one with parts. The place of the next value; null after the last one.
  json* value(json& into) {
    blanks();
    if (take('[')) {
      into = json::array();
      blanks();
      if (take(']')) return next();
      return open(into) ? &into.emplace_back() : wrong();
    }
    if (take('{')) {
      into = json::object();
      blanks();
      if (take('}')) return next();
      return open(into) ? member(into) : wrong();
    }
    return scalar(into) ? next() : wrong();
  }

  bool open(json& value) {
    constexpr size_t kMost = 1000;
    open_.push_back(&value);
    return open_.size() <= kMost;
  }

  json* next() {
    while (!open_.empty()) {
      json& around = *open_.back();
      blanks();
      if (take(',')) return around.is_array() ? &around.emplace_back() : member(around);
      if (!take(around.is_array() ? ']' : '}')) return wrong();
      open_.pop_back();
    }
    return nullptr;
  }

  json* member(json& object) {
    std::string key;
    blanks();
    if (!take('"') || !string(key)) return wrong();
    blanks();
    return take(':') ? &object[std::move(key)] : wrong();
  }

  bool scalar(json& into) {
    if (take('"')) {
      into = std::string();
      return string(into.get_ref<std::string&>());
    }
    const size_t begin = at_;
    const auto is_in_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'E';
    };
    while (at_ < text_.size() && is_in_word(text_[at_])) ++at_;
    into = word(text_.substr(begin, at_ - begin));
    return !into.is_discarded();
  }

  static json word(std::string_view text) {
    // Positions, versions and ids; the library reads other numbers, and knows the words.
    constexpr size_t kMostDigits = 18;
    const bool is_short = !text.empty() && text.size() <= kMostDigits && (text.size() == 1 || text[0] != '0');
    if (is_short && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) {
      uint64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      return number;
    }
    return json::parse(text, nullptr, false);
  }

  // What follows the quote.
  bool string(std::string& into) {
    while (at_ < text_.size()) {
      const size_t begin = at_;
      while (at_ < text_.size() && kPlain[static_cast<unsigned char>(text_[at_])]) ++at_;
      into.append(text_, begin, at_ - begin);
      if (take('"')) return true;
      if (take('\\')) {
        if (!escape(into)) return false;
        continue;
      }
      const bool is_long = at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80;
      const size_t length = is_long ? utf8_length(text_, at_) : 0;
      if (length == 0) return false;
      into.append(text_, at_, length);
      at_ += length;
    }
    return false;
  }

  bool escape(std::string& into) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (text_.substr(at_).starts_with('u')) return codes(into);
    const size_t known = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (known == std::string_view::npos) return false;
    into += kMeanings[known];
    ++at_;
    return true;
  }

  // A row of `\u12AB`, of which two may be one character: the library reads them.
  bool codes(std::string& into) {
    constexpr size_t kLength = 6;
    const size_t begin = at_ - 1;
    for (at_ = begin; text_.substr(at_).starts_with("\\u");) at_ = std::min(at_ + kLength, text_.size());
    const json read = json::parse(fmt::format("\"{}\"", text_.substr(begin, at_ - begin)), nullptr, false);
    if (!read.is_string()) return false;
    into += read.get_ref<const std::string&>();
    return true;
  }

  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    const bool is_there = at_ < text_.size() && text_[at_] == c;
    at_ += is_there;
    return is_there;
  }
  json* wrong() {
    is_wrong_ = true;
    return nullptr;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::vector<json*> open_;  ///< the arrays and objects around, the innermost last
  bool is_wrong_ = false;
};

}  // namespace

template <class Json>
Json parse_json(std::string_view text) {
  return Reader(text).run();
}

template json parse_json(std::string_view);

}  // namespace quern::lsp
