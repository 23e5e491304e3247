#include "frontend/text/text_layout.h"

#include <algorithm>

#include "frontend/text/source.h"

namespace quern {

void TextLayout::add(Kind kind, std::string_view text, int width) {
  tokens_.push_back({kind, width, pool_.size(), text.size()});
  pool_ += text;
}

void TextLayout::text(std::string_view text) {
  add(Kind::Text, text, static_cast<int>(count_code_points(text)));
}
void TextLayout::margin_text(std::string_view text) { add(Kind::Text, text); }
void TextLayout::line(std::string_view flat) { add(Kind::Line, flat, static_cast<int>(flat.size())); }
void TextLayout::row_line(std::string_view flat) { add(Kind::RowLine, flat, static_cast<int>(flat.size())); }
void TextLayout::fill_line(std::string_view flat) {
  add(Kind::FillLine, flat, static_cast<int>(flat.size()));
}
void TextLayout::hard_line(bool blank) { add(blank ? Kind::BlankLine : Kind::HardLine); }
void TextLayout::if_broken(std::string_view text) { add(Kind::IfBroken, text); }

size_t TextLayout::hole() {
  add(Kind::Text);
  return tokens_.size() - 1;
}

void TextLayout::fill(size_t hole, std::string_view text) {
  tokens_[hole] = {Kind::Text, static_cast<int>(count_code_points(text)), pool_.size(), text.size()};
  pool_ += text;
}

/// Measures of the tokens for rendering, by index (one more than there are tokens).
struct TextLayout::Measures {
  std::vector<int64_t> column;  ///< column before the token if all were on one line; a hard line is very wide
  std::vector<size_t> next;     ///< the first token from here on that may break the line
  std::vector<size_t> close;    ///< of an Open
  /// Of rows the first RowLine, of a RowLine the next one; of a hanging group its first line. 0 if there is
  /// none.
  std::vector<size_t> line;

  explicit Measures(const std::vector<Token>& tokens)
      : column(tokens.size() + 1),
        next(tokens.size() + 1, tokens.size()),
        close(tokens.size()),
        line(tokens.size()) {
    constexpr int64_t kNever = int64_t{1} << 40;
    std::vector<size_t> open, tight_ends;
    std::vector<size_t> latest;  // of each open group: itself, or its last RowLine
    for (size_t i = 0; i < tokens.size(); ++i) {
      bool hard = tokens[i].kind == Kind::HardLine || tokens[i].kind == Kind::BlankLine;
      bool measured = tokens[i].kind != Kind::Indent;
      column[i + 1] = column[i] + (hard ? kNever : measured ? tokens[i].width : 0);
      if (tokens[i].opens()) {
        open.push_back(i);
        latest.push_back(i);
      }
      if (open.empty()) continue;
      if (tokens[i].kind == Kind::RowLine) latest.back() = line[latest.back()] = i;
      const bool hanging = tokens[open.back()].kind == Kind::OpenHanging;
      if (tokens[i].kind == Kind::Line && hanging && line[open.back()] == 0) line[open.back()] = i;
      if (tokens[i].kind != Kind::Close) continue;
      close[open.back()] = i;
      open.pop_back();
      latest.pop_back();
    }
    for (size_t i = tokens.size(); i-- > 0;) {
      next[i] = next[i + 1];
      switch (tokens[i].kind) {
        case Kind::Line:
        case Kind::RowLine:
        case Kind::FillLine:
        case Kind::HardLine:
        case Kind::BlankLine: next[i] = i; break;
        case Kind::CloseTight: tight_ends.push_back(next[i + 1]); break;
        case Kind::OpenTight:
          next[i] = tight_ends.back();
          tight_ends.pop_back();
          break;
        case Kind::Text:
        case Kind::IfBroken:
        case Kind::Open:
        case Kind::OpenRows:
        case Kind::OpenHanging:
        case Kind::Close:
        case Kind::Indent:
        case Kind::Dedent: break;
      }
    }
  }
};

class TextLayout::Renderer {
 public:
  Renderer(const TextLayout& layout, int width, std::string_view newline)
      : layout_(layout), measures_(layout.tokens_), width_(width), newline_(newline) {}

  std::string run() {
    for (size_t i = 0; i < layout_.tokens_.size(); ++i) step(i);
    return std::move(out_);
  }
  /// As above; the holes are in order.
  std::string run(const std::vector<size_t>& holes, std::vector<uint32_t>& lines) {
    for (size_t i = 0, next = 0; i < layout_.tokens_.size(); ++i) {
      for (; next < holes.size() && holes[next] == i; ++next) lines.push_back(line_);
      step(i);
    }
    return std::move(out_);
  }

 private:
  /// Which of a group's own lines break.
  enum class State : uint8_t {
    Flat,    ///< none, nor any of the groups in it
    Broken,  ///< all but its RowLines
    InRows,  ///< its RowLines
    Hanging  ///< none, but those of the groups in it may; it indents nothing
  };

  void step(size_t i) {
    const Token& token = layout_.tokens_[i];
    switch (token.kind) {
      case Kind::Text: write(token); break;
      case Kind::IfBroken:
        if (broken()) write(token);
        break;
      case Kind::Line: end_line_or_write(token, broken()); break;
      case Kind::RowLine: end_line_or_write(token, groups_.back() == State::InRows); break;
      case Kind::FillLine: end_line_or_write(token, broken() && !fits(i, i + 1)); break;
      case Kind::HardLine: end_line(); break;
      case Kind::BlankLine:
        end_line();
        end_line();
        break;
      case Kind::Open:
      case Kind::OpenRows:
      case Kind::OpenHanging: groups_.push_back(state_of(i)); break;
      case Kind::Close: groups_.pop_back(); break;
      case Kind::Indent: {
        const int64_t more = groups_.back() == State::Hanging ? 0 : token.width;
        indents_.push_back(std::min(indents_.back() + more, width_));
        break;
      }
      case Kind::Dedent: indents_.pop_back(); break;
      case Kind::OpenTight:
      case Kind::CloseTight: break;
    }
  }

  bool broken() const { return groups_.back() == State::Broken; }

  State state_of(size_t open) const {
    if (groups_.back() == State::Flat || fits(open, measures_.close[open])) return State::Flat;
    switch (layout_.tokens_[open].kind) {
      case Kind::OpenRows: return rows_fit(open) ? State::InRows : State::Broken;
      case Kind::OpenHanging: return hangs(open) ? State::Hanging : State::Broken;
      default: return State::Broken;
    }
  }
  bool rows_fit(size_t open) const {
    if (!at_line_start_) return false;
    size_t begin = open;
    for (size_t row = measures_.line[open]; row != 0; row = measures_.line[row]) {
      if (!fits_line(begin, row)) return false;
      begin = row + 1;
    }
    return begin != open && fits_line(begin, measures_.next[measures_.close[open]]);
  }
  /// Whether a hanging group does not break its line: as that would move what is behind it to the right, or as
  /// this would not fit a line even then, but its begin fits the present one.
  bool hangs(size_t open) const {
    const size_t line = measures_.line[open];
    if (line == 0) return false;
    const Token& before = layout_.tokens_[line - 1];
    const int64_t indent = before.kind == Kind::Indent ? before.width : 0;
    if (!at_line_start_ && open + 2 == line && column_ < indents_.back() + indent) return true;
    const bool would_fit = fits_line(line + 1, measures_.next[measures_.close[open]], indent);
    return !would_fit && fits(open, line + 1);
  }
  /// Whether the tokens fit a line of their own, `more` columns further right than the present one begins.
  bool fits_line(size_t begin, size_t end, int64_t more = 0) const {
    return indents_.back() + more + measures_.column[end] - measures_.column[begin] <= width_;
  }
  /// Whether the tokens from `begin` to `end`, and after it up to the next possible break, fit on this line.
  bool fits(size_t begin, size_t end) const {
    int64_t here = at_line_start_ ? indents_.back() : column_;
    return here + measures_.column[measures_.next[end]] - measures_.column[begin] <= width_;
  }

  void write(const Token& token) {
    if (token.size == 0) return;
    if (at_line_start_) {
      out_.append(static_cast<size_t>(indents_.back()), ' ');
      column_ = indents_.back();
      at_line_start_ = false;
    }
    out_ += layout_.text_of(token);
    column_ += token.width;
  }
  void end_line_or_write(const Token& token, bool end) { end ? end_line() : write(token); }
  void end_line() {
    out_ += newline_;
    ++line_;
    at_line_start_ = true;
  }

  const TextLayout& layout_;
  Measures measures_;
  int64_t width_;
  std::string_view newline_;
  std::string out_;
  uint32_t line_ = 0;
  int64_t column_ = 0;
  bool at_line_start_ = true;  ///< at the begin, or after a new line whose indentation is not yet written
  std::vector<int64_t> indents_{0};
  std::vector<State> groups_{State::Broken};
};

std::string TextLayout::render(int width, std::string_view newline) const {
  return Renderer(*this, width, newline).run();
}

std::string TextLayout::render(int width, const std::vector<size_t>& holes,
                               std::vector<uint32_t>& lines) const {
  return Renderer(*this, width, "\n").run(holes, lines);
}

}  // namespace quern
