// Graph variables as `let`s: a table of texts.

#include "tests/ide/refactored.h"

namespace quern::ide {
namespace {

const RefactoringRow kGraphRows[] = {
    {"def @f(%a: float32) {\n  %$00 = exp(%a);\n  %0 + 1f\n}", "make a `let` of `%0`",
     "def @f(%a: float32) {\n  let %exp = exp(%a);\n  %exp + 1f\n}"},
    {"def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n  %0 = nn.dense(%x, %w);\n"
     "  %1 = nn.relu(%$00);\n  %2 = %1 + %1;\n  %3 = nn.relu(%2);\n  (%3, %0)\n}",
     "make `let`s of the block's graph variables",
     "def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n  let %dense = nn.dense(%x, %w);\n"
     "  let %relu = nn.relu(%dense);\n  let %sum = %relu + %relu;\n  let %relu_2 = nn.relu(%sum);\n"
     "  (%relu_2, %dense)\n}"},
    // A name that is there is no other's.
    {"def @f(%exp: float32) { %$00 = exp(%exp); %0 }", "make a `let` of `%0`",
     "def @f(%exp: float32) { let %exp_2 = exp(%exp); %exp_2 }"},
    // Another block's variable of this number is another one.
    {"def @f(%c: bool) { %$00 = 1f + 2f; if (%c) { %0 = 3f; %0 } else { %0 } }", "make a `let` of `%0`",
     "def @f(%c: bool) { let %sum = 1f + 2f; if (%c) { %0 = 3f; %0 } else { %sum } }"},
    {"%$00 = [1f, 2f];\n%1 = %0 + %0;\n%1 * %0", "make `let`s of the block's graph variables",
     "let %value = [1f, 2f];\nlet %sum = %value + %value;\n%sum * %value"},
    {"let %$0x = 1;\n%x", "make a `let` of `%x`", kNotOffered},
    {"def @f() { %$00 = 1; %0 + %nothing }", "make a `let` of `%0`", kRefused},
};

TEST(GraphToLet, Table) {
  for (const RefactoringRow& row : kGraphRows) expect_row(row);
}

}  // namespace
}  // namespace quern::ide
