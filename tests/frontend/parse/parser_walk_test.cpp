// The walk over the grammar's states against ANTLR's own parser: the same tree, and errors in the same texts.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "antlr4-runtime.h"
#include "frontend/parse/parser_tree.h"
#include "frontend/parse/scanner.h"
#include "session/session.h"

namespace quern {
namespace {

using Tokens = std::vector<ParserToken>;

/// The tree as ANTLR makes it; null for a text with errors.
const ParseNode* tree_of_antlr(const std::string& text, const Tokens& tokens, Arena& arena) {
  std::vector<std::unique_ptr<antlr4::Token>> list;
  for (const auto& [type, range] : tokens) {
    const bool ends = type == kEndOfText;
    auto token = std::make_unique<antlr4::CommonToken>(
        ends ? antlr4::Token::EOF : type, ends ? "<EOF>" : text.substr(range.begin, range.end - range.begin));
    token->setStartIndex(range.begin);
    token->setStopIndex(static_cast<size_t>(range.end) - 1);
    list.push_back(std::move(token));
  }
  antlr4::ListTokenSource source(std::move(list));
  antlr4::CommonTokenStream stream(&source);
  quern_grammar::QuernParser parser(&stream);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return parse_tree(text, parser.unit(), arena);
  } catch (const antlr4::ParseCancellationException&) {
    return nullptr;
  }
}

std::string shown(const ParseNode* node) {
  if (!node) return "error";
  if (node->rule_index == ParseNode::kNoRule)
    return std::to_string(node->token_type) + "'" + std::string(node->source) + "'" +
           std::to_string(node->range.begin);
  std::string all = std::to_string(node->rule_index) + "(";
  for (const ParseNode* part : node->children) all += " " + shown(part);
  return all + ")";
}

/// Whether both parsers agree; `sound` counts the texts without errors.
void expect_same(const std::string& text, int& sound) {
  Arena arena;
  const Tokens tokens = tokens_of(text, false);
  const ParseNode* walked = parse_tree(text, tokens, arena);
  ASSERT_EQ(shown(walked), shown(tree_of_antlr(text, tokens, arena))) << text;
  sound += walked != nullptr;
}

std::vector<std::string> pieces_of_library() {
  std::vector<std::string> all;
  for (const Session::LibraryFile& file : Session::builtin_library())
    for (const Piece& piece : scan(file.text).pieces)
      all.push_back(file.text.substr(piece.range.begin, piece.range.end - piece.range.begin));
  return all;
}

TEST(ParserWalk, MakesTheTreesOfAntlr) {
  int sound = 0;
  const std::vector<std::string> pieces = pieces_of_library();
  for (const std::string& piece : pieces) expect_same(piece, sound);
  EXPECT_EQ(sound, static_cast<int>(pieces.size()));
}

// A token is left out, comes twice, or comes from somewhere else.
TEST(ParserWalk, RefusesWhatAntlrRefuses) {
  constexpr int kTexts = 2000;
  constexpr size_t kLongest = 700;
  std::mt19937 random(11);
  std::vector<std::string> pieces = pieces_of_library();
  std::erase_if(pieces, [](const std::string& piece) { return piece.size() > kLongest; });
  int sound = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string &piece = pieces[random() % pieces.size()], &other = pieces[random() % pieces.size()];
    const Tokens tokens = tokens_of(piece, false), others = tokens_of(other, false);
    const Range at = tokens[random() % (tokens.size() - 1)].range,
                from = others[random() % (others.size() - 1)].range;
    const std::string taken = other.substr(from.begin, from.end - from.begin);
    std::string text = piece;
    switch (random() % 3) {
      case 0: text.erase(at.begin, at.end - at.begin); break;
      case 1: text.insert(at.begin, piece.substr(at.begin, at.end - at.begin) + " "); break;
      default: text.replace(at.begin, at.end - at.begin, " " + taken + " "); break;
    }
    expect_same(text, sound);
  }
  EXPECT_GT(sound, kTexts / 20);
  EXPECT_LT(sound, kTexts / 2);
}

size_t states_of_antlr() {
  quern_grammar::QuernParser parser(nullptr);
  size_t count = 0;
  for (const auto& table : parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->decisionToDFA)
    count += table.states.size();
  return count;
}

void expect_walked(const std::string& text) {
  Arena arena;
  EXPECT_NE(parse_tree(text, tokens_of(text, false), arena), nullptr) << text;
}

// What is chosen by a long look ahead is chosen anew for each text.
TEST(ParserWalk, ChoosesByAFewTokens) {
  const std::string body =
      "{ let %a: ((int32, (float32, bool)), int32) = f(%x, 2); let %b = %a.0 + g(axis=%y)[%i, 3] * 2;"
      " (match (%b) { Some(%s) => -%s, None => { h(%a) - 1 } }, [1.0, %a]) }";
  const std::string texts[] = {"let %v = if (%c) { 1 } else " + body, "let %v = %w[f(" + body + "), 1]",
                               "let %v: (List[(Tensor[(n, m), float32], int32)], bool) = 1"};
  expect_walked("let %v = " + body);
  expect_walked("let %v = if (%c) { 1 } else { 2 }");
  expect_walked("let %v = f(1)[1, 2]");
  expect_walked("let %v: (List[int32], bool) = 1");
  expect_walked("let %v: Tensor[(n, m), float32] = 1");
  const size_t before = states_of_antlr();
  for (const std::string& text : texts) expect_walked(text);
  EXPECT_LT(states_of_antlr(), before + 20);
}

}  // namespace
}  // namespace quern
