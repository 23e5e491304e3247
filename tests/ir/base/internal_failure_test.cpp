// A failed check, no memory and a recursion without an end, as failures that are told of.

#include "ir/base/internal_failure.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "ir/base/result.h"
#include "jit/codegen/background/background.h"
#include "session/session.h"

namespace quern {
namespace {

TEST(InternalFailure, KnowsTheInnermostStageAndTheDeclarationAroundIt) {
  Stage query("infer", {3}, "@f");
  auto failure = failure_of([] {
    Stage pass("fuse");
    QUERN_CHECK(1 + 1 == 3);
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->stage, "fuse");
  EXPECT_EQ(failure->origin.declaration, 3u);
  EXPECT_EQ(failure->subject, "@f");
  EXPECT_EQ(std::string(failure->what())
                .find("`1 + 1 == 3` does not hold, in the stage `fuse` of `@f` "
                      "(tests/ir/base/internal_failure_test.cpp:"),
            0u)
      << failure->what();
  EXPECT_EQ(Stage::current(), "infer");
}

TEST(InternalFailure, IsWhatNoMemoryBecomes) {
  EXPECT_FALSE(failure_of([] {}));
  auto failure = failure_of([] { throw std::bad_alloc(); });
  ASSERT_TRUE(failure);
  EXPECT_STREQ(failure->what(), "there is not enough memory");
}

/// Without an end: each call has places of its own, of which the next one reads. The thread sanitizer follows
/// 65,536 calls, so that a call takes its part of the stack.
int64_t depth_below(const int64_t& above) {
  check_stack();
  std::array<volatile int64_t, 128> here{};
  here.back() = above + 1;
  const int64_t depth = here.back();
  return depth < 0 ? 0 : depth_below(depth) + depth % 7;
}

TEST(InternalFailure, EndsARecursionBeforeTheStackOfItsThreadDoes) {
  std::optional<InternalFailure> failure;
  std::thread([&] { failure = failure_of([] { depth_below(0); }); }).join();
  ASSERT_TRUE(failure);
  EXPECT_NE(std::string(failure->what()).find("stack_is_left"), std::string::npos);
}

TEST(InternalFailure, OfAJobInTheBackgroundLeavesTheOthers) {
  bool done = false;
  testing::internal::CaptureStderr();
  {
    codegen::Background background(std::chrono::seconds(10));
    background.add([] { QUERN_CHECK(1 > 2); });
    background.add([&] { done = true; });
    background.wait_until_idle();
  }
  EXPECT_TRUE(done);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("`1 > 2` does not hold"), std::string::npos);
}

TEST(InternalFailure, IsADiagnosticWithAReport) {
  Session session;
  const SourceId source =
      session.add_source(session.make_module(), "model.relay", "let %x = 1f;\nlet %y =\n  %x;\n");
  const DeclarationId second = session.statements(source)[1];
  Stage stage("loops", {second}, "y");
  const LocatedDiagnostic told = session.locate(InternalFailure("a loop has no variable", "jit/x.cpp", 7));
  EXPECT_EQ(told.kind, DiagnosticKind::InternalError);
  EXPECT_EQ(told.file, "model.relay");
  EXPECT_EQ(told.text.substr(told.range.begin, told.range.end - told.range.begin), "let %y =");
  EXPECT_EQ(told.message,
            "a bug of Quern: a loop has no variable, in the stage `loops` of `y` (jit/x.cpp:7)");
  ASSERT_EQ(told.notes.size(), 1u);
  const std::string& note = told.notes[0].message;
  const size_t begin = note.find('/');
  const std::filesystem::path report = note.substr(begin, note.find(',') - begin);
  std::ostringstream text;
  text << std::ifstream(report).rdbuf();
  for (const char* part :
       {"Quern ", "a loop has no variable", "`loops`", "jit/x.cpp:7", "// model.relay\nlet %x = 1f;"})
    EXPECT_NE(text.str().find(part), std::string::npos) << part;
  std::filesystem::remove(report);
}

}  // namespace
}  // namespace quern
