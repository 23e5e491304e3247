#include "ir/base/counted_work.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace quern {

namespace {

struct Works {
  std::mutex mutex;
  std::vector<CountedWork*> open;  ///< the innermost last
  void (*when_none_is_left)() = nullptr;
  std::optional<CountedWork::State> reported;  ///< of the program, while there are works
};

Works& works() {
  static Works all;
  return all;
}

}  // namespace

CountedWork::CountedWork(std::string name, uint64_t all, Unit unit)
    : name_(std::move(name)), unit_(unit), all_(all), begin_(std::chrono::steady_clock::now()) {
  const std::lock_guard lock(works().mutex);
  works().open.push_back(this);
}

CountedWork::~CountedWork() {
  void (*call)() = nullptr;
  {
    const std::lock_guard lock(works().mutex);
    std::erase(works().open, this);
    if (works().open.empty()) {
      call = works().when_none_is_left;
      works().reported.reset();
    }
  }
  if (call) call();
}

void CountedWork::advance_bytes(uint64_t by) {
  const std::lock_guard lock(works().mutex);
  if (!works().open.empty() && works().open.back()->unit_ == Unit::Bytes) works().open.back()->advance(by);
}

std::optional<CountedWork::State> CountedWork::innermost() {
  const std::lock_guard lock(works().mutex);
  if (works().open.empty()) return std::nullopt;
  const CountedWork& work = *works().open.back();
  if (work.name_.empty() && works().reported) return works().reported;
  return State{work.name_, work.unit_, work.done_.load(std::memory_order_relaxed), work.all_, work.begin_};
}

void CountedWork::report(std::string line, int64_t done, int64_t all) {
  const std::lock_guard lock(works().mutex);
  if (works().open.empty()) return;
  const auto count = [](int64_t n) { return static_cast<uint64_t>(std::max<int64_t>(n, 0)); };
  std::optional<State>& state = works().reported;
  // The first report is where the rate is measured from; one that goes back begins something new.
  if (!state || count(done) < state->done)
    state = State{{}, Unit::Steps, 0, 0, std::chrono::steady_clock::now(), count(done)};
  state->name = std::move(line);
  state->done = count(done);
  state->all = count(all);
}

void CountedWork::when_none_is_left(void (*call)()) {
  const std::lock_guard lock(works().mutex);
  works().when_none_is_left = call;
}

}  // namespace quern
