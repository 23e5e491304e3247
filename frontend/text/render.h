#pragma once
// Diagnostics as text: for a terminal, and as JSON.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"

namespace quern {

/// `error[Q0302]: message`, `--> file:line:column`, the source lines with carets, then notes and fixes the
/// same way. Invalid bytes and control characters are escaped.
/// On a terminal of `width` columns, messages go on over lines and source lines are cut.
std::string render_terminal(const LocatedDiagnostic& diagnostic, bool colour, size_t width = SIZE_MAX);
/// The list that `quern check --json` prints (design.md section 4), with "fixes".
std::string render_json(const std::vector<LocatedDiagnostic>& diagnostics);

/// At most this many diagnostics of a file are shown, with the number of the others.
constexpr size_t kMostDiagnostics = 200;
/// Diagnostics for a terminal, one after another, and `… and N more`.
std::string render_all(const std::vector<LocatedDiagnostic>& diagnostics, bool colour,
                       size_t most = kMostDiagnostics, size_t width = SIZE_MAX);

/// The text in lines of `width` columns where it has blanks to break it at, those below the first after
/// `indent` blanks; the first one has as many columns less.
std::string wrapped(std::string_view text, size_t indent, size_t width);
/// The number of terminal columns of a code point: 0, 1 or 2 (East Asian Width W and F, emoji).
int columns_of(char32_t code_point);
/// The text in displayable form: invalid UTF-8 and control characters, except line ends, as `\xE9`.
std::string printable(std::string_view text);

}  // namespace quern
