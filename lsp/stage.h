#pragma once

#include <string>

#include "lsp/state.h"

namespace quern::lsp {

/// What a function of an open document, or all of it, becomes at a stage; `derivative` is a function's gradient. Throws
/// RequestFailed with the reason where it becomes nothing.
std::string stage_text(ServerState& state, const std::string& uri, const std::string& function,
                       const std::string& stage);

}  // namespace quern::lsp
