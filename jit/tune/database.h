#pragma once
// What outlives a process: compiled code and tuning records, in one SQLite file.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ir/result.h"

struct sqlite3;

namespace quern {

/// An open database. Several processes, and several threads of one, may use the same file at once; each
/// change is whole or absent, whenever a process is killed. A handle must not be carried across fork().
///
/// Failures name the file. The file is a cache: a caller may go on without it, or delete it and open it anew.
class Database {
 public:
  /// Opens the database in `file`, made with its folders where absent. Fails where the file cannot be
  /// written, is something else than a database, or was written by a later version with another layout.
  static Result<Database> open(const std::filesystem::path& file);

  /// The object stored under `key`, or nothing.
  Result<std::optional<std::string>> get_code(std::string_view key) const;
  /// Stores `object` under `key`, in place of what was there.
  Result<Done> put_code(std::string_view key, std::string_view object);

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  using Connection = std::unique_ptr<sqlite3, Close>;

  Database(Connection connection, std::string file)
      : connection_(std::move(connection)), file_(std::move(file)) {}

  Connection connection_;
  std::string file_;
};

}  // namespace quern
