#include "repl/input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>

#include "frontend/parse/scanner.h"
#include "repl/interrupt.h"

namespace quern {

namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Whether a text that ends with a point ends with a number such as `1.`, and not with `%t.0.` or `%x1.`.
bool ends_in_number(std::string_view text) {
  const std::string_view before = text.substr(0, text.size() - 1);
  const size_t end = before.find_last_not_of("0123456789") + 1;
  if (end == before.size()) return false;
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return end == 0 || !(is_of_name(before[end - 1]) ||
                       std::string_view("._%@").find(before[end - 1]) != std::string_view::npos);
}

bool ends_in_operator(std::string_view text) {
  constexpr std::array<std::string_view, 3> kWords{" and", " or", " not"};
  if (std::any_of(kWords.begin(), kWords.end(), [&](std::string_view w) { return text.ends_with(w); }))
    return true;
  if (text.ends_with('.')) return !ends_in_number(text);
  return !text.empty() && std::string_view("=+-*/%<>,").find(text.back()) != std::string_view::npos;
}

// Whether a definition that ends in `}` may go on: after the braces of a clause comes a body, and after a
// body under a condition another one, or `else`.
bool lacks_body(std::string_view definition) {
  const ParseOutcome parsed = parse_declaration(definition, false);
  auto is_missing = [](const SyntaxProblem& p) { return p.kind == DiagnosticKind::MissingBody; };
  if (std::ranges::any_of(parsed.problems, is_missing)) return true;
  SyntaxPtr root = parsed.tree.root;
  SyntaxPtr bodies = root->children.size() > 4 ? root->child(4) : nullptr;
  if (!bodies || !bodies->is(SyntaxKind::Bodies)) return false;
  return bodies->children.empty() || bodies->children.back()->child(0);
}

// Whether something else stands in the place of a body: no further line makes a definition of it.
bool lacks_braces(std::string_view definition) {
  const ParseOutcome parsed = parse_declaration(definition, false);
  return std::ranges::any_of(parsed.problems, [&](const SyntaxProblem& p) {
    return p.kind == DiagnosticKind::MissingBody && p.range.begin < p.range.end;
  });
}

}  // namespace

LineReader::Event LineReader::fill() {
  std::array<pollfd, 2> fds{{{fd_, POLLIN, 0}, {interrupts_ ? interrupts_->wake_fd() : -1, POLLIN, 0}}};
  while (poll(fds.data(), fds.size(), -1) < 0)
    if (errno != EINTR) return Event::End;
  if (fds[1].revents & POLLIN) {
    interrupts_->clear();
    return Event::Interrupted;
  }
  std::array<char, 4096> chunk;
  ssize_t count = read(fd_, chunk.data(), chunk.size());
  while (count < 0 && errno == EINTR) count = read(fd_, chunk.data(), chunk.size());
  if (count <= 0) return Event::End;
  buffer_.append(chunk.data(), static_cast<size_t>(count));
  return Event::Line;
}

LineReader::Event LineReader::next(std::string& line) {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    Event event = fill();
    if (event == Event::Interrupted) {
      buffer_.clear();
      return event;
    }
    if (event != Event::End) continue;
    if (buffer_.empty()) return event;
    end = buffer_.size();
    break;
  }
  line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (line.ends_with('\r')) line.pop_back();
  return Event::Line;
}

bool needs_more(std::string_view text, bool blank_line) {
  if (is_blank(text) || text.starts_with(':')) return false;
  if (is_unfinished(text)) return true;
  if (blank_line) return false;
  text = without_trailing_blanks(text);
  // The declaration of a doc comment follows it.
  const size_t last_line = text.rfind('\n') + 1;
  if (text.substr(text.find_first_not_of(" \t", last_line)).starts_with("///")) return true;
  ScanOutcome scanned = scan(text);
  // What follows the last piece is a comment or a `;`: nothing is open.
  if (scanned.pieces.empty() || scanned.pieces.back().range.end != text.size()) return false;
  const Piece& last = scanned.pieces.back();
  if (text.substr(last.range.begin).starts_with("extern")) return false;
  switch (last.kind) {
    case PieceKind::Def:
    case PieceKind::Op: {
      const std::string_view definition = text.substr(last.range.begin);
      return text.ends_with('}') ? lacks_body(definition) : !lacks_braces(definition);
    }
    case PieceKind::Type:
      // A type alias ends with its line.
      if (text.find('=', last.range.begin) != std::string_view::npos && !text.ends_with('}'))
        return text.ends_with('=') || text.ends_with("->");
      return !text.ends_with('}');
    case PieceKind::Static:
    case PieceKind::Test: return !text.ends_with('}');
    case PieceKind::Import:
    case PieceKind::Infix: return false;
    case PieceKind::Statement: return ends_in_operator(text);
  }
  return false;
}

void InputReader::prompt(std::string_view text) const {
  if (!prompts_) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::optional<std::string> InputReader::next() {
  std::string text, line;
  while (!ended_) {
    prompt(text.empty() ? ">>> " : "... ");
    switch (lines_.next(line)) {
      case LineReader::Event::Interrupted:
        prompt("\n");
        text.clear();
        continue;
      case LineReader::Event::End:
        // A terminal can deliver further lines after Ctrl-D: the first one ends the input.
        ended_ = true;
        prompt("\n");
        if (is_blank(text)) return std::nullopt;
        return text;
      case LineReader::Event::Line: break;
    }
    if (text.empty() && is_blank(line)) continue;
    text += line;
    if (!needs_more(text, is_blank(line))) return text;
    text += '\n';
  }
  return std::nullopt;
}

}  // namespace quern
