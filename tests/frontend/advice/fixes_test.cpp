// Fixes keep their promise: in every golden, each fix that a diagnostic offers, applied alone, takes that
// diagnostic away and brings no further errors.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "session/session.h"
#include "tests/files.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

size_t errors_among(const std::vector<LocatedDiagnostic>& diagnostics) {
  return static_cast<size_t>(
      std::count_if(diagnostics.begin(), diagnostics.end(),
                    [](const LocatedDiagnostic& d) { return severity_of(d.kind) == Severity::Error; }));
}

/// Where a place of the text is after a fix.
uint32_t moved(uint32_t place, const LocatedFix& fix) {
  int64_t by = 0;
  for (auto& [range, text] : fix.edits)
    if (range.end < place || (range.end == place && range.begin < range.end))
      by += static_cast<int64_t>(text.size()) - static_cast<int64_t>(range.end - range.begin);
  return static_cast<uint32_t>(place + by);
}

std::string described(const std::vector<LocatedDiagnostic>& diagnostics) {
  std::string out;
  for (const LocatedDiagnostic& d : diagnostics)
    out += fmt::format("  {} at {}: {}\n", code_of(d.kind), d.range.begin, d.message);
  return out;
}

/// The text after a fix.
std::string apply_fix(std::string_view text, const LocatedFix& fix) {
  std::string out;
  uint32_t from = 0;
  for (const auto& [range, replacement] : fix.edits) {
    out += text.substr(from, range.begin - from);
    out += replacement;
    from = range.end;
  }
  return out + std::string(text.substr(from));
}

class Fixes : public testing::TestWithParam<std::string> {};

TEST_P(Fixes, TakeTheirDiagnosticAwayAndBringNoOther) {
  std::string path = QUERN_SOURCE_DIR "/" + GetParam(), text = read_file(path);
  Session session;
  SourceId source = session.open_file(path, text);
  const std::vector<LocatedDiagnostic> before = session.check(source);
  // Later texts take the place of the one that the diagnostics point into.
  size_t errors = errors_among(before);
  std::string before_text = described(before);
  for (const LocatedDiagnostic& d : before) {
    for (const LocatedFix& fix : d.fixes) {
      ASSERT_FALSE(fix.edits.empty()) << fix.title;
      std::string fixed = apply_fix(text, fix);
      session.set_text(source, fixed);
      std::vector<LocatedDiagnostic> after = session.check(source);
      std::string shown = fmt::format("fix of {}: {}\n{}\nbefore:\n{}after:\n{}", code_of(d.kind), fix.title,
                                      fixed, before_text, described(after));
      EXPECT_LE(errors_among(after), errors) << shown;
      uint32_t at = moved(d.range.begin, fix);
      EXPECT_TRUE(std::none_of(after.begin(), after.end(), [&](const LocatedDiagnostic& other) {
        return other.kind == d.kind && other.range.begin == at;
      })) << shown;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, Fixes, testing::ValuesIn(relay_files({"tests/golden"})),
                         [](const auto& info) {
                           std::string name = info.param.substr(std::string_view("tests/golden/").size());
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace quern
