#pragma once
// Commands that look into a run: at variables inside of functions, and for the first value that is no number.

#include <string>

namespace quern {

class Workspace;

/// `@f(args) %y`: the values that %y of @f has in that call; `@f %y`: in the last input that called @f.
bool probe_variable(Workspace& workspace, const std::string& request);
/// The first operator whose result has a NaN or an infinity although its operands have none.
bool find_nan(Workspace& workspace, const std::string& expression);

}  // namespace quern
