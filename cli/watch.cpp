// `quern run --watch`.

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <map>

#include "cli/commands.h"
#include "ir/base/interrupt.h"
#include "repl/command_files.h"
#include "repl/interrupt.h"
#include "session/db/data_files.h"
#include "session/run/compiler.h"
#include "session/run/execution.h"

namespace quern {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{150};

/// The state of files when they were last examined.
class WatchedFiles {
 public:
  void add(const std::string& path) { stamps_.try_emplace(path, stamp_of(path)); }

  /// The files that have changed since.
  std::vector<std::string> changed() {
    std::vector<std::string> found;
    for (auto& [path, stamp] : stamps_)
      if (FileStamp now = stamp_of(path); now != stamp) {
        stamp = now;
        found.push_back(path);
      }
    return found;
  }

 private:
  std::map<std::string, FileStamp> stamps_;
};

/// Counters of the work done so far.
struct WorkCounts {
  uint64_t functions, statements;
  size_t kernels;

  WorkCounts(const Session& session, Execution& execution)
      : functions(session.times_computed("infer")),
        statements(session.times_computed("infer_statement")),
        kernels(execution.compiler().kernel_counts().lowered) {}
};

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Sleeps briefly; true if it is interrupted.
bool interrupted_while_waiting(Interrupts& interrupts) {
  pollfd wake{interrupts.wake_fd(), POLLIN, 0};
  return poll(&wake, 1, static_cast<int>(kBetweenLooks.count())) > 0;
}

}  // namespace

int CommandLine::run_and_watch(const OpenedFile& opened, Execution& execution) const {
  using Clock = std::chrono::steady_clock;
  Session& session = *opened.session;
  Interrupts interrupts;
  WatchedFiles files;
  files.add(file_);
  if (!params_.empty()) files.add(params_);
  for (const std::string& input : inputs_) files.add(input.substr(input.find('=') + 1));
  for (std::vector<std::string> changed;;) {
    const WorkCounts before(session, execution);
    const auto start = Clock::now();
    {
      const InterruptibleWork interruptible;
      session.watch(&interrupt_flag);
      run_program(opened, execution);
    }
    const WorkCounts after(session, execution);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    say(fmt::format("{}{} and {} typed, {} compiled, {:.2f} s; waiting for changes, Ctrl-C ends",
                    changed.empty() ? "" : fmt::format("`{}` changed: ", fmt::join(changed, "`, `")),
                    counted(after.functions - before.functions, "function"),
                    counted(after.statements - before.statements, "statement"),
                    counted(after.kernels - before.kernels, "kernel"), seconds));
    for (const std::string& file : session.data_files()) files.add(file);
    for (const std::string& file : execution.loaded_files()) files.add(file);
    // A file that is being replaced may be missing for a moment.
    for (changed.clear(); changed.empty() || !stamp_of(file_);) {
      if (interrupted_while_waiting(interrupts)) return kFine;
      for (const std::string& file : files.changed()) changed.push_back(file);
      for (const std::string& file : session.outdated_files()) changed.push_back(file);
    }
    session.watch(nullptr);
    session.reread_files();
    if (auto text = read_file(file_)) session.set_text(opened.source, std::move(*text));
    session.release(opened.source);
  }
}

}  // namespace quern
