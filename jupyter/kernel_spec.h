#pragma once
// The kernel specification by which Jupyter finds the kernel: a folder with a `kernel.json`.

#include <filesystem>

#include "ir/base/result.h"

namespace quern::jupyter {

/// The folder of the user's kernel specifications, below XDG_DATA_HOME or ~/.local/share.
std::filesystem::path user_prefix();
/// Writes the specification of the kernel `program` below a folder such as `/usr/local/share/jupyter`; returns its path.
Result<std::filesystem::path> install_spec(const std::filesystem::path& prefix,
                                           const std::filesystem::path& program);

}  // namespace quern::jupyter
