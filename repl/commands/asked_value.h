#pragma once
// What commands are given that show a value or write it into a file: `EXPR`, `EXPR > FILE`.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "session/db/ids.h"

namespace quern {

class Workspace;
struct StatementResult;

/// Evaluates an expression for `show`; whether there was a value, and all was well with it.
bool with_value(Workspace& workspace, const std::string& expression, std::string_view command,
                const std::function<bool(const StatementResult&)>& show);

/// The same of an expression that is a statement already.
bool use_value(Workspace& workspace, DeclarationId statement,
               const std::function<bool(const StatementResult&)>& show);

/// What is asked for, and the file that it is for, if any.
struct Asked {
  std::string expressions, file;
};
/// A file's name has one of the endings. Nothing, which is said, where it is not set off by `>`.
std::optional<Asked> asked_for(Workspace& workspace, const std::string& request, std::string_view command,
                               std::span<const std::string_view> endings);

}  // namespace quern
