// Faults in compiled code come back to who called it.

#include "jit/runtime/fault.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <thread>

namespace quern {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUERN_PLAIN __attribute__((no_sanitize("undefined", "address", "thread"), noinline))
#else
#define QUERN_PLAIN __attribute__((noinline))
#endif

QUERN_PLAIN void read_nothing() { (void)*reinterpret_cast<volatile int*>(uintptr_t{16}); }
QUERN_PLAIN void divide_by_zero() {
  int one = 1, zero = 0, rest = 0;
  asm volatile("cltd; idivl %2" : "+a"(one), "=&d"(rest) : "r"(zero) : "cc");
}
QUERN_PLAIN void run_no_instruction() { asm volatile("ud2"); }
QUERN_PLAIN int fill_stack(volatile int* above) {
  volatile int page[1024];
  page[0] = *above + 1;
  if (page[0] < 0) return 0;
  return fill_stack(page) + page[0];
}

TEST(Faults, ComeBackWithTheirSignal) {
  for (int round = 0; round < 3; ++round) {
    const auto access = fault_of(read_nothing);
    ASSERT_TRUE(access);
    EXPECT_EQ(to_string(*access), "SIGSEGV at 0x10");
    const auto division = fault_of(divide_by_zero);
    ASSERT_TRUE(division);
    EXPECT_EQ(division->signal, SIGFPE);
    const auto instruction = fault_of(run_no_instruction);
    ASSERT_TRUE(instruction);
    EXPECT_EQ(instruction->signal, SIGILL);
  }
  int done = 0;
  EXPECT_FALSE(fault_of([&] { done = 1; }));
  EXPECT_EQ(done, 1);
}

TEST(Faults, ComeBackToTheInnermostCall) {
  bool inner = false, outer = true;
  outer = fault_of([&] { inner = fault_of(read_nothing).has_value(); }).has_value();
  EXPECT_TRUE(inner);
  EXPECT_FALSE(outer);
  EXPECT_TRUE(fault_of([&] {
    (void)fault_of([] {});
    read_nothing();
  }));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The sanitizers' own handlers would have no stack.
TEST(Faults, ComeBackFromTheEndOfAStack) {
  for (int round = 0; round < 2; ++round) {
    bool stopped = false;
    std::thread([&] {
      volatile int first = 0;
      stopped = fault_of([&] { (void)fill_stack(&first); }).has_value() && fault_of(read_nothing).has_value();
    }).join();
    EXPECT_TRUE(stopped);
  }
}
#endif

TEST(FaultsDeathTest, OutsideOfCompiledCodeEndTheProcess) {
  EXPECT_FALSE(fault_of([] {}));
  EXPECT_DEATH(read_nothing(), "");
  // By the signal, or by the sanitizer that has it reported.
  EXPECT_DEATH(raise(SIGSEGV), "");
}

}  // namespace
}  // namespace quern
