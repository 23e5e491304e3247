#include "frontend/text/format_string.h"

#include <algorithm>

#include "frontend/text/lexeme.h"
#include "ir/type/static_value.h"

namespace quern {

namespace {

class FormatScanner {
 public:
  FormatScanner(std::string_view text, Range inside) : text_(text), at_(inside.begin), end_(inside.end) {}

  std::vector<FormatPart> run() {
    while (at_ < end_) {
      const char c = text_[at_];
      if (looking_at("{{") || looking_at("}}") || (c == '\\' && at_ + 1 < end_))
        label(2);
      else if (c == '{')
        value();
      else if (c == '}')
        stray();
      else
        label(1);
    }
    return std::move(parts_);
  }

 private:
  bool looking_at(std::string_view words) const { return text_.substr(at_, end_ - at_).starts_with(words); }

  void label(uint32_t size) {
    if (parts_.empty() || parts_.back().kind != FormatPart::Kind::Text)
      parts_.push_back({FormatPart::Kind::Text, {at_, at_}});
    at_ += size;
    parts_.back().range.end = at_;
  }

  void stray() {
    parts_.push_back({FormatPart::Kind::Stray, {at_, at_ + 1}});
    ++at_;
  }

  // Strings inside the expression have escaped quotes. The format begins at the last `:` outside brackets
  // that is not part of `:=`.
  void value() {
    const uint32_t open = at_;
    std::optional<uint32_t> colon;
    int depth = 0;
    bool in_string = false;
    for (++at_; at_ < end_; ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        if (at_ + 1 < end_ && text_[at_ + 1] == '"') in_string = !in_string;
        // Escapes in that string are escaped twice.
        at_ += in_string && looking_at("\\\\\\") ? 3 : 1;
        continue;
      }
      if (in_string) continue;
      if (c == '}' && depth == 0) break;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
      if (c == ':' && depth == 0 && !(at_ + 1 < end_ && text_[at_ + 1] == '=')) colon = at_;
    }
    const uint32_t close = std::min(at_, end_);
    const bool is_closed = close < end_;
    at_ = is_closed ? close + 1 : end_;
    FormatPart part{is_closed ? FormatPart::Kind::Value : FormatPart::Kind::Unclosed, {open, at_}};
    part.expression = {open + 1, colon.value_or(close)};
    if (colon) part.format = Range{*colon + 1, close};
    parts_.push_back(part);
  }

  std::string_view text_;
  uint32_t at_;
  const uint32_t end_;
  std::vector<FormatPart> parts_;
};

}  // namespace

std::vector<FormatPart> format_parts(std::string_view text, Range inside) {
  return FormatScanner(text, inside).run();
}

std::string label_of(std::string_view part) {
  std::string out;
  for (size_t i = 0; i < part.size(); ++i) {
    const bool is_pair = (part[i] == '{' || part[i] == '}' || part[i] == '\\') && i + 1 < part.size();
    if (is_pair) ++i;
    out += is_pair && part[i - 1] == '\\' ? character_of_escape(part[i]) : part[i];
  }
  return out;
}

std::string with_double_braces(std::string_view label) {
  std::string out;
  for (const char c : label) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

std::string as_in_string(const std::string& text) {
  const std::string quoted = to_string(StaticValue(text));
  return quoted.substr(1, quoted.size() - 2);
}

Unescaped unescaped(std::string_view inside_of_string) {
  Unescaped out;
  for (size_t i = 0; i < inside_of_string.size(); ++i) {
    out.places.push_back(static_cast<uint32_t>(i));
    const bool is_pair = inside_of_string[i] == '\\' && i + 1 < inside_of_string.size();
    out.text += is_pair ? character_of_escape(inside_of_string[++i]) : inside_of_string[i];
  }
  out.places.push_back(static_cast<uint32_t>(inside_of_string.size()));
  return out;
}

}  // namespace quern
