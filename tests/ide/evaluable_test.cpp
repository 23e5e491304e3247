// What an editor evaluates at a cursor, `$0`, or for a selection, `$0…$1`.

#include "ide/evaluable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "tests/ide/marked_text.h"

namespace quern::ide {
namespace {

/// The statements that come before with `;` between them, `|`, and the text; `test NAME`; or why there is nothing.
std::string evaluable(std::string text) {
  MarkedText at = marked(std::move(text));
  Range selected{at.offset, at.offset};
  if (const size_t end = at.text.find("$1"); end != std::string::npos) {
    at.text.erase(end, 2);
    selected.end = static_cast<uint32_t>(end);
  }
  Session session;
  const SourceId source = session.open_file("evaluable.relay", at.text);
  const auto found = evaluable_at(session, source, selected);
  if (!found) return found.error().message;
  if (const auto* test = std::get_if<EvaluationRequest::Tests>(&*found)) return "test " + test->name;
  const auto& statements = std::get<EvaluationRequest::Statements>(*found);
  const auto part = [&](Range range) { return at.text.substr(range.begin, range.end - range.begin); };
  std::string shown;
  for (const Range& before : statements.before) shown += part(before) + "; ";
  return shown + "| " + part(statements.range);
}

struct EvaluableRow {
  const char *text, *evaluated;
};

const char* const kNothing = "there is nothing to evaluate here";

const EvaluableRow kRows[] = {
    {"let %x = 1;\n// >>> %x + 1$0\n", "| %x + 1"},
    {"let %x$0 = 1;\n", "| let %x = 1"},
    {"let %x = 1;  // $0\nlet %y = 2;\n", "| let %x = 1"},
    {"$0let %x = 1;\nlet %y = 2;\n", "| let %x = 1"},
    {"$0\nlet %x = 1;\n", kNothing},
    {"type $0T { C }\n", kNothing},
    {"test \"one\" { assert_equal(1, $01) }\n", "test one"},
    {"op f(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] * $03 }\n", "`f` has a value only in a call"},
    // The statement of the body, without its `let`.
    {"def @f(%x: int32) { let %y = $01 + 2; %x }\n", "| 1 + 2"},
    {"def @f(%x: int32) { let $0%y = 1 + 2; %x }\n", "| 1 + 2"},
    {"def @f(%x: int32) { $01 + 2 }\n", "| 1 + 2"},
    // Anywhere in its line.
    {"def @f(%x: int32) {\n$0  let %y = 1 + 2;\n  %x\n}\n", "| 1 + 2"},
    {"def @f(%x: int32) {\n  let %y = 1 + 2;$0\n  %x\n}\n", "| 1 + 2"},
    {"def @f(%x: int32) {\n  let %y = 1 + 2;  // thr$0ee\n  %x\n}\n", "| 1 + 2"},
    {"def @f(%x: int32) {\n  let %y = 1 + 2;\n  %x\n}$0\n", "`@f` has a value only in a call"},
    // With what it uses, directly or not, and nothing else.
    {"def @f(%x: int32) { let %a = 1; let %b = 2; let %c = %x; let %d = %b + 1; %d $0* 2 }\n",
     "let %b = 2; let %d = %b + 1; | %d * 2"},
    {"def @f(%x: int32) { let (%a, %b) = (1, 2); %0 = %a + 1; %0 $0+ %b }\n",
     "let (%a, %b) = (1, 2); %0 = %a + 1; | %0 + %b"},
    {"def @f(%x: int32) { let %a = 1; if (%x > 0) { let %b = 2; %a $0+ %b } else { 0 } }\n",
     "let %a = 1; let %b = 2; | %a + %b"},
    // A reference with all that is done to it.
    {"def @f(%x: int32) { let %r = ref(1); let %n = 5; %r := %n; !$0%r }\n",
     "let %r = ref(1); let %n = 5; %r := %n; | !%r"},
    {"def @f(%x: int32) { let %r = ref(1); %r := %x; !$0%r }\n", "this depends on %x of `@f`"},
    // The largest part without a parameter.
    {"def @f(%x: Tensor[(3,), float32]) { %x + exp(ones($0(3,))) }\n", "| exp(ones((3,)))"},
    {"def @f(%x: int32) { %x + (2 $0* 3) }\n", "| (2 * 3)"},
    {"def @f(%x: int32) { $0%x + 1 }\n", "this depends on %x of `@f`: select a part without it"},
    {"def @f[n](%x: Tensor[(n,), float32], k: int = 1) { let %w = zeros($0(n, k)); %x }\n",
     "this depends on n, k of `@f`"},
    {"def @f() { let %g = fn (%a: int32) { %a $0+ 1 }; %g(1) }\n", "this depends on %a of `@f`"},
    {"def @f(%l: List[int32]) { match %l { Cons(%h, _) => %h $0+ 1, Nil => 0 } }\n",
     "this depends on %l of `@f`"},
    // All of it, as a call would give.
    {"def @ma$0in() -> int32 { let %y = 1; %y }\n", "| { let %y = 1; %y }"},
    {"def @f$0(%x: int32) { %x }\n", "`@f` has a value only in a call"},
    // Selections.
    {"let %x = $01 + 2$1 + 3;\n", "| 1 + 2"},
    {"def @f(%x: int32) { let %a = 1; let %y = $0%a + 2$1; %x }\n", "let %a = 1; | %a + 2"},
    {"def @f(%x: int32) { $0%x + 2$1 }\n", "this depends on %x of `@f`"},
};

// A body in chunks is one body: what comes before may be in another chunk.
TEST(Evaluable, OfALongBodyTakesWhatItUsesOfOtherChunks) {
  std::string first, middle;
  for (int i = 0; i < 200; ++i) {
    first += fmt::format("  let %f{} = {};\n", i, i);
    middle += fmt::format("  let %m{} = {};\n", i, i);
  }
  const auto body = [&](const std::string& head, const std::string& statement, const std::string& end) {
    return evaluable(head + " {\n  let %a = 1.0;\n" + first + "  let %b = %a + 2.0;\n" + middle + statement +
                     "  %f1\n}" + end + "\n");
  };
  const std::string takes_b = "let %a = 1.0; let %b = %a + 2.0; | %b * 3.0";
  EXPECT_EQ(body("def @f(%x: float32)", "  let %c = %b * 3.0$0;\n", ""), takes_b);
  EXPECT_EQ(body("def @f(%x: float32)", "  let %c = $0%b * 3.0$1;\n", ""), takes_b);
  EXPECT_EQ(body("def @f(%x: float32)", "  let %c = %x * (%b + 1.0)$0;\n", ""),
            "let %a = 1.0; let %b = %a + 2.0; | (%b + 1.0)");
  EXPECT_THAT(body("def @f(%x: float32)", "  let %c = $0%b * %x$1;\n", ""),
              testing::StartsWith("this depends on %x of `@f`"));
  EXPECT_EQ(body("def $0@f()", "", ""), "let %f1 = 1; | %f1");
  EXPECT_THAT(body("def $0@f(%x: float32)", "  let %f1 = %x;\n", ""),
              testing::StartsWith("`@f` has a value only in a call"));
}

TEST(Evaluable, IsWhatStandsThere) {
  for (const EvaluableRow& row : kRows) {
    SCOPED_TRACE(row.text);
    EXPECT_THAT(evaluable(row.text), testing::StartsWith(row.evaluated));
  }
}

}  // namespace
}  // namespace quern::ide
