#include "lsp/workspace.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace quern::lsp {

namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

void Workspace::each_file(
    const std::function<void(const std::string& path, const std::string& text)>& visit) const {
  size_t count = 0;
  for (const std::string& folder : folders_) {
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && at != end && count < kMostFiles; at.increment(error)) {
      std::error_code ignored;
      if (is_hidden(at->path()) && at->is_directory(ignored)) at.disable_recursion_pending();
      if (at->path().extension() != ".relay" || !at->is_regular_file(ignored)) continue;
      if (at->file_size(ignored) > kMostBytes || ignored) continue;
      ++count;
      visit(at->path().string(), text_of(at->path()));
    }
  }
}

void Workspace::read_users(Session& session, SourceId declared_in, std::string_view name) const {
  if (folders_.empty()) return;
  std::map<std::string, std::string> texts;
  each_file([&](const std::string& path, const std::string& text) {
    if (session.is_library(declared_in) ? text.find(name) != std::string::npos
                                        : text.find("import") != std::string::npos)
      texts.emplace(path, text);
  });
  if (session.is_library(declared_in)) {
    for (const auto& [path, text] : texts) session.find_file(path);
    return;
  }
  // An import ends with the name of its file.
  std::vector<std::string> files{fs::path(session.path(declared_in)).filename().string()};
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string quoted = files[i] + "\"";
    for (auto text = texts.begin(); text != texts.end();) {
      if (text->second.find(quoted) == std::string::npos) {
        ++text;
        continue;
      }
      session.find_file(text->first);
      files.push_back(fs::path(text->first).filename().string());
      text = texts.erase(text);
    }
  }
}

}  // namespace quern::lsp
