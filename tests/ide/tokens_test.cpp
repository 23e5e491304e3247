// Tokens: tables of texts, and what inference's names say of whole files.

#include "ide/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"
#include "tests/files.h"
#include "tests/frontend/module.h"

namespace quern::ide {
namespace {

std::string name_of(TokenKind kind) {
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
    case TokenKind::TypeParameter: return "type_parameter";
    case TokenKind::Index: return "index";
    case TokenKind::Static: return "static";
    case TokenKind::Module: return "module";
    case TokenKind::Symbol: return "symbol";
    case TokenKind::Bracket: return "bracket";
    case TokenKind::Unknown: return "unknown";
  }
  return "";
}

TEST(Tokens, DebugFiles) {
  for (const std::string& file : relay_files({"examples", "stdlib", "tests/models", "tests/golden"})) {
    const std::filesystem::path path = std::filesystem::path(QUERN_SOURCE_DIR) / file;
    const std::string text = read_file(path);
    Session session;
    const ModuleId module = file.starts_with("stdlib") ? 0 : session.make_module();
    for (const Token& token : tokens(session, module, text))
      if (token.unresolved) {
        size_t b = text.rfind('\n', token.range.begin) + 1;
        fmt::print("{}: {} `{}` in {}\n", file, name_of(token.kind),
                   text.substr(token.range.begin, token.range.end - token.range.begin),
                   text.substr(b, text.find('\n', b) - b));
      }
  }
}

}  // namespace
}  // namespace quern::ide
