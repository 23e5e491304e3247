#pragma once

#include <optional>

#include "ide/name_places.h"
#include "lsp/cursor.h"

namespace quern::lsp {

/// The name at a cursor; nothing where none is. The files of the workspace that may have the same name are
/// sources of the session from then on.
std::optional<ide::NamePlace> name_under(ServerState& state, const Cursor& at);

}  // namespace quern::lsp
