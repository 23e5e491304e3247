#pragma once
// Ctrl-C: at the prompt it clears the line, during an evaluation it stops the evaluation. The session continues.

namespace quern {

/// Handles SIGINT while it lives. There is at most one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable after a Ctrl-C at the prompt. (Any thread may receive the signal, so it wakes the reader through a pipe.)
  int wake_fd() const;
  /// Discards a pending Ctrl-C.
  void clear();
};

/// While it lives, Ctrl-C stops the work (ir/base/interrupt.h). A third one ends the process, in case the work does
/// not stop.
class InterruptibleWork {
 public:
  InterruptibleWork();
  ~InterruptibleWork();
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;
};

}  // namespace quern
