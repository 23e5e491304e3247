// Bugs in Quern as diagnostics, with a file that contains what a report needs.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "generated/config.h"
#include "ir/base/internal_failure.h"
#include "session/db/database.h"
#include "session/session.h"

namespace quern {

namespace {

/// Writes a report unless it already exists; returns a message about it.
std::string keep_report(const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  const fs::path file = folder / fmt::format("quern-report-{:016x}.txt", std::hash<std::string>()(text));
  if (error || (!fs::exists(file, error) && !(std::ofstream(file, std::ios::binary) << text)))
    return "there is no place for a report; please report it with the text";
  return fmt::format("please report it with the file {}, which holds the text", file.string());
}

Range first_line(Range range, std::string_view text) {
  return {range.begin, static_cast<uint32_t>(std::min<size_t>(range.end, text.find('\n', range.begin)))};
}

}  // namespace

// Asks no query, since the bug may be there.
LocatedDiagnostic Session::locate(const InternalFailure& failure, DeclarationId asked) {
  Origin at = failure.origin;
  while (at.inlined != 0 && in_library(at.declaration)) at = origin_of_inlined(at.inlined);
  if (in_library(at.declaration)) at = {asked};
  LocatedDiagnostic located{DiagnosticKind::InternalError, "", {}, {}, "a bug of Quern: ", {}};
  located.message += failure.what();
  if (const Piece* piece = db_->piece_of(at.declaration)) {
    SourceId source = info(at.declaration).source;
    located.file = db_->sources[source].path;
    located.text = text(source);
    located.range = first_line(piece->range, located.text);
  }
  std::string report = fmt::format("Quern {} ({})\n{}\n", QUERN_VERSION, QUERN_BUILD_TYPE, failure.what());
  const ModuleId module = at.declaration != 0 ? info(at.declaration).module : Database::kLibrary;
  for (SourceId source = 0; source < db_->sources.size(); ++source) {
    const Database::SourceInfo& about = db_->sources[source];
    if (about.module == Database::kLibrary || (module != Database::kLibrary && about.module != module))
      continue;
    report += fmt::format("\n// {}\n{}\n", about.path, text(source));
  }
  located.notes.push_back({"", {}, {}, keep_report(report)});
  return located;
}

}  // namespace quern
