#pragma once
// Commands that tell what a name stands for.

#include <string>

namespace quern {

class Workspace;

/// Signature and documentation.
bool show_documentation(Workspace& workspace, const std::string& name);
/// The text of the declaration, after a line with its place.
bool show_source(Workspace& workspace, const std::string& name);
/// The file and the line of the declaration.
bool show_place(Workspace& workspace, const std::string& name);

}  // namespace quern
