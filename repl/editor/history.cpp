#include "repl/editor/history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "repl/editor/cells.h"

namespace quern::editor {

namespace {

// An entry is a line of the file: `\n` and `\\` stand for line ends and backslashes.
std::string to_line(std::string_view input) {
  std::string line;
  for (const char c : input) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\\')
      line += "\\\\";
    else
      line += c;
  }
  return line + '\n';
}

std::string from_line(std::string_view line) {
  std::string input;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      input += line[i];
      continue;
    }
    ++i;
    input += line[i] == 'n' ? '\n' : line[i];
  }
  return input;
}

// The position of `words` in a text.
size_t find_words(std::string_view text, std::string_view words) {
  const bool has_capital = std::ranges::any_of(words, [](unsigned char c) { return std::isupper(c) != 0; });
  if (has_capital) return text.find(words);
  const auto found = std::ranges::search(
      text, words, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  return found.empty() && !words.empty() ? std::string_view::npos
                                         : static_cast<size_t>(found.begin() - text.begin());
}

// Locks a file for writing while it lives.
class LockedFile {
 public:
  LockedFile(const std::filesystem::path& path, int flags)
      : fd_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~LockedFile() {
    if (fd_ >= 0) close(fd_);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  void write_all(std::string_view text) const {
    while (fd_ >= 0 && !text.empty()) {
      const ssize_t written = write(fd_, text.data(), text.size());
      if (written <= 0) return;
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::filesystem::path history_path() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string stated = variable("QUERN_HISTORY"); !stated.empty())
    return stated == "off" ? std::filesystem::path() : std::filesystem::path(stated);
  if (const std::string state = variable("XDG_STATE_HOME"); !state.empty())
    return std::filesystem::path(state) / "quern" / "history";
  if (const std::string home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".local" / "state" / "quern" / "history";
  return {};
}

History::History(std::filesystem::path path) : path_(std::move(path)) {
  if (!path_.empty()) read();
}

// A file far above the limit is rewritten with the latest entries.
void History::read() {
  std::ifstream in(path_, std::ios::binary);
  size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    entries_.push_back(from_line(line));
    if (entries_.size() > kMostEntries) entries_.pop_front();
  }
  if (lines < 2 * kMostEntries) return;
  std::string kept;
  for (const std::string& entry : entries_) kept += to_line(entry);
  const LockedFile file(path_, O_WRONLY);
  if (file.is_open() && ftruncate(file.fd(), 0) == 0) file.write_all(kept);
}

void History::append(std::string_view input) const {
  std::error_code ignored;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
  const LockedFile file(path_, O_WRONLY | O_APPEND | O_CREAT);
  file.write_all(to_line(input));
}

void History::add(std::string_view input) {
  if (is_blank(input) || (!entries_.empty() && entries_.back() == input)) return;
  entries_.emplace_back(input);
  if (entries_.size() > kMostEntries) entries_.pop_front();
  if (!path_.empty()) append(input);
}

std::optional<size_t> History::earlier(size_t index, std::string_view prefix, std::string_view other) const {
  for (size_t i = std::min(index, entries_.size()); i-- > 0;)
    if (entries_[i].starts_with(prefix) && entries_[i] != other) return i;
  return std::nullopt;
}

std::optional<size_t> History::later(size_t index, std::string_view prefix, std::string_view other) const {
  for (size_t i = index + 1; i < entries_.size(); ++i)
    if (entries_[i].starts_with(prefix) && entries_[i] != other) return i;
  return std::nullopt;
}

std::optional<History::Match> History::containing_before(size_t index, std::string_view words) const {
  for (size_t i = std::min(index, entries_.size()); i-- > 0;)
    if (const size_t at = find_words(entries_[i], words); at != std::string_view::npos) return Match{i, at};
  return std::nullopt;
}

std::optional<History::Match> History::containing_after(size_t index, std::string_view words) const {
  for (size_t i = index + 1; i < entries_.size(); ++i)
    if (const size_t at = find_words(entries_[i], words); at != std::string_view::npos) return Match{i, at};
  return std::nullopt;
}

std::string_view History::continuation(std::string_view text) const {
  if (text.empty()) return {};
  const auto found = earlier(entries_.size(), text, text);
  return found ? std::string_view(entries_[*found]).substr(text.size()) : std::string_view();
}

}  // namespace quern::editor
