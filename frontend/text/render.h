#pragma once
// Diagnostics as text: for a terminal, and as JSON.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"

namespace quern {

/// `error[Q0302]: message`, `--> file:line:column`, the source lines with carets, then notes and fixes the
/// same way. Bytes that are no characters of a text, control characters among them, are shown escaped.
std::string render_terminal(const LocatedDiagnostic& diagnostic, bool colour);
/// The list that `quern check --json` prints (design.md section 4), with "fixes".
std::string render_json(const std::vector<LocatedDiagnostic>& diagnostics);

/// At most this many diagnostics of a file are shown; of the others only the number.
constexpr size_t kMostDiagnostics = 200;
/// All of them for a terminal, one after the other, and `… and N more`.
std::string render_all(const std::vector<LocatedDiagnostic>& diagnostics, bool colour,
                       size_t most = kMostDiagnostics);

/// How many columns of a terminal a code point takes: 0, 1 or 2 (East Asian Width W and F, emoji).
int columns_of(char32_t code_point);
/// A text that a terminal can show: what is no valid UTF-8 as `\xE9`, control characters (but line ends) too.
std::string printable(std::string_view text);

}  // namespace quern
