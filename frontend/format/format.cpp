#include "frontend/format/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/format/format_impl.h"
#include "frontend/parse/scanner.h"

namespace quern {

namespace {

using format_detail::tokens_of;

std::string_view slice(std::string_view text, Range range) {
  return text.substr(range.begin, range.end - range.begin);
}

/// A declaration of the file in its final form.
struct Declared {
  Piece piece;
  ParseOutcome parsed;
  bool kept = false;  ///< unchanged, byte for byte
  std::string text;
};

/// The text between two declarations: blanks, comments and semicolons.
struct Gap {
  std::optional<uint32_t> semicolon, last_semicolon;  ///< their positions
  std::vector<Comment> comments;
  uint32_t lines_after = 0;  ///< between the last comment, or the preceding declaration, and the next
};

/// The line end of the whole text; LF if it mixes several.
std::string_view line_end_of(std::string_view text) {
  std::string_view found;
  for (size_t i = text.find_first_of("\r\n"); i != std::string_view::npos;) {
    std::string_view end = text.substr(i, text.substr(i).starts_with("\r\n") ? 2 : 1);
    if (!found.empty() && found != end) return "\n";
    found = end;
    i = text.find_first_of("\r\n", i + end.size());
  }
  return found.empty() ? "\n" : found;
}

class Formatter {
 public:
  Formatter(std::string_view source, std::optional<LineRange> lines)
      : source_(source), scan_(scan(source)), lines_(lines), newline_(line_end_of(source)) {}

  Result<std::string> run() {
    for (const SyntaxProblem& p : scan_.problems)
      if (hides_text(p)) return std::string(source_);
    // A byte order mark is neither blank nor part of a token: a layout cannot decide where it belongs.
    if (source_.find("\xEF\xBB\xBF") != std::string_view::npos) return std::string(source_);
    // Without its blanks, a text with NULs may count as binary data.
    if (source_.find('\0') != std::string_view::npos) return std::string(source_);
    LineIndex index(source_);
    for (const Piece& piece : scan_.pieces) {
      Declared part{piece, parse_declaration(slice(source_, piece.range), scan_.slash_names), false, {}};
      part.kept = !fits(part) || !touched(piece.range, index);
      part.text = part.kept ? std::string(slice(source_, piece.range)) : formatted(part);
      if ((part.kept || parts_.empty()) && is_frame(part.text, parts_.empty())) return std::string(source_);
      parts_.push_back(std::move(part));
    }
    std::string text = assemble();
    if (auto bad = difference(text)) return Failure{"a bug of the formatter: " + *bad};
    return text;
  }

 private:
  /// Problems that hide the following text: invalid bytes, non-text, an unterminated comment.
  bool hides_text(const SyntaxProblem& p) const {
    return p.kind == DiagnosticKind::InvalidUtf8 || p.kind == DiagnosticKind::NotText ||
           slice(source_, p.range) == "/*";
  }
  /// Whether a part would be mistaken for the version header at the top, or for the metadata at the start of
  /// a line.
  static bool is_frame(std::string_view part, bool first) {
    ScanOutcome alone = scan(part);
    return (first && alone.begin > 0) || alone.end < part.size();
  }
  /// Whether it parsed as the kind that the scanner found: `def` before a line end begins no declaration.
  static bool fits(const Declared& part) {
    constexpr SyntaxKind kDeclarations[] = {
        SyntaxKind::Def,        SyntaxKind::Op,        SyntaxKind::ExternOp, SyntaxKind::TypeDecl,
        SyntaxKind::ExternType, SyntaxKind::TypeAlias, SyntaxKind::Import,   SyntaxKind::ImportAs,
        SyntaxKind::Test,       SyntaxKind::Infix,     SyntaxKind::Static};
    bool declares = std::ranges::find(kDeclarations, part.parsed.tree.root->kind) != std::end(kDeclarations);
    return part.parsed.problems.empty() && declares == (part.piece.kind != PieceKind::Statement);
  }
  bool touched(Range range, const LineIndex& index) const {
    return !lines_ ||
           (index.locate(range.begin).line <= lines_->last && index.locate(range.end).line >= lines_->first);
  }
  std::string formatted(const Declared& part) const {
    std::string_view text = slice(source_, part.piece.range);
    auto tokens = tokens_of(text, part.parsed, scan_.slash_names);
    format_detail::add_structure(tokens, part.parsed);
    return format_detail::write(text, tokens, newline_);
  }

  bool has_metadata() const { return scan_.metadata.begin > 0; }

  // --- between declarations
  Gap gap_between(uint32_t begin, uint32_t end) const {
    std::string_view text = source_.substr(begin, end - begin);
    Gap gap{std::nullopt, std::nullopt, comments_in(text, begin), count_line_ends(text)};
    uint32_t at = begin;
    auto look_for_semicolon = [&](uint32_t to) {
      const std::string_view between = slice(source_, {at, to});
      const size_t found = between.find(';');
      if (found == std::string_view::npos) return;
      if (!gap.semicolon) gap.semicolon = at + static_cast<uint32_t>(found);
      gap.last_semicolon = at + static_cast<uint32_t>(between.rfind(';'));
    };
    for (const Comment& comment : gap.comments) {
      look_for_semicolon(comment.range.begin);
      at = comment.range.end;
      gap.lines_after = comment.lines_after;
    }
    look_for_semicolon(end);
    return gap;
  }

  std::string assemble() {
    std::string out(source_.substr(0, scan_.begin));
    uint32_t end = scan_.begin;
    for (size_t i = 0; i <= parts_.size(); ++i) {
      bool last = i == parts_.size();
      uint32_t next = last ? scan_.end : parts_[i].piece.range.begin;
      bool between_kept = (i == 0 || parts_[i - 1].kept) && (last || parts_[i].kept);
      if (lines_ && between_kept)
        out += source_.substr(end, next - end);
      else
        write_gap(gap_between(end, next), i, out);
      if (last) break;
      end = end_of(i);
      out += parts_[i].text;
      out += slice(source_, {parts_[i].piece.range.end, end});
    }
    return out + std::string(source_.substr(scan_.end));
  }

  /// The end of a part; an unchanged part keeps its semicolon.
  uint32_t end_of(size_t i) const {
    const uint32_t end = parts_[i].piece.range.end;
    if (!parts_[i].kept) return end;
    const uint32_t next = i + 1 < parts_.size() ? parts_[i + 1].piece.range.begin : scan_.end;
    const auto semicolon = gap_between(end, next).semicolon;
    return semicolon ? *semicolon + 1 : end;
  }

  /// The gap before part `i`, or after the last.
  void write_gap(const Gap& gap, size_t i, std::string& out) const {
    size_t first = i > 0 ? end_part(gap, i, out) : 0;
    bool line_open = !out.empty();  // the line already has text
    bool is_parted = false;         // the semicolon after the comments that document nothing is written
    const auto lines_to = [&](uint32_t begin, uint32_t lines) {
      return is_parted ? count_line_ends(slice(source_, {*gap.last_semicolon, begin})) : lines;
    };
    for (size_t k = first; k < gap.comments.size(); ++k) {
      const Comment& comment = gap.comments[k];
      const uint32_t lines = lines_to(comment.range.begin, comment.lines_before);
      bool trailing = line_open && comment.lines_before == 0;
      if (trailing)
        out += comment.to_line_end ? "  " : " ";
      else
        end_line(out, lines);
      out += slice(source_, comment.range);
      line_open = !comment.to_line_end;
      is_parted = i < parts_.size() && documents_nothing(gap, k);
      if (is_parted) out.append(newline_) += ';';
    }
    bool at_end = i == parts_.size() && !has_metadata();
    const uint32_t next = i < parts_.size() ? parts_[i].piece.range.begin : scan_.end;
    end_line(out, at_end ? 1 : lines_to(next, gap.lines_after));
  }
  /// Whether comment `k` is the last before a semicolon that keeps a `///` from documenting what follows.
  bool documents_nothing(const Gap& gap, size_t k) const {
    const auto is_before = [&](const Comment& c) {
      return gap.last_semicolon && c.range.begin < *gap.last_semicolon;
    };
    const auto documents = [&](const Comment& c) { return slice(source_, c.range).starts_with("///"); };
    const std::span<const Comment> comments = gap.comments;
    if (!is_before(comments[k]) || (k + 1 < comments.size() && is_before(comments[k + 1]))) return false;
    return std::ranges::any_of(comments.first(k + 1), documents);
  }
  /// Writes the semicolon after part i - 1 and the comments on its line; returns the number of comments.
  size_t end_part(const Gap& gap, size_t i, std::string& out) const {
    const Declared& part = parts_[i - 1];
    if (part.kept) return 0;
    size_t before = 0;
    auto stands_before = [&](const Comment& c) {
      bool on_line = !c.to_line_end && c.lines_before == 0;
      return gap.semicolon && c.range.begin < *gap.semicolon && on_line;
    };
    for (; before < gap.comments.size() && stands_before(gap.comments[before]); ++before)
      out += " " + std::string(slice(source_, gap.comments[before].range));
    if (ends_with_semicolon(gap, i)) out += ';';
    return before;
  }
  void end_line(std::string& out, uint32_t lines) const {
    if (out.empty()) return;
    out += newline_;
    if (lines > 1) out += newline_;
  }

  /// Statements end with one; a declaration keeps it only if the following text would otherwise belong to it.
  bool ends_with_semicolon(const Gap& gap, size_t i) const {
    const Declared& part = parts_[i - 1];
    if (part.piece.kind == PieceKind::Statement) return true;
    if (!gap.semicolon || i == parts_.size()) return false;
    if (!part.text.ends_with('}')) return parts_[i].piece.kind == PieceKind::Statement;
    std::string_view next = slice(source_, parts_[i].piece.range);
    constexpr std::string_view kContinuations[] = {"{",     "when",   "else",     "gradient", "shape",
                                                   "where", "static", "schedule", "lowering", "warn"};
    return std::ranges::any_of(kContinuations, [&](std::string_view w) { return next.starts_with(w); });
  }

  // --- the check
  /// Nothing if the new text has the same declarations and comments as the source.
  std::optional<std::string> difference(const std::string& text) const {
    ScanOutcome now = scan(text);
    if (now.pieces.size() != parts_.size()) return "its layout would change how many declarations there are";
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Declared& part = parts_[i];
      std::string_view piece = slice(text, now.pieces[i].range);
      bool same = now.pieces[i].kind == part.piece.kind && now.pieces[i].name == part.piece.name &&
                  now.pieces[i].doc == part.piece.doc;
      if (same && part.kept && piece == part.text) continue;
      ParseOutcome parsed = parse_declaration(piece, scan_.slash_names);
      if (!same || part.kept || !parsed.problems.empty() || !equal(parsed.tree.root, part.parsed.tree.root))
        return fmt::format("its layout would change the meaning of `{}`", part.piece.name);
    }
    if (visible(text) != visible(source_)) return "its layout would change the text of a token or a comment";
    return std::nullopt;
  }
  /// All characters except blanks, commas and semicolons.
  static std::string visible(std::string_view text) {
    std::string out;
    std::ranges::copy_if(text, std::back_inserter(out),
                         [](unsigned char c) { return !std::isspace(c) && c != ',' && c != ';'; });
    return out;
  }

  std::string_view source_;
  ScanOutcome scan_;
  std::optional<LineRange> lines_;
  std::string_view newline_;
  std::vector<Declared> parts_;
};

}  // namespace

Result<std::string> format(std::string_view source, std::optional<LineRange> lines) {
  return Formatter(source, lines).run();
}

}  // namespace quern
