#include "tests/support/library.h"

#include "frontend/parse/scanner.h"
#include "tests/files.h"

namespace quern::numeric {

std::string own_operators() {
  std::string text = read_file(std::string(QUERN_SOURCE_DIR) + "/examples/own_operators.relay");
  for (const Piece& piece : scan(text).pieces)
    if (piece.kind == PieceKind::Statement) return text.substr(0, piece.range.begin);
  return text;
}

std::vector<Session::LibraryFile> library_texts() {
  std::vector<Session::LibraryFile> files = Session::builtin_library();
  files.push_back({"own_operators.relay", own_operators()});
  return files;
}

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
