#include "session/snapshot.h"

#include <algorithm>

#include "session/db/database.h"
#include "session/session.h"

namespace quern {

namespace {

/// The last inference of a definition, found among those of its group.
std::shared_ptr<const Inferred> known_definition(const Database& db, DeclarationId id, bool& is_current) {
  const NameKey key = db.key_of(id);
  const auto annotated = db.annotated.known(key);
  const bool is_alone = annotated && *annotated;
  const auto group = is_alone ? std::make_shared<const Group>(Group{key.name}) : db.group.known(key);
  if (!group || group->empty()) return nullptr;
  const NameKey of_group{key.module, group->front()};
  const auto members = db.group_inferred.known(of_group);
  if (!members) return nullptr;
  is_current = (is_alone ? db.annotated.is_current(key) : db.group.is_current(key)) &&
               db.group_inferred.is_current(of_group);
  for (size_t i = 0; i < std::min(members->size(), group->size()); ++i)
    if ((*group)[i] == key.name) return {members, &(*members)[i]};
  return nullptr;
}

}  // namespace

Snapshot Session::snapshot(SourceId source) {
  const Layout& layout = *db_->layouts[source];
  Snapshot snapshot{layout.text, {}};
  snapshot.declarations.reserve(layout.ids.size());
  for (size_t i = 0; i < layout.ids.size(); ++i) {
    const DeclarationId id = layout.ids[i];
    const Piece& piece = layout.scan.pieces[i];
    DeclarationSnapshot declared{id, piece.kind, piece.name, piece.range, piece.doc, nullptr, nullptr};
    if (db_->parsed.is_current(id)) declared.parsed = db_->parsed.known(id);
    if (piece.kind == PieceKind::Def && piece.name.starts_with("@")) {
      declared.inferred = known_definition(*db_, id, declared.is_current);
    } else {
      declared.inferred = db_->statement.known(id);
      declared.is_current = db_->statement.is_current(id);
    }
    snapshot.declarations.push_back(std::move(declared));
  }
  return snapshot;
}

}  // namespace quern
