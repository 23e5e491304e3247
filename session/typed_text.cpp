// A source's typed declarations as text.

#include "frontend/format.h"
#include "frontend/printer.h"
#include "session/layout.h"
#include "session/session_impl.h"

namespace quern {

namespace {

std::string doc_comment(const std::string& doc) {
  std::string out;
  for (size_t begin = 0; begin < doc.size();) {
    size_t end = std::min(doc.find('\n', begin), doc.size());
    out += (end > begin ? "/// " : "///") + doc.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

TypedText Session::typed_text(SourceId source) {
  TypedText result;
  PrintOptions options;
  options.constants = &result.constants;
  const Layout& layout = impl_->layouts[source];
  bool after_statement = false;
  for (size_t i = 0; i < layout.ids.size(); ++i) {
    const Piece& piece = layout.scan.pieces[i];
    const Definition* definition = nullptr;
    bool statement = piece.kind == PieceKind::Statement;
    // A function that is typed anew for each use has no typed form of its own.
    if (const Inferred* inferred = statement ? &inferred_statement(layout.ids[i]) : nullptr;
        inferred && inferred->definition.body)
      definition = &inferred->definition;
    if (piece.kind == PieceKind::Def && piece.name.starts_with("@"))
      definition = this->definition(info(layout.ids[i]).module, piece.name.substr(1));
    if (i > 0 && !(statement && after_statement)) result.text += "\n";
    result.text += doc_comment(piece.doc);
    if (definition) {
      result.text += print(*definition, options) + (statement ? ";\n" : "\n");
    } else {
      std::string text = layout.text->substr(piece.range.begin, piece.range.end - piece.range.begin);
      auto formatted = quern::format(text);
      result.text += formatted ? *formatted : text + "\n";
    }
    after_statement = statement;
  }
  return result;
}

}  // namespace quern
