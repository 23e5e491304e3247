// What is known about a place in a text.

#include <fmt/format.h>

#include <algorithm>

#include "session/session_impl.h"

namespace quern {

namespace {

// The smallest node at an offset that has a type, or is a name.
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

// What inference says about a declaration or a chunk; null for one that is not inferred.
const Inferred* Session::inferred(DeclarationId id) {
  const DeclarationInfo& about = info(id);
  if (about.kind == PieceKind::Statement) return &impl_->statement(id);
  bool definition = about.kind == PieceKind::Def && about.name.starts_with("@");
  return definition ? impl_->inferred(about.module, about.name.substr(1)) : nullptr;
}

const std::vector<Type>* Session::types_of(DeclarationId id) {
  static const std::vector<Type> none;
  const Inferred* known = inferred(id);
  if (!known) return &none;
  if (!info(id).part_of) return &known->types;
  size_t index = impl_->index_of[id];
  return index < known->chunk_types.size() ? known->chunk_types[index].get() : &none;
}

std::optional<HoverInfo> Session::hover(SourceId source, uint32_t offset) {
  const Layout& all = impl_->layouts[source];
  auto piece = std::partition_point(all.scan.pieces.begin(), all.scan.pieces.end(),
                                    [&](const Piece& p) { return p.range.end < offset; });
  if (piece == all.scan.pieces.end() || offset < piece->range.begin) return std::nullopt;
  DeclarationId id = all.ids[static_cast<size_t>(piece - all.scan.pieces.begin())];
  const DeclarationInfo about = info(id);
  DeclarationId part = id;
  auto ranges = impl_->bodies.ranges.find(id);
  if (ranges != impl_->bodies.ranges.end())
    for (size_t i = 0; i < ranges->second.size(); ++i) {
      Range r = ranges->second[i];
      if (offset >= piece->range.begin + r.begin && offset < piece->range.begin + r.end)
        part = impl_->bodies.chunks.peek(id)[i];
    }
  const ParseOutcome& outcome = impl_->parsed(part).outcome;
  Range start = impl_->bodies.in_whole(part, {0, 0});
  std::vector<SyntaxPtr> path;
  innermost(tree_root(part), outcome.spans, offset - piece->range.begin - (part == id ? 0 : start.begin),
            path);
  const auto step = std::ranges::find(path, SyntaxKind::ScheduleStep, &Syntax::kind);
  if (step != path.end()) {
    const auto primitive = loops::find_primitive((*step)->text);
    const Range name = range_of({{part, (*step)->child(1)->id}, {}});
    if (!primitive || offset < name.begin || offset > name.end) return std::nullopt;
    const loops::PrimitiveInfo& about = loops::info(*primitive);
    return HoverInfo{name, fmt::format("```quern\n{}\n```\n\n{}", about.form, about.does)};
  }
  const std::vector<Type>& types = *types_of(part);
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    SyntaxPtr s = *it;
    Range at = range_of({{part, s->id}, {}});
    if (s->is(SyntaxKind::Name)) {
      DeclarationId op = impl_->find(about.module, NameTable::Operators, s->text);
      if (op) return HoverInfo{at, operator_markdown(op)};
    }
    Type type = s->id < types.size() ? types[s->id] : nullptr;
    if (type && !type->is_error()) return HoverInfo{at, fmt::format("```quern\n{}\n```", to_string(type))};
  }
  const Inferred* known = inferred(id);
  if (known && known->definition.scheme.type && !known->definition.scheme.type->is_error())
    return HoverInfo{piece->range,
                     fmt::format("```quern\n{}: {}\n```", about.name, to_string(known->definition.scheme))};
  return std::nullopt;
}

std::vector<std::pair<Range, std::string>> Session::node_types(SourceId source) {
  std::vector<std::pair<Range, std::string>> out;
  auto add = [&](DeclarationId id) {
    const std::vector<Type>& types = *types_of(id);
    for (uint32_t node = 1; node < types.size(); ++node)
      if (types[node]) out.emplace_back(range_of({{id, node}, {}}), to_string(types[node]));
  };
  for (DeclarationId id : impl_->layouts[source].ids) {
    add(id);
    for (DeclarationId chunk : impl_->bodies.chunks.peek(id)) add(chunk);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  return out;
}

SyntaxPtr Session::tree_root(DeclarationId id) { return impl_->parsed(id).outcome.tree.root; }

std::string Session::signature(DeclarationId id) {
  std::string source = impl_->piece_text.peek(id);
  SyntaxPtr root = tree_root(id);
  // The signature is the text up to the body.
  SyntaxPtr bodies = root->children.size() > 4 ? root->child(4) : nullptr;
  uint32_t end =
      bodies ? impl_->parsed(id).outcome.spans[bodies->id].begin : static_cast<uint32_t>(source.size());
  std::string signature = source.substr(0, end);
  while (!signature.empty() && std::isspace(static_cast<unsigned char>(signature.back())))
    signature.pop_back();
  return signature;
}

std::string Session::operator_markdown(DeclarationId id) {
  const Piece* piece = impl_->piece_of(id);
  std::string doc = piece && !piece->doc.empty() ? "\n\n" + piece->doc : "";
  return fmt::format("```quern\n{}\n```{}", signature(id), doc);
}

}  // namespace quern
