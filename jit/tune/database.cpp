#include "jit/tune/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace quern {

namespace {

/// How long a statement waits for another process to finish its transaction.
constexpr std::chrono::milliseconds kPatience{10'000};

constexpr int kLayoutVersion = 1;

constexpr const char* kLayout = R"(
  CREATE TABLE IF NOT EXISTS code (
    key    TEXT PRIMARY KEY NOT NULL,
    object BLOB NOT NULL
  );
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

/// Runs statements that give no rows. Waits here too: switching to write-ahead logging, and a first opening
/// that races with another, report a busy file without asking SQLite's own busy handler.
int execute(sqlite3* connection, const char* statements) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
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

  // Bound bytes must outlive the statement's last step. A null pointer would bind NULL in place of an empty
  // value.
  void bind_text(int index, std::string_view text) {
    sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
  }
  void bind_blob(int index, std::string_view bytes) {
    sqlite3_bind_blob64(statement_, index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
  }

  /// SQLITE_ROW, SQLITE_DONE or an error.
  int step() { return sqlite3_step(statement_); }

  int integer(int column) { return sqlite3_column_int(statement_, column); }
  std::string bytes(int column) {
    const void* data = sqlite3_column_blob(statement_, column);
    auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// The layout version that the file carries; 0 for a new file, nothing on an error.
std::optional<int> layout_version(sqlite3* connection) {
  Statement version(connection, "PRAGMA user_version");
  if (!version || version.step() != SQLITE_ROW) return std::nullopt;
  return version.integer(0);
}

Result<Done> prepare_layout(sqlite3* connection, const std::string& file) {
  // A transaction that is written to the log survives the death of this process; only a power cut may lose
  // the last ones, which a cache can bear.
  if (execute(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") != SQLITE_OK) {
    return failure(file, "open", connection);
  }
  auto version = layout_version(connection);
  if (!version) return failure(file, "read", connection);
  if (*version == kLayoutVersion) return Done{};
  if (*version > kLayoutVersion) {
    return Failure{fmt::format("The database {} was written by a later version of Quern.", file)};
  }
  const auto layout =
      fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT", kLayout, kLayoutVersion);
  if (execute(connection, layout.c_str()) != SQLITE_OK) return failure(file, "lay out", connection);
  return Done{};
}

}  // namespace

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close(connection); }

Result<Database> Database::open(const std::filesystem::path& file) {
  std::string name = file.string();
  if (file.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error)
      return Failure{fmt::format("Cannot make the folder of the database {}: {}.", name, error.message())};
  }
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(name.c_str(), &handle,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Connection connection(handle);
  if (code != SQLITE_OK) return failure(name, "open", handle);
  sqlite3_busy_timeout(handle, static_cast<int>(kPatience.count()));
  if (auto layout = prepare_layout(handle, name); !layout) return layout.error();
  return Database(std::move(connection), std::move(name));
}

Result<std::optional<std::string>> Database::get_code(std::string_view key) const {
  Statement select(connection_.get(), "SELECT object FROM code WHERE key = ?1");
  if (!select) return failure(file_, "read", connection_.get());
  select.bind_text(1, key);
  switch (select.step()) {
    case SQLITE_ROW: return std::optional<std::string>(select.bytes(0));
    case SQLITE_DONE: return std::optional<std::string>();
    default: return failure(file_, "read", connection_.get());
  }
}

Result<Done> Database::put_code(std::string_view key, std::string_view object) {
  Statement insert(connection_.get(), "INSERT OR REPLACE INTO code (key, object) VALUES (?1, ?2)");
  if (!insert) return failure(file_, "write", connection_.get());
  insert.bind_text(1, key);
  insert.bind_blob(2, object);
  if (insert.step() != SQLITE_DONE) return failure(file_, "write", connection_.get());
  return Done{};
}

}  // namespace quern
