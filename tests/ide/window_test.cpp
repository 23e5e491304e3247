// The part of a text around a place: whole declarations, of a long text a few thousand bytes.

#include "ide/window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/session.h"

namespace quern::ide {
namespace {

/// Declarations of 1000 bytes each, the last one with a line end more than that.
struct LongText {
  static constexpr uint32_t kSize = 1000, kCount = 30;

  Session session;
  SourceId source;

  LongText() {
    std::string text;
    for (uint32_t i = 0; i < kCount; ++i) {
      const std::string head = "def @f" + std::to_string(i) + "() { 1 } //", end = "\n";
      text += head + std::string(kSize - head.size() - end.size(), 'x') + end;
    }
    source = session.add_source(session.make_module(), "long.relay", text);
  }
  std::vector<uint32_t> window(uint32_t offset) {
    const Range range = window_at(session, source, offset);
    return {range.begin, range.end};
  }
};

TEST(Window, EndsBehindTheDeclarationAtAnOffset) {
  LongText text;
  // At the begin of a declaration it is that declaration's, a byte before that of the one above.
  EXPECT_EQ(text.window(20'000), (std::vector<uint32_t>{13'000, 21'000}));
  EXPECT_EQ(text.window(19'999), (std::vector<uint32_t>{12'000, 20'000}));
  EXPECT_EQ(text.window(20'001), (std::vector<uint32_t>{13'000, 21'000}));
}

TEST(Window, EndsWithTheText) {
  LongText text;
  EXPECT_EQ(text.window(0), (std::vector<uint32_t>{0, 1000}));
  EXPECT_EQ(text.window(7'000), (std::vector<uint32_t>{0, 8'000}));
  EXPECT_EQ(text.window(8'500), (std::vector<uint32_t>{1'000, 9'000}));
  EXPECT_EQ(text.window(29'500), (std::vector<uint32_t>{22'000, 30'000}));
  EXPECT_EQ(text.window(30'000), (std::vector<uint32_t>{22'000, 30'000}));
}

}  // namespace
}  // namespace quern::ide
