#pragma once
// What perf and gdb learn of compiled code.

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <string>

namespace quern::codegen {

/// From now on the functions that `jit` links are registered with gdb and are lines of /tmp/perf-PID.map, by the
/// names that they have in their objects.
llvm::Error tell_debuggers(llvm::orc::LLJIT& jit);
llvm::Error write_perf_map(llvm::orc::LLJIT& jit);

/// The object file of a kernel with another name for its entry, and for the function that this calls
/// (Emitter::emit_host): the time goes by in that one.
llvm::Expected<std::string> with_entry_named(const std::string& object, const std::string& from,
                                             const std::string& to);

}  // namespace quern::codegen
