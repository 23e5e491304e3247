#include "session/session.h"

#include <gtest/gtest.h>

#include "session/execution.h"
#include "session/stdlib.h"

namespace quern {
namespace {

class SessionTest : public testing::Test {
 protected:
  SourceId open(const std::string& text) { return session.add_source(module, "test.relay", text); }
  std::vector<std::string> messages(SourceId source) {
    std::vector<std::string> found;
    for (const LocatedDiagnostic& d : session.check(source)) found.push_back(d.message);
    return found;
  }
  Session session;
  ModuleId module = session.make_module();
};

TEST_F(SessionTest, AGoodModuleHasNoDiagnostics) {
  SourceId source =
      open("def @f(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { %x + 1 }\n@f([1f, 2f]);\n");
  EXPECT_EQ(messages(source), std::vector<std::string>());
}

TEST_F(SessionTest, ABlankInABodyInfersNothingAgain) {
  SourceId source =
      open("def @f(%x: float32) -> float32 { %x + 1 }\ndef @g(%x: float32) -> float32 { @f(%x) }\n");
  session.check(source);
  uint64_t inferred = session.times_computed("infer");
  session.set_text(
      source, "def @f(%x: float32) -> float32 { %x   + 1 }\n\n\ndef @g(%x: float32) -> float32 { @f(%x) }\n");
  session.check(source);
  EXPECT_EQ(session.times_computed("infer"), inferred);
}

TEST_F(SessionTest, AnEditInABodyInfersThatBodyAlone) {
  SourceId source =
      open("def @f(%x: float32) -> float32 { %x + 1 }\ndef @g(%x: float32) -> float32 { @f(%x) }\n");
  session.check(source);
  uint64_t inferred = session.times_computed("infer");
  session.set_text(source,
                   "def @f(%x: float32) -> float32 { %x + 2 }\ndef @g(%x: float32) -> float32 { @f(%x) }\n");
  session.check(source);
  EXPECT_EQ(session.times_computed("infer"), inferred + 1);
}

TEST_F(SessionTest, AnUnannotatedCallerFollowsItsCalleesTypeAndNothingElse) {
  SourceId source = open("def @f(%x: float32) { %x + 1 }\ndef @g(%x: float32) { @f(%x) }\n");
  EXPECT_TRUE(messages(source).empty());
  uint64_t inferred = session.times_computed("infer");
  session.set_text(source, "def @f(%x: float32) { %x + 2 }\ndef @g(%x: float32) { @f(%x) }\n");
  session.check(source);
  EXPECT_EQ(session.times_computed("infer"), inferred + 1);
}

TEST_F(SessionTest, AfterEditsDiagnosticsAreThoseOfAFreshSession) {
  SourceId source = open("def @f(%x: float32) -> float32 { %x + 1 }\n");
  session.check(source);
  std::string edited = "def @f(%x: float32) -> float32 { %y + 1 }\ndef @h() -> int32 { @nothing() }\n";
  session.set_text(source, edited);
  Session fresh;
  ModuleId other = fresh.make_module();
  SourceId second = fresh.add_source(other, "test.relay", edited);
  auto a = session.check(source), b = fresh.check(second);
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.size(), 2u);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].message, b[i].message);
    EXPECT_EQ(a[i].range, b[i].range);
  }
}

TEST_F(SessionTest, OrderOfDefinitionsDoesNotMatter) {
  SourceId source = open("def @g(%x: float32) { @f(%x) }\ndef @f(%x: float32) { %x + 1 }\n");
  EXPECT_TRUE(messages(source).empty());
}

TEST_F(SessionTest, ALaterSourceReplacesADefinition) {
  open("def @f() -> int32 { 1 }");
  SourceId second = open("def @f() -> int32 { 2 }");
  SourceId third = open("@f()");
  EXPECT_TRUE(messages(second).empty());
  Execution execution(session, module, {}, [](std::string_view) {});
  StatementResult result = execution.run(session.statements(third)[0]);
  ASSERT_TRUE(result.value);
  EXPECT_EQ(result.value->scalar().as_int(), 2);
}

TEST_F(SessionTest, HoverShowsTheTypeOfTheInnermostExpression) {
  std::string text = "let %x = [[1f, 2f, 3f]];\nlet %y = nn.relu(%x);\n";
  SourceId source = open(text);
  auto hover = session.hover(source, static_cast<uint32_t>(text.rfind("%x")) + 1);
  ASSERT_TRUE(hover);
  EXPECT_NE(hover->markdown.find("Tensor[(1, 3), float32]"), std::string::npos) << hover->markdown;
  auto op = session.hover(source, static_cast<uint32_t>(text.find("nn.relu")) + 1);
  ASSERT_TRUE(op);
  EXPECT_NE(op->markdown.find("max(x, 0)"), std::string::npos) << op->markdown;
}

TEST_F(SessionTest, RecursiveCompositesAreReportedNotEndless) {
  SourceId source =
      open("def twice(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { twice(%x) }\ntwice([1f, 2f]);");
  EXPECT_FALSE(messages(source).empty());
}

}  // namespace
}  // namespace quern
