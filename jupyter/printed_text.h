#pragma once
// What the process writes to its standard outputs, while it writes it.

#include <array>
#include <string>

namespace quern::jupyter {

/// While it lives both standard outputs are pipes.
class PrintedText {
 public:
  PrintedText();
  ~PrintedText();
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

  struct Texts {
    std::string out, err;
  };
  /// What came since the last call, up to the last whole character (UTF-8).
  Texts take();

 private:
  /// A descriptor that goes into a pipe, and where it went before.
  struct Stream {
    int descriptor, before, read_end;
    std::string rest;  ///< of a character that has not come whole
  };
  static Stream redirected(int descriptor);
  static std::string take(Stream& stream);

  std::array<Stream, 2> streams_;
};

}  // namespace quern::jupyter
