#pragma once
// Gradients as definitions.

#include <optional>
#include <string>
#include <string_view>

#include "session/session.h"

namespace quern::ide {

/// `def @name[n](%x: t) { grad(@f)(%x) }`, so that a polymorphic function has a gradient at any dims; nothing for one
/// that is specialised for the arguments of each call.
std::optional<std::string> gradient_definition(const Definition& function, std::string_view name);

/// Such a definition in a module, with `grad` replaced by what it derives, as trimmed text. Nothing if it has errors,
/// or if that was interrupted.
std::optional<std::string> derived_definition(Session& session, ModuleId module, std::string_view name);

}  // namespace quern::ide
