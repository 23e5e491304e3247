#pragma once
// Starts programs, with pipes to them.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "lsp/owned_file.h"

namespace quern::lsp {

/// A process, and this side's ends of its pipes. The owner has to wait for its end.
struct Spawned {
  pid_t id = -1;
  OwnedFile input, output, errors;  ///< of those that are pipes
};

struct SpawnOptions {
  enum class Stream : uint8_t { Inherited, Piped, Null };
  Stream input = Stream::Inherited, output = Stream::Inherited, errors = Stream::Inherited;
  /// Makes the process the leader of a group, so that a signal ends it together with all that it starts.
  bool leads_group = false;
  std::vector<std::string> variables{};  ///< NAME=value, before those of this process
};

/// Starts a command, whose first word is a program on PATH or a path. Processes started later do not keep its pipes
/// open.
Result<Spawned> spawn(const std::vector<std::string>& command, const SpawnOptions& options);

}  // namespace quern::lsp
