// Completion: the names of files in strings.

#include <algorithm>
#include <filesystem>

#include "ide/completer.h"
#include "ir/io/data_files.h"

namespace quern::ide {

namespace {

namespace fs = std::filesystem;

// In a folder with more, only the first ones are offered.
constexpr size_t kMostEntries = 2000;

bool is_offered(const fs::path& file, std::string_view extension) {
  return extension.empty() ? is_data_file(file.string()) : file.extension() == extension;
}

}  // namespace

CompletionList Completer::files(uint32_t begin, std::string_view extension) {
  const std::string_view typed = lexed_.in_text({begin, offset_});
  const size_t slash = typed.rfind('/');
  const std::string below(typed.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
  const uint32_t name = begin + static_cast<uint32_t>(below.size());
  // The rest of the name, after the offset, is replaced too.
  uint32_t end = offset_;
  while (end < lexed_.text.size() &&
         std::string_view("\"/\\\r\n").find(lexed_.text[end]) == std::string_view::npos)
    ++end;
  found_ = Candidates(lexed_.in_text({name, offset_}));
  const bool shows_hidden = found_.typed().starts_with('.');
  std::error_code failed;
  const fs::path folder = fs::path(folder_.empty() ? "." : folder_) / below;
  size_t seen = 0;
  for (fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failed), last;
       !failed && entry != last && seen < kMostEntries; entry.increment(failed), ++seen) {
    const std::string file = entry->path().filename().string();
    std::error_code ignored;
    const bool is_folder = entry->is_directory(ignored);
    if ((file.starts_with('.') && !shows_hidden) || (!is_folder && !is_offered(entry->path(), extension)))
      continue;
    found_.add({is_folder ? file + "/" : file, is_folder ? CompletionKind::Folder : CompletionKind::File,
                is_folder ? Next : Best});
  }
  if (extension == ".relay")
    for (const std::string& module : Session::library_modules())
      if (std::string_view(module).starts_with(below))
        found_.add({module.substr(below.size()), CompletionKind::File, Next});
  return found_.take({name, end});
}

}  // namespace quern::ide
