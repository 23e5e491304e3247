#pragma once
// The texts of rows: files NAME.relay in a folder of bench/.

#include <filesystem>
#include <string>
#include <vector>

#include "bench/harness/options.h"
#include "ir/base/result.h"

namespace quern::bench {

/// The file of a row.
std::filesystem::path relay_file(const std::string& folder, const std::string& row);
Result<std::string> relay_text(const std::string& folder, const std::string& row);
/// All rows of a folder, by name; the folder is their group.
std::vector<CommandLine::RowName> relay_rows(const std::string& folder);

}  // namespace quern::bench
