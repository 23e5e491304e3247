#include "frontend/text/lexeme.h"

#include <algorithm>
#include <cctype>

namespace quern {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_letter(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)); }

/// The length of a run of characters from a place on.
size_t run_of(std::string_view text, size_t begin, bool (*belongs)(char)) {
  size_t end = begin;
  while (end < text.size() && belongs(text[end])) ++end;
  return end - begin;
}

}  // namespace

size_t local_name_size(std::string_view text, bool slash_names) {
  if (text.empty() || !is_letter(text[0])) return 0;
  auto is_word = [](char c) { return is_letter(c) || is_digit(c); };
  size_t size = run_of(text, 0, is_word);
  for (size_t at = size; slash_names && at < text.size();) {
    char c = text[at];
    size_t part = c == ':'                           ? run_of(text, at + 1, is_digit)
                  : c == '.' || c == '-' || c == '/' ? run_of(text, at + 1, is_word)
                                                     : 0;
    if (part == 0) break;
    bool ends = c == ':' || c == '/' || run_of(text, at + 1, is_digit) < part;
    at += part + 1;
    if (ends) size = at;
  }
  return size;
}

uint32_t count_line_ends(std::string_view text) {
  uint32_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    bool crlf = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    count += !crlf && (text[i] == '\n' || text[i] == '\r');
  }
  return count;
}

namespace {

size_t line_comment_end(std::string_view text, size_t begin) {
  return std::min(text.find_first_of("\r\n", begin), text.size());
}

TokenEnd block_comment_end(std::string_view text, size_t begin) {
  size_t p = begin;
  int depth = 0;
  do {
    std::string_view rest = text.substr(p);
    depth += rest.starts_with("/*") ? 1 : rest.starts_with("*/") ? -1 : 0;
    p += rest.starts_with("/*") || rest.starts_with("*/") ? 2 : 1;
  } while (depth > 0 && p < text.size());
  return {std::min(p, text.size()), depth == 0};
}

}  // namespace

TokenEnd comment_end(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return {line_comment_end(text, at), true};
  return rest.starts_with("/*") ? block_comment_end(text, at) : TokenEnd{at, true};
}

TokenEnd string_end(std::string_view text, size_t at) {
  auto ends = [&](size_t p) { return p >= text.size() || text[p] == '\n' || text[p] == '\r'; };
  size_t p = at + 1;
  // A backslash escapes the next character, but not a line end.
  while (!ends(p) && text[p] != '"') p += text[p] == '\\' && !ends(p + 1) ? 2 : 1;
  const bool closed = p < text.size() && text[p] == '"';
  return {std::min(p + (closed ? 1 : 0), text.size()), closed};
}

char character_of_escape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '0': return '\0';
    default: return c;
  }
}

std::vector<Comment> comments_in(std::string_view text, uint32_t offset) {
  std::vector<Comment> comments;
  size_t blanks = 0;  // start of the blanks before the next comment
  for (size_t begin = text.find('/'); begin < text.size(); begin = text.find('/', blanks)) {
    bool to_line_end = text.substr(begin).starts_with("//");
    size_t end = to_line_end ? line_comment_end(text, begin) : block_comment_end(text, begin).end;
    size_t last = to_line_end ? text.find_last_not_of(" \t\v\f", end - 1) + 1 : end;
    uint32_t lines = count_line_ends(text.substr(blanks, begin - blanks));
    if (!comments.empty()) comments.back().lines_after = lines;
    comments.push_back({{offset + static_cast<uint32_t>(begin), offset + static_cast<uint32_t>(last)},
                        to_line_end,
                        lines,
                        0});
    blanks = end;
  }
  if (!comments.empty()) comments.back().lines_after = count_line_ends(text.substr(blanks));
  return comments;
}

}  // namespace quern
