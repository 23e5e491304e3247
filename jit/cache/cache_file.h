#pragma once
// Persistent data: compiled code and tuning records, in one SQLite file.

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
/// change is atomic, even if a process is killed. A handle must not be carried across fork().
///
/// Failures name the file. The file is a cache: a caller may continue without it, or delete it and open it
/// again.
class CacheFile {
 public:
  /// Opens the database in `file`, creating it and its folders if absent. Fails if the file cannot be
  /// written, is not a database, or was written by a later version with another layout, or if a statement,
  /// now or later, waits longer than `patience` for another process.
  static Result<CacheFile> open(const std::filesystem::path& file,
                                std::chrono::milliseconds patience = std::chrono::seconds(10));
  /// Whether the file exists but is not an intact database. Reads all of it, so use it only after a failure.
  static bool is_broken(const std::filesystem::path& file);
  /// Deletes the file and its companions. Processes that have it open continue with their private, deleted
  /// copy.
  static void remove(const std::filesystem::path& file);

  struct Code {
    std::string object;
    std::chrono::system_clock::time_point used_at;  ///< last stored or marked as used, to the second
  };
  /// The object stored under `key`, or nothing.
  Result<std::optional<Code>> get_code(std::string_view key) const;
  /// Stores `object` under `key`, replacing an earlier one.
  Result<Done> put_code(std::string_view key, std::string_view object);
  Result<Done> note_use(std::string_view key);
  Result<Done> remove_code(std::string_view key);
  /// Evicts the least recently used objects while objects and keys take more than `most_bytes`.
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
