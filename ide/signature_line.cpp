#include "ide/signature_line.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "frontend/text/lexeme.h"

namespace quern::ide {

namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/// Copies a text, one token or blank at a time.
class OneLine {
 public:
  explicit OneLine(std::string_view text) : text_(text) {}

  std::string line;

  /// Copies the next part of the text, a string or one character, and returns its first character; '\0' at the end.
  /// Blanks and comments after it are left for the next.
  char next() {
    bool blank = false;
    while (at_ < text_.size()) {
      const size_t end = comment_end(text_, at_).end;
      if (end == at_ && !is_blank(text_[at_])) break;
      at_ = std::max(end, at_ + 1);
      blank = true;
    }
    if (at_ >= text_.size()) return '\0';
    const char c = text_[at_];
    const bool tight =
        line.empty() || line.back() == '(' || line.back() == '[' || c == ')' || c == ']' || c == ',';
    if (blank && !tight) line += ' ';
    const size_t end = c == '"' ? string_end(text_, at_).end : at_ + 1;
    line += text_.substr(at_, end - at_);
    at_ = end;
    return c;
  }
  /// The word that begins at the last part.
  std::string_view word() const {
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_ - 1, end - at_ + 1);
  }
  bool begins_word() const {
    return line.size() < 2 || line[line.size() - 2] == ' ' || closes(line[line.size() - 2]);
  }
  void drop_last() {
    line.pop_back();
    while (line.ends_with(' ')) line.pop_back();
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

bool begins_clause(std::string_view word, std::string_view line) {
  constexpr std::array<std::string_view, 7> kWords{"where", "warn",     "static",  "gradient",
                                                   "shape", "schedule", "lowering"};
  if (std::ranges::find(kWords, word) != kWords.end()) return true;
  return word == "when" && line.find("-> when") == std::string_view::npos && !line.ends_with("-> w");
}

}  // namespace

std::string in_one_line(std::string_view text) {
  OneLine line(text);
  while (line.next() != '\0') {
  }
  return std::move(line.line);
}

SignatureLine signature_line(std::string_view declaration) {
  for (std::string_view word : {"extern ", "def ", "op ", "static "})
    if (declaration.starts_with(word)) declaration.remove_prefix(word.size());
  SignatureLine signature;
  OneLine out(declaration);
  int depth = 0;
  bool in_params = false, had_params = false;
  uint32_t begin = 0;
  auto end_parameter = [&](uint32_t end) {
    while (begin < end && out.line[begin] == ' ') ++begin;
    if (begin < end) signature.parameters.push_back({begin, end});
  };
  while (const char c = out.next()) {
    const auto size = static_cast<uint32_t>(out.line.size());
    const bool ends =
        depth == 0 &&
        (c == '{' || (had_params && out.begins_word() && is_word(c) && begins_clause(out.word(), out.line)));
    if (ends) {
      out.drop_last();
      break;
    }
    if (c == '(' && depth == 0 && !had_params) {
      in_params = true;
      begin = size;
    }
    if (opens(c)) ++depth;
    if (closes(c)) --depth;
    if (in_params && ((c == ',' && depth == 1) || depth == 0)) {
      end_parameter(size - 1);
      begin = size;
      in_params = depth > 0;
      had_params = depth <= 0;
    }
  }
  signature.text = std::move(out.line);
  return signature;
}

}  // namespace quern::ide
