#pragma once
// Compiles loop nests to machine code through LLVM ORC. The only interface to LLVM: nothing outside
// jit/codegen includes it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "jit/loops/kernel.h"
#include "jit/loops/machine_model.h"

namespace quern {

/// buffers: one pointer per Kernel::buffers entry, in order; dims: one value per Kernel::dims entry and, if
/// the kernel has a range, the first step to execute and the end (exclusive). An output overlaps no other
/// buffer; inputs may overlap each other. Returns 0, or the number of the trap that stopped it (outputs are
/// then unspecified).
using KernelEntry = int32_t (*)(void* const* buffers, const int64_t* dims);

/// Machine code of one kernel; lives as long as this object.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  /// The best code so far; every entry ever stored here stays valid as long as this object, and all give the
  /// same bits.
  std::atomic<KernelEntry> entry = nullptr;
  /// The object from which `CodeGenerator::link` recreates this kernel in another process; empty until the
  /// code is in its final tier.
  virtual std::string object() const { return {}; }
};

/// Code is compiled twice from the same LLVM IR: immediately without LLVM's optimising code generator (tier
/// 0), and with it on a background thread (tier 1), which takes three to five times as long.
enum class Tiers : uint8_t {
  Both,   ///< tier 0 immediately, replaced by tier 1 when ready
  First,  ///< only tier 0
  Best,   ///< only tier 1, immediately
};

/// A function called with an LLVM intrinsic's operands in its place: a model of an instruction that this
/// machine lacks.
struct StandIn {
  std::string intrinsic;
  const void* function;
};

struct CodegenOptions {
  Tiers tiers = Tiers::Both;
  /// How long background work, beyond the current job, may delay the generator's destruction.
  std::chrono::milliseconds patience{0};
  int winograd_tile = 0;  ///< of the target's machine model
  /// Write kernels' names and addresses to /tmp/perf-PID.map, for perf.
  bool perf_map = false;
  bool debugger = false;       ///< register kernels with gdb's JIT interface
  bool checks_bounds = false;  ///< test each buffer access; the trap is loops::kOutOfBuffer
  /// Features to add, even if this machine lacks them, or with `-` to remove, in LLVM's syntax:
  /// "+amx-tile,+amx-int8".
  std::string features{};
  std::vector<StandIn> stand_ins{};
};

/// The target of code generation.
struct CodegenTarget {
  std::string triple, cpu;
  std::string features;  ///< in LLVM's syntax: "+sse2,+avx,…"
  /// The preferred width of vector registers is 64 bytes with AVX-512, 32 with AVX2, 16 otherwise.
  loops::MachineModel machine;
};

class CodeGenerator {
 public:
  static Result<std::unique_ptr<CodeGenerator>> create(const CodegenOptions& options = {});
  virtual ~CodeGenerator() = default;
  virtual const CodegenTarget& target() const = 0;
  /// Whether this target supports the intrinsic.
  virtual bool has(const DotIntrinsic& intrinsic) const = 0;
  /// perf and gdb show the code under the kernel's name; the stored object has none.
  virtual Result<std::shared_ptr<CompiledKernel>> compile(const loops::Kernel& kernel) = 0;
  /// A kernel from the `object` that an equal target once produced.
  virtual Result<std::shared_ptr<CompiledKernel>> link(const std::string& object,
                                                       const std::string& name) = 0;
  /// Runs a job in the background, after earlier compiled kernels have reached their final tier. It must not
  /// touch dims.
  virtual void later(std::function<void()> job) = 0;
  virtual void wait_until_idle() = 0;
  /// The LLVM IR and the assembly that `compile` would use, as text.
  virtual Result<std::string> llvm_ir(const loops::Kernel& kernel) = 0;
  virtual Result<std::string> assembly(const loops::Kernel& kernel) = 0;
};

/// Whether LLVM has the intrinsic with this accumulator and these operand sizes.
bool can_call(const DotIntrinsic& intrinsic);
/// The model of the target machine, without a generator.
loops::MachineModel host_machine();

/// "19.1.7"
std::string llvm_version();

/// PTX text, for "sm_90" or another architecture. If loops are bound to the grid, it starts with the grid's
/// extents: `// launch: blockIdx.x = n / 16`. Otherwise the kernel is elementwise, with one thread per
/// element.
Result<std::string> emit_ptx(const loops::Kernel& kernel, const std::string& architecture);

}  // namespace quern
