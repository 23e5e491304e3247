#include "repl/progress.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "frontend/text/source.h"
#include "repl/command_files.h"
#include "repl/report/command_text.h"

namespace quern {

namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kPatience{500}, kApart{100};
constexpr std::string_view kErased = "\r\x1b[K";

/// The text on the screen.
struct Line {
  std::mutex mutex;
  bool is_shown = false;

  void erase() {
    if (is_shown) put(kErased);
    is_shown = false;
  }
  void show(const std::string& text) {
    put(std::string(kErased) + text);
    is_shown = true;
  }
  static void put(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(STDERR_FILENO, bytes.data(), bytes.size());
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
};

Line& line() {
  static Line one;
  return one;
}

void erase_line() {
  const std::lock_guard lock(line().mutex);
  line().erase();
}

/// Cut to the width of the terminal less one column.
std::string fitting(std::string text) {
  const auto size = terminal_size(stderr);
  const size_t columns = size ? static_cast<size_t>(size->columns) - 1 : 79;
  while (count_code_points(text) > columns) {
    while ((static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    text.pop_back();
  }
  return text;
}

std::string amount_in(CountedWork::Unit unit, uint64_t amount) {
  return unit == CountedWork::Unit::Bytes ? bytes_text(amount) : std::to_string(amount);
}

/// Per second.
std::string rate_in(CountedWork::Unit unit, double rate) {
  if (unit == CountedWork::Unit::Bytes) return bytes_text(static_cast<size_t>(rate)) + "/s";
  return rate < 100 ? fmt::format("{:.3g}/s", rate) : fmt::format("{:.0f}/s", rate);
}

}  // namespace

std::string progress_text(const CountedWork::State& work, nanoseconds elapsed) {
  if (work.name.empty() && work.all == 0) return "";
  std::string text = work.name;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (work.done == 0 || seconds <= 0) return text;
  const auto done = static_cast<double>(work.done), all = static_cast<double>(work.all);
  text += (text.empty() ? "" : "  ") + amount_in(work.unit, work.done);
  if (work.all > 0)
    text += fmt::format(" of {}  {:.0f} %", amount_in(work.unit, work.all), 100 * std::min(1.0, done / all));
  const double since = done - static_cast<double>(work.before);
  if (since <= 0) return text;
  text += "  " + rate_in(work.unit, since / seconds);
  if (work.all > work.done) {
    const nanoseconds left(static_cast<int64_t>(seconds / since * (all - done) * 1e9));
    text += fmt::format("  {} left", time_text(left));
  }
  return text;
}

ProgressLine::ProgressLine() {
  if (!isatty(STDERR_FILENO)) return;
  CountedWork::when_none_is_left(erase_line);
  // Ctrl-C is for the thread that works.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  CountedWork::when_none_is_left(nullptr);
  erase_line();
}

ProgressLine::Input::Input(ProgressLine& line) : line_(line) {
  const std::lock_guard lock(line_.mutex_);
  ++line_.inputs_;
  line_.is_working_ = true;
  if (line_.is_asleep_) line_.changed_.notify_all();
}

ProgressLine::Input::~Input() {
  const std::lock_guard lock(line_.mutex_);
  line_.is_working_ = false;
  erase_line();
}

void ProgressLine::watch() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    is_asleep_ = true;
    changed_.wait(lock, [&] { return is_ending_ || is_working_; });
    is_asleep_ = false;
    // The end of an input does not wake it, so that short inputs cost no switch of threads.
    const uint64_t input = inputs_;
    const auto is_over = [&] { return is_ending_ || !is_working_ || inputs_ != input; };
    changed_.wait_for(lock, kPatience, [&] { return is_ending_; });
    while (!is_over()) {
      draw();
      changed_.wait_for(lock, kApart, [&] { return is_ending_; });
    }
  }
}

void ProgressLine::draw() {
  const std::lock_guard drawing(line().mutex);
  // Checked while the line is locked: work that ends now erases it afterwards.
  const auto work = CountedWork::innermost();
  const std::string text =
      work ? fitting(progress_text(*work, std::chrono::steady_clock::now() - work->begin)) : "";
  if (text.empty())
    line().erase();
  else
    line().show(text);
}

ProgressLine::Hidden::Hidden() : lock_(line().mutex) { line().erase(); }

}  // namespace quern
