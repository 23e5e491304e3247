#pragma once
// Loop nests to machine code through LLVM ORC. The only door to LLVM: nothing outside jit/codegen includes
// it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/result.h"
#include "jit/schedule/loops.h"
#include "jit/schedule/machine_model.h"

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
  KernelEntry entry = nullptr;
  std::vector<std::string> traps;
};

/// What the compiler generates code for.
struct CodegenTarget {
  std::string triple, cpu;
  /// The preferred width of vector registers is 64 bytes with AVX-512, 32 with AVX2, 16 otherwise.
  loops::MachineModel machine;
};

class CodeGenerator {
 public:
  static Result<std::unique_ptr<CodeGenerator>> create();
  virtual ~CodeGenerator() = default;
  virtual const CodegenTarget& target() const = 0;
  virtual Result<std::shared_ptr<CompiledKernel>> compile(const loops::Kernel& kernel) = 0;
  /// The LLVM IR and the assembly that `compile` would use, as text.
  virtual Result<std::string> llvm_ir(const loops::Kernel& kernel) = 0;
  virtual Result<std::string> assembly(const loops::Kernel& kernel) = 0;
};

/// "19.1.7"
std::string llvm_version();

/// PTX text for an elementwise kernel over all elements of the output: one thread per element. `architecture`
/// such as "sm_90". The thin GPU path: proves that NVPTX is linked and emits what ptxas takes.
Result<std::string> emit_ptx(const loops::Kernel& kernel, const std::string& architecture);

}  // namespace quern
