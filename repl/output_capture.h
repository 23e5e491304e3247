#pragma once
// Captures the output of the process as text.

#include <string>

namespace quern {

/// Redirects both standard outputs to one file in memory while it lives, in the order of the writes.
class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// The output since the last call.
  std::string take();

 private:
  int file_, out_, err_;
  long taken_ = 0;
};

}  // namespace quern
