#pragma once

#include "lsp/state.h"

namespace quern::lsp {

/// Takes a client's settings, `{"evaluation": {"seconds": 10, "memoryMiB": 8192}}`, also below "quern". What is wrong in
/// them is shown, and what is absent stays.
template <class Json>
void take_settings(ServerState& state, const Json& settings);

}  // namespace quern::lsp
