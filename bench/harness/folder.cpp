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
  // A session of its own: signals to this process's group leave it alone.
  remover_ =
      popen(fmt::format("exec setsid sh -c 'cat > /dev/null; rm -rf \"$0\"' '{}'", name).c_str(), "we");
}

Folder::~Folder() {
  if (remover_) pclose(remover_);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace quern::bench
