#pragma once
// The `.relay` files below the client's folders, imported or not.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::lsp {

class Workspace {
 public:
  /// Files beyond this number, and files of more bytes, are ignored.
  static constexpr size_t kMostFiles = 5000, kMostBytes = 4 << 20;

  void add_folder(const std::string& path) { folders_.insert(path); }
  void remove_folder(const std::string& path) { folders_.erase(path); }

  /// Calls `visit` with the path and the text of each, but for those in hidden folders.
  void each_file(const std::function<void(const std::string& path, const std::string& text)>& visit) const;
  /// Adds the files that may refer to `name`, which a source declares, to the session: those that import the source,
  /// directly or through others, or, for a source of the library, those that contain the name.
  void read_users(Session& session, SourceId declared_in, std::string_view name) const;

 private:
  std::set<std::string> folders_;
};

}  // namespace quern::lsp
