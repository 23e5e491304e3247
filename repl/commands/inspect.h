#pragma once
// Commands that tell what is there: types, shapes, variables, definitions, diagnostics.

#include <string>

namespace quern {

class Workspace;

bool show_type(Workspace& workspace, const std::string& expression);
/// Shape and dtype alone; of a variable those of its value.
bool show_shape(Workspace& workspace, const std::string& expression);
bool show_variables(Workspace& workspace, const std::string& nothing);
bool show_definitions(Workspace& workspace, const std::string& nothing);
/// What a code of a diagnostic means; with "" the last diagnostic that was shown.
bool explain_code(Workspace& workspace, const std::string& code);

}  // namespace quern
