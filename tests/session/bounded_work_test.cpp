// The worst texts for each solver are checked, or given up, within a second.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "ir/base/interrupt.h"
#include "session/session.h"

namespace quern {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr double kMaxSeconds = 30;
#else
constexpr double kMaxSeconds = 1;
#endif

/// `line` of 0, 1, … as one text.
std::string lines(int count, const std::function<std::string(int)>& line) {
  std::string all;
  for (int i = 0; i < count; ++i) all += line(i);
  return all;
}

/// Types that double with each binding.
std::string doubled_tuples() {
  return "def @f(%x0: int32) {\n" +
         lines(60, [](int i) { return fmt::format("  let %x{0} = (%x{1}, %x{1});\n", i + 1, i); }) +
         "  1 }\n";
}
/// The same with a type that is not known, in a general function.
std::string doubled_unknowns() {
  return "let %p = fn (%x) { (%x, %x) };\nlet %q = fn (%x) { " + lines(22, [](int) { return "%p("; }) + "%x" +
         std::string(22, ')') + " };\n";
}
/// Every column of the patterns is needed to tell some of them from others.
std::string entangled_patterns() {
  constexpr int kColumns = 24;
  const auto columns = [](const std::function<std::string(int)>& column) {
    return lines(kColumns, [&](int i) { return (i > 0 ? ", " : "") + column(i); });
  };
  const auto arm = [&](int row, int other, bool sign) {
    return "  (" + columns([&](int i) {
             return i == row ? sign ? "T" : "F" : i == other ? sign ? "F" : "T" : "_";
           }) +
           fmt::format(") => {},\n", row);
  };
  return "type B { T, F }\ndef @f(" + columns([](int i) { return fmt::format("%x{}: B", i); }) +
         ") -> int32 {\n  match ((" + columns([](int i) { return fmt::format("%x{}", i); }) + ")) {\n" +
         lines(kColumns,
               [&](int i) { return arm(i, (i + 1) % kColumns, true) + arm(i, (i + 2) % kColumns, false); }) +
         "  _ => 99 } }\n";
}
/// Equalities of dims that lead to divisions by variables.
std::string chained_reshapes() {
  return "def @f[n, m, k](%y0: Tensor[(n, m, k), float32]) {\n" +
         lines(24,
               [](int i) {
                 return fmt::format("  let %y{} = reshape(%y{}, newshape=[{}]);\n", i + 1, i,
                                    i % 2 == 0 ? "-1, 6" : "-1, 4, 3");
               }) +
         "  %y24 }\n";
}
/// Broadcasts whose readings multiply.
std::string chained_broadcasts() {
  return "def @f(" +
         lines(
             12,
             [](int i) { return fmt::format("{}%x{}: Tensor[(?, ?, ?), float32]", i > 0 ? ", " : "", i); }) +
         ") { " + lines(11, [](int i) { return fmt::format("%x{} + ", i); }) + "%x11 }\n";
}
/// Indices of many variables, to be proved inside.
std::string entangled_indices() {
  return "def @f[n](%x: Tensor[(n,), float32]) { [a < 7, b < 5, c < 3, d < 11] => %x[min(max((a * 13 + b * "
         "17 - c * 19 + "
         "(d * a) % 23) / 29 + (b * c * d) % 31, (a - b) * (c - d)), n - 1) % max(n, 1)] else 0.0 }\n";
}
std::string long_conditions() {
  return "def @f(%x: int32) -> int32 {\n" +
         lines(2000, [](int i) { return fmt::format("if (%x == {0}) {{ {0} }} else ", i); }) + "{ 0 } }\n";
}
std::string long_sum() {
  return "let %x = " + lines(1500, [](int) { return "1f + "; }) + "1f;\n";
}

/// Each read has its place after all those before.
std::string long_list() {
  return "def @f[n](%x: Tensor[(n,), float32]) { [" + lines(150, [](int) { return "%x, "; }) + "%x] }\n";
}

struct Text {
  std::string name;
  std::string (*text)();
};
const std::vector<Text> kTexts = {{"doubled_tuples", doubled_tuples},
                                  {"doubled_unknowns", doubled_unknowns},
                                  {"entangled_patterns", entangled_patterns},
                                  {"chained_reshapes", chained_reshapes},
                                  {"chained_broadcasts", chained_broadcasts},
                                  {"entangled_indices", entangled_indices},
                                  {"long_conditions", long_conditions},
                                  {"long_sum", long_sum},
                                  {"long_list", long_list}};

class BoundedWork : public testing::TestWithParam<Text> {};

TEST_P(BoundedWork, IsDoneSoon) {
  Session session;
  const SourceId source = session.add_source(session.make_module(), "worst.relay", GetParam().text());
  const std::clock_t before = std::clock();
  session.check(source);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kMaxSeconds);
}

INSTANTIATE_TEST_SUITE_P(Worst, BoundedWork, testing::ValuesIn(kTexts),
                         [](const auto& info) { return info.param.name; });

// An interrupt that comes while a text is parsed drops what was begun; the next check does it all.
TEST(InterruptedWork, IsDoneAnew) {
  Session session;
  session.watch(&interrupt_flag);
  const SourceId source = session.add_source(session.make_module(), "long.relay", "let %x = 1 + 2;\n%x(");
  request_interrupt();
  EXPECT_TRUE(std::holds_alternative<Cancelled>(session.check(source, &interrupt_flag)));
  EXPECT_TRUE(parse_declaration("let %x = (1 + 2", false).problems.empty());
  clear_interrupt();
  EXPECT_EQ(session.check(source).size(), 1);
}

// Nobody waits for the end of a long text.
TEST(InterruptedWork, EndsWithinItsText) {
  const std::string text = "let %x = " + lines(500000, [](int) { return "1 + "; }) + "1";
  const std::clock_t before = std::clock();
  std::thread interrupter([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    request_interrupt();
  });
  const ParseOutcome parsed = parse_declaration(text, false);
  interrupter.join();
  clear_interrupt();
  EXPECT_TRUE(parsed.tree.root->is(SyntaxKind::Error));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kMaxSeconds / 2);
}

// Nor does a request that came after the check.
TEST(CancelledWork, EndsWithinAText) {
  const std::string text = "let %x = " + lines(500000, [](int) { return "1 + "; }) + "1";
  Session session;
  const SourceId source = session.add_source(session.make_module(), "long.relay", text);
  std::atomic<bool> stop = false;
  double stopped_at = 0;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stopped_at = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    stop = true;
  });
  const bool is_cancelled = std::holds_alternative<Cancelled>(session.check(source, &stop));
  other.join();
  EXPECT_TRUE(is_cancelled);
  EXPECT_LT(static_cast<double>(std::clock()) / CLOCKS_PER_SEC - stopped_at, kMaxSeconds / 2);
}

// Wherever the interrupt comes, the parts of a long definition that are left are not begun.
TEST(InterruptedWork, EndsWithinALongDefinition) {
  const std::string text =
      "def @f(%x: Tensor[(2,), float32]) {\n" +
      lines(30000, [](int i) { return fmt::format("  let %y{0} = %x + nn.softmax(%x * {0}.0);\n", i); }) +
      "  %x\n}\n";
  for (const int delay : {20, 200, 600}) {
    Session session;
    session.watch(&interrupt_flag);
    const SourceId source = session.add_source(session.make_module(), "long.relay", text);
    double interrupted_at = 0;
    std::thread interrupter([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay));
      interrupted_at = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
      request_interrupt();
    });
    session.check(source, &interrupt_flag);
    interrupter.join();
    clear_interrupt();
    EXPECT_LT(static_cast<double>(std::clock()) / CLOCKS_PER_SEC - interrupted_at, kMaxSeconds / 2);
  }
}

}  // namespace
}  // namespace quern
