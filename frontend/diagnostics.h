#pragma once
// Diagnostics: one value with a primary place, notes and perhaps a fix; the terminal, JSON and LSP are
// renderings of it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/source.h"
#include "ir/expr.h"

namespace quern {

enum class DiagnosticKind : uint8_t {
#define QUERN_DIAGNOSTIC(code, name, title) name,
#include "frontend/diagnostics.def"
#undef QUERN_DIAGNOSTIC
};

std::string_view code_of(DiagnosticKind kind);   ///< "Q0302"
std::string_view title_of(DiagnosticKind kind);  ///< "dimension mismatch"

/// A place in a declaration: a syntax node, or (where no node stands for it) bytes relative to the
/// declaration's start.
struct Place {
  Origin origin;
  std::optional<Range> range;  ///< relative to the declaration
  friend bool operator==(const Place&, const Place&) = default;
};

struct Note {
  std::optional<Place> place;
  std::string message;
  friend bool operator==(const Note&, const Note&) = default;
};

struct Diagnostic {
  DiagnosticKind kind;
  Place place;
  std::string message;
  std::vector<Note> notes;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};
using Diagnostics = std::vector<Diagnostic>;

/// A diagnostic with its places looked up: what the renderers take.
struct LocatedNote {
  std::string file;
  std::string_view text;  ///< the whole source; empty for a note without a place
  Range range;
  std::string message;
};
struct LocatedDiagnostic {
  DiagnosticKind kind;
  std::string file;
  std::string_view text;
  Range range;
  std::string message;
  std::vector<LocatedNote> notes;
};

/// Message, `--> file:line:column`, the source line with carets, then the notes the same way.
std::string render_terminal(const LocatedDiagnostic& diagnostic, bool colour);
/// The list that `quern check --json` prints (design.md section 4).
std::string render_json(const std::vector<LocatedDiagnostic>& diagnostics);

/// The candidate nearest to `name` by edit distance, when near enough to be a likely slip.
std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace quern
