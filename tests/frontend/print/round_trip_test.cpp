// What is printed parses back to the same: every file of the repository that has no mistakes, typed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "frontend/text/render.h"
#include "ir/expr/equality.h"
#include "session/session.h"
#include "tests/files.h"
#include "tests/frontend/module.h"
#include "tests/support/metadata.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

/// Prints, parses and compares; the printed text. Nothing for a text with mistakes, which is a failure unless
/// it `may_be_wrong`.
std::string round_trip(const std::string& text, const std::string& folder, bool may_be_wrong = false) {
  Module original(text, folder);
  if (has_errors(original.diagnostics)) {
    if (!may_be_wrong) ADD_FAILURE() << render_all(original.diagnostics, false, 3) << "in:\n" << text;
    return "";
  }
  TypedText printed = original.session.typed_text(original.source);
  Module again(printed.text + metadata_of(printed.constants), folder);
  if (has_errors(again.diagnostics)) {
    ADD_FAILURE() << render_all(again.diagnostics, false, 3) << "in:\n" << printed.text;
    return "";
  }
  if (auto d = difference(original.parts(), again.parts())) ADD_FAILURE() << *d << "\n" << printed.text;
  EXPECT_EQ(again.session.typed_text(again.source).text, printed.text);
  return printed.text;
}

TEST(RoundTripTest, EveryFileOfTheRepository) {
  size_t count = 0;
  for (const std::string& file : relay_files({"examples", "tests/golden"})) {
    const fs::path path = fs::path(QUERN_SOURCE_DIR) / file;
    SCOPED_TRACE(path.string());
    std::string text = read_file(path);
    count += !round_trip(text, path.parent_path().string(), true).empty();
  }
  EXPECT_GE(count, 20u);
}

TEST(RoundTripTest, EveryModel) {
  for (const std::string& file : relay_files({"tests/models"})) {
    const fs::path path = fs::path(QUERN_SOURCE_DIR) / file;
    SCOPED_TRACE(path.string());
    EXPECT_FALSE(round_trip(read_file(path), path.parent_path().string()).empty());
  }
}

/// The blocks of a page that begin with one of these fences.
std::vector<std::string> examples_of(const std::string& page, const std::vector<std::string>& fences) {
  std::vector<std::string> found;
  bool inside = false;
  std::istringstream lines(read_file(fs::path(QUERN_SOURCE_DIR) / page));
  for (std::string line; std::getline(lines, line);) {
    if (inside && line == "```")
      inside = false;
    else if (inside)
      found.back() += line + "\n";
    else if ((inside = std::ranges::find(fences, line) != fences.end()))
      found.emplace_back();
  }
  return found;
}

TEST(RoundTripTest, EveryExampleOfThePages) {
  size_t count = 0;
  for (const char* page : {"docs/relay_compatibility.md", "docs/errors.md"})
    for (const std::string& text : examples_of(page, {"```relay", "```relay right"})) {
      SCOPED_TRACE(page);
      count += !round_trip(text, "", true).empty();
    }
  EXPECT_GE(count, 50u);
}

TEST(RoundTripTest, GraphVariablesWithManyDigits) {
  const std::string text = "%99999999999999999999 = 1;\n%99999999999999999999;\n";
  EXPECT_EQ(round_trip(text, ""), text);
}

TEST(RoundTripTest, EmptyTensors) {
  EXPECT_EQ(round_trip("[[], []]; zeros((0, 3)) + 1f; nn.relu([])", ""),
            "[[], []];\nadd(zeros(shape=[0, 3]), 1f);\nnn.relu([]);\n");
}

// What an operator relates to other dims has no name that a parameter could be written with.
TEST(RoundTripTest, GeneralFunctionsThatBroadcast) {
  EXPECT_EQ(round_trip("let %a = [1f, 2]; let %f = fn (%x) { add(%x, %a) }; %f(%a);", ""),
            "let %a: Tensor[(2,), float32] = [1f, 2f];\n"
            "let %f = fn (%x) { add(%x, %a) };\n"
            "{\n  let %f = fn (%x: Tensor[(_,), float32]) { add(%x, %a) };\n  %f(%a)\n};\n");
  round_trip(
      "def @f(%a: Tensor[(5,), float32], %b: Tensor[(2, 5), float32]) {\n"
      "  let %g = fn (%x, %y) { let %z = %x + %a; sum(%z * %y) };\n"
      "  (%g(%a, %b), %g([2f], [3f]))\n}",
      "");
  round_trip("let %a = [1f, 2]; def @f(%x: Tensor[(_,), float32]) { add(%x, [1f, 2, 3]) }", "");
}

TEST(RoundTripTest, NamesOfTvm) {
  EXPECT_EQ(round_trip("#[version = \"0.0.5\"]\nfree_var %base/x: float32; nn.relu(%base/x)", ""),
            "#[version = \"0.0.5\"]\nfree_var %base/x: float32;\nnn.relu(%base/x);\n");
  round_trip(
      "#[version = \"0.0.5\"]\ntype R { R(w: float32) }\n"
      "let %fc.w = R(1f); let %in:0 = (R(2f), 1); (%fc.w).w + (%in:0.0).w;",
      "");
  round_trip("#[version = \"0.0.5\"]\nlet %a/b = 2f; let %f = fn (%x-y) { %x-y * %a/b }; %f(1f);", "");
}

TEST(RoundTripTest, NamesAndScopes) {
  EXPECT_EQ(
      round_trip("let %a = 1f;\nlet %b = { let %a = %a + %a; let %c = %a; (%a, %c) };\n%b.0 + %a\n", ""),
      "let %a: float32 = 1f;\n"
      "let %b: (float32, float32) = {\n  let %a_1: float32 = add(%a, %a);\n  let %c: float32 = %a_1;\n"
      "  (%a_1, %c)\n};\nadd(%b.0, %a);\n");
  round_trip("let %f = fn (%x: float32) -> float32 { if (%x < 0f) { 0f } else { %f(%x - 1f) } };\n%f(3f)",
             "");
  round_trip("def @f[n](%x: Tensor[(n, n), float32]) { [i < n, j < n] => %x[j, i] * 2.5 + cast<float32>(i) }",
             "");
}

// An index expression reads what has a name; what has none is sliced in the text as well.
TEST(RoundTripTest, SlicesOfWhatHasNoName) {
  std::string slices =
      "(nn.relu(%x)[::-1, 1::2], exp(%x)[0], exp(%x)[-1, 3], exp(%x)[2:], exp(%x)[-3:-1, 3::-2])";
  std::string printed = round_trip("def @f[n](%x: Tensor[(n, 5), float32]) { " + slices + " }", "");
  EXPECT_NE(printed.find("\n  " + slices + "\n"), std::string::npos) << printed;
  round_trip("let %x = ([[1, 2], [3, 4]])[1]; let %i = 2; ([1f, 2f, 3f])[%i - 1]; %x[%i - 1];", "");
}

TEST(RoundTripTest, VariablesThatCopiesOfFunctionsSee) {
  EXPECT_EQ(round_trip("let %k = 10.0; let %f = fn (%x) { %x * %k }; let %k = 3.0; %f(2.0) + %k", ""),
            "let %k: float32 = 10f;\n"
            "let %f = fn (%x) { %x * %k };\n"
            "let %k_1: float32 = 3f;\n"
            "{\n  let %f = fn (%x: float32) -> float32 { multiply(%x, %k) };\n  add(%f(2f), %k_1)\n};\n");
}

TEST(RoundTripTest, TypeArgumentsAndIndices) {
  EXPECT_EQ(
      round_trip("(Nil<int32>, None<float32>, Cons(1, Nil), Some(None<bool>)); len((1, 2)); index(3)", ""),
      "(Nil<int32>, None<float32>, Cons(1, Nil), Some<Option[bool]>(None));\nindex(2);\nindex(3);\n");
}

// Types over variables of a function literal; dims that have no name.
TEST(RoundTripTest, GeneralFunctionsAndOpenedDims) {
  round_trip("let %id = fn (%x) { %x }; let %y = { let %k = fn (%a, %b) { %a }; (%k(1, 2f), %k(2f, %id)) };",
             "");
  round_trip("def @f[A](%x: A) -> A { let %k = fn (%a) { (%a, %x) }; %k(%k(1)).1 }", "");
  round_trip("let %double = fn (%x) { %x + %x };", "");
  round_trip(
      "def @f(%p: Tensor[(?,), float32]) -> Tensor[(?,), float32] {\n"
      "  let %q: Tensor[(?,), float32] = exp(%p);\n"
      "  let %r = fn (%i: int32) { nn.relu(%p)[1:] };\n"
      "  maximum(%p[1:], %r(1))[:] + %q[1:]\n}",
      "");
  round_trip(
      "def @g(%p: Tensor[(?,), float32]) -> Tensor[(?,), float32] { %p }\n"
      "def @f() -> Tensor[(1,), float32] { let %v: Tensor[(1,), float32] = @g([0f]); %v }",
      "");
}

// A vector's constant stands in the metadata, but inside an index expression, which reads none, it is a
// number.
TEST(RoundTripTest, ConstantsOfVectors) {
  EXPECT_EQ(round_trip("let %x: Tensor[(2,), int8x4] = [1, -2]; let %y = %x * 3;\n"
                       "let %w: bfloat16x2 = 0.1; let %z: float64x2 = -inf;",
                       ""),
            "let %x: Tensor[(2,), int8x4] = meta[relay.Constant][0];\n"
            "let %y: Tensor[(2,), int8x4] = multiply(%x, meta[relay.Constant][1]);\n"
            "let %w: bfloat16x2 = meta[relay.Constant][2];\n"
            "let %z: float64x2 = meta[relay.Constant][3];\n");
  EXPECT_EQ(round_trip("def @f(%x: Tensor[(2,), float64x2]) { [i < 2] => %x[i] * -0.1 + 2 }", ""),
            "def @f(%x: Tensor[(2,), float64x2]) -> Tensor[(2,), float64x2] {\n"
            "  [i < 2] => %x[i] * cast<float64x2>(-0.1f64) + cast<float64x2>(2f64)\n}\n");
  round_trip("def @f(%x: Tensor[(2,), uint64x2]) { [i < 2] => min(%x[i] * 3, highest<uint64x2>()) }", "");
  round_trip("def @f(%x: Tensor[(2,), bfloat16x2]) { [i < 2] => (%x[i] * 3 + -inf) * (nan - 0.1) }", "");
  round_trip("def @f(%x: Tensor[(2,), int8]) { [i < 2] => cast<int8x2>(%x[i]) + cast<int8x2>(4i16) }", "");
}

TEST(RoundTripTest, Constants) {
  round_trip(
      "let %x = (inff, -inff, 1e-45f, 3.4028235e38f, 0.1f64, -0.5f16, 1i64, 255u8, -128i8, True, nan);", "");
  round_trip("let %x: bfloat16 = 2; let %y = [[1, 2], [3, 4]]; let %z: Tensor[(2,), float16] = [1, -0.0];",
             "");
  round_trip("print(\"a \\\"quoted\\\" \\\\ \\n label\", 1);", "");
}

}  // namespace
}  // namespace quern
