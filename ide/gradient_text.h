#pragma once
// Gradients as definitions.

#include <optional>
#include <string>
#include <string_view>

#include "session/session.h"

namespace quern::ide {

/// `def @name[n](%x: t) { grad(@f)(%x) }`, so that a general function has a gradient at any dims; nothing
/// for one that is typed anew for the arguments of each call.
std::optional<std::string> gradient_definition(const Definition& function, std::string_view name);

/// Such a definition, of a module's own, with what `grad` derives in its place, as text without the blanks
/// around it. Nothing where it has errors, or where that was interrupted.
std::optional<std::string> derived_definition(Session& session, ModuleId module, std::string_view name);

}  // namespace quern::ide
