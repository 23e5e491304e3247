#pragma once
// Inputs from standard input, of one or several lines.

#include <optional>
#include <string>
#include <string_view>

namespace quern {

class Interrupts;

/// Reads lines of a file descriptor; Ctrl-C interrupts it.
class LineReader {
 public:
  enum class Event { Line, End, Interrupted };

  /// `interrupts` may be null.
  LineReader(int fd, Interrupts* interrupts) : fd_(fd), interrupts_(interrupts) {}
  /// Reads a line into `line`, without its line end. The last line may lack one.
  Event next(std::string& line);

 private:
  Event fill();

  int fd_;
  Interrupts* interrupts_;
  std::string buffer_;
};

/// Whether more lines belong to an input: brackets or comments are open, the text ends in an operator, or a
/// declaration has no body yet; none to a command. `blank_line` says that the last line is empty, which ends the latter two.
bool needs_more(std::string_view text, bool blank_line);

/// Reads inputs, and prints `>>> ` and `... ` if there are prompts.
class InputReader {
 public:
  InputReader(int fd, Interrupts* interrupts, bool prompts) : lines_(fd, interrupts), prompts_(prompts) {}
  /// The next input; nothing at the end.
  std::optional<std::string> next();

 private:
  void prompt(std::string_view text) const;

  LineReader lines_;
  bool prompts_;
  bool ended_ = false;
};

}  // namespace quern
