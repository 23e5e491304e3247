// The syntax at a position in a text, and the types of nodes.

#include <algorithm>

#include "frontend/names/name_range.h"
#include "session/db/database.h"
#include "session/session.h"

namespace quern {

namespace {

// Collects the path to the smallest node at an offset.
void innermost(SyntaxPtr s, const std::vector<Range>& spans, uint32_t offset, std::vector<SyntaxPtr>& path) {
  if (!s || offset < spans[s->id].begin || offset > spans[s->id].end) return;
  path.push_back(s);
  for (SyntaxPtr c : s->children) {
    size_t depth = path.size();
    innermost(c, spans, offset, path);
    if (path.size() > depth) return;
  }
}

}  // namespace

const Inferred* Session::inferred(DeclarationId id) {
  const DeclarationInfo& about = info(id);
  if (about.kind == PieceKind::Statement) return &db_->statement(id);
  bool definition = about.kind == PieceKind::Def && about.name.starts_with("@");
  return definition ? db_->inferred(about.module, about.name.substr(1)) : nullptr;
}

const std::vector<Type>& Session::types_of(DeclarationId id) { return db_->types_of(id); }

const Occurrences& Session::occurrences(DeclarationId id) { return db_->occurrences(id); }

Range Session::range_of(const Occurrence& occurrence, DeclarationId in) {
  const ParseOutcome& parsed = db_->parsed(in);
  SyntaxPtr node = find_node(parsed.tree.root, occurrence.node);
  const Range name = node ? name_range(node, db_->text_of_declaration(in), parsed.spans) : Range{};
  const Range part{name.begin + occurrence.part.begin, name.begin + occurrence.part.end};
  return range_of(Place{{in, occurrence.node}, part});
}

std::optional<SyntaxPath> Session::syntax_at(SourceId source, uint32_t offset) {
  const Layout& all = *db_->layouts[source];
  auto piece = std::partition_point(all.scan.pieces.begin(), all.scan.pieces.end(),
                                    [&](const Piece& p) { return p.range.end < offset; });
  if (piece == all.scan.pieces.end() || offset < piece->range.begin) return std::nullopt;
  const DeclarationId whole = all.ids[static_cast<size_t>(piece - all.scan.pieces.begin())];
  SyntaxPath path{whole, piece->range, whole, {}};
  if (auto cut = db_->bodies.in_text.find(whole); cut != db_->bodies.in_text.end())
    for (size_t i = 0; i < cut->second.ranges.size(); ++i) {
      Range r = cut->second.ranges[i];
      if (offset >= piece->range.begin + r.begin && offset < piece->range.begin + r.end)
        path.declaration = db_->bodies.chunks.peek(whole)[i];
    }
  const bool in_chunk = path.declaration != whole;
  const uint32_t start = in_chunk ? db_->bodies.in_whole(path.declaration, {0, 0}).begin : 0;
  innermost(tree_root(path.declaration), db_->parsed(path.declaration).spans,
            offset - piece->range.begin - start, path.nodes);
  return path;
}

std::vector<std::pair<Range, std::string>> Session::node_types(SourceId source) {
  std::vector<std::pair<Range, std::string>> out;
  auto add = [&](DeclarationId id) {
    const std::vector<Type>& types = types_of(id);
    for (uint32_t node = 1; node < types.size(); ++node)
      if (types[node]) out.emplace_back(range_of({{id, node}, {}}), to_string(types[node]));
  };
  for (DeclarationId id : db_->layouts[source]->ids) {
    add(id);
    for (DeclarationId chunk : db_->bodies.chunks.peek(id)) add(chunk);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  return out;
}

const std::vector<DeclarationId>& Session::chunks(DeclarationId id) const {
  return db_->bodies.chunks.peek(id);
}

SyntaxPtr Session::tree_root(DeclarationId id) { return db_->parsed(id).tree.root; }

std::string Session::signature(DeclarationId id) {
  const std::string_view source = db_->text_of_declaration(id);
  SyntaxPtr root = tree_root(id);
  // The signature is the text up to the body.
  SyntaxPtr bodies = root->children.size() > 4 ? root->child(4) : nullptr;
  uint32_t end = bodies ? db_->parsed(id).spans[bodies->id].begin : static_cast<uint32_t>(source.size());
  std::string signature(source.substr(0, end));
  while (!signature.empty() && std::isspace(static_cast<unsigned char>(signature.back())))
    signature.pop_back();
  return signature;
}

std::string Session::doc(DeclarationId id) {
  const Piece* piece = db_->piece_of(id);
  return piece ? piece->doc : "";
}

}  // namespace quern
