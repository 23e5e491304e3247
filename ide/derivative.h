#pragma once
// The gradient of a function as text.

#include <string>
#include <string_view>

#include "ir/base/result.h"
#include "session/session.h"

namespace quern::ide {

/// The definition `@grad_NAME` of the gradient of `@NAME`, simplified, as a module would write it. Fails where there
/// is no such definition, or where it has no gradient or no type of its own.
Result<std::string> derivative_text(Session& session, ModuleId module, std::string_view name);

}  // namespace quern::ide
