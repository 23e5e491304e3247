#pragma once
// Diagnostics: one value with a primary place, notes and fixes; the terminal, JSON and LSP are renderings of
// it (frontend/text/render.h).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"
#include "ir/expr/expr.h"

namespace quern {

enum class DiagnosticKind : uint8_t {
#define QUERN_DIAGNOSTIC(code, name, title) name,
#include "frontend/text/diagnostics.def"
#undef QUERN_DIAGNOSTIC
};

/// Warnings and notes do not prevent the program from running.
enum class Severity : uint8_t { Error, Warning, Note };

std::string_view code_of(DiagnosticKind kind);   ///< "Q0302"
std::string_view title_of(DiagnosticKind kind);  ///< "dimension mismatch"
Severity severity_of(DiagnosticKind kind);
/// "error", "warning", "note"
std::string_view to_string(Severity severity);
/// Every kind, in table order.
const std::vector<DiagnosticKind>& all_diagnostic_kinds();

/// The part of a node's text that a place covers.
enum class Part : uint8_t {
  Whole,
  Head,        ///< the first `length` bytes
  Tail,        ///< the last `length` bytes
  Before,      ///< empty, at the node's start
  After,       ///< empty, at the node's end
  BeforeOpen,  ///< empty, before the bracket that encloses the node's start
  Bracketed,   ///< including the brackets directly around it
};

/// A place in a declaration: a syntax node or, if no node corresponds to it, bytes relative to the
/// declaration's start.
struct Place {
  Origin origin;
  std::optional<Range> range;  ///< relative to the declaration
  Part part = Part::Whole;
  uint32_t length = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Note {
  std::optional<Place> place;
  std::string message;
  friend bool operator==(const Note&, const Note&) = default;
};

/// Replaces the text at a place.
struct Edit {
  Place place;
  std::string text;
  friend bool operator==(const Edit&, const Edit&) = default;
};
/// A change of the text that resolves the diagnostic. Offered only if it is certain to be intended; all edits
/// are in the diagnostic's file.
struct Fix {
  std::string title;  ///< what it does, in the imperative: "write `@`"
  std::vector<Edit> edits;
  friend bool operator==(const Fix&, const Fix&) = default;
};

struct Diagnostic {
  DiagnosticKind kind;
  Place place;
  std::string message;
  std::vector<Note> notes;
  std::vector<Fix> fixes;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};
using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& diagnostics);

/// A diagnostic with resolved places, as the renderers take it.
struct LocatedNote {
  std::string file;
  std::string_view text;  ///< the whole source; empty for a note without a place
  Range range;
  std::string message;
};
struct LocatedFix {
  std::string title;
  std::vector<std::pair<Range, std::string>> edits;  ///< in the diagnostic's file, in source order
};
struct LocatedDiagnostic {
  DiagnosticKind kind;
  std::string file;
  std::string_view text;
  Range range;
  std::string message;
  std::vector<LocatedNote> notes;
  std::vector<LocatedFix> fixes;
};

bool has_errors(const std::vector<LocatedDiagnostic>& diagnostics);

}  // namespace quern
