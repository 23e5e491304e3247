#pragma once
// Ctrl-C: at the prompt it clears the line, during an evaluation it stops the evaluation; the session goes
// on.

namespace quern {

/// Takes SIGINT while it lives. There is one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable after a Ctrl-C at the prompt. (The signal may come to any thread: it wakes the reader through a
  /// pipe.)
  int wake_fd() const;
  /// Forgets a Ctrl-C that was not looked at.
  void clear();
};

/// While it lives Ctrl-C stops what is done (ir/base/interrupt.h). A third one ends the process, for what
/// does not stop.
class InterruptibleWork {
 public:
  InterruptibleWork();
  ~InterruptibleWork();
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;
};

}  // namespace quern
