#include "ide/symbols.h"

#include <algorithm>
#include <cctype>

#include "frontend/names/name_range.h"
#include "frontend/parse/scanner.h"
#include "ide/name_places.h"
#include "ide/signature_line.h"

namespace quern::ide {

namespace {

/// Beyond this many bytes, no types are inferred for an outline.
constexpr size_t kLongText = 256 * 1024;

/// The name and the kind of a piece, as far as the scanner knows.
struct PieceHead {
  std::string name;
  SymbolKind kind;
};

PieceHead piece_head(PieceKind kind, std::string_view name, std::string_view text) {
  const std::string own(name);
  switch (kind) {
    case PieceKind::Def: return {own, name.starts_with("@") ? SymbolKind::Function : SymbolKind::Operator};
    case PieceKind::Op:
    case PieceKind::Infix: return {own, SymbolKind::Operator};
    case PieceKind::Static: return {name.starts_with("@") ? own : "@" + own, SymbolKind::Function};
    case PieceKind::Import: return {own, SymbolKind::Import};
    case PieceKind::Test: return {own, SymbolKind::Test};
    case PieceKind::Type: {
      if (text.starts_with("extern")) return {own, SymbolKind::ExternType};
      const size_t constructors = constructor_names(text).size();
      return {own, constructors == 0   ? SymbolKind::Alias
                   : constructors == 1 ? SymbolKind::Record
                                       : SymbolKind::Cases};
    }
    case PieceKind::Statement: {
      std::string names;
      for_each_name(name,
                    [&](std::string_view one) { names += (names.empty() ? "%" : ", %") + std::string(one); });
      return {names, SymbolKind::Variable};
    }
  }
  return {own, SymbolKind::Variable};
}

bool is_name_byte(char c) {
  return c == '_' || static_cast<unsigned char>(c) >= 0x80 ||
         std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// The first occurrence of a name as a whole word in [`begin`, `end`); empty at `begin` if there is none.
Range find_whole(std::string_view text, std::string_view name, uint32_t begin, uint32_t end) {
  for (size_t at = text.find(name, begin); !name.empty() && at < end; at = text.find(name, at + 1)) {
    const size_t after = at + name.size();
    const bool starts = at == 0 || !is_name_byte(text[at - 1]) || !is_name_byte(name[0]);
    const bool ends = after >= text.size() || !is_name_byte(text[after]) || !is_name_byte(name.back());
    if (starts && ends && after <= end) return {static_cast<uint32_t>(at), static_cast<uint32_t>(after)};
  }
  return {begin, begin};
}

/// The name of a piece after its leading word; for a statement, anywhere in it.
Range name_of_piece(std::string_view text, PieceKind kind, std::string_view name, Range piece) {
  uint32_t begin = piece.begin;
  if (kind != PieceKind::Statement)
    while (begin < piece.end && is_name_byte(text[begin])) ++begin;
  const Range found = find_whole(text, name, begin, piece.end);
  return found.begin == found.end ? Range{piece.begin, piece.begin} : found;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find_first_of("\r\n"), text.size())));
}

class Outline {
 public:
  Outline(Session& session, SourceId source)
      : session_(session), text_(session.text(source)), infers_(text_.size() <= kLongText) {}

  Symbol shallow(DeclarationId id) {
    const DeclarationInfo& info = session_.info(id);
    const std::string_view text = session_.text_of(id);
    PieceHead head = piece_head(info.kind, info.name, text);
    const Range range = session_.range_of(id);
    if (head.name.empty())
      return {in_one_line(first_line(text)), head.kind, "", range, {range.begin, range.begin}, {}};
    const std::string_view first = std::string_view(head.name).substr(0, head.name.find(','));
    Symbol symbol{head.name, head.kind, "", range, name_of_piece(text_, info.kind, first, range), {}};
    const SyntaxPtr root = session_.declaration(id).syntax;
    if (root->is(SyntaxKind::Let) && is_function(root->child(1))) symbol.kind = SymbolKind::Function;
    symbol.detail = detail(id, root, symbol.name);
    return symbol;
  }

  Symbol whole(DeclarationId id) {
    Symbol symbol = shallow(id);
    const SyntaxPtr root = session_.declaration(id).syntax;
    inside(id, root, symbol.children);
    for (const DeclarationId chunk : session_.chunks(id))
      collect(chunk, session_.declaration(chunk).syntax, symbol.children);
    return symbol;
  }

 private:
  static bool is_function(SyntaxPtr value) { return value && value->is(SyntaxKind::Fn); }

  Range range_of(DeclarationId in, SyntaxPtr node) { return session_.range_of({{in, node->id}, {}}); }
  std::string written(DeclarationId in, SyntaxPtr node) {
    const Range range = range_of(in, node);
    return in_one_line(std::string_view(text_).substr(range.begin, range.end - range.begin));
  }

  std::string inferred(DeclarationId in, SyntaxPtr node) {
    if (!infers_) return "";
    const Type type = type_of_binding(session_, in, node);
    return type ? to_string(type) : "";
  }

  std::string detail(DeclarationId id, SyntaxPtr root, const std::string& name) {
    switch (root->kind) {
      case SyntaxKind::Def:
      case SyntaxKind::Op:
      case SyntaxKind::ExternOp:
      case SyntaxKind::Static: {
        const std::string line = signature_line(session_.text_of(id)).text;
        return line.starts_with(name) ? line.substr(name.size()) : line;
      }
      case SyntaxKind::TypeAlias: return written(id, root->child(1));
      case SyntaxKind::Infix: return std::string(root->child(0)->text);
      case SyntaxKind::ImportAs: return std::string(root->child(0)->text);
      case SyntaxKind::Let:
      case SyntaxKind::FreeVar:
      case SyntaxKind::GraphLet: return type_of(id, root);
      default: return "";
    }
  }

  /// The type of what a node binds, as written or inferred.
  std::string type_of(DeclarationId in, SyntaxPtr binder) {
    const bool may_be_written = !binder->is(SyntaxKind::GraphLet);
    const SyntaxPtr type = may_be_written ? binder->child(0) : nullptr;
    return type ? written(in, type) : inferred(in, binder);
  }

  Symbol named(DeclarationId in, SyntaxPtr node, std::string_view sigil, SymbolKind kind,
               std::string detail) {
    const std::string_view own = written_name(node);
    const Range range = range_of(in, node);
    Range name = session_.range_of(Occurrence{node->id, {}, {0, static_cast<uint32_t>(own.size())}}, in);
    if (name.begin < range.begin || name.end > range.end) name = {range.begin, range.begin};
    return {std::string(sigil) + std::string(own), kind, std::move(detail), range, name, {}};
  }

  void inside(DeclarationId id, SyntaxPtr root, std::vector<Symbol>& out) {
    switch (root->kind) {
      case SyntaxKind::TypeDecl: return constructors(id, root, out);
      case SyntaxKind::Def:
      case SyntaxKind::Op:
      case SyntaxKind::ExternOp:
        params(id, root->child(1), out);
        collect(id, root->child(3), out);
        return collect(id, root->child(4), out);
      case SyntaxKind::Static: return params(id, root->child(0), out);
      case SyntaxKind::Let: return collect(id, root->child(1), out);
      case SyntaxKind::LetPattern: return collect(id, root->child(2), out);
      case SyntaxKind::GraphLet:
      case SyntaxKind::Test: return collect(id, root->child(0), out);
      default: return;
    }
  }

  void constructors(DeclarationId id, SyntaxPtr root, std::vector<Symbol>& out) {
    for (const SyntaxPtr constructor : root->children) {
      if (!constructor || !constructor->is(SyntaxKind::Constructor)) continue;
      Symbol symbol = named(id, constructor, "", SymbolKind::Constructor, "");
      for (const SyntaxPtr field : constructor->children)
        if (!field->text.empty())
          symbol.children.push_back(named(id, field, "", SymbolKind::Field, written(id, field->child(0))));
      if (symbol.children.empty() && !constructor->children.empty())
        symbol.detail = written(id, constructor).substr(constructor->text.size());
      out.push_back(std::move(symbol));
    }
  }

  void params(DeclarationId id, SyntaxPtr list, std::vector<Symbol>& out) {
    for (const SyntaxPtr p : list ? list->children : std::span<const SyntaxPtr>()) {
      if (p->is(SyntaxKind::TensorParam))
        out.push_back(named(id, p, "%", SymbolKind::Variable, type_of(id, p)));
      else if (!is_function_attribute(p))
        out.push_back(named(id, p, "", SymbolKind::Attribute, p->child(0) ? written(id, p->child(0)) : ""));
    }
  }

  /// The bindings of the statements below a node; the children of a binding are those in its value.
  void collect(DeclarationId in, SyntaxPtr s, std::vector<Symbol>& out) {
    if (!s) return;
    switch (s->kind) {
      case SyntaxKind::Let: {
        if (s->text == "_") return collect(in, s->child(1), out);
        const SymbolKind kind = is_function(s->child(1)) ? SymbolKind::Function : SymbolKind::Variable;
        out.push_back(named(in, s, "%", kind, type_of(in, s)));
        return collect(in, s->child(1), out.back().children);
      }
      case SyntaxKind::LetPattern:
        for (const SyntaxPtr binder : binders_of(s))
          out.push_back(named(in, binder, "%", SymbolKind::Variable, type_of(in, binder)));
        return collect(in, s->child(2), out);
      case SyntaxKind::StaticClause:
        out.push_back(named(in, s, "", SymbolKind::Constant, written(in, s->child(0))));
        return;
      case SyntaxKind::Fn: params(in, s->child(1), out); return collect(in, s->child(3), out);
      default:
        for (const SyntaxPtr part : s->children) collect(in, part, out);
    }
  }

  Session& session_;
  const std::string& text_;
  bool infers_;
};

}  // namespace

std::vector<Symbol> symbols(Session& session, SourceId source) {
  std::vector<Symbol> all;
  Outline outline(session, source);
  for (const DeclarationId id : session.declarations(source)) {
    const DeclarationInfo& info = session.info(id);
    if (info.kind == PieceKind::Statement && info.name.empty()) continue;
    all.push_back(outline.whole(id));
  }
  return all;
}

Symbol symbol_of(Session& session, DeclarationId declaration) {
  return Outline(session, session.info(declaration).source).shallow(declaration);
}

std::vector<FoundSymbol> find_symbols(std::string_view text, std::string_view query) {
  std::vector<FoundSymbol> found;
  auto add = [&](std::string name, SymbolKind kind, Range range, std::string container) {
    if (const auto match = match_name(name, query))
      found.push_back({std::move(name), kind, *match, range, std::move(container)});
  };
  for (const Piece& piece : scan(text).pieces) {
    if (piece.name.empty() || piece.kind == PieceKind::Import) continue;
    const std::string_view own = text.substr(piece.range.begin, piece.range.end - piece.range.begin);
    const PieceHead head = piece_head(piece.kind, piece.name, own);
    if (piece.kind == PieceKind::Statement) {
      for_each_name(piece.name, [&](std::string_view name) {
        const std::string written = "%" + std::string(name);
        add(written, head.kind, name_of_piece(text, piece.kind, written, piece.range), "");
      });
      continue;
    }
    const Range name = name_of_piece(text, piece.kind, head.name, piece.range);
    add(head.name, head.kind, name, "");
    if (piece.kind != PieceKind::Type) continue;
    for (const std::string& constructor : constructor_names(own)) {
      const Range at = find_whole(text, constructor, name.end, piece.range.end);
      add(constructor, SymbolKind::Constructor, at, head.name);
    }
  }
  return found;
}

}  // namespace quern::ide
