#pragma once
// Explanations of diagnostic codes: the sections of docs/errors.md.

#include <optional>
#include <string>
#include <string_view>

#include "frontend/text/diagnostics.h"

namespace quern::ide {

/// The section about a kind, heading included, as Markdown.
std::string_view explanation_of(DiagnosticKind kind);

/// The kind of a code as people type it: `Q0103`, `q0103`, `Q103` or `103`.
std::optional<DiagnosticKind> kind_of_code(std::string_view code);

/// Why a typed code names no kind, and what to type instead.
std::string unknown_code(std::string_view code);

}  // namespace quern::ide
