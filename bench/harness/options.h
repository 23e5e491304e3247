#pragma once
// The command line of a bench: what all of them take, and which rows the names on it choose.

#include <functional>
#include <string>
#include <vector>

#include "bench/harness/measure.h"

namespace quern::bench {

struct Options {
  int threads = 1;
  bool json = false, list = false;
  Budget budget;
  std::vector<std::string> names;
};

/// An option of one bench alone.
struct OwnOption {
  std::string name, values;                            ///< "--layout", "nhwc|nchw"
  std::function<bool(const std::string& value)> take;  ///< false where it is no such value
};

/// A bench's command line; its name is for messages.
class CommandLine {
 public:
  explicit CommandLine(std::string bench, std::vector<OwnOption> own = {})
      : bench_(std::move(bench)), own_(std::move(own)) {}

  /// Ends the process where a word is no option or has no fitting value.
  Options parse(int argc, char** argv) const;

  struct RowName {
    std::string name, group;
  };
  /// Which rows are chosen: those with one of the names, of a group with it or, where there is neither, those
  /// whose names begin with it; all for no names. Ends the process where a name chooses none.
  std::vector<bool> chosen(const std::vector<RowName>& rows, const std::vector<std::string>& names) const;

  /// Ends the process with a message and exit code 2.
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  bool take_own(const std::string& word, const std::function<const std::string&()>& value) const;
  std::string options_text() const;

  std::string bench_;
  std::vector<OwnOption> own_;
};

}  // namespace quern::bench
