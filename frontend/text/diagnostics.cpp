#include "frontend/text/diagnostics.h"

#include <algorithm>

namespace quern {

namespace {

struct KindRow {
  std::string_view code, title;
  Severity severity = Severity::Error;
};
constexpr KindRow kKinds[] = {
#define QUERN_DIAGNOSTIC(code, name, title) {#code, title},
#define QUERN_WARNING(code, name, title) {#code, title, Severity::Warning},
#define QUERN_NOTE(code, name, title) {#code, title, Severity::Note},
#include "frontend/text/diagnostics.def"
#undef QUERN_DIAGNOSTIC
};

const KindRow& row(DiagnosticKind kind) { return kKinds[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view code_of(DiagnosticKind kind) { return row(kind).code; }
std::string_view title_of(DiagnosticKind kind) { return row(kind).title; }
Severity severity_of(DiagnosticKind kind) { return row(kind).severity; }

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  return "";
}

const std::vector<DiagnosticKind>& all_diagnostic_kinds() {
  static const std::vector<DiagnosticKind> kinds = [] {
    std::vector<DiagnosticKind> list;
    for (size_t i = 0; i < std::size(kKinds); ++i) list.push_back(static_cast<DiagnosticKind>(i));
    return list;
  }();
  return kinds;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return severity_of(d.kind) == Severity::Error; });
}
bool has_errors(const std::vector<LocatedDiagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const LocatedDiagnostic& d) { return severity_of(d.kind) == Severity::Error; });
}

}  // namespace quern
