// What a session does and keeps over many edits: cancellation, memory, and how much an edit computes.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "ir/base/interned.h"
#include "session/run/execution.h"
#include "session/session.h"

namespace quern {
namespace {

std::string chain(const std::string& name, size_t statements, const std::string& result = "") {
  std::string text = fmt::format("def @{}(%x: Tensor[(4, 8), float32]){} {{\n", name, result);
  for (size_t i = 0; i < statements; ++i)
    text += fmt::format("  let %v{} = nn.relu({}) * {}.5f;\n", i, i == 0 ? "%x" : fmt::format("%v{}", i - 1),
                        i % 10);
  return text + fmt::format("  %v{}\n}}\n", statements - 1);
}

class SessionWork : public testing::Test {
 protected:
  SourceId open(const std::string& text) {
    return session.add_source(session.make_module(), "work.relay", text);
  }
  void replace(SourceId source, std::string_view from, std::string_view to) {
    auto at = static_cast<uint32_t>(session.text(source).find(from));
    session.edit(source, {at, at + static_cast<uint32_t>(from.size())}, to);
  }
  uint64_t computed(const std::function<void()>& work, const std::string& query) {
    uint64_t before = session.times_computed(query);
    work();
    return session.times_computed(query) - before;
  }
  Session session;
};

TEST_F(SessionWork, AnEditInALongBodyInfersOneChunk) {
  SourceId source = open(chain("f", 1000));
  EXPECT_TRUE(session.check(source).empty());
  auto edit = [&] {
    replace(source, "%v500 = nn.relu(%v499) * 0.5f", "%v500 = nn.relu(%v499) * 7.5f");
    EXPECT_TRUE(session.check(source).empty());
  };
  EXPECT_EQ(computed(edit, "infer_chunk"), 1u);
}

TEST_F(SessionWork, AMistakeOfFormInALongBodyIsToldByItsChunkAlone) {
  SourceId source = open(chain("f", 1000));
  EXPECT_TRUE(session.check(source).empty());
  auto edit = [&] {
    replace(source, "%v500 = nn.relu(%v499)", "%v500 = nn.softmax(axis=0, %v499)");
    auto found = session.check(source);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].message, "arguments by position come before those by name, `name=…`");
  };
  EXPECT_LE(computed(edit, "form"), 2u);
}

TEST_F(SessionWork, AnInsertionInALongBodyParsesWhatIsNearIt) {
  SourceId source = open(chain("f", 1000));
  session.check(source);
  auto edit = [&] {
    replace(source, "  let %v500 =", "  let %extra = %v499;\n  let %v500 =");
    EXPECT_TRUE(session.check(source).empty());
  };
  EXPECT_LE(computed(edit, "parse"), 3u);
}

TEST_F(SessionWork, AChangedTypeInALongBodyReachesItsUsers) {
  SourceId source = open(chain("f", 1000));
  session.check(source);
  replace(source, "%v500 = nn.relu(%v499) * 0.5f", "%v500 = sum(nn.relu(%v499), axis=[1])");
  EXPECT_TRUE(session.check(source).empty());
  auto types = session.node_types(source);
  EXPECT_EQ(types.front().second, "Tensor[(4, 8), float32]");
  EXPECT_EQ(types.back().second, "Tensor[(4,), float32]");
}

TEST_F(SessionWork, AStatementAboveRenumbersNothing) {
  SourceId source = open("let %a = 1f;\nprint(%a);\nprint(%a);\nlet %a = 2f;\nprint(%a)\n");
  session.check(source);
  auto edit = [&] {
    session.edit(source, {0, 0}, "print(1);\n");
    session.check(source);
  };
  EXPECT_EQ(computed(edit, "infer_statement"), 1u);
}

TEST_F(SessionWork, ANewDefinitionInfersNoOther) {
  SourceId source = open("def @f(%x: float32) { %x + 1 }\ndef @g(%x: float32) { @f(%x) }\n");
  session.check(source);
  auto edit = [&] {
    session.edit(source, {0, 0}, "def @h(%x: float32) { %x }\n");
    EXPECT_TRUE(session.check(source).empty());
  };
  EXPECT_EQ(computed(edit, "infer"), 1u);
}

TEST_F(SessionWork, AnEditInAnOperatorsBodyInfersNoCaller) {
  SourceId source = open(
      "op twice(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] * 2 }\n"
      "def @f(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { twice(%x) }\n"
      "def @g(%x: Tensor[(2,), float32]) { @f(%x) + twice(%x) }\n"
      "let %y = @g(twice([1f, 2f]));\n");
  EXPECT_TRUE(session.check(source).empty());
  auto edit = [&] {
    replace(source, "%a[..i] * 2", "%a[..i] * 3");
    EXPECT_TRUE(session.check(source).empty());
  };
  EXPECT_EQ(computed(edit, "infer"), 0u);
  EXPECT_EQ(computed(
                [&] {
                  replace(source, "* 3 }", "* 4 }");
                  session.check(source);
                },
                "infer_statement"),
            0u);
  auto broken = [&] {
    replace(source, "%a[..i] * 4", "%b[..i] * 4");
    EXPECT_EQ(session.check(source).size(), 1u);
  };
  EXPECT_EQ(computed(broken, "infer"), 0u);
  EXPECT_EQ(session.definition(session.info(session.statements(source)[0]).module, "f"), nullptr);
}

TEST_F(SessionWork, AnEditInAnOperatorsScheduleInfersNoCaller) {
  SourceId source = open(
      "op twice(%a: Tensor[(n,), t]) -> Tensor[(n,), t] schedule { unroll(i, 2) } { [i] => %a[i] * 2 }\n"
      "def @f(%x: Tensor[(2,), float32]) { twice(%x) }\n");
  EXPECT_TRUE(session.check(source).empty());
  auto edit = [&] {
    replace(source, "unroll(i, 2)", "unroll(i, 4)");
    EXPECT_TRUE(session.check(source).empty());
    replace(source, "unroll(i, 4)", "unroll(j, 4)");
    EXPECT_EQ(session.check(source).size(), 1u);
    replace(source, "schedule { unroll(j, 4) } ", "");
    EXPECT_TRUE(session.check(source).empty());
  };
  EXPECT_EQ(computed(edit, "infer"), 0u);
}

TEST_F(SessionWork, AnEditInAnAnnotatedBodyInfersNoCaller) {
  SourceId source =
      open("def @f(%x: float32) -> float32 { %x + 1 }\ndef @g(%x: float32) { @f(%x) }\nlet %y = @f(1f);\n");
  session.check(source);
  int number = 1;
  auto edit = [&] {
    replace(source, fmt::format("%x + {}", number), fmt::format("%x + {}", number + 1));
    ++number;
    session.check(source);
  };
  EXPECT_EQ(computed(edit, "infer"), 1u);
  EXPECT_EQ(computed(edit, "infer_statement"), 0u);
}

TEST_F(SessionWork, AChainOfHundredThousandLetsIsFine) {
  SourceId source = open(chain("f", 100000));
  EXPECT_TRUE(session.check(source).empty());
}

// Not over-long on the small stack of a test: literals without a decision make one run of all.
TEST_F(SessionWork, ABodyThatIsOpenToItsEndIsInferredAsAWhole) {
  std::string text = "def @f() {\n  let %v0 = 1;\n";
  for (int i = 1; i < 300; ++i) text += fmt::format("  let %v{} = %v{} + 1;\n", i, i - 1);
  SourceId source = open(text + "  %v299 + 1i64\n}\n");
  EXPECT_TRUE(session.check(source).empty());
  EXPECT_EQ(session.node_types(source).back().second, "int64");
}

TEST_F(SessionWork, WorkThatIsCancelledIsTakenUpWhereItWas) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += chain(fmt::format("f{}", i), 100);
  SourceId source = open(text + "def @broken() -> int32 { 1f }\n");
  std::atomic<bool> stop = true;
  EXPECT_TRUE(std::holds_alternative<Cancelled>(session.check(source, &stop)));
  stop = false;
  auto result = session.check(source, &stop);
  ASSERT_TRUE(std::holds_alternative<Checked>(result));
  EXPECT_EQ(std::get<Checked>(result).diagnostics.size(), 1u);
}

TEST_F(SessionWork, CancellationAtAnyMomentLeavesNothingHalfDone) {
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += chain(fmt::format("f{}", i), 90) + fmt::format("let %s{} = @f{}(ones((4, 8)));\n", i, i);
  text += "let %wrong = %s9 + ones((3, 3));\n";
  SourceId source = open(text);
  size_t cancelled = 0;
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    replace(source, "%s9 +", round % 2 == 0 ? "%s8 +" : "%s9 +");
    replace(source, "* 0.5f", "* 1.5f");
    replace(source, "* 1.5f", "* 0.5f");
    replace(source, fmt::format("def @f{}(", round % 10),
            fmt::format("/// {}\ndef @f{}(", round, round % 10));
    std::atomic<bool> stop = false;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      stop = true;
    });
    bool given_up = std::holds_alternative<Cancelled>(session.check(source, &stop));
    other.join();
    cancelled += given_up;
    Session fresh;
    SourceId again = fresh.add_source(fresh.make_module(), "work.relay", session.text(source));
    auto wanted = fresh.check(again), found = session.check(source);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].message, wanted[i].message);
    EXPECT_EQ(session.node_types(source), fresh.node_types(again));
  }
  EXPECT_GT(cancelled, 0u);
}

// QUERN_SOAK_EDITS=10000 for the long run.
TEST_F(SessionWork, MemoryStaysFlatOverEdits) {
  const char* wanted = std::getenv("QUERN_SOAK_EDITS");
  size_t edits = wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
  std::string text = chain("long", 200);
  for (int i = 0; i < 40; ++i) text += chain(fmt::format("f{}", i), 5, " -> Tensor[(4, 8), float32]");
  text += "let %a = @f0(ones((4, 8)));\nlet %b = nn.relu(%a);\nprint(%b)\n";
  SourceId source = open(text);
  session.check(source);
  std::mt19937 random(3);
  size_t start = 0;
  for (size_t i = 0; i < edits; ++i) {
    std::string now = text;
    std::string function = fmt::format("def @f{}(", random() % 40);
    switch (random() % 5) {
      case 0:
        now.replace(now.find(".5f", random() % (text.size() - 600)) + 1, 1, std::to_string(random() % 10));
        break;
      case 1: now.insert(now.find("  let %v", random() % (text.size() - 600)), "  let %w = 3f;\n"); break;
      case 2: now.insert(now.find(function), fmt::format("def @new{}(%x: int32) {{ %x }}\n", i)); break;
      case 3: now.erase(now.find(function), 30); break;
      default: now.insert(now.find("let %b"), "nn.relu(%a);\n"); break;
    }
    session.set_text(source, now);
    session.check(source);
    if (i == edits / 5) start = mallinfo2().uordblks;
  }
  session.set_text(source, text);
  session.check(source);
  size_t grown = mallinfo2().uordblks - std::min(start, mallinfo2().uordblks);
  EXPECT_LT(grown / edits, 400u) << "bytes per edit";
}

/// Definitions with dims of every origin: declared, of `?`, of index expressions, of packs, general ones, and
/// of operators with other ranks.
constexpr std::string_view kSymbolic = R"(
def @known[n, m](%x: Tensor[(n, m), float32]) -> Tensor[(m,), float32] { sum(%x, axis=[0]) * 1.5f }
def @unknown(%x: Tensor[(?, 4), float32], %y: Tensor[(?,), float32]) { concatenate((%x[1:, 0], %y), axis=0) + 1.5f }
def @general(%x, %y) { %x * %y + 1.5f }
def @packed[s](%x: Tensor[s, float32]) -> Tensor[s, float32] { %x + 1.5f }
op moved(%a: Tensor[(n, k), t]) -> Tensor[(n * 2, k), t] { [i, j] => %a[i / 2, j] * 1.5f }
def @slope[n](%x: Tensor[(n,), float32]) { grad(fn (%v: Tensor[(n,), float32]) { sum(%v * %v) * 1.5f })(%x) }
let %a = ones((3, 4));
let %b = @unknown(%a, @known(%a));
let %c = unique([i < 5] => cast<int32>(i / 2)).0;
@general(@packed(moved(%a)), 2.5); @slope(%b);
)";

TEST_F(SessionWork, NoDimsAreMadeByEditing) {
  SourceId source = open(std::string(kSymbolic));
  std::vector<uint32_t> places;
  for (size_t at = 0; (at = kSymbolic.find("1.5f", at)) != std::string_view::npos; ++at)
    places.push_back(static_cast<uint32_t>(at));
  Interned dims, types;
  for (size_t edit = 0; edit < 2'000; ++edit) {
    const uint32_t at = places[edit % places.size()];
    session.edit(source, {at, at + 1}, session.text(source)[at] == '1' ? "2" : "1");
    ASSERT_FALSE(has_errors(session.check(source)));
    if (edit != 100) continue;
    dims = interned_dims();
    types = interned_types();
  }
  EXPECT_EQ(interned_dims().count, dims.count);
  EXPECT_EQ(interned_types().count, types.count);
}

TEST_F(SessionWork, NoDimsAreMadeWhereADeclarationGoesAndComes) {
  const std::string whole(kSymbolic);
  SourceId source = open(whole);
  session.check(source);
  Interned dims, types;
  for (int round = 0; round < 6; ++round) {
    for (size_t begin = 1; begin < whole.size(); begin = whole.find('\n', begin) + 1) {
      session.set_text(source, std::string(whole).erase(begin, whole.find('\n', begin) - begin));
      session.check(source);
      session.set_text(source, whole);
      ASSERT_FALSE(has_errors(session.check(source)));
    }
    if (round != 1) continue;
    dims = interned_dims();
    types = interned_types();
  }
  EXPECT_EQ(interned_dims().count, dims.count);
  EXPECT_EQ(interned_types().count, types.count);
}

TEST_F(SessionWork, NoDimsAreMadeByCompilingLinesAgain) {
  ModuleId module = session.make_module();
  Execution execution(session, module, {}, [](std::string_view) {});
  auto run = [&](const std::string& line) {
    SourceId source = session.add_source(module, "line", line);
    ASSERT_FALSE(has_errors(session.check(source)));
    for (DeclarationId statement : session.statements(source))
      ASSERT_FALSE(execution.run(statement).failure) << line;
  };
  run("let %a = ones((30, 40)); let %w = ones((50, 40));");
  Interned before;
  for (int line = 0; line < 20; ++line) {
    run(fmt::format("nn.softmax(nn.dense(%a, %w) + {}.5f)", line));
    if (line == 5) before = interned_dims();
  }
  EXPECT_EQ(interned_dims().count, before.count);
}

}  // namespace
}  // namespace quern
