#include "ide/name_places.h"

#include <algorithm>

namespace quern::ide {

namespace {

NamePlace place_of(Session& session, const Occurrence& occurrence, DeclarationId in) {
  return {
      session.info(in).source, session.range_of(occurrence, in), in, occurrence.target, occurrence.declares,
      occurrence.symbol};
}

// A body in chunks is one declaration whose chunks are declarations too.
void add_names(Session& session, DeclarationId declaration, std::vector<NamePlace>& out) {
  for (const Occurrence& occurrence : session.occurrences(declaration))
    out.push_back(place_of(session, occurrence, declaration));
  for (const DeclarationId chunk : session.chunks(declaration)) add_names(session, chunk, out);
}

void sort_by_place(std::vector<NamePlace>& names) {
  std::ranges::sort(names, {}, [](const NamePlace& name) { return name.range.begin; });
}

}  // namespace

std::optional<NamePlace> name_at(Session& session, SourceId source, uint32_t offset) {
  const std::optional<SyntaxPath> at = session.syntax_at(source, offset);
  if (!at) return std::nullopt;
  const std::string& text = session.text(source);
  const bool on_sigil = offset < text.size() && (text[offset] == '%' || text[offset] == '@');
  std::optional<NamePlace> found;
  for (const Occurrence& occurrence : session.occurrences(at->declaration)) {
    const Range range = session.range_of(occurrence, at->declaration);
    const bool from_sigil = on_sigil && range.begin == offset + 1 && !occurrence.symbol;
    if ((offset < range.begin && !from_sigil) || offset > range.end) continue;
    // If a symbol and a name touch, the name is chosen.
    if (!found || (found->symbol && !occurrence.symbol))
      found = place_of(session, occurrence, at->declaration);
  }
  return found;
}

std::vector<NamePlace> names_in_declaration(Session& session, DeclarationId declaration) {
  std::vector<NamePlace> names;
  add_names(session, declaration, names);
  sort_by_place(names);
  return names;
}

std::vector<NamePlace> names_in(Session& session, SourceId source) {
  std::vector<NamePlace> names;
  for (const DeclarationId id : session.declarations(source)) add_names(session, id, names);
  sort_by_place(names);
  return names;
}

std::vector<NamePlace> places_in(Session& session, SourceId source, const NameTarget& target) {
  std::vector<NamePlace> places;
  auto look = [&](DeclarationId id) {
    for (const Occurrence& occurrence : session.occurrences(id))
      if (occurrence.target == target) places.push_back(place_of(session, occurrence, id));
  };
  for (const DeclarationId id : session.declarations(source)) {
    look(id);
    for (const DeclarationId chunk : session.chunks(id)) look(chunk);
  }
  sort_by_place(places);
  return places;
}

std::optional<NamePlace> declared_place(Session& session, const NameTarget& target) {
  const DeclarationId in = target.declared.declaration;
  if (!in) return std::nullopt;
  for (const Occurrence& occurrence : session.occurrences(in))
    if (occurrence.declares && occurrence.target == target) return place_of(session, occurrence, in);
  return std::nullopt;
}

Type type_of_binding(Session& session, DeclarationId declaration, SyntaxPtr binder) {
  const std::vector<Type>& types = session.types_of(declaration);
  auto of = [&](SyntaxPtr node) {
    const Type type = node && node->id < types.size() ? types[node->id] : nullptr;
    return type && !contains_error(type) ? type : nullptr;
  };
  if (const Type type = of(binder)) return type;
  // In a body, the type is that of the value.
  if (binder->is(SyntaxKind::Let)) return of(binder->child(1));
  return binder->is(SyntaxKind::GraphLet) ? of(binder->child(0)) : nullptr;
}

bool is_seen_in_its_module_alone(NameKind kind) {
  switch (kind) {
    case NameKind::Variable:
    case NameKind::TypeParameter:
    case NameKind::Constant:
    case NameKind::Index:
    case NameKind::Loop:
    case NameKind::Module: return true;
    case NameKind::Definition:
    case NameKind::Operator:
    case NameKind::Static:
    case NameKind::Type:
    case NameKind::Constructor:
    case NameKind::Field:
    case NameKind::Attribute: return false;
  }
  return false;
}

std::string_view text_at(Session& session, const SourceRange& place) {
  return std::string_view(session.text(place.source))
      .substr(place.range.begin, place.range.end - place.range.begin);
}
std::string_view text_at(Session& session, const NamePlace& place) {
  return text_at(session, SourceRange{place.source, place.range});
}

}  // namespace quern::ide
