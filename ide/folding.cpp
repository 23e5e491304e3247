#include "ide/folding.h"

#include <algorithm>
#include <optional>

#include "ide/lexed_text.h"

namespace quern::ide {

namespace {

class Folder {
 public:
  explicit Folder(std::string_view text) : lexed_(lexed_text(text)), lines_(text) {}

  std::vector<Fold> run() {
    for (size_t i = 0; i < lexed_.lexemes.size(); ++i)
      if (lexed_.opens(i) && lexed_.partner[i] != kNoLexeme)
        add({lexed_.lexemes[i].range.end, lexed_.lexemes[lexed_.partner[i]].range.begin}, FoldKind::Brackets);
    comments();
    imports();
    return one_for_each_line();
  }

 private:
  uint32_t line_of(uint32_t offset) const { return lines_.locate(offset).line; }
  uint32_t end_of_line(uint32_t offset) const {
    const uint32_t line = line_of(offset);
    return lines_.line_start(line - 1) + static_cast<uint32_t>(lines_.line(line).size());
  }

  void add(Range range, FoldKind kind) {
    if (line_of(range.begin) < line_of(range.end)) folds_.push_back({range, kind});
  }

  /// Folds a run from the end of its first line to its end.
  void add_run(std::optional<Range>& run, FoldKind kind) {
    if (run) add({std::min(end_of_line(run->begin), run->end), run->end}, kind);
    run.reset();
  }

  /// Whether only blanks, and no empty line, are between two offsets.
  bool continues(uint32_t end, uint32_t begin) const {
    const std::string_view between = lexed_.text.substr(end, begin - end);
    return between.find_first_not_of(" \t\r\n") == std::string_view::npos &&
           line_of(begin) <= line_of(end) + 1;
  }

  /// Comments on consecutive lines fold as one.
  void comments() {
    std::optional<Range> run;
    for (Range comment : lexed_.comments) {
      while (comment.end > comment.begin && is_blank(lexed_.text[comment.end - 1])) --comment.end;
      while (comment.begin < comment.end && is_blank(lexed_.text[comment.begin])) ++comment.begin;
      if (comment.begin == comment.end) continue;
      if (lexed_.in_text(comment).starts_with("#[metadata")) {
        add_run(run, FoldKind::Comment);
        run = comment;
        add_run(run, FoldKind::Region);
      } else if (run && continues(run->end, comment.begin)) {
        run->end = comment.end;
      } else {
        add_run(run, FoldKind::Comment);
        run = comment;
      }
    }
    add_run(run, FoldKind::Comment);
  }

  void imports() {
    std::optional<Range> run;
    for (size_t i = 0; i < lexed_.lexemes.size(); ++i) {
      const bool is_import = lexed_.is(i, LexemeKind::Word) && lexed_.word(i) == "import" &&
                             lexed_.begins_line(i) && lexed_.is(i + 1, LexemeKind::String);
      const Range lexeme = lexed_.lexemes[i].range;
      if (is_import && run) run->end = end_of_line(lexeme.begin);
      if (is_import && !run) run = {lexeme.begin, end_of_line(lexeme.begin)};
      if (!is_import && run && lexeme.begin >= run->end) add_run(run, FoldKind::Imports);
    }
    add_run(run, FoldKind::Imports);
  }

  std::vector<Fold> one_for_each_line() {
    std::ranges::stable_sort(folds_, [&](const Fold& a, const Fold& b) {
      const uint32_t line_a = line_of(a.range.begin), line_b = line_of(b.range.begin);
      return line_a != line_b ? line_a < line_b : a.range.end > b.range.end;
    });
    const auto same_line = [&](const Fold& a, const Fold& b) {
      return line_of(a.range.begin) == line_of(b.range.begin);
    };
    folds_.erase(std::unique(folds_.begin(), folds_.end(), same_line), folds_.end());
    return std::move(folds_);
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  LexedText lexed_;
  LineIndex lines_;
  std::vector<Fold> folds_;
};

}  // namespace

std::vector<Fold> folds(std::string_view text) { return Folder(text).run(); }

}  // namespace quern::ide
