#pragma once
// Types as a module's own text would write them.

#include <optional>
#include <string>

#include "session/session.h"

namespace quern::ide {

/// `net.Net` for a type of an import, `?` for dims that represent one; nothing for a type of a file whose names the
/// module does not see.
std::optional<std::string> written_type(Session& session, ModuleId module, Type type);

}  // namespace quern::ide
