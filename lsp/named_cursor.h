#pragma once

#include <optional>

#include "ide/name_places.h"
#include "lsp/cursor.h"

namespace quern::lsp {

/// The name at a cursor; nothing if there is none. Adds the files of the workspace that may contain the same name to
/// the session.
std::optional<ide::NamePlace> name_under(ServerState& state, const Cursor& at);

}  // namespace quern::lsp
