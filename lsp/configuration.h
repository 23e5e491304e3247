#pragma once

#include "lsp/state.h"

namespace quern::lsp {

/// Applies a client's settings, `{"evaluation": {"seconds": 10, "memoryMiB": 8192}}`, also below "quern". Warns about
/// invalid ones; absent ones stay unchanged.
template <class Json>
void take_settings(ServerState& state, const Json& settings);

}  // namespace quern::lsp
