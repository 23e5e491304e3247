// The call around a cursor: its signature with brackets around the active parameter, and what that takes.

#include "ide/signature_help.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/ide/marked_text.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

struct SignatureRow {
  const char* text;
  const char* line;  ///< "" where no call is
  const char* expected = "";
};

const SignatureRow kSignatures[] = {
    // Operators.
    {"nn.relu($0", "nn.relu([%data: Tensor[s, t]]) -> Tensor[s, t]", "%data: Tensor[s, t]"},
    {"nn.dense($0",
     "nn.dense([%data: Tensor[(..b, k), t]], %weight: Tensor[(o, k), wt], units: dim? = None, out_dtype: "
     "dtype = \"\") "
     "-> Tensor[(..b, o), ot]",
     "%data: Tensor[(..b, k), t]"},
    {"nn.dense(%x, $0",
     "nn.dense(%data: Tensor[(..b, k), t], [%weight: Tensor[(o, k), wt]], units: dim? = None, out_dtype: "
     "dtype = \"\") "
     "-> Tensor[(..b, o), ot]",
     "%weight: Tensor[(o, 784), float32]"},
    {"nn.dense(%x,$0 %y)",
     "nn.dense(%data: Tensor[(..b, k), t], [%weight: Tensor[(o, k), wt]], units: dim? = None, out_dtype: "
     "dtype = \"\") "
     "-> Tensor[(..b, o), ot]",
     "%weight: Tensor[(o, 784), float32]"},
    {"nn.dense(%x, %w, units=$0",
     "nn.dense(%data: Tensor[(..b, k), t], %weight: Tensor[(o, k), wt], [units: dim? = None], out_dtype: "
     "dtype = \"\") "
     "-> Tensor[(..b, o), ot]",
     "units: dim? = None"},
    {"scaled(%x, mode=\"up\", $0",
     "scaled(%input: Tensor[s, t], [factor: float = 2.0], mode: string = \"up\", exact: bool = False) -> "
     "Tensor[s, t]",
     "factor: float = 2.0"},
    {"scaled(%x, 1.0, \"up\", True, $0",
     "scaled(%input: Tensor[s, t], factor: float = 2.0, mode: string = \"up\", exact: bool = False) -> "
     "Tensor[s, t]"},
    {"nn.bias_add(%image, $0",
     "nn.bias_add(%data: Tensor[s, t], [%bias: Tensor[(c,), t]], axis: int = 1) -> Tensor[s, t]",
     "%bias: Tensor[(3,), float32]"},
    {"nn.bias_add(%unknown, $0",
     "nn.bias_add(%data: Tensor[s, t], [%bias: Tensor[(c,), t]], axis: int = 1) -> Tensor[s, t]",
     "%bias: Tensor[(c,), t]"},
    {"where(%flags, $0",
     "where(%condition: Tensor[c, bool], [%x: Tensor[s, t]], %y: Tensor[r, t]) -> Tensor[broadcast(c, s, r), "
     "t]",
     "%x: Tensor[s, t]"},
    {"add([[1.0, 2.0]], $0", "add(%a: Tensor[s, t], [%b: Tensor[r, t]]) -> Tensor[broadcast(s, r), t]",
     "%b: Tensor[r, float32]"},
    // The innermost call counts; brackets of others are passed over, bodies are not.
    {"nn.relu(nn.tanh(1.0), nn.relu($0", "nn.relu([%data: Tensor[s, t]]) -> Tensor[s, t]",
     "%data: Tensor[s, t]"},
    {"nn.relu((%x, [$0", "nn.relu([%data: Tensor[s, t]]) -> Tensor[s, t]", "%data: Tensor[s, t]"},
    {"nn.relu(%x)$0", ""},
    {"nn.relu$0(%x)", ""},
    {"nn.relu(fn () { $0", ""},
    {"($0", ""},
    {"nowhere($0", ""},
    {"[1, $0", ""},
    {"$0", ""},
    {"def @g($0", ""},
    // Definitions.
    {"@layer(%x, $0",
     "@layer[n, i, o](%data: Tensor[(n, i), float32], [%kernel: Tensor[(o, i), float32]]) -> Tensor[(n, o), "
     "float32]",
     "%kernel: Tensor[(o, 784), float32]"},
    {"@loss($0", "@loss([%w: Tensor[(3,), float32]]) -> float32", "%w: Tensor[(3,), float32]"},
    {"@map($0", "@map[A, B]([%f: fn (A) -> B], %xs: List[A]) -> List[B]", "%f: fn (A) -> B"},
    {"@nth(Cons(1f, Nil), $0", "@nth[A](%xs: List[A], [%n: int32]) -> A", "%n: int32"},
    {"@half($0", "@half([n])", "n"},
    // Constructors.
    {"Net($0", "Net([conv1: Tensor[(4, 3), float32]], fc: Pair) -> Net", "conv1: Tensor[(4, 3), float32]"},
    {"Net(fc=$0", "Net(conv1: Tensor[(4, 3), float32], [fc: Pair]) -> Net", "fc: Pair"},
    {"Cons(1i32, $0", "Cons(A, [List[A]]) -> List[A]", "List[int32]"},
    {"Dark($0", "Dark([int32]) -> Shade", "int32"},
    // Functions that are values.
    {"%twice($0", "%twice([float32]) -> float32", "float32"},
    {"let %f = fn (%a: int32, %b: bool) -> int32 { %a }; %f(1, $0", "%f(%a: int32, [%b: bool]) -> int32",
     "%b: bool"},
    {"fn (%g: fn (int8) -> bool) { %g($0", "%g([int8]) -> bool", "int8"},
    // Forms.
    {"grad($0", "grad([function])", "function"},
    {"grad(@loss)($0", "grad(@loss)([%w: Tensor[(3,), float32]])", "%w: Tensor[(3,), float32]"},
    {"print(1, 2, $0", "print([values…])", "values…"},
    {"load(\"x.npy\", $0", "load(file, [entry], tokens=\"\")", "entry"},
    {"assert_close(%x, %x, rtol=$0", "assert_close(value, expected, [rtol=1e-5], atol=1e-6)", "rtol=1e-5"},
    {"[i < 2] => select($0", "select([condition], then, otherwise)", "condition"},
};

std::string shown(const SignatureHelp& help) {
  if (!help.active) return help.line;
  const Range at = help.parameters[*help.active];
  return help.line.substr(0, at.begin) + "[" + help.line.substr(at.begin, at.end - at.begin) + "]" +
         help.line.substr(at.end);
}

TEST(SignatureHelp, Table) {
  TemporaryFolder folder;
  std::ofstream(folder / "net.relay") << "def @id(%x: float32) -> float32 { %x }\n";
  Typed typed(kTyped, folder.string());
  for (const SignatureRow& row : kSignatures) {
    SCOPED_TRACE(row.text);
    const MarkedText text = marked(row.text);
    const auto help = signature_help(typed.session, typed.module, text.text, text.offset);
    EXPECT_EQ(help ? shown(*help) : "", row.line);
    if (help) {
      EXPECT_EQ(help->expected, row.expected);
    }
  }
}

TEST(SignatureHelp, DocumentationAndPlace) {
  TemporaryFolder folder;
  std::ofstream(folder / "net.relay") << "";
  Typed typed(kTyped, folder.string());
  const auto help = signature_help(typed.session, typed.module, "1 + @layer(", 11);
  ASSERT_TRUE(help);
  EXPECT_EQ(help->documentation, "A layer.\nWith two lines.\n");
  EXPECT_EQ(help->open, 10u);
}

// A type that is left out is the one that is inferred.
TEST(SignatureHelp, InferredTypes) {
  Typed typed("def @affine(%a, %b: Tensor[(3,), float32]) { %a + %b * 2f }\n@affine(1f, [1f, 2f, 3f])\n");
  const auto help = signature_help(typed.session, typed.module, "@affine(", 8);
  ASSERT_TRUE(help);
  EXPECT_EQ(help->parameters.size(), 2u);
}

}  // namespace
}  // namespace quern::ide
