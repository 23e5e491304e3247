// Statements that are evaluated again: they run the program that was made for the first, as long as it is theirs.

#include <gtest/gtest.h>

#include "session/run/compiler.h"
#include "session/run/execution.h"
#include "session/session.h"

namespace quern {
namespace {

class RepeatedStatements : public testing::Test {
 protected:
  /// Its values, one per line, or its errors with their places.
  std::string run(const std::string& text) {
    const SourceId source = session.add_source(module, "line " + std::to_string(++lines), text);
    std::string shown;
    for (const LocatedDiagnostic& problem : session.check(source)) shown += problem.message + "\n";
    for (const DeclarationId statement : session.statements(source)) {
      StatementResult result = execution.run(statement);
      if (result.failure)
        shown += result.failure->file + " " + std::to_string(result.failure->range.begin) + ": " +
                 result.failure->message + "\n";
      else
        shown += to_string(*result.value) + "\n";
    }
    return shown;
  }
  size_t compiled() { return execution.compiler().statements_compiled(); }

  Session session;
  ModuleId module = session.make_module();
  Execution execution{session, module, {}, [](std::string_view) {}};
  int lines = 0;
};

TEST_F(RepeatedStatements, AreCompiledOnce) {
  run("let %x = [1f, 2f]");
  EXPECT_EQ(run("sum(%x * 2f)"), "float32 6\n");
  const size_t before = compiled();
  EXPECT_EQ(run("sum(%x * 2f)"), "float32 6\n");
  EXPECT_EQ(compiled(), before);
  EXPECT_EQ(run("sum(%x * 3f)"), "float32 9\n");
  EXPECT_EQ(compiled(), before + 1);
}

TEST_F(RepeatedStatements, ReadTheirOwnVariables) {
  run("let %x = [1f, 2f]");
  EXPECT_EQ(run("%x + %x"), "Tensor[(2,), float32] [2, 4]\n");
  run("let %x = [5f, 6f]");
  const size_t before = compiled();
  EXPECT_EQ(run("%x + %x"), "Tensor[(2,), float32] [10, 12]\n");
  EXPECT_EQ(compiled(), before);
  run("let %x = [5f, 6f, 7f]");
  EXPECT_EQ(run("%x + %x"), "Tensor[(3,), float32] [10, 12, 14]\n");
  run("let %x = [5, 6]");
  EXPECT_EQ(run("%x + %x"), "Tensor[(2,), int32] [10, 12]\n");
}

TEST_F(RepeatedStatements, FollowTheFunctionsThatTheyCall) {
  run("def @f(%x: float32) -> float32 { %x + 1f }");
  run("op twice(%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] * 2 }");
  run("let %g = fn (%x: float32) { %x - 1f }");
  EXPECT_EQ(run("twice(@f(%g(3f)))"), "float32 6\n");
  EXPECT_EQ(run("twice(@f(%g(3f)))"), "float32 6\n");
  run("def @f(%x: float32) -> float32 { %x + 10f }");
  EXPECT_EQ(run("twice(@f(%g(3f)))"), "float32 24\n");
  run("op twice(%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] * 3 }");
  EXPECT_EQ(run("twice(@f(%g(3f)))"), "float32 36\n");
  run("let %g = fn (%x: float32) { %x }");
  EXPECT_EQ(run("twice(@f(%g(3f)))"), "float32 39\n");
}

TEST_F(RepeatedStatements, FollowTheTypesWhoseGradientsTheyTake) {
  const std::string text = "grad(fn (%p: Pair) { %p.a * %p.b })(Pair(2f, 3f)).0.a";
  run("type Pair { Pair(a: float32, b: float32) }");
  EXPECT_EQ(run(text), "float32 3\n");
  const size_t before = compiled();
  EXPECT_EQ(run(text), "float32 3\n");
  EXPECT_EQ(compiled(), before);
  run("type Pair { Pair(b: float32, a: float32) }");
  EXPECT_EQ(run(text), "float32 2\n");
}

TEST_F(RepeatedStatements, FailInTheirOwnText) {
  run("let %x = [1f, 2f]");
  run("let %i = 1");
  EXPECT_EQ(run("%x[%i]"), "float32 2\n");
  run("let %i = 7");
  const size_t before = compiled();
  EXPECT_EQ(run("%x[%i]").substr(0, 9), "line 5 0:");
  EXPECT_EQ(run("%x[%i]").substr(0, 9), "line 6 0:");
  EXPECT_EQ(compiled(), before);
}

TEST_F(RepeatedStatements, ThatMakeFunctionsMakeTheirOwn) {
  run("let %n = 0");
  const std::string text = "let %f = (fn (%i: int32) { [1, 2][%i + %n] }, 1)";
  run(text);
  const size_t before = compiled();
  run(text);
  EXPECT_EQ(compiled(), before + 1);
  EXPECT_EQ(run("%f.0(5)").substr(0, 7), "line 3 ");
}

}  // namespace
}  // namespace quern
