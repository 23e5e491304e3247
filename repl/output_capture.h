#pragma once
// What the process writes, as a text.

#include <string>

namespace quern {

/// While it lives both standard outputs go to one file in memory, in the order of what is written.
class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// What was written since the last call.
  std::string take();

 private:
  int file_, out_, err_;
  long taken_ = 0;
};

}  // namespace quern
