#pragma once
// Layout of text to a width: a document written in reading order, with possible line breaks.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// A document of texts, lines and nested groups (P. Wadler, A prettier printer, 2003; C. Lindig, Strictly
/// pretty, 2000): either all lines of a group break or none; none does if the group and the text after it, up
/// to the next possible break, fit the width. It is stored as a sequence (D. Oppen, Prettyprinting, 1980), so
/// that rendering is linear in its length and uses no stack, however deep its groups nest.
class TextLayout {
 public:
  void text(std::string_view text);
  /// Text that breaks no group: a comment at the end of a line.
  void margin_text(std::string_view text);
  /// `flat` if its group stays on one line, otherwise a new line.
  void line(std::string_view flat = " ");
  /// In a broken group, a line that breaks only if the text up to the next line does not fit.
  void fill_line(std::string_view flat = " ");
  /// Always a new line: every enclosing group breaks. With `blank`, after an empty line.
  void hard_line(bool blank = false);
  /// Text only if its group is broken.
  void if_broken(std::string_view text);

  void open() { add(Kind::Open); }  ///< a group begins
  /// A group in rows, parted by `row_line`s: if it begins a line and each row fits one, each stands on its
  /// own; else its other lines break.
  void open_rows() { add(Kind::OpenRows); }
  void row_line(std::string_view flat = " ");
  /// A group of a head, a line and what is indented behind it: its lines break only if what is behind the
  /// first then fits a line. Otherwise that begins behind the head and breaks inside.
  void open_hanging() { add(Kind::OpenHanging); }
  void close() { add(Kind::Close); }
  /// New lines until `dedent` start `columns` further right, but never past the width.
  void indent(int columns = 2) { add(Kind::Indent, {}, columns); }
  void dedent() { add(Kind::Dedent); }
  /// The lines until `close_tight` break only if no earlier line can: a group before this part stays on one
  /// line only if the whole part fits after it.
  void open_tight() { add(Kind::OpenTight); }
  void close_tight() { add(Kind::CloseTight); }

  /// A placeholder for a text supplied later.
  size_t hole();
  void fill(size_t hole, std::string_view text);

  std::string render(int width, std::string_view newline = "\n") const;
  /// The same, and the lines, counted from 0, on which the holes are.
  std::string render(int width, const std::vector<size_t>& holes, std::vector<uint32_t>& lines) const;

 private:
  enum class Kind : uint8_t {
    Text,
    Line,
    RowLine,
    FillLine,
    HardLine,
    BlankLine,
    IfBroken,
    Open,
    OpenRows,
    OpenHanging,
    Close,
    Indent,
    Dedent,
    OpenTight,
    CloseTight
  };
  struct Token {
    Kind kind;
    int32_t width;       ///< on one line, in characters; Indent: columns
    size_t begin, size;  ///< the text, in pool_
    bool opens() const { return kind == Kind::Open || kind == Kind::OpenRows || kind == Kind::OpenHanging; }
  };
  struct Measures;
  class Renderer;

  void add(Kind kind, std::string_view text = {}, int width = 0);
  std::string_view text_of(const Token& token) const {
    return std::string_view(pool_).substr(token.begin, token.size);
  }

  std::vector<Token> tokens_;
  std::string pool_;
};

}  // namespace quern
