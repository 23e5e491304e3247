#pragma once
// The libraries that the operators' bench compares with, and what they are asked for.

#include <string>
#include <vector>

#include "bench/harness/peer_process.h"
#include "bench/ops/work.h"

namespace quern::bench {

enum class Library { OneDnn, OpenBlas, PyTorch };

struct LibraryCommand {
  Library library;
  PeerCommand command;
};
std::vector<LibraryCommand> library_commands();

/// The fields of a request to ready a work; empty where the library has nothing of the kind.
std::vector<std::string> task_of(const Work& work, Library library);

}  // namespace quern::bench
