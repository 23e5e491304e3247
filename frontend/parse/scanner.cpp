#include "frontend/parse/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>

#include "frontend/parse/scanner_tokens.h"
#include "frontend/parse/splitter.h"
#include "frontend/text/lexeme.h"

namespace quern {

using namespace scanner_detail;

namespace {

constexpr size_t kLookedAt = 4096;

// Source text has neither a UTF-16 byte order mark nor frequent NUL bytes.
bool is_text(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return false;
  std::string_view head = text.substr(0, kLookedAt);
  auto nuls = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  return 16 * nuls < std::max<size_t>(head.size(), 16);
}
std::string not_text(std::string_view text) {
  bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  return utf16 ? "this file is UTF-16; a program is UTF-8 text"
               : "this file is binary data; a program is UTF-8 text";
}

// Reports each run of invalid bytes once.
void report_invalid(std::string_view text, std::vector<SyntaxProblem>& problems) {
  for (size_t i = first_invalid_utf8(text); i < text.size();) {
    size_t length = utf8_length(text, i);
    if (length != 0) {
      i += length;
      continue;
    }
    auto begin = static_cast<uint32_t>(i);
    while (i < text.size() && utf8_length(text, i) == 0) ++i;
    auto end = static_cast<uint32_t>(i);
    problems.push_back({DiagnosticKind::InvalidUtf8,
                        {begin, end},
                        end - begin == 1 ? "this byte is not valid UTF-8"
                                         : fmt::format("these {} bytes are not valid UTF-8", end - begin)});
  }
}

// TVM prints the header `#[version = "0.0.5"]` since 0.7.
constexpr int kLastWithOldHeader = 6;

// The end of digits at a position.
size_t after_digits(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size());
}

// `v0.0.4`, alone on the first line of files before TVM 0.7; a comment may follow.
bool is_old_version(std::string_view text) {
  size_t end = 0;
  for (char before : std::string_view("v..")) {
    if (end == text.size() || text[end] != before) return false;
    const size_t digits = end + 1;
    end = after_digits(text, digits);
    if (end == digits) return false;
  }
  std::string_view rest = text.substr(end, text.find_first_of("\r\n", end) - end);
  const size_t next = rest.find_first_not_of(" \t\v\f");
  return next == std::string_view::npos || rest.substr(next).starts_with("//");
}

// The end of a shebang line, `#!/usr/bin/env quern`; 0 if there is none.
size_t after_interpreter(std::string_view text) {
  return text.starts_with("#!") ? std::min(text.find_first_of("\r\n"), text.size()) : 0;
}

// The first position from `begin` on that is neither blank nor in a comment; npos if there is none.
size_t after_comments(std::string_view text, size_t begin) {
  std::vector<SyntaxProblem> told_when_it_is_split;
  Tokens tokens(text, told_when_it_is_split);
  tokens.jump(static_cast<uint32_t>(begin));
  Token first = tokens.next();
  return first.kind == TokenKind::End ? std::string_view::npos : first.range.begin;
}

constexpr std::string_view kMetadata = "#[metadata]";

// The start of the line that begins the metadata; npos if there are none.
size_t find_metadata(std::string_view text) {
  size_t at = text.find(kMetadata);
  while (at != std::string_view::npos && at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r')
    at = text.find(kMetadata, at + 1);
  return at;
}

}  // namespace

ScanOutcome scanner_detail::frame_of(std::string_view text) {
  ScanOutcome outcome;
  if (!is_text(text)) {
    outcome.problems.push_back({DiagnosticKind::NotText, {0, 0}, not_text(text)});
    return outcome;
  }
  report_invalid(text, outcome.problems);
  outcome.begin = static_cast<uint32_t>(after_interpreter(text));
  size_t start = after_comments(text, outcome.begin);
  if (start != std::string_view::npos && is_old_version(text.substr(start))) {
    outcome.slash_names = true;
    outcome.tvm = kLastWithOldHeader;
    outcome.begin = static_cast<uint32_t>(std::min(text.find_first_of("\r\n", start), text.size()));
  }
  if (start != std::string_view::npos && text.substr(start).starts_with("#[version")) {
    size_t end = text.find(']', start);
    outcome.slash_names = end != std::string_view::npos;
    if (outcome.slash_names) {
      outcome.begin = static_cast<uint32_t>(end + 1);
      outcome.tvm = kLastTvm;
    }
  }
  if (size_t metadata = find_metadata(text); metadata != std::string_view::npos) {
    auto begin = static_cast<uint32_t>(metadata + kMetadata.size());
    outcome.metadata = {begin, static_cast<uint32_t>(text.size())};
    text = text.substr(0, metadata);
  }
  outcome.end = static_cast<uint32_t>(text.size());
  return outcome;
}

ScanOutcome scan(std::string_view text) {
  ScanOutcome outcome = frame_of(text);
  Splitter(text.substr(0, outcome.end), outcome).run(outcome.begin);
  return outcome;
}

std::vector<std::string> constructor_names(std::string_view type_declaration) {
  std::vector<std::string> names;
  std::vector<SyntaxProblem> problems;
  Tokens tokens(type_declaration, problems);
  int depth = 0;
  bool in_braces = false, begins = false;  // whether the next word begins a part between the braces
  for (Token t = tokens.next(); t.kind != TokenKind::End; t = tokens.next()) {
    std::string_view word = type_declaration.substr(t.range.begin, t.range.end - t.range.begin);
    if (begins && t.kind == TokenKind::Word) names.emplace_back(word);
    in_braces = depth == 0 ? word == "{" : in_braces;
    begins = in_braces && ((depth == 0 && word == "{") || (depth == 1 && word == ","));
    if (t.kind == TokenKind::Open) ++depth;
    if (t.kind == TokenKind::Close) --depth;
  }
  return names;
}

bool is_unfinished(std::string_view text) {
  std::vector<SyntaxProblem> problems;
  Tokens tokens(text, problems);
  int depth = 0;
  for (Token t = tokens.next(); t.kind != TokenKind::End; t = tokens.next()) {
    if (t.kind == TokenKind::Open) ++depth;
    if (t.kind == TokenKind::Close) --depth;
  }
  return depth > 0 || (tokens.unterminated() && problems.back().message.find("comment") != std::string::npos);
}

}  // namespace quern
