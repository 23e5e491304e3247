#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/text/lexeme.h"

namespace quern {
namespace {

/// The tokens of a text, each behind its kind: `local %x|symbol +|`.
std::string tokens_of(const std::string& text, bool slash_names = false) {
  std::string all;
  for (const Lexeme& token : lex(text, slash_names)) {
    switch (token.kind) {
      case LexemeKind::Local: all += "local "; break;
      case LexemeKind::Global: all += "global "; break;
      case LexemeKind::Name: all += "name "; break;
      case LexemeKind::Word: all += "word "; break;
      case LexemeKind::Number: all += "number "; break;
      case LexemeKind::String: all += "string "; break;
      case LexemeKind::Projection: all += "projection "; break;
      case LexemeKind::Symbol: all += "symbol "; break;
      case LexemeKind::Unknown: all += "unknown "; break;
    }
    all += text.substr(token.range.begin, token.range.end - token.range.begin) + "|";
  }
  return all;
}

TEST(Lexer, Numbers) {
  for (const std::string number : {"7", "7i", "7i64", "7u8", "2.5", "2.5f", "1e-3f64", "2f16", "1E5", "1e+5",
                                   "1.e5", "1.", "inf", "inff", "nanf32"})
    EXPECT_EQ(tokens_of(number), "number " + number + "|");
  EXPECT_EQ(tokens_of("1..n"), "number 1|symbol ..|name n|");
  EXPECT_EQ(tokens_of("1.f"), "number 1|symbol .|name f|");
  EXPECT_EQ(tokens_of("1._a"), "number 1|symbol .|name _a|");
  EXPECT_EQ(tokens_of("1.)"), "number 1.|symbol )|");
  EXPECT_EQ(tokens_of("1e"), "number 1|name e|");
  EXPECT_EQ(tokens_of("1.5e+"), "number 1.5|name e|symbol +|");
  EXPECT_EQ(tokens_of("7i64x"), "number 7i64|name x|");
  EXPECT_EQ(tokens_of("info nan_ inf.x"), "name info|name nan_|name inf.x|");
}

TEST(Lexer, Names) {
  EXPECT_EQ(tokens_of("nn.conv2d @a.b %x_1 %0 %_ _"),
            "name nn.conv2d|global @a.b|local %x_1|local %0|local %_|symbol _|");
  EXPECT_EQ(tokens_of("def define def.x Tensor"), "word def|name define|name def.x|word Tensor|");
  EXPECT_EQ(tokens_of("x. y"), "name x|symbol .|name y|");
  EXPECT_EQ(tokens_of("@ @1"), "unknown @|unknown @|number 1|");
  EXPECT_EQ(tokens_of("a %b % c"), "name a|local %b|symbol %|name c|");
  EXPECT_EQ(tokens_of("%1x"), "local %1|name x|");
}

TEST(Lexer, NamesWithTvmsHeader) {
  EXPECT_EQ(tokens_of("%a/b:0", true), "local %a/b:0|");
  EXPECT_EQ(tokens_of("%a/b:0"), "local %a|symbol /|name b|symbol :|number 0|");
  EXPECT_EQ(tokens_of("%t.0 %n-1 %a.b-c", true),
            "local %t|projection .0|local %n|symbol -|number 1|local %a.b-c|");
}

TEST(Lexer, WordsWithASign) {
  EXPECT_EQ(tokens_of("sum[k] sum [k]"), "symbol sum[|name k|symbol ]|name sum|symbol [|name k|symbol ]|");
  EXPECT_EQ(tokens_of("scan[k scatter[m a.sum[k"),
            "symbol scan[|name k|symbol scatter[|name m|name a.sum|symbol [|name k|");
  EXPECT_EQ(tokens_of("match? %x match %x"), "word match?|local %x|word match|local %x|");
  EXPECT_EQ(tokens_of("summed[k"), "name summed|symbol [|name k|");
}

TEST(Lexer, TheLongestSymbolCounts) {
  EXPECT_EQ(tokens_of("... .. . .5 %t.0.1"),
            "symbol ...|symbol ..|symbol .|projection .5|local %t|projection .0|projection .1|");
  EXPECT_EQ(
      tokens_of("=>==>=:=->+=*=<=!=!"),
      "symbol =>|symbol ==|symbol >=|symbol :=|symbol ->|symbol +=|symbol *=|symbol <=|symbol !=|symbol !|");
}

TEST(Lexer, Strings) {
  EXPECT_EQ(tokens_of(R"("a\"b" "漢")"), "string \"a\\\"b\"|string \"漢\"|");
  EXPECT_EQ(tokens_of("\"a\n"), "unknown \"|name a|");
}

TEST(Lexer, CommentsAndBlanksAreBetweenTokens) {
  EXPECT_EQ(tokens_of("a/* /* b */ c */\td// e\r\nf"), "name a|name d|name f|");
  EXPECT_EQ(tokens_of("a /* b"), "name a|symbol /|symbol *|name b|");
  EXPECT_EQ(tokens_of("a /*/"), "name a|symbol /|symbol *|symbol /|");
}

TEST(Lexer, OtherCharactersAreUnknown) {
  EXPECT_EQ(tokens_of("é$"), "unknown é|unknown $|");
  EXPECT_EQ(tokens_of("\xFFx"), "unknown \xFF|name x|");
}

}  // namespace
}  // namespace quern
