#pragma once
// The complete inputs of this and earlier sessions, in a file that several processes may write.

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace quern::editor {

/// `QUERN_HISTORY` (`off` for none), else `quern/history` in the user's folder for state (XDG_STATE_HOME); empty for
/// none.
std::filesystem::path history_path();

class History {
 public:
  static constexpr size_t kMostEntries = 10000;

  /// Without a path, or if the file cannot be read or written, the history is that of this session only.
  explicit History(std::filesystem::path path = {});

  /// Adds an input, unless it is blank or the same as the latest.
  void add(std::string_view input);

  /// Entries are counted from the oldest.
  size_t size() const { return entries_.size(); }
  const std::string& entry(size_t index) const { return entries_[index]; }

  /// The latest entry before `index` that begins with `prefix` and is not `other`.
  std::optional<size_t> earlier(size_t index, std::string_view prefix, std::string_view other) const;
  /// The first one after `index`.
  std::optional<size_t> later(size_t index, std::string_view prefix, std::string_view other) const;
  struct Match {
    size_t index;   ///< of the entry
    size_t offset;  ///< in it
  };
  /// The latest entry before `index` that contains `words`; letters match in either case where `words` has no
  /// capital one.
  std::optional<Match> containing_before(size_t index, std::string_view words) const;
  /// The first one after `index`.
  std::optional<Match> containing_after(size_t index, std::string_view words) const;
  /// The continuation of the latest entry that begins with `text`; "" if there is none.
  std::string_view continuation(std::string_view text) const;

 private:
  void read();
  void append(std::string_view input) const;

  std::filesystem::path path_;
  std::deque<std::string> entries_;
};

}  // namespace quern::editor
