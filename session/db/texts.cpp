// Queries on declarations that depend only on their text.

#include <algorithm>
#include <iterator>

#include "session/db/database.h"

namespace quern {

namespace {

// The clauses without schedules, which concern only how a body runs.
SyntaxPtr without_schedules(SyntaxPtr clauses, Arena& arena) {
  if (!clauses || !clauses->is(SyntaxKind::Clauses)) return clauses;
  std::vector<SyntaxPtr> kept;
  std::ranges::copy_if(clauses->children, std::back_inserter(kept),
                       [](SyntaxPtr clause) { return !clause->is(SyntaxKind::Schedule); });
  if (kept.size() == clauses->children.size()) return clauses;
  return arena.make<Syntax>(clauses->kind, clauses->id, clauses->text, arena.copy(kept));
}

// Whether a tree matches the scanner's kind of its piece. Incomplete text may not: `op "`.
bool fits_kind(SyntaxKind root, PieceKind piece) {
  switch (piece) {
    case PieceKind::Def: return root == SyntaxKind::Def;
    case PieceKind::Op: return root == SyntaxKind::Op || root == SyntaxKind::ExternOp;
    case PieceKind::Type:
      return root == SyntaxKind::TypeDecl || root == SyntaxKind::ExternType || root == SyntaxKind::TypeAlias;
    case PieceKind::Import: return root == SyntaxKind::Import || root == SyntaxKind::ImportAs;
    case PieceKind::Test: return root == SyntaxKind::Test;
    case PieceKind::Infix: return root == SyntaxKind::Infix;
    case PieceKind::Static: return root == SyntaxKind::Static;
    case PieceKind::Statement: return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const Metadata> Database::parse_metadata(SourceId source) {
  const std::string& text = metadata_text.get(source);
  if (!text.empty()) return std::make_shared<Metadata>(read_metadata(text));
  const std::string& path = constants_path.get(source);
  return path.empty() ? nullptr : stored_constants.get(path).metadata;
}

void Database::begin_parse_ahead(SourceId source, const std::vector<size_t>& pieces) {
  constexpr size_t kFewest = 64;  // a few are not worth a thread
  parse_ahead.reset();
  if (pieces.size() < kFewest || sources[source].image) return;
  std::vector<ParseAhead::Part> parts;
  const auto add = [&](DeclarationId id) {
    if (!parsed.is_current(id)) parts.push_back({id, piece_text.peek(id), declarations[id].part_of != 0});
  };
  for (const size_t piece : pieces) {
    const DeclarationId id = layouts[source]->ids[piece];
    add(id);
    for (const DeclarationId chunk : bodies.chunks.peek(id)) add(chunk);
  }
  if (parts.size() >= kFewest) parse_ahead = std::make_unique<ParseAhead>(parts, slash_names.peek(source));
}

ParseOutcome Database::parse(DeclarationId id) {
  if (const auto& image = sources[declarations[id].source].image) return image->parsed(index_of[id]);
  const std::string_view text = text_of_declaration(id);
  const bool has_slash_names = slash_names.get(declarations[id].source);
  if (parse_ahead)
    if (std::optional<ParseOutcome> outcome = parse_ahead->take(id)) return *std::move(outcome);
  return (declarations[id].part_of ? parse_chunk : parse_declaration)(text, has_slash_names);
}

Declaration Database::make_tree(DeclarationId id) {
  const ParsedTree& t = parsed(id).tree;
  static const Syntax broken{SyntaxKind::Error, 1};
  bool fits = declarations[id].part_of ? t.root->is(SyntaxKind::Block)
                                       : fits_kind(t.root->kind, declarations[id].kind);
  return {id, declarations[id].name, fits ? t.root : &broken, t.arena};
}

// The part that users of a definition or an operator see. Node ids are those of the whole tree.
Declaration Database::make_head(DeclarationId id) {
  const Declaration& whole = tree(id);
  SyntaxPtr s = whole.syntax;
  bool has_bodies = s->is(SyntaxKind::Def) || s->is(SyntaxKind::Op) || s->is(SyntaxKind::ExternOp);
  if (!has_bodies || s->children.size() < 5) return whole;
  auto arena = std::make_shared<Arena>();
  arena->keep(whole.arena);
  std::vector<SyntaxPtr> children(s->children.begin(), s->children.end());
  children[3] = without_schedules(children[3], *arena);
  children[4] = arena->make<Syntax>(SyntaxKind::Bodies, children[4] ? children[4]->id : 0);
  SyntaxPtr head = arena->make<Syntax>(s->kind, s->id, s->text, arena->copy(children));
  return {whole.id, whole.name, head, arena};
}

std::vector<std::string> Database::find_references(DeclarationId id) {
  std::vector<std::string> all = referenced_globals(tree(id).syntax);
  for (DeclarationId chunk : bodies.chunks.get(id)) {
    if (engine.cancelled()) break;
    std::ranges::copy(references(chunk), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool Database::has_no_problems(DeclarationId id) { return parsed(id).problems.empty(); }

bool Database::parses_whole(DeclarationId id) {
  return parses(id) &&
         std::ranges::all_of(bodies.chunks.get(id), [this](DeclarationId c) { return parses(c); });
}

bool Database::mentions(DeclarationId id, std::string_view word) {
  auto in_part = [&](DeclarationId part) {
    return text_of_declaration(part).find(word) != std::string::npos;
  };
  return in_part(id) || std::ranges::any_of(bodies.chunks.get(id), in_part);
}

std::vector<std::pair<DeclarationId, std::string>> Database::find_broken(ModuleId module) {
  pieces.get(module);
  std::vector<std::pair<DeclarationId, std::string>> broken;
  for (SourceId source : modules[module])
    for (DeclarationId id : layouts[source]->ids)
      if (!parsed(id).problems.empty()) broken.emplace_back(id, text_of_declaration(id));
  return broken;
}

}  // namespace quern
