// Inlining a `let` or a graph variable: a table of texts.

#include "tests/ide/refactored.h"

namespace quern::ide {
namespace {

const RefactoringRow kInlineRows[] = {
    // In a body, from the binding and from a use, in every place.
    {"def @f(%a: float32) {\n  let %$0x = %a * 2f;\n  %x + 1f\n}", "inline `%x`",
     "def @f(%a: float32) {\n  %a * 2f + 1f\n}"},
    {"def @f(%a: float32) {\n  let %x = %a + 2f;\n  %$0x * %x\n}", "inline `%x`",
     "def @f(%a: float32) {\n  (%a + 2f) * (%a + 2f)\n}"},
    {"def @f(%a: float32) { let %x$0: float32 = exp(%a); sqrt(%x) + %x }", "inline `%x`",
     "def @f(%a: float32) { sqrt(exp(%a)) + exp(%a) }"},
    {"def @f(%a: float32) {\n  %$00 = exp(%a);\n  %1 = %0 + 1f;\n  %1 * %0\n}", "inline `%0`",
     "def @f(%a: float32) {\n  %1 = exp(%a) + 1f;\n  %1 * exp(%a)\n}"},
    {"def @f(%t: (float32, int32)) { let %p$0 = %t; %p.0 + 1f }", "inline `%p`",
     "def @f(%t: (float32, int32)) { %t.0 + 1f }"},
    // Inside of functions, arms, strings, index expressions.
    {"def @f(%a: float32) { let %x$0 = -%a; fn (%b: float32) { %x + %b } }", "inline `%x`",
     "def @f(%a: float32) { fn (%b: float32) { (-%a) + %b } }"},
    {"def @f(%a: Option[float32], %b: float32) {\n  let %x$0 = %b + 1f;\n"
     "  match (%a) { Some(%c) => %x, None => 0f }\n}",
     "inline `%x`",
     "def @f(%a: Option[float32], %b: float32) {\n  match (%a) { Some(%c) => %b + 1f, None => 0f }\n}"},
    {"let %x$0 = 1f + 2f;\nprint(\"😀 {%x:.2f}\")", "inline `%x`", "print(\"😀 {(1f + 2f):.2f}\")"},
    {"let %x$0 = [1f, 2f];\nprint(\"{%x}\")", "inline `%x`", "print(\"{[1f, 2f]}\")"},
    // Blocks without braces, and names as TVM prints them.
    {"def @f(%a: Option[float32]) { match (%a) { Some(%b) => let %c$0 = %b * 2f; %c + 1f, None => 0f } }",
     "inline `%c`", "def @f(%a: Option[float32]) { match (%a) { Some(%b) => %b * 2f + 1f, None => 0f } }"},
    {"#[version = \"0.0.5\"]\ndef @f(%base/a: float32) { let %base/x$0 = exp(%base/a); sqrt(%base/x) }",
     "inline `%base/x`", "#[version = \"0.0.5\"]\ndef @f(%base/a: float32) { sqrt(exp(%base/a)) }"},
    // Statements of the top level.
    {"let %a = 1f;\nlet %x$0 = %a + 1f; // kept\nlet %y = %x * %x;\n%x - %y", "inline `%x`",
     "let %a = 1f;\n// kept\nlet %y = (%a + 1f) * (%a + 1f);\n%a + 1f - %y"},
    // A type that decides is not lost unseen.
    {"let %x$0: float64 = 1.5;\n%x", "inline `%x`", kRefused},
    {"def @f(%a: float64) { let %x$0: float64 = 1.5; %a * %x }", "inline `%x`",
     "def @f(%a: float64) { %a * 1.5 }"},
    // What does something stays.
    {"def @f(%r: ref(int32)) { let %x$0 = !%r; %r := 2; %x }", "inline `%x`", kNotOffered},
    {"def @f() { let %x$0 = { print(1); 2 }; %x + %x }", "inline `%x`", kNotOffered},
    {"def @f(%n: int32) -> int32 { let %x$0 = @f(%n - 1); %x }", "inline `%x`", kNotOffered},
    {"def @f(%a: Tensor[(3,), float32], %i: int32) { let %x$0 = %a[%i]; print(1); %x }", "inline `%x`",
     kNotOffered},
    {"let %r$0 = ref(1);\n%r := 2;\n!%r", "inline `%r`", kNotOffered},
    // A name of the value is another variable's at the use.
    {"def @f(%a: float32) { let %x$0 = %a * 2f; let %a = 1f; %x + %a }", "inline `%x`", kNotOffered},
    {"def @f(%a: float32) { let %x$0 = %a * 2f; fn (%a: float32) { %x + %a } }", "inline `%x`", kNotOffered},
    {"let %a = 1f;\nlet %x$0 = %a;\nlet %a = 2f;\n%x", "inline `%x`", kNotOffered},
    // What nobody names; parameters; patterns; functions that name themselves; comments; broken text.
    {"let %x$0 = 1;\n2", "inline `%x`", kNotOffered},
    {"def @f(%$0a: int32) { %a }", "inline `%a`", kNotOffered},
    {"let (%x$0, %y) = (1, 2);\n%x + %y", "inline `%x`", kNotOffered},
    {"def @f() { let %g$0 = fn (%n: int32) -> int32 { if (%n > 0) { %g(%n - 1) } else { 0 } }; %g(3) }",
     "inline `%g`", kNotOffered},
    {"let %x$0 = /* why */ 1;\n%x", "inline `%x`", kNotOffered},
    {"let %x$0 = 1;\n%x + %nothing", "inline `%x`", kNotOffered},
    {"let %x$0 = ;\n%x", "inline `%x`", kNotOffered},
    {"let %x$0 = \"", "inline `%x`", kNotOffered},
    {"let %s$0 = [i < 3] => index(i);\nlet %k = %s;\n%k", "inline `%s`", "let %k = [i < 3] => index(i);\n%k"},
};

TEST(Inline, Table) {
  for (const RefactoringRow& row : kInlineRows) expect_row(row);
}

TEST(Inline, InABodyInChunks) {
  std::string text = "def @f(%a: float32) {\n  let %x = %a + 1f;\n", after = "def @f(%a: float32) {\n";
  for (int i = 0; i < 200; ++i) {
    text += "  let %y" + std::to_string(i) + " = %x * " + std::to_string(i) + "f;\n";
    after += "  let %y" + std::to_string(i) + " = (%a + 1f) * " + std::to_string(i) + "f;\n";
  }
  Refactored document(text + "  %y199\n}");
  const auto at = static_cast<uint32_t>(text.find("%x"));
  EXPECT_EQ(document.after({at, at}, "inline `%x`"), after + "  %y199\n}");
}

}  // namespace
}  // namespace quern::ide
