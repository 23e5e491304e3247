#include "cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

std::vector<std::string> with_files_of_folders(const std::vector<std::string>& paths,
                                               bool wants_transcripts) {
  namespace fs = std::filesystem;
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::string> found;
    if (fs::is_directory(path, error))
      for (auto at =
               fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
           at != fs::recursive_directory_iterator(); at.increment(error)) {
        const fs::path& file = at->path();
        if (at->is_directory(error)) {
          if (file.filename().string().starts_with('.')) at.disable_recursion_pending();
        } else if (file.extension() == ".relay" || (wants_transcripts && file.extension() == ".transcript")) {
          found.push_back(file.string());
        }
      }
    if (found.empty()) found.push_back(path);
    std::ranges::sort(found);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace quern
