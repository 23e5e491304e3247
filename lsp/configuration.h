#pragma once

#include <string_view>

#include "lsp/state.h"

namespace quern::lsp {

/// Applies a client's settings, `{"evaluation": {"seconds": 10, "memoryMiB": 8192}}`, also below "quern". Warns about
/// invalid ones; absent ones stay unchanged.
template <class Json>
void take_settings(ServerState& state, const Json& settings);

/// The id of the request for the client's settings.
constexpr std::string_view kSettingsRequest = "settings";

/// Sends that request. Its response is for `take_settings`.
void ask_for_settings(ServerState& state);

}  // namespace quern::lsp
