// Extracting an expression into a `let`, a function or an operator: tables of texts.

#include "tests/ide/refactored.h"

namespace quern::ide {
namespace {

constexpr const char* kToLet = "extract into a `let`";
constexpr const char* kToFunction = "extract into a function";
constexpr const char* kToOperator = "extract into an operator";

const RefactoringRow kLetRows[] = {
    {"def @f(%a: float32) {\n  [|exp(%a)|] + 1f\n}", kToLet,
     "def @f(%a: float32) {\n  let %exp = exp(%a);\n  %exp + 1f\n}"},
    {"def @f(%a: float32) { sqrt([| %a * 2f |]) }", kToLet,
     "def @f(%a: float32) { let %product = %a * 2f; sqrt( %product ) }"},
    {"def @f(%a: float32) {\n  let %y = [|(%a + 1f)|] * 2f;\n  %y\n}", kToLet,
     "def @f(%a: float32) {\n  let %sum = %a + 1f;\n  let %y = %sum * 2f;\n  %y\n}"},
    {"let %exp = 1f; %exp + [|exp(%exp)|]", kToLet, "let %exp = 1f; let %exp_2 = exp(%exp); %exp + %exp_2"},
    {"def @f(%a: Option[float32]) {\n  match (%a) {\n    Some(%b) => [|exp(%b)|] * 2f,\n    None => 0f,\n  "
     "}\n}",
     kToLet,
     "def @f(%a: Option[float32]) {\n  match (%a) {\n    Some(%b) => { let %exp = exp(%b); %exp * 2f },\n"
     "    None => 0f,\n  }\n}"},
    {"print(\"😀 {[|1f + 2f|]}\")", kToLet, "let %sum = 1f + 2f;\nprint(\"😀 {%sum}\")"},
    {"def @f(%a: float32) { fn (%b: float32) { [|%a * %b|] + 1f } }", kToLet,
     "def @f(%a: float32) { fn (%b: float32) { let %product = %a * %b; %product + 1f } }"},
    {"def @f(%a: Option[float32]) { match (%a) { Some(%b) => let %c = %b; [|exp(%c)|] + 1f, None => 0f } }",
     kToLet,
     "def @f(%a: Option[float32]) { match (%a) { Some(%b) => let %c = %b; let %exp = exp(%c); %exp + 1f, "
     "None => 0f } }"},
    // What does something, where it comes first anyway and where it does not.
    {"def @f(%r: ref(float32)) { [|!%r|] + 1f }", kToLet,
     "def @f(%r: ref(float32)) { let %value = !%r; %value + 1f }"},
    {"def @f(%r: ref(float32)) { (%r := 2f, [|!%r|]) }", kToLet, kNotOffered},
    {"def @f(%r: ref(bool), %b: bool) { %b and [|!%r|] }", kToLet, kNotOffered},
    // No expression, or not from end to end; of single elements; what is bound within; a callee; a name
    // alone.
    {"def @f(%a: float32) { [|%a + 1f|] * 2f - 3f }", kToLet, kNotOffered},
    {"def @f(%a: float32) { 2f [|* %a|] }", kToLet, kNotOffered},
    {"def @f([|%a|]: float32) { %a }", kToLet, kNotOffered},
    {"def @f(%a: [|float32|]) { %a }", kToLet, kNotOffered},
    {"def @f(%a: float32) { [|exp|](%a) }", kToLet, kNotOffered},
    {"def @f(%a: float32) { [|%a|] + 1f }", kToLet, kNotOffered},
    {"[i < 3] => [|index(i)|] + 1", kToLet, kNotOffered},
    {"def @f(%a: float32) { [|exp(%a)|] + %nothing }", kToLet, kNotOffered},
    {"def @f(%a: float32) { [|exp(%a|] }", kToLet, kNotOffered},
    // The type that a literal has for another's sake, which a `let` keeps in a body and not between
    // statements.
    {"def @f(%a: float64) { %a + [|1.5|] }", kToLet, "def @f(%a: float64) { let %value = 1.5; %a + %value }"},
    {"let %a: float64 = 1.5;\n%a + [|2.5|]", kToLet, kRefused},
};

const RefactoringRow kFunctionRows[] = {
    {"/// Its sum.\ndef @f(%a: float32, %b: float32) {\n  2f * [|(exp(%a) + %b)|]\n}", kToFunction,
     "def @extracted(%a: float32, %b: float32) -> float32 {\n  exp(%a) + %b\n}\n\n"
     "/// Its sum.\ndef @f(%a: float32, %b: float32) {\n  2f * @extracted(%a, %b)\n}"},
    {"def @f[n, m](%x: Tensor[(n, m), float32], %w: Tensor[(4, m), float32]) {\n"
     "  nn.relu([|nn.dense(%x, %w)|])\n}",
     kToFunction,
     "def @extracted[n, m](%x: Tensor[(n, m), float32], %w: Tensor[(4, m), float32]) -> "
     "Tensor[(n, 4), float32] {\n  nn.dense(%x, %w)\n}\n\n"
     "def @f[n, m](%x: Tensor[(n, m), float32], %w: Tensor[(4, m), float32]) {\n"
     "  nn.relu(@extracted(%x, %w))\n}"},
    {"let %x = [1f, 2f];\n%x * [|(%x + %x)|]", kToFunction,
     "let %x = [1f, 2f];\ndef @extracted(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {\n  %x + "
     "%x\n}\n\n"
     "%x * @extracted(%x)"},
    {"def @f(%r: ref(int32)) { (%r := 2, [|!%r|]) }", kToFunction,
     "def @extracted(%r: Ref[int32]) -> int32 {\n  !%r\n}\n\n"
     "def @f(%r: ref(int32)) { (%r := 2, @extracted(%r)) }"},
    {"let %x = 2f; exp([|%x * %x|])", kToFunction,
     "let %x = 2f; def @extracted(%x: float32) -> float32 {\n  %x * %x\n}\n\nexp(@extracted(%x))"},
    {"[i < 3] => [|index(i)|] + 1", kToFunction, kNotOffered},
    {"def @f(%a: float32) { [|exp(%a)|] + %nothing }", kToFunction, kNotOffered},
};

const RefactoringRow kOperatorRows[] = {
    {"def @f[n](%x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) {\n"
     "  [|[i < n] => %x[i] * %y[i]|]\n}",
     kToOperator,
     "op extracted(%x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) -> Tensor[(n,), float32] {\n"
     "  [i] => %x[i] * %y[i]\n}\n\n"
     "def @f[n](%x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) {\n  extracted(%x, %y)\n}"},
    {"let %x = [1f, 2f, 3f];\nlet %y = [|[i < 3] => %x[i] + 1f|];\n%y", kToOperator,
     "let %x = [1f, 2f, 3f];\nop extracted(%x: Tensor[(3,), float32]) -> Tensor[(3,), float32] {\n"
     "  [i] => %x[i] + 1f\n}\n\nlet %y = extracted(%x);\n%y"},
    {"let %x = [1f, 2f, 3f];\n[|%x + 1f|]", kToOperator, kNotOffered},
};

TEST(Extract, Lets) {
  for (const RefactoringRow& row : kLetRows) expect_row(row);
}
TEST(Extract, Functions) {
  for (const RefactoringRow& row : kFunctionRows) expect_row(row);
}
TEST(Extract, Operators) {
  for (const RefactoringRow& row : kOperatorRows) expect_row(row);
}

}  // namespace
}  // namespace quern::ide
