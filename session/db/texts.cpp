// Queries on declarations that depend only on their text.

#include <algorithm>
#include <iterator>

#include "session/db/database.h"

namespace quern {

std::shared_ptr<const Metadata> Database::parse_metadata(SourceId source) {
  const std::string& text = metadata_text.get(source);
  if (!text.empty()) return std::make_shared<Metadata>(read_metadata(text));
  const std::string& path = constants_path.get(source);
  return path.empty() ? nullptr : stored_constants.get(path).metadata;
}

void Database::begin_read_ahead(SourceId source, const std::vector<size_t>& pieces) {
  constexpr size_t kFewest = 64;  // a few are not worth a thread
  read_ahead.reset();
  if (pieces.size() < kFewest || sources[source].image) return;
  std::vector<ReadAhead::Part> parts;
  const auto add = [&](DeclarationId id) {
    if (!parsed.is_current(id)) parts.push_back({id, piece_text.peek(id), kind_of_text(id)});
  };
  for (const size_t piece : pieces) {
    const DeclarationId id = layouts[source]->ids[piece];
    add(id);
    for (const DeclarationId chunk : bodies.chunks.peek(id)) add(chunk);
  }
  if (parts.size() >= kFewest) read_ahead = std::make_unique<ReadAhead>(parts, slash_names.peek(source));
}

ParseOutcome Database::parse(DeclarationId id) {
  if (const auto& image = sources[declarations[id].source].image) return image->parsed(index_of[id]);
  const std::string_view text = text_of_declaration(id);
  const bool has_slash_names = slash_names.get(declarations[id].source);
  if (read_ahead)
    if (std::optional<ParseOutcome> outcome = read_ahead->take_outcome(id)) return *std::move(outcome);
  return (declarations[id].part_of ? parse_chunk : parse_declaration)(text, has_slash_names);
}

Declaration Database::make_tree(DeclarationId id) { return declaration_of(id, parsed(id).tree.root); }

Declaration Database::make_head(DeclarationId id) { return declaration_of(id, parsed(id).tree.head); }

Declaration Database::declaration_of(DeclarationId id, SyntaxPtr part) {
  return {id, declarations[id].name, fitting(part, kind_of_text(id)), parsed(id).tree.arena};
}

TextKind Database::kind_of_text(DeclarationId id) const {
  const DeclarationInfo& about = declarations[id];
  return about.part_of ? TextKind() : about.kind;
}

TextDiagnostics Database::diagnose_text(DeclarationId id) {
  SyntaxPtr root = tree(id).syntax;
  if (read_ahead)
    if (auto found = read_ahead->take_diagnostics(id)) return *std::move(found);
  return diagnostics_of_text(root, kind_of_text(id), id);
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
