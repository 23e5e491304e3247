// Ctrl-C around the end of what handles it.

#include "repl/interrupt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace quern {
namespace {

// Another thread may be in the handler when it is replaced. What it writes then must not go to a file that has got the
// number of the pipe.
TEST(Interrupts, ThePipeOutlivesThem) {
  int pipe = -1;
  {
    const Interrupts interrupts;
    pipe = interrupts.wake_fd();
  }
  EXPECT_NE(fcntl(pipe, F_GETFD), -1);
}

TEST(Interrupts, AnEarlierCtrlCIsNotSeen) {
  const auto is_pending = [](const Interrupts& interrupts) {
    char byte = 0;
    return read(interrupts.wake_fd(), &byte, 1) > 0;
  };
  {
    const Interrupts first;
    raise(SIGINT);
  }
  const Interrupts second;
  EXPECT_FALSE(is_pending(second));
  raise(SIGINT);
  EXPECT_TRUE(is_pending(second));
}

}  // namespace
}  // namespace quern
