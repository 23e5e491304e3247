#pragma once
// Compiled code for perf and gdb.

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <string>

namespace quern::codegen {

/// From now on registers the functions that `jit` links with gdb, or writes them to /tmp/perf-PID.map, under
/// their names in the objects.
llvm::Error tell_debuggers(llvm::orc::LLJIT& jit);
llvm::Error write_perf_map(llvm::orc::LLJIT& jit);

/// The object file of a kernel with its entry renamed, as well as the function that it calls
/// (Emitter::emit_host), where the time is spent.
llvm::Expected<std::string> with_entry_named(const std::string& object, const std::string& from,
                                             const std::string& to);

}  // namespace quern::codegen
