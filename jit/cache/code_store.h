#pragma once
// Compiled code on disk, for those that can do without.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "jit/cache/cache_file.h"

namespace quern {

/// Why code in the file is not to be run, or nothing: the file or its folder belongs to another user, or
/// others may write there.
std::string distrust(const std::filesystem::path& file);

/// Objects by key in a database file that processes share. Nothing here fails: a file that cannot be had, or
/// is not trusted or is locked for long, holds nothing and takes nothing, and one that is broken is made
/// anew. What was not used for the longest time goes where the objects take more than `most_bytes`. From any
/// thread; finding and storing do not wait for each other.
class CodeStore {
 public:
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

  explicit CodeStore(std::filesystem::path file, int64_t most_bytes = kMostBytes);

  struct Found {
    std::string object;
    bool is_stale;  ///< nobody noted a use of it for a day
  };
  std::optional<Found> find(std::string_view key);
  void put(std::string_view key, std::string_view object);
  void note_use(std::string_view key);
  /// Forgets bytes that are no object.
  void remove(std::string_view key);

 private:
  /// A connection, made when it is first needed; without one again once the file failed twice.
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
  int64_t put_since_trim_;  ///< bytes, by the writer
};

}  // namespace quern
