// Ctrl-C around the end of what handles it.

#include "repl/interrupt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace quern {
namespace {

// A handler that still runs on another thread writes into no file that was opened after the interrupts had ended.
TEST(Interrupts, ALateSignalWritesIntoNoOtherFile) {
  struct sigaction before, ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignored, &before);
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) pthread_kill(pthread_self(), SIGINT);
  });
  constexpr std::chrono::milliseconds kTime{500};
  int strays = 0;
  for (const auto end = std::chrono::steady_clock::now() + kTime; std::chrono::steady_clock::now() < end;) {
    { const Interrupts interrupts; }
    std::array<int, 2> pipe;
    ASSERT_EQ(pipe2(pipe.data(), O_NONBLOCK), 0);
    char byte = 0;
    strays += static_cast<int>(read(pipe[0], &byte, 1) > 0);
    for (const int file : pipe) close(file);
  }
  is_over = true;
  other.join();
  sigaction(SIGINT, &before, nullptr);
  EXPECT_EQ(strays, 0);
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
