#pragma once
// The arguments of commands about a definition or an expression.

#include <functional>
#include <string_view>

namespace quern {

class Workspace;
struct Definition;

/// Calls `use` with the argument, the definition `@f` or an expression. Reports any other argument.
bool with_definition(Workspace& workspace, std::string_view asked, std::string_view command,
                     const std::function<bool(const Definition&)>& use);

}  // namespace quern
