#include "ide/links.h"

#include <filesystem>

#include "ide/lexed_text.h"

namespace quern::ide {

std::vector<FileLink> file_links(Session& session, SourceId source) {
  std::vector<FileLink> links;
  const LexedText lexed = lexed_text(session.text(source));
  auto link = [&](size_t string, std::string path, std::optional<SourceId> module) {
    Range range = lexed.lexemes[string].range;
    std::error_code error;
    const bool is_there =
        (module && session.is_read_only(*module)) || std::filesystem::is_regular_file(path, error);
    if (range.end - range.begin > 2 && is_there)
      links.push_back({{range.begin + 1, range.end - 1}, std::move(path), module});
  };
  for (size_t i = 0; i < lexed.lexemes.size(); ++i) {
    const Range at = lexed.lexemes[i].range;
    if (lexed.word(i) == "import" && lexed.is(i + 1, LexemeKind::String)) {
      const auto declaration = session.syntax_at(source, at.begin);
      const auto file = declaration ? session.imported_by(declaration->whole) : std::nullopt;
      if (file) link(i + 1, session.path(*file), file);
    }
    if (lexed.word(i) == "load" && lexed.is_symbol(i + 1, "(") && lexed.is(i + 2, LexemeKind::String)) {
      const std::string_view quoted = lexed.word(i + 2);
      const std::string_view path = quoted.substr(1, quoted.size() - (quoted.ends_with('"') ? 2 : 1));
      link(i + 2, (std::filesystem::path(session.folder(source)) / path).string(), std::nullopt);
    }
  }
  return links;
}

}  // namespace quern::ide
