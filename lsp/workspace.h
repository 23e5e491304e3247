#pragma once
// The `.relay` files below the client's folders, whether something imports them or not.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::lsp {

class Workspace {
 public:
  /// Above so many files, or bytes of one, the others are not looked at.
  static constexpr size_t kMostFiles = 5000, kMostBytes = 4 << 20;

  void add_folder(const std::string& path) { folders_.insert(path); }
  void remove_folder(const std::string& path) { folders_.erase(path); }

  /// Calls `visit` with the path and the text of each, but for those in hidden folders.
  void each_file(const std::function<void(const std::string& path, const std::string& text)>& visit) const;
  /// Makes sources of the files that may name what a source declares: of what `name` is, those that import it,
  /// directly or through others, and of the library's those that have the name.
  void read_users(Session& session, SourceId declared_in, std::string_view name) const;

 private:
  std::set<std::string> folders_;
};

}  // namespace quern::lsp
