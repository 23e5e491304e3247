#include "lsp/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

extern char** environ;

namespace quern::lsp {

namespace {

using Stream = SpawnOptions::Stream;

/// Changes to the files of a process before its program starts.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  /// Redirects a standard file as `stream` specifies; for a pipe, `ours` becomes this side's end. False if there is
  /// no pipe.
  bool add(int standard, Stream stream, OwnedFile& ours) {
    if (stream == Stream::Null)
      posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null",
                                       standard == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    if (stream != Stream::Piped) return true;
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    const bool is_input = standard == STDIN_FILENO;
    ours = OwnedFile(ends[is_input ? 1 : 0]);
    OwnedFile& theirs = theirs_[static_cast<size_t>(standard)] = OwnedFile(ends[is_input ? 0 : 1]);
    posix_spawn_file_actions_adddup2(&actions_, theirs.number(), standard);
    return true;
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
  std::array<OwnedFile, 3> theirs_;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Of several values of a variable, programs take the first.
std::vector<std::string> environment_with(std::vector<std::string> variables) {
  for (char** entry = environ; *entry; ++entry) variables.emplace_back(*entry);
  return variables;
}

}  // namespace

Result<Spawned> spawn(const std::vector<std::string>& command, const SpawnOptions& options) {
  Spawned child;
  FileActions actions;
  if (!actions.add(STDIN_FILENO, options.input, child.input) ||
      !actions.add(STDOUT_FILENO, options.output, child.output) ||
      !actions.add(STDERR_FILENO, options.errors, child.errors))
    return Failure{std::strerror(errno)};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (options.leads_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::vector<std::string> environment = environment_with(options.variables);
  const int error = posix_spawnp(&child.id, command.front().c_str(), actions.get(), &attributes,
                                 pointers(command).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return Failure{fmt::format("`{}` cannot be started: {}", command.front(), std::strerror(error))};
  return child;
}

}  // namespace quern::lsp
