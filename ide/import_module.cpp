// Imports a file that declares an unknown name.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "frontend/parse/scanner.h"
#include "ide/refactoring.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

namespace fs = std::filesystem;

bool is_unknown_name(DiagnosticKind kind) {
  return kind == DiagnosticKind::UnknownName || kind == DiagnosticKind::UnknownFunction ||
         kind == DiagnosticKind::UnknownOperator || kind == DiagnosticKind::UnknownType ||
         kind == DiagnosticKind::UnknownStatic;
}

/// Whether a text declares a name, which includes its `@` if it has one.
bool declares(const std::string& text, std::string_view name) {
  std::string_view bare = name;
  if (bare.starts_with("@")) bare.remove_prefix(1);
  if (text.find(bare) == std::string::npos) return false;
  for (const Piece& piece : scan(text).pieces) {
    switch (piece.kind) {
      case PieceKind::Def:
      case PieceKind::Op:
        if (piece.name == name) return true;
        break;
      case PieceKind::Static:
        if (piece.name == name || piece.name == bare) return true;
        break;
      case PieceKind::Type: {
        if (piece.name == name) return true;
        const auto made = constructor_names(
            std::string_view(text).substr(piece.range.begin, piece.range.end - piece.range.begin));
        if (std::ranges::find(made, name) != made.end()) return true;
        break;
      }
      case PieceKind::Import:
      case PieceKind::Test:
      case PieceKind::Infix:
      case PieceKind::Statement: break;
    }
  }
  return false;
}

/// A valid import name for a file.
std::string module_name(const fs::path& file) {
  std::string name = file.stem().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "m" + name : name;
}

class Imports {
 public:
  explicit Imports(const Selection& selection) : selection_(selection), session_(selection.session) {}

  void find(std::vector<Offer>& offers) {
    const fs::path own(session_.path(selection_.source));
    if (!own.is_absolute()) return;
    for (const LocatedDiagnostic& unknown : session_.check_declaration(selection_.at.whole)) {
      const Range at = unknown.range;
      if (!is_unknown_name(unknown.kind) || at.begin > selection_.range.end ||
          selection_.range.begin > at.end || unknown.file != own.string())
        continue;
      const std::string name(selection_.text_of(at));
      selection_.context.files([&](const std::string& path, const std::string& text) {
        if (fs::path(path).lexically_normal() == own.lexically_normal() || !declares(text, name)) return;
        offer(at, name, fs::path(path).lexically_relative(own.parent_path()), offers);
      });
    }
  }

 private:
  void offer(Range at, const std::string& name, const fs::path& file, std::vector<Offer>& offers) {
    const std::string path = file.generic_string();
    TextEdits edits;
    std::string alias;
    for (const auto& [known, declaration] : session_.import_names(selection_.module()))
      if (session_.declaration(declaration).syntax->text == path) alias = known;
    if (alias.empty()) {
      alias = free_name(selection_.lexed(), LexemeKind::Name, module_name(file));
      edits.push_back(import_line(path, alias));
    }
    const bool has_sigil = name.starts_with("@");
    const uint32_t begin = at.begin + (has_sigil ? 1 : 0);
    edits.push_back({{begin, begin}, alias + "."});
    const SourceId source = selection_.source;
    Session& session = session_;
    offers.push_back({fmt::format("import `{}` from \"{}\"", name, path),
                      [&session, source, edits] { return with_fewer_errors(session, source, edits); }});
  }

  /// After the last import, else before the first declaration and its comment.
  std::pair<Range, std::string> import_line(const std::string& path, const std::string& alias) const {
    const std::string line = fmt::format("import \"{}\" as {}", path, alias);
    const std::string end = line_end(selection_.text());
    const std::vector<DeclarationId>& all = session_.declarations(selection_.source);
    uint32_t after = 0;
    for (const DeclarationId id : all)
      if (session_.info(id).kind == PieceKind::Import) after = session_.range_of(id).end;
    if (after > 0) return {{after, after}, end + line};
    uint32_t before = session_.range_of(all.front()).begin;
    const LexedText& lexed = selection_.lexed();
    for (auto comment = lexed.comments.rbegin(); comment != lexed.comments.rend(); ++comment) {
      if (comment->end > before) continue;
      if (!lexed.in_text(*comment).starts_with("///")) break;
      before = comment->begin;
    }
    return {{before, before}, line + end};
  }

  const Selection& selection_;
  Session& session_;
};

}  // namespace

void import_module(const Selection& selection, std::vector<Offer>& offers) {
  if (selection.context.files) Imports(selection).find(offers);
}

}  // namespace quern::ide
