#include "tests/support/library.h"

#include "frontend/scanner.h"

namespace quern::numeric {

std::vector<Session::LibraryFile> library_texts() { return Session::builtin_library(); }

std::vector<std::string> operators_of(const std::vector<Session::LibraryFile>& texts) {
  std::vector<std::string> names;
  for (const Session::LibraryFile& file : texts)
    for (const Piece& piece : scan(file.text).pieces)
      if (piece.kind == PieceKind::Op || (piece.kind == PieceKind::Def && !piece.name.starts_with("@")))
        names.push_back(piece.name);
  return names;
}

std::string doc_comment(const std::string& op) {
  for (const Session::LibraryFile& file : library_texts())
    for (const Piece& piece : scan(file.text).pieces)
      if (piece.name == op && (piece.kind == PieceKind::Op || piece.kind == PieceKind::Def)) return piece.doc;
  return "";
}

std::string declaration_text(const std::string& op) {
  for (const Session::LibraryFile& file : library_texts())
    for (const Piece& piece : scan(file.text).pieces)
      if (piece.name == op && (piece.kind == PieceKind::Op || piece.kind == PieceKind::Def))
        return file.text.substr(piece.range.begin, piece.range.end - piece.range.begin);
  return "";
}

}  // namespace quern::numeric
