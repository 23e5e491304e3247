#include "frontend/parse/scanner.h"
#include "frontend/syntax/syntax.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

SyntaxPtr parse(const std::string& text, ParseOutcome& outcome) {
  outcome = parse_declaration(text, false);
  return outcome.tree.root;
}

std::string tree_of(const std::string& text) {
  ParseOutcome outcome;
  SyntaxPtr root = parse(text, outcome);
  EXPECT_TRUE(outcome.problems.empty())
      << text << ": " << (outcome.problems.empty() ? "" : outcome.problems[0].message);
  return dump(root);
}

TEST(Parser, OperatorsBindAsInRelay) {
  EXPECT_EQ(tree_of("1 + 2 * 3"), "Binary `+`\n  Int `1`\n  Binary `*`\n    Int `2`\n    Int `3`\n");
  EXPECT_EQ(tree_of("1 - 2 - 3"), "Binary `-`\n  Binary `-`\n    Int `1`\n    Int `2`\n  Int `3`\n");
  EXPECT_EQ(tree_of("1+2"), tree_of("1 + 2"));
  EXPECT_EQ(tree_of("%x -1"), tree_of("%x - 1"));
}

TEST(Parser, ProjectionsAndFieldsOfDottedNames) {
  EXPECT_EQ(tree_of("%t.0.1"), "Project `1`\n  Project `0`\n    Local `t`\n");
  EXPECT_EQ(tree_of("%net.conv1.weight"), "Field `weight`\n  Field `conv1`\n    Local `net`\n");
}

TEST(Parser, AMinusFoldsIntoALiteral) { EXPECT_EQ(tree_of("-3f"), "Float `-3f`\n"); }

TEST(Parser, ReductionBodiesAreProductLevel) {
  EXPECT_EQ(tree_of("[i < 2] => sum[k < 3] %a[i, k] * 2 + 1"),
            "Comprehension\n  Binders\n    Binder `i`\n      Int `2`\n  Binary `+`\n    Reduce `sum`\n      "
            "Binders\n"
            "        Binder `k`\n          Int `3`\n      Binary `*`\n        Index\n          Local `a`\n   "
            "       Name `i`\n"
            "          Name `k`\n        Int `2`\n    Int `1`\n");
}

TEST(Parser, AParenthesisIsNoTuple) {
  EXPECT_EQ(tree_of("(1)"), "Paren\n  Int `1`\n");
  EXPECT_EQ(tree_of("(1,)"), "Tuple\n  Int `1`\n");
  EXPECT_EQ(tree_of("()"), "Tuple\n");
}

TEST(Parser, TypeArgumentsAndComparisons) {
  EXPECT_EQ(tree_of("cast<float32>(%i)"), "Call\n  Name `cast`\n    NamedType `float32`\n  Local `i`\n");
  EXPECT_EQ(tree_of("%a < %b"), "Binary `<`\n  Local `a`\n  Local `b`\n");
}

TEST(Parser, BlanksDoNotChangeTheTree) {
  ParseOutcome a, b;
  EXPECT_TRUE(equal(parse("def @f(%x: int32) { %x }", a), parse("def  @f( %x : int32 )\n{ /* c */ %x }", b)));
  EXPECT_NE(a.spans, b.spans);
}

TEST(Parser, SpansCountBytesBehindWideCharacters) {
  ParseOutcome outcome;
  parse("f(\"é漢😀\", %x)", outcome);
  Range last = outcome.spans.back();
  EXPECT_EQ(last, (Range{15, 17}));
}

TEST(Parser, EveryPrefixOfAProgramGivesATree) {
  std::string text =
      "op c(%a: Tensor[(n, m), t], k: int = 2) -> Tensor[(n,), t] where k > 1 : \"no\" { [i] => sum[j] "
      "(%a[i, j] else 0) }";
  for (size_t length = 0; length <= text.size(); ++length) {
    ParseOutcome outcome = parse_declaration(text.substr(0, length), false);
    ASSERT_NE(outcome.tree.root, nullptr) << length;
    EXPECT_EQ(outcome.tree.node_count + 1, outcome.spans.size());
    EXPECT_LE(outcome.problems.size(), 2u);
  }
}

TEST(Parser, DeepNestingIsADiagnostic) {
  ParseOutcome outcome = parse_declaration(std::string(50'000, '(') + "1" + std::string(50'000, ')'), false);
  ASSERT_EQ(outcome.problems.size(), 1u);
  EXPECT_EQ(outcome.problems[0].kind, DiagnosticKind::NestingTooDeep);
}

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> found;
  for (const Piece& p : scan(text).pieces)
    found.push_back(text.substr(p.range.begin, p.range.end - p.range.begin));
  return found;
}

TEST(Scanner, SplitsStatementsAndDeclarations) {
  EXPECT_EQ(pieces_of("let %x = f(1; 2); %x + 1\ndef @g() { 1; 2 }\nprint(\"a;b\") // c; d\n"),
            (std::vector<std::string>{"let %x = f(1; 2)", "%x + 1", "def @g() { 1; 2 }", "print(\"a;b\")"}));
}

TEST(Scanner, AKeywordAtColumnZeroStartsADeclarationWhateverIsOpen) {
  EXPECT_EQ(pieces_of("def @f() { (1 + \ndef @g() { 2 }"),
            (std::vector<std::string>{"def @f() { (1 +", "def @g() { 2 }"}));
}

TEST(Scanner, ClausesWithBracesBelongToTheirOperator) {
  std::string op =
      "op f(%a: Tensor[s, t]) -> Tensor[s, t]\n    static p = if (True) { 1 } else { 2 }\n    where p == 1 "
      "{\n  [..i] => %a[..i]\n}";
  EXPECT_EQ(pieces_of(op + "\n1 + 1"), (std::vector<std::string>{op, "1 + 1"}));
}

TEST(Scanner, NamesWhatStatementsBind) {
  ScanOutcome outcome = scan("let %x = 1; %0 = 2; %x == 3; /// doc\nop f(%a: int32) -> int32 { 1 }");
  std::vector<std::string> names;
  for (const Piece& p : outcome.pieces) names.push_back(p.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "0", "", "f"}));
  EXPECT_EQ(outcome.pieces.back().doc, "doc\n");
}

TEST(Scanner, ReportsUnterminatedAndInvalidText) {
  EXPECT_EQ(scan("let %x = \"abc").problems.at(0).kind, DiagnosticKind::Unterminated);
  EXPECT_EQ(scan("1 /* 2").problems.at(0).kind, DiagnosticKind::Unterminated);
  EXPECT_EQ(scan("1 + \xff").problems.at(0).kind, DiagnosticKind::InvalidUtf8);
}

TEST(Scanner, KnowsUnfinishedText) {
  EXPECT_TRUE(is_unfinished("def @f() {"));
  EXPECT_TRUE(is_unfinished("f(1,"));
  EXPECT_FALSE(is_unfinished("f(1)"));
  EXPECT_FALSE(is_unfinished("f(1))"));
}

}  // namespace
}  // namespace quern
