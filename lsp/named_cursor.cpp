#include "lsp/named_cursor.h"

#include <string>

namespace quern::lsp {

std::optional<ide::NamePlace> name_under(ServerState& state, const Cursor& at) {
  // Without notifications of changes on the disk, each request rereads the files.
  if (!state.client.watches_files) state.documents.reread_files();
  const auto name = ide::name_at(state.session, at.source, at.offset);
  if (!name || ide::is_seen_in_its_module_alone(name->target.kind)) return name;
  const auto declared = ide::declared_place(state.session, name->target);
  if (!declared) return name;
  const std::string own(ide::text_at(state.session, *declared));
  state.workspace.read_users(state.session, declared->source, own);
  return name;
}

}  // namespace quern::lsp
