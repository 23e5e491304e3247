#include "frontend/parse/comment_check.h"

#include <fmt/format.h>

#include <cctype>

#include "frontend/parse/scanner_tokens.h"

namespace quern {

namespace {

using namespace scanner_detail;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

/// Whether `%x`, a number or a group in parentheses ends here. A call does not count: a comment after it
/// often notes its value.
bool ends_operand(std::string_view text) {
  if (text.empty()) return false;
  if (text.back() == ')') {
    size_t open = text.size() - 1;
    for (int depth = 1; depth > 0 && open > 0;) depth += text[--open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
    return text[open] == '(' && (open == 0 || !(is_name(text[open - 1]) || text[open - 1] == ')'));
  }
  size_t begin = text.size();
  while (begin > 0 && (is_name(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  if (begin == text.size()) return false;
  return is_digit(text[begin]) || (begin > 0 && text[begin - 1] == '%');
}

/// The length of a number or a `%x` at the start of the text; 0 if there is none.
size_t operand_size(std::string_view text) {
  size_t size = text.starts_with('%') ? 1 : 0;
  if (size >= text.size() || !(size == 1 ? is_name(text[1]) : is_digit(text[0]))) return 0;
  while (size < text.size() && (is_name(text[size]) || text[size] == '.')) ++size;
  return size;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether it consists of operands separated by operators, followed by closing brackets and semicolons.
bool is_arithmetic(std::string_view text) {
  while (true) {
    size_t size = operand_size(text);
    if (size == 0) return false;
    text = trimmed(text.substr(size));
    bool goes_on = !text.empty() && std::string_view("+-*/").find(text[0]) != std::string_view::npos;
    if (!goes_on) return text.find_first_not_of(";,)]}") == std::string_view::npos;
    text = trimmed(text.substr(1));
  }
}

bool is_comment(std::string_view text, uint32_t at) {
  std::vector<SyntaxProblem> told_when_it_is_split;
  Tokens tokens(text, told_when_it_is_split);
  for (Token t = tokens.next(); t.kind != TokenKind::End && t.range.begin <= at; t = tokens.next())
    if (t.range.end > at) return false;
  return true;
}

}  // namespace

std::vector<SyntaxProblem> comments_for_operators(std::string_view text) {
  std::vector<SyntaxProblem> found;
  for (size_t at = text.find("//"); at != std::string_view::npos;) {
    size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    std::string_view after = text.substr(at + 2, end - at - 2), before = text.substr(0, at);
    if (before.ends_with(' ')) before.remove_suffix(1);
    if (after.starts_with(' ')) after.remove_prefix(1);
    size_t line = before.find_last_of("\r\n") + 1;
    bool first = before.substr(line).find("//") == std::string_view::npos;
    auto begin = static_cast<uint32_t>(at);
    if (first && ends_operand(before.substr(line)) && is_arithmetic(trimmed(after)) &&
        is_comment(text, begin)) {
      Range range{begin, begin + 2};
      found.push_back({DiagnosticKind::CommentInExpression,
                       range,
                       "a comment begins here: a quotient is written `/`, and of integers it has no fraction",
                       {},
                       {{"write `/`", {{Place{{}, range}, "/"}}}}});
    }
    at = text.find("//", end);
  }
  return found;
}

}  // namespace quern
