#pragma once
// The interactive loop: on a terminal with prompts, over a pipe without.

#include "session/session.h"

namespace quern {

int run_repl(Session& session, bool interactive);

}  // namespace quern
