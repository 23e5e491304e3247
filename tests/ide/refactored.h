#pragma once
// Rows of refactorings: a text with a cursor `$0` or a selection `[|…|]`, what is offered there, and the text
// after it. Each is tried with every end of line, behind characters of several bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ide/refactorings.h"
#include "ide/trial.h"
#include "tests/ide/marked_ranges.h"

namespace quern::ide {

/// In the place of the text after: it is not offered.
inline constexpr const char* kNotOffered = nullptr;
/// It is offered, and the trial finds that it would be another program.
inline constexpr const char* kRefused = "refused";

struct RefactoringRow {
  const char* text;
  const char* title;
  const char* after;
};

/// A session with one file, and what is offered in it.
class Refactored {
 public:
  explicit Refactored(const std::string& text, const std::string& folder = "")
      : source_(session_.add_source(session_.make_module(), "typed.relay", text, folder)) {}

  RefactoringContext context{hints_, [](const auto&) {}};

  std::vector<std::string> titles(Range range) {
    std::vector<std::string> all;
    for (const Refactoring& one : offered(range)) all.push_back(one.title);
    return all;
  }
  /// `kNotOffered` as an empty text.
  std::string after(Range range, const std::string& title) {
    for (const Refactoring& one : offered(range)) {
      if (one.title != title) continue;
      const auto edits = edits_of(session_, {source_, range}, context, one.name, one.title);
      return edits ? edited(session_.text(source_), *edits) : kRefused;
    }
    return "";
  }
  std::vector<Refactoring> offered(Range range) {
    return refactorings(session_, {source_, range}, context, [](RefactoringKind) { return true; });
  }
  Session& session() { return session_; }
  SourceId source() const { return source_; }

 private:
  Session session_;
  KnownHints hints_;
  SourceId source_;
};

inline void expect_row(const RefactoringRow& row) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    auto laid_out = [&](const std::string& text) {
      std::string all;
      for (const char c : (end == "\n" ? "" : "/* 漢字 😀 */ // é\n") + text)
        all += c == '\n' ? end : std::string(1, c);
      return all;
    };
    const MarkedRanges marked = with_ranges(laid_out(row.text));
    SCOPED_TRACE(marked.text);
    Refactored document(marked.text);
    const Range range = marked.ranges.empty() ? Range{marked.cursor, marked.cursor} : marked.ranges[0];
    const std::vector<std::string> before = document.titles(range);
    const std::string after = document.after(range, row.title);
    const std::string wanted = !row.after                           ? ""
                               : row.after == std::string(kRefused) ? kRefused
                                                                    : laid_out(row.after);
    EXPECT_EQ(after, wanted) << testing::PrintToString(before);
    // What was tried is taken back.
    EXPECT_EQ(document.session().text(document.source()), marked.text);
    EXPECT_EQ(document.titles(range), before);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace quern::ide
