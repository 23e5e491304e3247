#pragma once
// What outlives a process: compiled code and tuning records, in one SQLite file.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ir/base/result.h"

struct sqlite3;

namespace quern {

/// An open database. Several processes, and several threads of one, may use the same file at once; each
/// change is whole or absent, whenever a process is killed. A handle must not be carried across fork().
///
/// Failures name the file. The file is a cache: a caller may go on without it, or delete it and open it anew.
class CacheFile {
 public:
  /// Opens the database in `file`, made with its folders where absent. Fails where the file cannot be
  /// written, is something else than a database, was written by a later version with another layout, or where
  /// a statement, then or later, waits longer than `patience` for another process.
  static Result<CacheFile> open(const std::filesystem::path& file,
                                std::chrono::milliseconds patience = std::chrono::seconds(10));
  /// Whether the file is there and no whole database. Reads all of it: for when something failed.
  static bool is_broken(const std::filesystem::path& file);
  /// Deletes the file and what belongs to it. Who has it open goes on with what is then nobody else's.
  static void remove(const std::filesystem::path& file);

  struct Code {
    std::string object;
    std::chrono::system_clock::time_point used_at;  ///< to the second: put, or its use noted
  };
  /// What is stored under `key`, or nothing.
  Result<std::optional<Code>> get_code(std::string_view key) const;
  /// Stores `object` under `key`, in place of what was there.
  Result<Done> put_code(std::string_view key, std::string_view object);
  Result<Done> note_use(std::string_view key);
  Result<Done> remove_code(std::string_view key);
  /// Removes those that were not used for the longest time, as far as objects and keys take more than
  /// `most_bytes`.
  Result<Done> trim_code(int64_t most_bytes);

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  using Connection = std::unique_ptr<sqlite3, Close>;

  CacheFile(Connection connection, std::string file)
      : connection_(std::move(connection)), file_(std::move(file)) {}

  Connection connection_;
  std::string file_;
};

}  // namespace quern
