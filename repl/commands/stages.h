#pragma once
// What a command is given that is about a definition or an expression.

#include <functional>
#include <string_view>

namespace quern {

class Workspace;
struct Definition;

/// Calls `use` with what a command is about: the definition `@f`, or an expression. Complains where it is
/// neither.
bool with_definition(Workspace& workspace, std::string_view asked, std::string_view command,
                     const std::function<bool(const Definition&)>& use);

}  // namespace quern
