// The names of other libraries lead to what the library has.

#include "frontend/text/foreign_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "frontend/syntax/called_words.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

std::set<std::string> operators() {
  const std::vector<std::string> all = operators_of(library_texts());
  return {all.begin(), all.end()};
}

TEST(ForeignNames, AreSortedAndOnce) {
  const auto names = foreign_names();
  for (size_t i = 1; i < names.size(); ++i) EXPECT_LT(names[i - 1].name, names[i].name);
}

TEST(ForeignNames, AreNoNamesOfTheLibrary) {
  const std::set<std::string> known = operators();
  for (const ForeignName& row : foreign_names())
    EXPECT_FALSE(known.contains(std::string(row.name))) << row.name;
}

TEST(ForeignNames, MeanAnOperator) {
  const std::set<std::string> known = operators();
  for (const ForeignName& row : foreign_names()) {
    const bool is_known = row.meaning.empty() || known.contains(std::string(row.meaning));
    EXPECT_TRUE(is_known) << row.name << " is said to be " << row.meaning;
  }
}

// Each name before a parenthesis, in the code of a remark.
TEST(ForeignNames, AreWrittenWithWhatThereIs) {
  std::set<std::string> known = operators();
  for (std::string_view word : called_words()) known.emplace(word);
  known.insert({"def", "op", "fn", "if", "at", "gradient", "Net", "vectorize"});
  std::string library;
  for (const Session::LibraryFile& file : library_texts()) library += file.text;
  const std::regex code("`[^`]*`"), call("[%@]?[A-Za-z_][A-Za-z_0-9.]*(?= ?\\()");
  for (const ForeignName& row : foreign_names()) {
    const std::string remark(row.remark);
    for (std::sregex_iterator c(remark.begin(), remark.end(), code), end; c != end; ++c) {
      const std::string text = c->str();
      for (std::sregex_iterator name(text.begin(), text.end(), call); name != end; ++name) {
        const std::string called = name->str();
        const bool is_function = called.starts_with("@") &&
                                 (called.size() == 2 || library.find("def " + called) != std::string::npos);
        EXPECT_TRUE(is_function || known.contains(called) || text.starts_with("`op"))
            << row.name << ": " << called;
      }
    }
  }
}

}  // namespace
}  // namespace quern::numeric
