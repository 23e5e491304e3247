#pragma once
// Compiled code on disk, for callers that can do without.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "jit/cache/cache_file.h"

namespace quern {

/// Why code in the file must not be run, or "": the file or its folder belongs to another user, or others may
/// write there.
std::string distrust(const std::filesystem::path& file);

/// Objects by key in a database file that processes share. Nothing here fails: an inaccessible, untrusted or
/// long locked file acts as empty and ignores writes, and a broken one is recreated. The least recently used
/// objects are evicted if the objects take more than `most_bytes`. Thread-safe; finding and storing do not
/// block each other.
class CodeStore {
 public:
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

  explicit CodeStore(std::filesystem::path file, int64_t most_bytes = kMostBytes);

  struct Found {
    std::string object;
    bool is_stale;  ///< not marked as used for a day
  };
  std::optional<Found> find(std::string_view key);
  void put(std::string_view key, std::string_view object);
  void note_use(std::string_view key);
  /// Removes bytes that are not a valid object.
  void remove(std::string_view key);

 private:
  /// A connection, opened on first use and given up after the file failed twice.
  struct Handle {
    std::mutex mutex;
    std::optional<CacheFile> database;
    bool given_up = false;
  };
  template <class F>
  auto with(Handle& handle, const F& action) -> decltype(action(*handle.database));
  bool open(Handle& handle);

  const std::filesystem::path file_;
  const int64_t most_bytes_;
  Handle reader_, writer_;
  int64_t put_since_trim_;  ///< bytes written since
};

}  // namespace quern
