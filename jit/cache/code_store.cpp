#include "jit/cache/code_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace quern {

namespace {

/// Longer than any transaction here, and short enough for a caller that waits for a kernel.
constexpr std::chrono::milliseconds kBusyPatience{200};
constexpr std::chrono::hours kStale{24};

/// Why others may change the contents of `path`, or "".
std::string distrust_of_one(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};  // it will be created
  if (found.st_uid != ::geteuid()) return fmt::format("{} belongs to another user", path.string());
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return fmt::format("others may write {} (`chmod go-w {}` ends that)", path.string(), path.string());
}

}  // namespace

std::string distrust(const std::filesystem::path& file) {
  if (file.empty()) return {};
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::string why = distrust_of_one(folder);
  return why.empty() ? distrust_of_one(file) : why;
}

CodeStore::CodeStore(std::filesystem::path file, int64_t most_bytes)
    : file_(std::move(file)), most_bytes_(most_bytes), put_since_trim_(most_bytes) {}

bool CodeStore::open(Handle& handle) {
  if (!distrust(file_).empty()) {
    handle.given_up = true;
    return false;
  }
  for (const bool again : {false, true}) {
    auto opened = CacheFile::open(file_, kBusyPatience);
    if (opened) {
      handle.database.emplace(std::move(*opened));
      return true;
    }
    if (again || !CacheFile::is_broken(file_)) break;
    CacheFile::remove(file_);
  }
  handle.given_up = true;
  return false;
}

/// Performs an action, and retries once if the file is found broken.
template <class F>
auto CodeStore::with(Handle& handle, const F& action) -> decltype(action(*handle.database)) {
  const std::lock_guard lock(handle.mutex);
  if (handle.given_up || (!handle.database && !open(handle))) return Failure{"There is no store."};
  auto result = action(*handle.database);
  if (result || !CacheFile::is_broken(file_)) return result;
  handle.database.reset();
  CacheFile::remove(file_);
  if (!open(handle)) return result;
  return action(*handle.database);
}

std::optional<CodeStore::Found> CodeStore::find(std::string_view key) {
  auto code = with(reader_, [&](CacheFile& database) { return database.get_code(key); });
  if (!code || !*code) return std::nullopt;
  const bool is_stale = std::chrono::system_clock::now() - (*code)->used_at > kStale;
  return Found{std::move((*code)->object), is_stale};
}

void CodeStore::put(std::string_view key, std::string_view object) {
  (void)with(writer_, [&](CacheFile& database) {
    auto stored = database.put_code(key, object);
    put_since_trim_ += static_cast<int64_t>(key.size() + object.size());
    if (!stored || put_since_trim_ <= most_bytes_ / 16) return stored;
    put_since_trim_ = 0;
    return database.trim_code(most_bytes_);
  });
}

void CodeStore::note_use(std::string_view key) {
  (void)with(writer_, [&](CacheFile& database) { return database.note_use(key); });
}

void CodeStore::remove(std::string_view key) {
  (void)with(writer_, [&](CacheFile& database) { return database.remove_code(key); });
}

}  // namespace quern
