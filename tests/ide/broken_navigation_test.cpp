// Navigation in text that does not parse: whatever stands in it, answers come, and speak of places in it.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "ide/call_hierarchy.h"
#include "ide/definition.h"
#include "ide/folding.h"
#include "ide/links.h"
#include "ide/references.h"
#include "ide/rename.h"
#include "ide/selection.h"
#include "tests/files.h"

namespace quern::ide {
namespace {

class Reader {
 public:
  Reader() : source_(session_.add_source(session_.make_module(), "a.relay", "")) {}

  void ask(std::string text, uint32_t offset) {
    SCOPED_TRACE(text);
    session_.set_text(source_, std::move(text));
    whole(symbols(session_, source_));
    for (const Fold& fold : folds(session_.text(source_))) inside(fold.range);
    for (const Range range : selections(session_, source_, offset)) inside(range);
    for (const FoundSymbol& symbol : find_symbols(session_.text(source_), "")) inside(symbol.range);
    for (const FileLink& link : file_links(session_, source_)) inside(link.range);
    if (const auto link = definition(session_, source_, offset)) {
      inside(link->origin);
      in_its_source(link->source, link->name);
    }
    for (const DeclarationLink& link : type_definitions(session_, source_, offset))
      in_its_source(link.source, link.name);
    if (const auto name = name_at(session_, source_, offset))
      for (const NamePlace& place : references(session_, name->target))
        in_its_source(place.source, place.range);
    if (const auto item = call_item(session_, source_, offset)) {
      in_its_source(item->source, item->symbol.range);
      outgoing_calls(session_, item->source, item->symbol.range);
      incoming_calls(session_, source_, offset);
    }
  }
  void rename_at(uint32_t offset) {
    if (const auto edits = rename(session_, source_, offset, "zz"))
      for (const SourceEdit& edit : *edits) in_its_source(edit.source, edit.range);
  }

 private:
  void inside(Range range) { in_its_source(source_, range); }
  void in_its_source(SourceId source, Range range) {
    ASSERT_LE(range.begin, range.end);
    ASSERT_LE(range.end, session_.text(source).size());
  }
  void whole(const std::vector<Symbol>& symbols) {
    for (const Symbol& symbol : symbols) {
      inside(symbol.range);
      EXPECT_LE(symbol.range.begin, symbol.name_range.begin) << symbol.name;
      EXPECT_LE(symbol.name_range.end, symbol.range.end) << symbol.name;
      whole(symbol.children);
    }
  }

  Session session_;
  SourceId source_;
};

TEST(BrokenNavigation, EveryBeginning) {
  Reader reader;
  for (const auto& file : relay_files({"examples"})) {
    const std::string text = read_file(QUERN_SOURCE_DIR "/" + file);
    for (uint32_t end = 0; end <= text.size(); end += 61) {
      reader.ask(text.substr(0, end), end - std::min(end, end % 7));
      if (end % 20 == 0) reader.rename_at(end - std::min(end, end % 7));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(BrokenNavigation, AnyBytes) {
  Reader reader;
  const std::string_view pieces[] = {
      "(",      ")",    "[",      "]",  "{",       "}",         "%x",          "@f",      "nn.dense(",
      ",",      "=",    "\"",     "//", "/*",      "\xff",      "\ndef @f",    "op ",     "let ",
      "\ntype", " Net", "match ", "=>", "->",      ":",         ".",           "sum[",    "..",
      "~",      "1.5f", "%",      "@",  "\n",      "import \"", ";",           "load(\"", "\r\n",
      "漢",     "😀",    "as ",    "+",  "static ", "test \"",   "infix \"+\" "};
  uint32_t seed = 5;
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) {
      seed = seed * 1664525 + 1013904223;
      text += pieces[(seed >> 8) % std::size(pieces)];
    }
    reader.ask(text, static_cast<uint32_t>(text.size() - (seed >> 20) % 20));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace quern::ide
