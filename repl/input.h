#pragma once
// Inputs from standard input: one line, or as many as belong together.

#include <optional>
#include <string>
#include <string_view>

namespace quern {

class Interrupts;

/// Lines of a file descriptor, which a Ctrl-C may cut short.
class LineReader {
 public:
  enum class Event { Line, End, Interrupted };

  /// `interrupts`: null where nothing interrupts.
  LineReader(int fd, Interrupts* interrupts) : fd_(fd), interrupts_(interrupts) {}
  /// Reads up to the end of a line; `line` is without it. The last line may lack its end.
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

/// Inputs: `>>> ` and `... ` in front of their lines where there are prompts.
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
