// Tokens: each row is a text, and what its tokens are. `!` follows a name that nothing declares.

#include "ide/tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"
#include "tests/files.h"

namespace quern::ide {
namespace {

std::string_view name_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Comment: return "comment";
    case TokenKind::Keyword: return "keyword";
    case TokenKind::Number: return "number";
    case TokenKind::String: return "string";
    case TokenKind::Variable: return "variable";
    case TokenKind::Definition: return "definition";
    case TokenKind::Operator: return "operator";
    case TokenKind::Constructor: return "constructor";
    case TokenKind::Type: return "type";
    case TokenKind::Field: return "field";
    case TokenKind::Attribute: return "attribute";
    case TokenKind::TypeParameter: return "dim";
    case TokenKind::Index: return "index";
    case TokenKind::Static: return "static";
    case TokenKind::Module: return "module";
    case TokenKind::Symbol:
    case TokenKind::Bracket: return "";
    case TokenKind::Unknown: return "unknown";
  }
  return "";
}

struct TokenRow {
  std::string_view text;
  std::string_view kinds;  ///< without symbols and brackets
};

TEST(Tokens, AreWhatTheyStandFor) {
  const std::vector<TokenRow> rows{
      {"let %a = %x + 1.5f; // one", "variable:%a variable:%x number:1.5f comment:// one keyword:let"},
      {"%missing + %x", "variable!:%missing variable:%x"},
      {"@f(%x)", "definition:@f variable:%x"},
      {"@g(%x)", "definition!:@g variable:%x"},
      {"nn.relu(%x)", "operator:nn.relu variable:%x"},
      {"nn.rleu(%x)", "operator!:nn.rleu variable:%x"},
      {"nn.conv2d(%x, %x, strides=[1, 1])", "operator:nn.conv2d attribute:strides number:1"},
      {"nn.conv2d(%x, %x, stride=[1, 1])", "attribute!:stride"},
      {"Pair(left=1, wright=2)", "constructor:Pair field:left field!:wright"},
      {"@scaled(%x, factor=2)", "attribute:factor"},
      {"@scaled(%x, faktor=2)", "attribute!:faktor"},
      {"def @own(%a: Tensor[s, t], by: int) { %a }\n@own(%x, by=2)", "attribute:by"},
      {"let %a: Tensor[(3,), flot32] = %x", "type:Tensor dim!:flot32"},
      {"let %a: flot32 = 1; let %b: Lits[int32] = Nil", "type!:flot32 type!:Lits type:int32"},
      {"def @h[n](%a: Tensor[(n, m), float32]) { let %b: Tensor[(n, k), float32] = %a; %b }",
       "dim:n dim:m dim!:k"},
      {"\"unterminated", "string:\"unterminated"},
      {"/* open", "comment:/* open"},
      {"def @h(%a: Tensor[(n, 3), float32]) { %a }",
       "keyword:def definition:@h type:Tensor dim:n type:float32"},
      {"Cons(1, Nil())", "constructor:Cons constructor:Nil"},
      {"[i < 2] => sum[k < 3] %x[i, k]", "index:i index:k variable:%x"},
      {"let (%a, Cons(%b, _)) = (1., Cons(2, Nil)); %a",
       "variable:%a constructor:Cons variable:%b number:1."},
      {"%x[..., [0, 1]]", "variable:%x number:0"},
      {"print(\"a {%x:.3} {@f(1)} {{%q}}\", %x)",
       "variable:%x definition:@f number:1 operator:print string:} {{%q}}\""},
      {"print(\"{%y} {@f(\\\"b\\\")} {%x", "variable!:%y definition:@f variable:%x string:\\\"b\\\""},
      {"(\"{%x}\", print)", "string:\"{%x}\""},
      {"type Both[A] = (A, Tensor[(3,), float32])\n%x",
       "keyword:type type:Both dim:A type:Tensor number:3 type:float32 variable:%x"},
      {"type Dense[i, o] { Dense(w: Tensor[(i, o), float32]) }\ndef @g[n](%l: Dense[n, 2 * n]) { %l.w }",
       "type:Dense dim:i dim:o dim:n number:2"},
  };
  Session session;
  const ModuleId module = session.make_module();
  session.check(session.add_source(module, "session",
                                   "def @f(%a) { %a }; let %x = ones((2, 3));"
                                   "type Two { Pair(left: int32, right: int32) }"
                                   "def @scaled(%a: Tensor[s, float32], factor: int) { %a * "
                                   "cast(factor, dtype=\"float32\") }"));
  for (const TokenRow& row : rows) {
    std::vector<std::string> found;
    for (const Token& token : tokens(session, module, row.text)) {
      const std::string_view kind = name_of(token.kind);
      const auto [begin, end] = token.range;
      found.push_back(std::string(kind) + (token.unresolved ? "!:" : ":") +
                      std::string(row.text.substr(begin, end - begin)));
    }
    // Each that is named is there.
    for (std::string_view rest = row.kinds; !rest.empty();) {
      size_t end = 0;
      // A comment and a string may have blanks.
      const bool is_long = rest.starts_with("comment") || rest.starts_with("string");
      end = is_long ? std::string_view::npos : rest.find(' ');
      if (is_long && rest.find(" keyword:") != std::string_view::npos) end = rest.find(" keyword:");
      const std::string wanted(rest.substr(0, end));
      EXPECT_TRUE(std::find(found.begin(), found.end(), wanted) != found.end()) << row.text << ": " << wanted;
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
}

TEST(Tokens, OfFilesWithoutMistakesAreKnown) {
  for (const std::string& file : relay_files({"stdlib", "examples"})) {
    const std::filesystem::path path = std::filesystem::path(QUERN_SOURCE_DIR) / file;
    const std::string text = read_file(path);
    Session session;
    const SourceId source =
        session.add_source(session.make_module(), file, text, path.parent_path().string());
    for (const Token& token : tokens(session, source))
      EXPECT_FALSE(token.unresolved) << file << ": "
                                     << text.substr(token.range.begin, token.range.end - token.range.begin);
  }
}

}  // namespace
}  // namespace quern::ide
