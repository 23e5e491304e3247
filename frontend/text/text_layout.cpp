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

  explicit Measures(const std::vector<Token>& tokens)
      : column(tokens.size() + 1), next(tokens.size() + 1, tokens.size()), close(tokens.size()) {
    constexpr int64_t kNever = int64_t{1} << 40;
    std::vector<size_t> open, tight_ends;
    for (size_t i = 0; i < tokens.size(); ++i) {
      bool hard = tokens[i].kind == Kind::HardLine || tokens[i].kind == Kind::BlankLine;
      bool measured = tokens[i].kind != Kind::Indent;
      column[i + 1] = column[i] + (hard ? kNever : measured ? tokens[i].width : 0);
      if (tokens[i].kind == Kind::Open) open.push_back(i);
      if (tokens[i].kind != Kind::Close || open.empty()) continue;
      close[open.back()] = i;
      open.pop_back();
    }
    for (size_t i = tokens.size(); i-- > 0;) {
      next[i] = next[i + 1];
      switch (tokens[i].kind) {
        case Kind::Line:
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
  void step(size_t i) {
    const Token& token = layout_.tokens_[i];
    switch (token.kind) {
      case Kind::Text: write(token); break;
      case Kind::IfBroken:
        if (!flat_.back()) write(token);
        break;
      case Kind::Line: end_line_or_write(token, !flat_.back()); break;
      case Kind::FillLine: end_line_or_write(token, !flat_.back() && !fits(i, i + 1)); break;
      case Kind::HardLine: end_line(); break;
      case Kind::BlankLine:
        end_line();
        end_line();
        break;
      case Kind::Open: flat_.push_back(flat_.back() || fits(i, measures_.close[i])); break;
      case Kind::Close: flat_.pop_back(); break;
      case Kind::Indent: indents_.push_back(std::min(indents_.back() + token.width, width_)); break;
      case Kind::Dedent: indents_.pop_back(); break;
      case Kind::OpenTight:
      case Kind::CloseTight: break;
    }
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
  bool at_line_start_ = false;  ///< after a new line whose indentation is not yet written
  std::vector<int64_t> indents_{0};
  std::vector<bool> flat_{false};
};

std::string TextLayout::render(int width, std::string_view newline) const {
  return Renderer(*this, width, newline).run();
}

std::string TextLayout::render(int width, const std::vector<size_t>& holes,
                               std::vector<uint32_t>& lines) const {
  return Renderer(*this, width, "\n").run(holes, lines);
}

}  // namespace quern
