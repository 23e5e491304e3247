#pragma once
// The arguments of commands that show a value or write it to a file: `EXPR`, `EXPR > FILE`.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "session/db/ids.h"

namespace quern {

class Workspace;
struct StatementResult;

/// Evaluates an expression and passes it to `show`; false if that fails or `show` does.
bool with_value(Workspace& workspace, const std::string& expression, std::string_view command,
                const std::function<bool(const StatementResult&)>& show);

/// The same for an expression that is a statement already.
bool use_value(Workspace& workspace, DeclarationId statement,
               const std::function<bool(const StatementResult&)>& show);

/// The expression, and the file to write to, if any.
struct Asked {
  std::string expressions, file;
};
/// The name of the file has one of the endings. Reports a file name without `>` before it, and returns nothing then.
std::optional<Asked> asked_for(Workspace& workspace, const std::string& request, std::string_view command,
                               std::span<const std::string_view> endings);

}  // namespace quern
