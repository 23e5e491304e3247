#include "bench/harness/relay_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace quern::bench {

namespace {

std::filesystem::path path_of(const std::string& folder) {
  return std::filesystem::path(QUERN_SOURCE_DIR) / "bench" / folder;
}

}  // namespace

std::filesystem::path relay_file(const std::string& folder, const std::string& row) {
  return path_of(folder) / (row + ".relay");
}

Result<std::string> relay_text(const std::string& folder, const std::string& row) {
  std::ifstream file(relay_file(folder, row));
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Failure{fmt::format("{} cannot be read", relay_file(folder, row).string())};
  return text.str();
}

std::vector<CommandLine::RowName> relay_rows(const std::string& folder) {
  std::vector<CommandLine::RowName> rows;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(folder)))
    if (entry.path().extension() == ".relay") rows.push_back({entry.path().stem().string(), folder});
  std::ranges::sort(rows, {}, &CommandLine::RowName::name);
  return rows;
}

}  // namespace quern::bench
