#include "cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace quern {

bool replace_file(const std::string& path, const std::string& text) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error) target = path;
  std::filesystem::path written = target.string() + fmt::format(".{}.tmp", getpid());
  std::ofstream out(written, std::ios::binary);
  out << text;
  out.close();
  if (!out) return false;
  std::filesystem::permissions(written, std::filesystem::status(target, error).permissions(), error);
  std::filesystem::rename(written, target, error);
  if (error) std::remove(written.c_str());
  return !error;
}

}  // namespace quern
