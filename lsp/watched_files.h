#pragma once
// workspace/didChangeWatchedFiles: files that the client does not have open change on the disk, and what
// imports them is checked again.

#include "lsp/state.h"

namespace quern::lsp {

/// Asks a client that can watch files to watch `.relay` files. Handles `initialized`.
template <class Json>
void watch_files(ServerState& state, const Json& params);
template <class Json>
void did_change_watched_files(ServerState& state, const Json& params);

}  // namespace quern::lsp
