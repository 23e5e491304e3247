#include "jit/cache/cache_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace quern {

namespace {

using std::chrono::milliseconds;

constexpr int kLayoutVersion = 2;

// Code is only a cache: an earlier layout's is dropped.
constexpr const char* kLayout = R"(
  DROP TABLE IF EXISTS code;
  CREATE TABLE code (
    key     TEXT PRIMARY KEY NOT NULL,
    used_at INTEGER NOT NULL,  -- Unix time
    bytes   INTEGER NOT NULL,  -- of key and object; before the object, so that a sum reads no object
    object  BLOB NOT NULL
  );
  CREATE INDEX code_by_use ON code (used_at, bytes);
  CREATE TABLE IF NOT EXISTS records (
    id          INTEGER PRIMARY KEY,
    kernel      TEXT NOT NULL,  -- canonical hash of the primitive function and its shapes
    target      TEXT NOT NULL,
    schedule    TEXT NOT NULL,
    seconds     REAL NOT NULL,
    measured_at INTEGER NOT NULL  -- Unix time
  );
  CREATE INDEX IF NOT EXISTS records_by_kernel ON records (kernel, target);
)";

Failure failure(const std::string& file, std::string_view action, sqlite3* connection) {
  const char* reason = connection != nullptr ? sqlite3_errmsg(connection) : "out of memory";
  return Failure{fmt::format("Cannot {} the database {}: {}.", action, file, reason)};
}

/// Runs statements that return no rows. Also waits here: switching to write-ahead logging, and concurrent
/// first openings, report a busy file without calling SQLite's busy handler.
int execute(sqlite3* connection, const char* statements, milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    int code = sqlite3_exec(connection, statements, nullptr, nullptr, nullptr);
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() >= deadline) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// A prepared statement over the connection it was made with.
class Statement {
 public:
  Statement(sqlite3* connection, std::string_view text) {
    sqlite3_prepare_v2(connection, text.data(), static_cast<int>(text.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Whether the text was a valid statement.
  explicit operator bool() const { return statement_ != nullptr; }

  // Bound bytes must outlive the statement's last step. A null pointer would bind NULL instead of an empty
  // value.
  void bind_text(int index, std::string_view text) {
    sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
  }
  void bind_blob(int index, std::string_view bytes) {
    sqlite3_bind_blob64(statement_, index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
  }

  void bind_integer(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }

  /// Ends the read, which would otherwise hide changes from others.
  void finish() { sqlite3_reset(statement_); }
  /// SQLITE_ROW, SQLITE_DONE or an error.
  int step() { return sqlite3_step(statement_); }

  int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  std::string bytes(int column) {
    const void* data = sqlite3_column_blob(statement_, column);
    auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// The file's layout version; 0 for a new file, nothing on an error.
std::optional<int64_t> layout_version(sqlite3* connection) {
  Statement version(connection, "PRAGMA user_version");
  if (!version || version.step() != SQLITE_ROW) return std::nullopt;
  return version.integer(0);
}

Result<Done> prepare_layout(sqlite3* connection, const std::string& file, milliseconds patience) {
  // A logged transaction survives the death of this process; only a power failure may lose the last ones,
  // which a cache tolerates.
  if (execute(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", patience) != SQLITE_OK) {
    return failure(file, "open", connection);
  }
  auto version = layout_version(connection);
  if (!version) return failure(file, "read", connection);
  if (*version == kLayoutVersion) return Done{};
  if (*version > kLayoutVersion) {
    return Failure{fmt::format("The database {} was written by a later version of Quern.", file)};
  }
  // Another process may have been first: check the version again inside the transaction.
  if (execute(connection, "BEGIN IMMEDIATE", patience) != SQLITE_OK)
    return failure(file, "lay out", connection);
  const auto layout = fmt::format("{} PRAGMA user_version = {};", kLayout, kLayoutVersion);
  const bool is_done = layout_version(connection) == kLayoutVersion ||
                       execute(connection, layout.c_str(), patience) == SQLITE_OK;
  if (is_done && execute(connection, "COMMIT", patience) == SQLITE_OK) return Done{};
  Failure failed = failure(file, "lay out", connection);
  execute(connection, "ROLLBACK", patience);
  return failed;
}

int64_t now() { return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()); }

}  // namespace

void CacheFile::Close::operator()(sqlite3* connection) const { sqlite3_close(connection); }

Result<CacheFile> CacheFile::open(const std::filesystem::path& file, milliseconds patience) {
  std::string name = file.string();
  if (file.has_parent_path()) {
    std::error_code error;
    // Private, whatever the umask, since its contents are executed.
    if (std::filesystem::create_directories(file.parent_path(), error))
      std::filesystem::permissions(file.parent_path(), std::filesystem::perms::owner_all, error);
    if (error)
      return Failure{fmt::format("Cannot make the folder of the database {}: {}.", name, error.message())};
  }
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(name.c_str(), &handle,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Connection connection(handle);
  if (code != SQLITE_OK) return failure(name, "open", handle);
  sqlite3_busy_timeout(handle, static_cast<int>(patience.count()));
  if (auto layout = prepare_layout(handle, name, patience); !layout) return layout.error();
  return CacheFile(std::move(connection), std::move(name));
}

bool CacheFile::is_broken(const std::filesystem::path& file) {
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(file.string().c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  const Connection connection(handle);
  if (opened != SQLITE_OK) return false;
  Statement check(handle, "PRAGMA quick_check(1)");
  if (check && check.step() == SQLITE_ROW) return check.bytes(0) != "ok";
  const int problem = sqlite3_errcode(handle);
  return problem == SQLITE_NOTADB || problem == SQLITE_CORRUPT;
}

void CacheFile::remove(const std::filesystem::path& file) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(file.string() + suffix, ignored);
  }
}

Result<std::optional<CacheFile::Code>> CacheFile::get_code(std::string_view key) const {
  Statement select(connection_.get(), "SELECT object, used_at FROM code WHERE key = ?1");
  if (!select) return failure(file_, "read", connection_.get());
  select.bind_text(1, key);
  switch (select.step()) {
    case SQLITE_ROW:
      return std::optional(Code{select.bytes(0), std::chrono::system_clock::from_time_t(select.integer(1))});
    case SQLITE_DONE: return std::optional<Code>();
    default: return failure(file_, "read", connection_.get());
  }
}

Result<Done> CacheFile::put_code(std::string_view key, std::string_view object) {
  Statement insert(connection_.get(),
                   "INSERT OR REPLACE INTO code (key, used_at, bytes, object) VALUES (?1, ?2, ?3, ?4)");
  if (!insert) return failure(file_, "write", connection_.get());
  insert.bind_text(1, key);
  insert.bind_integer(2, now());
  insert.bind_integer(3, static_cast<int64_t>(key.size() + object.size()));
  insert.bind_blob(4, object);
  if (insert.step() != SQLITE_DONE) return failure(file_, "write", connection_.get());
  return Done{};
}

Result<Done> CacheFile::note_use(std::string_view key) {
  Statement update(connection_.get(), "UPDATE code SET used_at = ?2 WHERE key = ?1");
  if (!update) return failure(file_, "write", connection_.get());
  update.bind_text(1, key);
  update.bind_integer(2, now());
  if (update.step() != SQLITE_DONE) return failure(file_, "write", connection_.get());
  return Done{};
}

Result<Done> CacheFile::remove_code(std::string_view key) {
  Statement remove(connection_.get(), "DELETE FROM code WHERE key = ?1");
  if (!remove) return failure(file_, "write", connection_.get());
  remove.bind_text(1, key);
  if (remove.step() != SQLITE_DONE) return failure(file_, "write", connection_.get());
  return Done{};
}

Result<Done> CacheFile::trim_code(int64_t most_bytes) {
  Statement sum(connection_.get(), "SELECT SUM(bytes) FROM code");
  if (!sum || sum.step() != SQLITE_ROW) return failure(file_, "read", connection_.get());
  if (sum.integer(0) <= most_bytes) return Done{};
  sum.finish();
  Statement trim(connection_.get(), R"(
    DELETE FROM code WHERE rowid IN (
      SELECT rowid FROM (
        SELECT rowid, SUM(bytes) OVER (ORDER BY used_at DESC, rowid DESC) AS with_newer FROM code)
      WHERE with_newer > ?1))");
  if (!trim) return failure(file_, "write", connection_.get());
  trim.bind_integer(1, most_bytes);
  if (trim.step() != SQLITE_DONE) return failure(file_, "write", connection_.get());
  return Done{};
}

}  // namespace quern
