#include "session/session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ide/hover.h"
#include "session/run/execution.h"
#include "session/texts/embedded.h"
#include "tests/temporary_folder.h"

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

TEST_F(SessionTest, ARenamedDimOfAHeadHasItsNewNameInTheBody) {
  const auto text = [](const std::string& dim) {
    return "def @f[" + dim + "](%x: Tensor[(" + dim + ",), float32]) -> Tensor[(" + dim +
           ",), float32] { %x + zeros((" + dim + ",), dtype=\"float32\") }\n";
  };
  SourceId source = open(text("n"));
  EXPECT_EQ(messages(source), std::vector<std::string>());
  session.set_text(source, text("m"));
  EXPECT_EQ(messages(source), std::vector<std::string>());
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
  auto hover = ide::hover(session, source, static_cast<uint32_t>(text.rfind("%x")) + 1);
  ASSERT_TRUE(hover);
  EXPECT_NE(to_markdown(*hover).find("Tensor[(1, 3), float32]"), std::string::npos) << to_markdown(*hover);
  auto op = ide::hover(session, source, static_cast<uint32_t>(text.find("nn.relu")) + 1);
  ASSERT_TRUE(op);
  EXPECT_NE(to_markdown(*op).find("max(x, 0)"), std::string::npos) << to_markdown(*op);
}

TEST_F(SessionTest, RecursiveCompositesAreReportedNotEndless) {
  SourceId source =
      open("def twice(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { twice(%x) }\ntwice([1f, 2f]);");
  EXPECT_FALSE(messages(source).empty());
}

// --- imports

class ImportTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  SourceId open(const std::string& name, const std::string& text) {
    return session.open_file(path(name), text);
  }
  size_t problems(SourceId source) { return session.check_with_imports(source).size(); }

  const TemporaryFolder folder;
  Session session;
};

TEST_F(ImportTest, AnOpenBufferWinsOverTheDisk) {
  write("part.relay", "def @f(%x: float32) -> float32 { %x }");
  SourceId main = open("main.relay", "import \"part.relay\" as part\nlet %y: int32 = @part.f(1);\n");
  EXPECT_EQ(problems(main), 1u);
  SourceId part = open("part.relay", "def @f(%x: int32) -> int32 { %x }");
  EXPECT_EQ(problems(main), 0u);
  session.close_file(part);
  EXPECT_EQ(problems(main), 1u);
}

TEST_F(ImportTest, AnEditInABodyOfAnImportedFileInfersThatBodyAlone) {
  SourceId part =
      open("part.relay", "def @f(%x: float32) -> float32 { %x }\ndef @g(%x: float32) -> float32 { %x }");
  SourceId main =
      open("main.relay", "import \"part.relay\"\ndef @h(%x: float32) -> float32 { @f(@g(%x)) }\n");
  EXPECT_EQ(problems(main), 0u);
  uint64_t inferred = session.times_computed("infer");
  session.set_text(part, "def @f(%x: float32) -> float32 { %x + 1 }\ndef @g(%x: float32) -> float32 { %x }");
  EXPECT_EQ(problems(main), 0u);
  EXPECT_EQ(session.times_computed("infer"), inferred + 1);
  session.set_text(part, "def @f(%x: int32) -> float32 { 1.0 }\ndef @g(%x: float32) -> float32 { %x }");
  EXPECT_EQ(problems(main), 1u);
}

TEST_F(ImportTest, AFileThatAppearsIsFound) {
  SourceId main = open("main.relay", "import \"late.relay\" as late\ndef @g() -> int32 { @late.f() }\n");
  EXPECT_EQ(problems(main), 1u);
  write("late.relay", "def @f() -> int32 { 1 }");
  session.reread_files();
  EXPECT_EQ(problems(main), 0u);
  std::filesystem::remove(path("late.relay"));
  session.reread_files();
  EXPECT_EQ(problems(main), 1u);
}

TEST_F(ImportTest, PathsAreRelativeToTheFileThenToTheProjectsRoot) {
  write("quern.toml", "");
  write("shared.relay", "def @f() -> int32 { 1 }");
  std::filesystem::create_directories(folder / "models");
  write("models/shared.relay", "def @g() -> int32 { 1 }");
  SourceId beside = open("models/a.relay", "import \"shared.relay\" as s\ndef @a() -> int32 { @s.g() }\n");
  EXPECT_EQ(problems(beside), 0u);
  std::filesystem::create_directories(folder / "other");
  SourceId from_root = open("other/b.relay", "import \"shared.relay\" as s\ndef @a() -> int32 { @s.f() }\n");
  EXPECT_EQ(problems(from_root), 0u);
}

TEST_F(ImportTest, ModulesThatCallEachOthersNamesDoNotMeet) {
  // Both have a helper of the same name: each sees its own.
  open("part.relay", "def @helper() -> int32 { 1 }\ndef @f() -> int32 { @helper() }\n");
  SourceId main = open("main.relay",
                       "import \"part.relay\" as part\ndef @helper() -> int32 { 2 }\n"
                       "test \"own\" { assert_equal((@part.f(), @helper()), (1, 2)) }\n");
  ASSERT_EQ(problems(main), 0u);
  for (bool interpret : {false, true}) {
    ExecutionOptions options;
    options.interpret = interpret;
    Execution execution(session, session.module_of(main), options, [](std::string_view) {});
    EXPECT_FALSE(execution.run(session.tests(main)[0]).failure);
  }
}

}  // namespace
}  // namespace quern
