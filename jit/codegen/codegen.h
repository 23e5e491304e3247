#pragma once
// Loop nests to machine code through LLVM ORC. The only door to LLVM: nothing outside jit/codegen includes
// it.

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

/// buffers: one pointer per Kernel::buffers entry, in order; dims: one value per Kernel::dims entry, and
/// where the kernel has a range, from which of its steps on and up to which (not included) is to be done. An
/// output overlaps no other buffer; inputs may overlap each other. Returns 0, or the number of the trap that
/// stopped it (outputs are then unspecified).
using KernelEntry = int32_t (*)(void* const* buffers, const int64_t* dims);

/// Machine code of one kernel; lives as long as this object.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  /// The best code there is yet; each that ever stood here works as long as this object, and they give the
  /// same bits.
  std::atomic<KernelEntry> entry = nullptr;
  /// What `CodeGenerator::link` makes this kernel of in another process; empty as long as the code is not the
  /// best there will be.
  virtual std::string object() const { return {}; }
};

/// Code is made twice from the same LLVM IR: at once without LLVM's optimising code generator (tier 0), and
/// with it on a thread of its own (tier 1), which takes three to five times as long.
enum class Tiers : uint8_t {
  Both,   ///< tier 0 at once, tier 1 in its place when it is ready
  First,  ///< tier 0 alone
  Best,   ///< tier 1 alone, at once
};

/// A function that is called in the place of an intrinsic of LLVM with its operands: a model of an
/// instruction that this machine does not have.
struct StandIn {
  std::string intrinsic;
  const void* function;
};

struct CodegenOptions {
  Tiers tiers = Tiers::Both;
  /// How long the end of the generator may be put off by what is still to be done in the background, beyond
  /// the job that is being done.
  std::chrono::milliseconds patience{0};
  int winograd_tile = 0;  ///< of the target's machine model
  /// Kernels' names and addresses go to /tmp/perf-PID.map, where perf looks for them.
  bool perf_map = false;
  bool debugger = false;       ///< kernels are registered with gdb's JIT interface
  bool checks_bounds = false;  ///< each access of a buffer is tested: loops::kOutOfBuffer is the trap
  /// Code may use these too, which this machine need not have, or not those with `-`, as LLVM writes them:
  /// "+amx-tile,+amx-int8".
  std::string features{};
  std::vector<StandIn> stand_ins{};
};

/// What the compiler generates code for.
struct CodegenTarget {
  std::string triple, cpu;
  std::string features;  ///< as LLVM writes them: "+sse2,+avx,…"
  /// The preferred width of vector registers is 64 bytes with AVX-512, 32 with AVX2, 16 otherwise.
  loops::MachineModel machine;
};

class CodeGenerator {
 public:
  static Result<std::unique_ptr<CodeGenerator>> create(const CodegenOptions& options = {});
  virtual ~CodeGenerator() = default;
  virtual const CodegenTarget& target() const = 0;
  /// Whether there is code for the intrinsic here.
  virtual bool has(const DotIntrinsic& intrinsic) const = 0;
  /// perf and gdb call the code as the kernel is named; what is kept of it has no name.
  virtual Result<std::shared_ptr<CompiledKernel>> compile(const loops::Kernel& kernel) = 0;
  /// A kernel from the `object` that an equal target once gave it.
  virtual Result<std::shared_ptr<CompiledKernel>> link(const std::string& object,
                                                       const std::string& name) = 0;
  /// Does a job in the background, after the kernels that were compiled before have their best code. It must
  /// not touch dims.
  virtual void later(std::function<void()> job) = 0;
  virtual void wait_until_idle() = 0;
  /// The LLVM IR and the assembly that `compile` would use, as text.
  virtual Result<std::string> llvm_ir(const loops::Kernel& kernel) = 0;
  virtual Result<std::string> assembly(const loops::Kernel& kernel) = 0;
};

/// Whether LLVM has the intrinsic, with an accumulator of these lanes and operands of this size.
bool can_call(const DotIntrinsic& intrinsic);
/// The model of the machine that code is generated for, without a generator.
loops::MachineModel host_machine();

/// "19.1.7"
std::string llvm_version();

/// PTX text, for "sm_90" or another architecture. Of loops that are bound to the grid it starts with its
/// extents:
/// `// launch: blockIdx.x = n / 16`. A kernel without is elementwise, and has one thread per element.
Result<std::string> emit_ptx(const loops::Kernel& kernel, const std::string& architecture);

}  // namespace quern
