// Writes the layout of a declaration from its tokens.

#include "frontend/format/format.h"
#include "frontend/format/format_impl.h"

namespace quern::format_detail {

namespace {

bool closes(const Token& token) { return token.closes() || (token.is(">") && token.partner != kNone); }

/// Whether a value ends with this token, so that a comment after it on its line refers to it.
bool ends_operand(const Token& token) {
  switch (token.kind) {
    case LexemeKind::Local:
    case LexemeKind::Global:
    case LexemeKind::Name:
    case LexemeKind::Number:
    case LexemeKind::String:
    case LexemeKind::Projection:
    case LexemeKind::Unknown: return true;
    case LexemeKind::Word: return false;
    case LexemeKind::Symbol: return closes(token);
  }
  return true;
}

class Writer {
 public:
  Writer(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  TextLayout run() {
    for (const Token& token : tokens_) {
      comments_.insert(comments_.end(), token.comments.begin(), token.comments.end());
      if (token.dropped) continue;
      // A line comment before a comma moves after it.
      bool list_goes_on = token.is(",") || token.is(";");
      if (!list_goes_on || !ends_some_line()) gap(token);
      marks(token.before);
      out_.text(token.text);
      if (hanging_) out_.dedent();
      hanging_ = false;
      marks(token.after);
      previous_ = &token;
    }
    return std::move(out_);
  }

 private:
  void marks(const std::vector<Mark>& list) {
    for (Mark mark : list) switch (mark) {
        case Mark::Open: out_.open(); break;
        case Mark::OpenRows: out_.open_rows(); break;
        case Mark::OpenHanging: out_.open_hanging(); break;
        case Mark::Close: out_.close(); break;
        case Mark::Indent: out_.indent(); break;
        case Mark::DoubleIndent: out_.indent(4); break;
        case Mark::Dedent: out_.dedent(); break;
        case Mark::OpenTight: out_.open_tight(); break;
        case Mark::CloseTight: out_.close_tight(); break;
      }
  }

  std::string_view words(const Comment& comment) const {
    return text_.substr(comment.range.begin, comment.range.end - comment.range.begin);
  }
  static bool ends_line(const Comment& comment) { return comment.to_line_end || comment.lines_after > 0; }
  bool ends_some_line() const {
    for (const Comment& comment : comments_)
      if (ends_line(comment)) return true;
    return false;
  }

  /// Writes the separator and comments between the previous token and this one. Comments that lead a token go
  /// after the separator; the others before it.
  void gap(const Token& token) {
    if (!closes(token)) marks(token.before_separator);
    size_t leading = first_leading(token);
    for (size_t i = 0; i < leading; ++i) {
      const Comment& comment = comments_[i];
      if (comment.lines_before > 0 || (i > 0 && comments_[i - 1].to_line_end))
        new_line(token, comment.lines_before, i == 0 && previous_ && previous_->opens());
      else
        out_.margin_text(comment.to_line_end ? "  " : " ");
      comment.to_line_end ? out_.margin_text(words(comment)) : out_.text(words(comment));
    }
    if (closes(token)) {
      if (token.comma_when_broken) out_.if_broken(",");
      marks(token.before_separator);
    }
    uint32_t lines = leading < comments_.size() ? comments_[leading].lines_before : token.lines_before;
    if (leading > 0 && ends_line(comments_[leading - 1]))
      new_line(token, lines, closes(token));
    else
      separate(token, lines, leading < comments_.size());
    for (size_t i = leading; i < comments_.size(); ++i) {
      out_.text(words(comments_[i]));
      out_.text(" ");
    }
    comments_.clear();
  }

  size_t first_leading(const Token& token) const {
    size_t first = comments_.size();
    bool none = closes(token) || token.is(",") || token.is(";") || !previous_;
    while (!none && first > 0 && !ends_line(comments_[first - 1])) --first;
    // On the line of a value, it refers to the value.
    if (first == 0 && !comments_.empty() && comments_[0].lines_before == 0 && previous_ &&
        ends_operand(*previous_))
      return comments_.size();
    return first;
  }

  void new_line(const Token& token, uint32_t lines, bool at_bracket) {
    bool breakable = token.separator != Separator::Glued && token.separator != Separator::Space;
    if (!breakable && !hanging_) {
      out_.indent(4);
      hanging_ = true;
    }
    out_.hard_line(lines > 1 && !at_bracket);
  }

  void separate(const Token& token, uint32_t lines, bool commented) {
    switch (token.separator) {
      case Separator::Glued:
        if (commented && previous_ && !previous_->opens()) out_.text(" ");
        break;
      case Separator::Space: out_.text(" "); break;
      case Separator::Line: out_.line(); break;
      case Separator::SoftLine: out_.line(""); break;
      case Separator::Row: out_.row_line(); break;
      case Separator::Fill: out_.fill_line(); break;
      case Separator::Hard:
        out_.hard_line(lines > 1 && !closes(token) && !(previous_ && previous_->opens()));
        break;
    }
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  TextLayout out_;
  const Token* previous_ = nullptr;  ///< the last written token
  std::vector<Comment> comments_;    ///< since that token
  bool hanging_ = false;  ///< a comment broke the line at an unusual place, so the rest is indented
};

}  // namespace

std::string write(std::string_view text, const std::vector<Token>& tokens, std::string_view newline) {
  return Writer(text, tokens).run().render(kFormatWidth, newline);
}

}  // namespace quern::format_detail
