#include "bench/harness/folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cstdio>

namespace quern::bench {

Folder::Folder(const std::string& prefix) {
  std::string name = (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
  if (!mkdtemp(name.data())) {
    fmt::print(stderr, "no folder can be made in {}\n", name);
    std::exit(2);
  }
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace quern::bench
