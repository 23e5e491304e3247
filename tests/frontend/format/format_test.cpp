#include "frontend/format/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "frontend/parse/scanner.h"
#include "frontend/text/lexeme.h"
#include "session/session.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

std::string formatted(std::string_view source, std::optional<LineRange> lines = std::nullopt) {
  auto result = format(source, lines);
  if (!result) ADD_FAILURE() << result.error().message << " in:\n" << source;
  return result ? *result : "";
}

std::string after_edits(std::string text, const std::vector<FormatEdit>& edits) {
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    text.replace(edit->range.begin, edit->range.end - edit->range.begin, edit->text);
  return text;
}

/// Every .relay file of folders of the repository, by its path from the top.
std::vector<std::pair<std::string, std::string>> corpus(const std::vector<const char*>& folders = {
                                                            "stdlib", "examples", "tests"}) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const char* folder : folders)
    for (auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".relay") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      files.emplace_back(entry.path().lexically_relative(QUERN_SOURCE_DIR).generic_string(), text.str());
    }
  std::sort(files.begin(), files.end());
  return files;
}

// --- the style -------------------------------------------------------------------------------------------

TEST(FormatTest, BlanksBetweenTokens) {
  EXPECT_EQ(formatted("let %x:int32=-1+2*( 3 ,)"), "let %x: int32 = -1 + 2 * (3,);\n");
  EXPECT_EQ(formatted("nn.conv2d ( %x,%w , strides = [1,1] )"), "nn.conv2d(%x, %w, strides=[1, 1]);\n");
  EXPECT_EQ(formatted("%x [ 0 , : , 1 : ,..r] . name .0"), "%x[0, :, 1:, ..r].name.0;\n");
  EXPECT_EQ(formatted("cast < float32 > ( %a % 2)"), "cast<float32>(%a % 2);\n");
  EXPECT_EQ(formatted("not %a and - %b<%c or!%d"), "not %a and -%b < %c or !%d;\n");
  EXPECT_EQ(formatted("[ i<2,..j ]=>sum[ k<3 ]%x[ i ] else 0"), "[i < 2, ..j] => sum[k < 3] %x[i] else 0;\n");
  EXPECT_EQ(formatted("if(%c){1}else if(%d){2}else{3}"), "if (%c) { 1 } else if (%d) { 2 } else { 3 };\n");
  EXPECT_EQ(formatted("match(%x){Nil=>0,Cons(%h,_)=>%h,}"), "match (%x) { Nil => 0, Cons(%h, _) => %h };\n");
  EXPECT_EQ(formatted("def @f [n](%x:Tensor[(n,),float32],k:int=2)->float32{1}"),
            "def @f[n](%x: Tensor[(n,), float32], k: int = 2) -> float32 { 1 }\n");
  EXPECT_EQ(formatted("fn<s , t>(%x:fn(s)->t)->(t,){ }"), "fn <s, t>(%x: fn (s) -> t) -> (t,) {};\n");
  EXPECT_EQ(formatted("meta [ relay.Constant ] [ 0 ]"), "meta[relay.Constant][0];\n");
  EXPECT_EQ(formatted("op f(%a:Tensor[s,t],k:int [ ] ?=None)->t where k==None:\"no\"{%a}"),
            "op f(%a: Tensor[s, t], k: int[]? = None) -> t where k == None : \"no\" { %a }\n");
  EXPECT_EQ(formatted("extern type  T[ a ]"), "extern type T[a]\n");
  EXPECT_EQ(formatted("%r:=1"), "%r := 1;\n");
}

TEST(FormatTest, StatementsAndBlankLines) {
  EXPECT_EQ(formatted("\n\nlet %a = 1;let %b = 2;\n\n\n\n%a"), "let %a = 1;\nlet %b = 2;\n\n%a;\n");
  EXPECT_EQ(formatted("{ let %a = 1;\n\n\n %a; }"), "{\n  let %a = 1;\n\n  %a\n};\n");
  EXPECT_EQ(formatted("def @f() {1};\ndef @g() { 2 }"), "def @f() { 1 }\ndef @g() { 2 }\n");
  EXPECT_EQ(formatted("infix \"+\" add;\n1"), "infix \"+\" add;\n1;\n");
  EXPECT_EQ(formatted("def @f() {1};\n{ 2 }"), "def @f() { 1 };\n{ 2 };\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("  \n // alone"), "// alone\n");
}

TEST(FormatTest, LongListsHaveOneItemPerLine) {
  std::string name(40, 'a');
  EXPECT_EQ(formatted("f(%" + name + ", %" + name + ", x=%" + name + ")"),
            "f(\n  %" + name + ",\n  %" + name + ",\n  x=%" + name + "\n);\n");
  EXPECT_EQ(formatted("type T { A(" + name + ": int32, b: " + name + "), C" + name + " }"),
            "type T {\n  A(" + name + ": int32, b: " + name + "),\n  C" + name + ",\n}\n");
  std::string numbers = "0";
  for (int i = 1; i < 60; ++i) numbers += ", " + std::to_string(i);
  std::string list = formatted("let %x = [" + numbers + "]");
  EXPECT_EQ(std::ranges::count(list, '\n'), 4);
  EXPECT_TRUE(list.starts_with("let %x = [\n  0, 1, 2,")) << list;
}

TEST(FormatTest, LongOperatorsBeginLines) {
  std::string a = "%" + std::string(40, 'a'), product = a + " * 2";
  EXPECT_EQ(formatted("let %x = " + product + " + " + a + " - " + product),
            "let %x = " + product + "\n  + " + a + "\n  - " + product + ";\n");
}

TEST(FormatTest, LongHeadsBreakBeforeTheResultThenTheirParameters) {
  const std::string type = "Tensor[(137, 76), float32]", two = "%a: " + type + ", %b: " + type;
  EXPECT_EQ(formatted("def @f(" + two + ", %c: " + type + ") -> " + type + " { %a }"),
            "def @f(" + two + ", %c: " + type + ")\n    -> " + type + " {\n  %a\n}\n");
  EXPECT_EQ(formatted("def @f(" + two + ", %c: " + type + ", %d: " + type + ") -> " + type + " { %a }"),
            "def @f(\n  %a: " + type + ",\n  %b: " + type + ",\n  %c: " + type + ",\n  %d: " + type +
                "\n) -> " + type + " {\n  %a\n}\n");
  EXPECT_EQ(formatted("extern op f(" + two + ", %c: " + type + ") -> " + type),
            "extern op f(" + two + ", %c: " + type + ")\n    -> " + type + "\n");
  // A line of its own would begin further right than behind `)`.
  const std::string extent(60, 'e');
  EXPECT_EQ(formatted("op f(%a: Tensor[(" + extent + ", " + extent + "), t]) -> Tensor[(" + extent + ", " +
                      extent + "), t] { %a }"),
            "op f(\n  %a: Tensor[(\n    " + extent + ",\n    " + extent + "\n  ), t]\n) -> Tensor[(\n  " +
                extent + ",\n  " + extent + "\n), t] {\n  %a\n}\n");
}

TEST(FormatTest, FunctionsAndMatchesInABodyBeginALine) {
  EXPECT_EQ(formatted("def @f(%x: T) -> T { match (%x) { A => B, B => A } }"),
            "def @f(%x: T) -> T {\n  match (%x) { A => B, B => A }\n}\n");
  EXPECT_EQ(formatted("def @f() { fn (%x) { %x } }"), "def @f() {\n  fn (%x) { %x }\n}\n");
}

TEST(FormatTest, LongChainsHaveOneBranchPerLineOrBrokenBlocks) {
  const std::string a = "%" + std::string(40, 'a');
  const auto chain = [&](const std::string& last) {
    return "if (%c) { " + a + " } else if (%d) { " + a + " } else { " + last + " }";
  };
  EXPECT_EQ(formatted(chain(a)), "if (%c) { " + a + " }\nelse if (%d) { " + a + " }\nelse { " + a + " };\n");
  const std::string broken = "if (%c) {\n  " + a + "\n} else if (%d) {\n  " + a + "\n} else {\n  ";
  EXPECT_EQ(formatted(chain("let %x = 1; %x")), broken + "let %x = 1;\n  %x\n};\n");
  // The chain begins no line.
  EXPECT_EQ(formatted("let %x = " + chain(a)), "let %x = " + broken + a + "\n};\n");
}

TEST(FormatTest, LongGeneratorsBreakBeforeForAndIf) {
  const std::string name(60, 'a');
  EXPECT_EQ(formatted("[" + name + "[k] for k < len(" + name + ") if k > 1]"),
            "[\n  " + name + "[k]\n  for k < len(" + name + ")\n  if k > 1\n];\n");
}

TEST(FormatTest, AnOnlyArgumentBeginsALineIfItThenFitsElseBreaksInside) {
  const std::string a = "%" + std::string(50, 'a');
  EXPECT_EQ(formatted("let %x = f(g(" + a + ", " + a + ", 12345678))"),
            "let %x = f(\n  g(" + a + ", " + a + ", 12345678)\n);\n");
  EXPECT_EQ(formatted("let %x = f(g(" + a + ", " + a + ", " + a + "))"),
            "let %x = f(g(\n  " + a + ",\n  " + a + ",\n  " + a + "\n));\n");
  EXPECT_EQ(formatted("[i] => g(" + a + ", " + a + ", 123)"), "[i] => g(" + a + ", " + a + ", 123);\n");
  EXPECT_EQ(formatted("[i] => g(" + a + ", " + a + ", 12345678)"),
            "[i] =>\n  g(" + a + ", " + a + ", 12345678);\n");
  EXPECT_EQ(formatted("[i] => g(" + a + ", " + a + ", " + a + ")"),
            "[i] => g(\n  " + a + ",\n  " + a + ",\n  " + a + "\n);\n");
  EXPECT_EQ(formatted("%x[..concat(" + a + ", " + a + ", " + a + ")] else 0"),
            "%x[..concat(\n  " + a + ",\n  " + a + ",\n  " + a + "\n)] else 0;\n");
}

TEST(FormatTest, LongResultsByCasesHaveOneCasePerLine) {
  const std::string head = "op f(%a: Tensor[s, t], k: int = 1) -> ";
  const std::string longer = "Tensor[set(s, [0], " + std::string(40, 'n') + "), t]";
  EXPECT_EQ(formatted(head + "when k == 1:t when k == 2:(t,t) else s { %a }"),
            head + "when k == 1: t when k == 2: (t, t) else s { %a }\n");
  EXPECT_EQ(formatted(head + "when k == 1: " + longer + " else " + longer + " { %a }"),
            "op f(%a: Tensor[s, t], k: int = 1)\n    -> when k == 1: " + longer + "\n      else " + longer +
                " {\n  %a\n}\n");
}

TEST(FormatTest, ClausesStandBelowTheHead) {
  EXPECT_EQ(
      formatted("op f(%a: Tensor[s, t]) -> Tensor[s, t] static k = 1 where k == 1 { [..i] => %a[..i] }"),
      "op f(%a: Tensor[s, t]) -> Tensor[s, t]\n    static k = 1\n    where k == 1 {\n"
      "  [..i] => %a[..i]\n}\n");
  EXPECT_EQ(formatted("op f(%a: Tensor[s, t]) -> Tensor[s, t] when 1 == 1 { %a } else { %a }"),
            "op f(%a: Tensor[s, t]) -> Tensor[s, t]\n  when 1 == 1 { %a }\n  else { %a }\n");
}

TEST(FormatTest, AnOnlyArgumentBreaksInside) {
  EXPECT_EQ(formatted("f(g(%x) // why\n)"), "f(\n  g(%x)  // why\n);\n");
  EXPECT_EQ(formatted("grad(fn (%x) { let %y = %x; %y })(1)"),
            "grad(fn (%x) {\n  let %y = %x;\n  %y\n})(1);\n");
}

// --- comments --------------------------------------------------------------------------------------------

TEST(FormatTest, CommentsKeepTheirPlaces) {
  EXPECT_EQ(formatted("let %a = 1 ; // one  \n// two\n/* three */\n%a"),
            "let %a = 1;  // one\n// two\n/* three */\n%a;\n");
  EXPECT_EQ(formatted("let %a = 1 // one\n;"), "let %a = 1;  // one\n");
  EXPECT_EQ(formatted("f(%a, // first\n  %b\n  // last\n)"), "f(\n  %a,  // first\n  %b\n  // last\n);\n");
  EXPECT_EQ(formatted("f(%a // first\n, %b)"), "f(\n  %a,  // first\n  %b\n);\n");
  EXPECT_EQ(formatted("f(/* axis */1,/* other */ 2)"), "f(/* axis */ 1, /* other */ 2);\n");
  EXPECT_EQ(formatted("%0 = nn.relu(%x) /* ty=int32 */;\n%1 = f(%x /* a */, %0/* b */)"),
            "%0 = nn.relu(%x) /* ty=int32 */;\n%1 = f(%x /* a */, %0 /* b */);\n");
  EXPECT_EQ(formatted("def @f() { // why\n  1 }"), "def @f() {  // why\n  1\n}\n");
  EXPECT_EQ(formatted("def @f() {\n  // why\n\n\n  // else\n  1 }"),
            "def @f() {\n  // why\n\n  // else\n  1\n}\n");
  EXPECT_EQ(formatted("/// About f.\ndef @f() { 1 } // after"), "/// About f.\ndef @f() { 1 }  // after\n");
  EXPECT_EQ(formatted("let // odd\n%x = 1"), "let  // odd\n    %x = 1;\n");
  EXPECT_EQ(formatted("f(%a,/* x\n y */%b)"), "f(%a, /* x\n y */ %b);\n");
}

// --- what is left alone ----------------------------------------------------------------------------------

TEST(FormatTest, HeaderAndMetadataStay) {
  EXPECT_EQ(formatted("#[version =  \"0.0.5\"]\ndef @main() {1}\n\n#[metadata]\n{ \"a\" :1}"),
            "#[version =  \"0.0.5\"]\ndef @main() { 1 }\n\n#[metadata]\n{ \"a\" :1}");
}

TEST(FormatTest, NamesStayApartFromTheirFields) {
  EXPECT_EQ(formatted("f .x + torch.\trelu(%x)"), "f .x + torch .relu(%x);\n");
  EXPECT_EQ(formatted("meta[relay.Constant,][0]"), "meta[relay.Constant,][0];\n");
}

TEST(FormatTest, DocumentationLosesTheBlanksAtLineEnds) {
  EXPECT_EQ(formatted("/// Adds. \t\ndef @f(){1}"), "/// Adds.\ndef @f() { 1 }\n");
}

TEST(FormatTest, LineEndsAreThoseOfTheFile) {
  EXPECT_EQ(formatted("let %a=1;\r\n\r\n\r\n%a // x\r\n"), "let %a = 1;\r\n\r\n%a;  // x\r\n");
  EXPECT_EQ(formatted("let %a=1;\r%a"), "let %a = 1;\r%a;\r");
  EXPECT_EQ(formatted("let %a=1;\r\n%a\n"), "let %a = 1;\n%a;\n");
}

TEST(FormatTest, WhatDoesNotParseStays) {
  EXPECT_EQ(formatted("let   %a = 1;\nlet  %b =  ;\nlet   %c = 2"),
            "let %a = 1;\nlet  %b =  ;\nlet %c = 2;\n");
  std::string open = "let   %a = 1; /* never";
  EXPECT_EQ(formatted(open), open);
  EXPECT_EQ(formatted("def\n  @f() {1 +}"), "def\n  @f() {1 +}\n");
  EXPECT_EQ(formatted("1  2\n;\n  %x"), "1  2\n;\n%x;\n");
  EXPECT_EQ(formatted("print( \"a\\\n"), "print( \"a\\\n");
  std::string metadata_in_line = "let %a = 1;  #[metadata]\n{}\n";
  EXPECT_EQ(formatted(metadata_in_line), metadata_in_line);
  const std::string with_nul = std::string(70, '\n') + std::string("///t\0\0t", 7);
  EXPECT_EQ(formatted(with_nul), with_nul);
  // An expression that, laid out, would be the header of old files.
  EXPECT_EQ(formatted("v4/t"), "v4 / t;\n");
  EXPECT_EQ(formatted("v0.0.4  - t"), "v0.0.4 - t;\n");
  const std::string header = "v0.0.4  // old\n";
  EXPECT_EQ(formatted(header + "let   %a/b = 1"), header + "let %a/b = 1;\n");
  std::string bytes = "let   %a = 1;\n\xff";
  EXPECT_EQ(formatted(bytes), bytes);
}

TEST(FormatTest, OnlyTheLinesAskedFor) {
  std::string source = "let   %a = 1;\nlet   %b = (\n2);\n\n\n\nlet   %c = 3;\n";
  EXPECT_EQ(formatted(source, LineRange{3, 3}), "let   %a = 1;\nlet %b = (2);\n\nlet   %c = 3;\n");
  EXPECT_EQ(formatted(source, LineRange{20, 30}), source);
}

// --- every file ------------------------------------------------------------------------------------------

/// What the project itself writes is laid out as it is for others; what tests read has odd layouts on
/// purpose.
TEST(FormatTest, TheLibraryAndTheExamplesAreFormatted) {
  for (const auto& [path, text] : corpus({"stdlib", "examples", "bench"}))
    EXPECT_TRUE(formatted(text) == text) << path << " is not as `quern fmt` lays it out";
}

TEST(FormatTest, IsIdempotent) {
  for (auto& [path, text] : corpus()) {
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << path;
  }
}

TEST(FormatTest, EditsMakeTheLayout) {
  for (auto& [path, text] : corpus()) {
    std::string wanted = formatted(text);
    std::vector<FormatEdit> edits = format_edits(text, wanted);
    EXPECT_EQ(after_edits(text, edits), wanted) << path;
    for (const FormatEdit& edit : edits)
      EXPECT_LT(edit.range.end - edit.range.begin + edit.text.size(), 400u) << path;
  }
  EXPECT_EQ(format_edits("let %a=1", "let %a = 1;\n"),
            (std::vector<FormatEdit>{{{6, 6}, " "}, {{7, 7}, " "}, {{8, 8}, ";\n"}}));
}

/// Other blanks and line ends between the tokens of each declaration; those around comments stay, and so does
/// whether an empty line is there.
class Mangler {
 public:
  explicit Mangler(uint32_t seed) : random_(seed) {}

  std::string operator()(const std::string& text) {
    std::string out;
    size_t end = 0;
    ScanOutcome scanned = scan(text);
    for (const Piece& piece : scanned.pieces) {
      out += text.substr(end, piece.range.begin - end);
      std::string declaration = text.substr(piece.range.begin, piece.range.end - piece.range.begin);
      bool parses = parse_declaration(declaration, scanned.slash_names).problems.empty();
      out += parses ? mangled(declaration, scanned.slash_names) : declaration;
      end = piece.range.end;
    }
    return out + text.substr(end);
  }

 private:
  std::string mangled(const std::string& text, bool slash_names) {
    std::string out;
    std::string_view left;
    uint32_t end = 0;
    size_t count = 0;
    for (const Lexeme& lexeme : lex(text, slash_names)) {
      std::string_view right =
          std::string_view(text).substr(lexeme.range.begin, lexeme.range.end - lexeme.range.begin);
      std::string gap = text.substr(end, lexeme.range.begin - end);
      // A declaration's first word and its name stand on one line.
      bool fixed = count++ < 3 || gap.find('/') != std::string::npos;
      out += fixed ? gap : blanks(gap, left, right);
      out += right;
      left = right;
      end = lexeme.range.end;
    }
    return out;
  }
  std::string blanks(const std::string& gap, std::string_view left, std::string_view right) {
    if (count_line_ends(gap) > 1) return "\n  \n" + std::string(1 + random_() % 4, ' ');
    switch (random_() % 4) {
      case 0: return gap;
      case 1: return std::string(1 + random_() % 3, ' ');
      // Never at column 0, where some words begin a declaration.
      case 2: return "\n" + std::string(1 + random_() % 9, ' ');
      default: return gap.empty() || can_touch(left, right) ? "" : " ";
    }
  }
  static bool can_touch(std::string_view left, std::string_view right) {
    constexpr std::string_view kAlone = "(){},;]";
    bool apart = kAlone.find(left.back()) != std::string_view::npos ||
                 kAlone.find(right.front()) != std::string_view::npos;
    return apart && right.front() != '.' && right != "[";
  }

  std::mt19937 random_;
};

TEST(FormatTest, MangledFilesComeOutTheSame) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    Mangler mangle(seed);
    for (auto& [path, text] : corpus()) {
      if (!scan(text).problems.empty()) continue;
      std::string original = formatted(text), other = mangle(original);
      EXPECT_EQ(formatted(other), original) << path << ", seed " << seed;
      if (text.size() > 2000 && !path.starts_with("tests/golden/diagnostics")) {
        EXPECT_NE(other, original) << path;
      }
    }
  }
}

/// A text with a few characters taken away, or others put in: most no longer parse.
std::string damaged(std::string text, std::mt19937& random) {
  constexpr std::string_view kPieces[] = {"\"", "\n", "\r\n", ";", "{", "}", "(",    ")",    "[",   "]", ",",
                                          "//", "/*", "*/",   "%", "@", " ", "def ", "let ", "op ", "\t"};
  for (uint32_t count = 1 + random() % 3; count > 0 && !text.empty(); --count) {
    size_t at = random() % text.size();
    if (random() % 2 == 0)
      text.erase(at, 1 + random() % 4);
    else
      text.insert(at, kPieces[random() % std::size(kPieces)]);
  }
  return text;
}

TEST(FormatTest, IsIdempotentForBrokenTexts) {
  std::mt19937 random(1);
  for (auto& [path, text] : corpus()) {
    for (int i = 0; i < 20; ++i) {
      // A part is enough, and quick.
      size_t begin = text.empty() ? 0 : random() % text.size();
      std::string broken = damaged(text.substr(begin, 10 + random() % 300), random);
      std::string once = formatted(broken);
      EXPECT_EQ(formatted(once), once) << path << " in\n" << broken;
    }
  }
}

TEST(FormatTest, SessionGivesEditsAndDiagnostics) {
  Session session((std::vector<Session::LibraryFile>()));
  SourceId source = session.add_source(session.make_module(), "x.relay", "let %a=1;\nlet %b = ;");
  auto result = session.format(source);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "let %a = 1;\nlet %b = ;\n");
  EXPECT_EQ(after_edits(session.text(source), result->edits), result->text);
  ASSERT_EQ(result->diagnostics.size(), 1u);
  EXPECT_EQ(result->diagnostics[0].range, (Range{18, 18}));
}

}  // namespace
}  // namespace quern
