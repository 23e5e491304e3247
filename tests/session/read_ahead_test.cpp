// A text with many declarations is read on a second thread while it is checked: what is found is what is found where
// each part of it is checked alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "session/session.h"
#include "session/texts/read_ahead.h"

namespace quern {
namespace {

constexpr int kParts = 200;

/// Of several kinds, right and wrong; now and then a body that is checked in chunks.
std::string part(int i) {
  switch (i % 10) {
    case 0: return fmt::format("def @f{}(%x: Tensor[(n, {}), float32]) {{ nn.relu(%x) }}\n", i, i + 1);
    case 1: return fmt::format("def @f{}(%x) {{ @f{}(%x) + %unknown }}\n", i, i - 1);
    case 2: return fmt::format("def @f{}(%x) {{ (%x, ]) }}\n", i);
    case 3: return fmt::format("let %v{} = ones(shape=[{}, 2]);\n", i, i);
    case 4:
      return fmt::format("op twice{}(%a: Tensor[s, t]) -> Tensor[s, t] {{ [..i] => %a[..i] * 2 }}\n", i);
    case 5: return fmt::format("type T{} {{ A{}(a: Tensor[({},), float32], a: int32) }}\n", i, i, i);
    case 6: return fmt::format("def @f{}(%x: (int32, Tensor[({}, 2), float32])) -> int32 {{ %x.1 }}\n", i, i);
    case 7: return fmt::format("def @f{}(%x: T{}) -> Tensor[(2,), float16] {{ %x }}\n", i, i - 2);
    case 8: return fmt::format("def @f{}(%x: Tensor[(2, -1), float32]) -> float32 {{ %x }}\n", i);
    default: break;
  }
  std::string text =
      fmt::format("def @f{}(%x: Tensor[(8,), float32]) {{\n  let %a = 1;\n  let %v0 = %x;\n", i);
  for (int k = 1; k < (i % 50 == 9 ? 300 : 3); ++k)
    text += fmt::format("  let %v{} = %v{} + {}f;\n", k, k - 1, k);
  return text + "  %v2\n}\n";
}

std::string text_of(int parts) {
  std::string text;
  for (int i = 0; i < parts; ++i) text += part(i);
  return text;
}

std::string report(const std::vector<LocatedDiagnostic>& diagnostics) {
  std::string text;
  for (const LocatedDiagnostic& d : diagnostics)
    text += fmt::format("{}-{}: {}\n", d.range.begin, d.range.end, d.message);
  return text;
}

std::string types(Session& session, SourceId source) {
  std::string text;
  for (const auto& [range, type] : session.node_types(source))
    text += fmt::format("{}-{} {}\n", range.begin, range.end, type);
  return text;
}

/// What a second thread reads of a text's annotations, once it is there before it is asked for.
bool has_annotations(std::string_view text) {
  while (true) {
    ReadAhead ahead({{1, text, PieceKind::Def}}, false);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ahead.take_outcome(1)) return ahead.take_annotations(1).has_value();
  }
}

TEST(ReadAhead, ReadsAnnotationsThatNothingElseDecides) {
  EXPECT_TRUE(has_annotations(
      "def @f(%x: Tensor[(8, 2), float32], %y: (int32, bool)) -> fn (int32) -> float32 { %x }"));
  for (const char* other :
       {"def @f(%x: Tensor[(8, 2), float32]) { %x }",
        "def @f[n](%x: Tensor[(n, 2), float32]) -> float32 { %x }",
        "def @f(%x: Tensor[(?, 2), float32]) -> float32 { %x }",
        "def @f(%x: Tensor[(2,), float32]) -> Box { %x }", "def @f[T](%x: T) -> T { %x }",
        "def @f(%x: Tensor[(@rows(2),), float32]) -> int32 { 1 }",
        "def @f(%x: Tensor[_, float32]) -> int32 { 1 }", "def f(%x: Tensor[s, t]) -> Tensor[s, t] { %x }"})
    EXPECT_FALSE(has_annotations(other)) << other;
}

class ReadAheadTest : public testing::Test {
 protected:
  static SourceId open(Session& session, const std::string& text) {
    return session.add_source(session.make_module(), "many.relay", text);
  }
  void SetUp() override {
    Session session;
    const SourceId source = open(session, "");
    for (int i = 1; i <= kParts; ++i) {
      session.set_text(source, text_of(i));
      diagnostics = report(session.check(source));
    }
    all_types = types(session, source);
    for (const char* said : {"unknown variable", "is never read", "is declared twice"})
      ASSERT_NE(diagnostics.find(said), std::string::npos) << said;
    ASSERT_NE(all_types.find("Tensor[(8,), float32]"), std::string::npos);
  }
  std::string diagnostics, all_types;
};

TEST_F(ReadAheadTest, ASecondThreadFindsWhatIsFoundPartByPart) {
  Session session;
  const SourceId source = open(session, text_of(kParts));
  EXPECT_EQ(report(session.check(source)), diagnostics);
  EXPECT_EQ(types(session, source), all_types);
}

TEST_F(ReadAheadTest, MayBeCancelledAtAnyMoment) {
  for (int delay = 0; delay < 16; ++delay) {
    Session session;
    const SourceId source = open(session, text_of(kParts));
    std::atomic<bool> stop = false;
    std::thread cancels([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * delay));
      stop = true;
    });
    const auto first = session.check(source, &stop);
    cancels.join();
    if (const auto* checked = std::get_if<Checked>(&first)) {
      EXPECT_EQ(report(checked->diagnostics), diagnostics);
    }
    session.set_text(source, "let %above = 1;\n" + text_of(kParts));
    session.set_text(source, text_of(kParts));
    EXPECT_EQ(report(session.check(source)), diagnostics);
  }
}

}  // namespace
}  // namespace quern
