#pragma once
// Captures the standard outputs of the process while it runs.

#include <array>
#include <string>

namespace quern::jupyter {

/// Redirects both standard outputs to pipes for as long as it lives.
class PrintedText {
 public:
  PrintedText();
  ~PrintedText();
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

  struct Texts {
    std::string out, err;
  };
  /// The output since the last call, up to the last complete character (UTF-8).
  Texts take();

 private:
  /// A redirected descriptor, with its pipe and its original target.
  struct Stream {
    int descriptor, before, read_end;
    std::string rest;  ///< bytes of an incomplete character
  };
  static Stream redirected(int descriptor);
  static std::string take(Stream& stream);

  std::array<Stream, 2> streams_;
};

}  // namespace quern::jupyter
