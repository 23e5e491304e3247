#pragma once
// Long work that counts what it has done, for who shows it meanwhile (repl/progress.h).

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace quern {

/// Is known while it lives. Works are inside of each other.
class CountedWork {
 public:
  enum class Unit : uint8_t { Steps, Bytes };

  /// Has no name: what is shown of works inside of it may stay until it ends.
  CountedWork() : CountedWork("", 0) {}
  /// `all` is 0 where nobody knows.
  CountedWork(std::string name, uint64_t all, Unit unit = Unit::Steps);
  ~CountedWork();
  CountedWork(const CountedWork&) = delete;
  CountedWork& operator=(const CountedWork&) = delete;

  void advance(uint64_t by = 1) { done_.fetch_add(by, std::memory_order_relaxed); }
  /// Of the innermost, where it counts bytes: for who does not know whose they are.
  static void advance_bytes(uint64_t by);

  /// How far the program itself is, of the outermost work: a line of its own, shown where no work inside has a name.
  static void report(std::string line, int64_t done, int64_t all);

  struct State {
    std::string name;
    Unit unit = Unit::Steps;
    uint64_t done = 0, all = 0;
    std::chrono::steady_clock::time_point begin{};
    uint64_t before = 0;  ///< done at `begin`
  };
  /// From any thread; nothing where there is none.
  static std::optional<State> innermost();
  /// Has a function called, from then on, wherever no work is left; null for none.
  static void when_none_is_left(void (*call)());

 private:
  const std::string name_;
  const Unit unit_;
  const uint64_t all_;
  const std::chrono::steady_clock::time_point begin_;
  std::atomic<uint64_t> done_ = 0;
};

}  // namespace quern
