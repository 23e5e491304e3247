#pragma once
// Commands about gradients.

#include <string>

namespace quern {

class Workspace;

/// `@f`: its gradient as a definition, simplified.
bool show_gradient(Workspace& workspace, const std::string& name);
/// `@f(args)` or `@f args`: the derived gradient beside central differences, for each parameter.
bool check_gradient(Workspace& workspace, const std::string& request);

}  // namespace quern
