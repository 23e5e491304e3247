#pragma once
// Commands about the kernels of an expression: what they do, what they take, what keeps them from more.

#include <string>

namespace quern {

class Workspace;

/// `on`, `off`, `show`, or an expression, whose kernels are shown.
bool profile(Workspace& workspace, const std::string& request);
/// How much arithmetic and how many bytes each kernel of an expression or of @f is.
bool count_operations(Workspace& workspace, const std::string& asked);
/// What each kernel of an expression reaches of what arithmetic and memory allow.
bool show_roofline(Workspace& workspace, const std::string& expression);
/// What the session and its values keep in memory.
bool show_memory(Workspace& workspace, const std::string& nothing);

}  // namespace quern
