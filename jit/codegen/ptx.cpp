// The thin GPU path: kernels as PTX text.

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include <mutex>

#include "jit/codegen/codegen.h"
#include "jit/codegen/emitter.h"
#include "jit/codegen/optimize.h"
#include "jit/schedule/grid.h"

namespace quern {

namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

Result<std::unique_ptr<llvm::TargetMachine>> ptx_machine(const std::string& architecture) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, message);
  if (!target) return Failure{"This build of LLVM does not generate PTX: " + message + "."};
  const std::unique_ptr<llvm::MCSubtargetInfo> subtargets(target->createMCSubtargetInfo(kTriple, "", ""));
  if (!subtargets->isCPUStringValid(architecture)) {
    return Failure{"LLVM knows no GPU architecture '" + architecture + "'."};
  }
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, architecture, "", llvm::TargetOptions(), llvm::Reloc::PIC_, {},
                                  llvm::CodeGenOptLevel::Default));
}

/// `// launch: blockIdx.x = n / 16, threadIdx.x = 16`; empty if no loop is bound to the grid.
std::string launch_comment(const loops::Kernel& kernel) {
  std::string comment;
  for (const auto& [index, extent] : loops::launch_extents(kernel)) {
    comment += comment.empty() ? "// launch: " : ", ";
    comment += std::string(loops::to_string(index)) + " = " + to_string(extent);
  }
  return comment.empty() ? comment : comment + "\n";
}

}  // namespace

Result<std::string> emit_ptx(const loops::Kernel& kernel, const std::string& architecture) {
  Result<std::unique_ptr<llvm::TargetMachine>> machine = ptx_machine(architecture);
  if (!machine) return machine.error();
  llvm::LLVMContext context;
  llvm::Module module(kernel.name, context);
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple(kTriple);
  codegen::Emitter emitter(module, kernel, {.has_fma = true, .is_gpu = true});
  emitter.emit_gpu(kernel.name);
  if (!emitter.unsupported().empty()) {
    return Failure{"There is no code for GPUs for " + emitter.unsupported() + " yet."};
  }
  codegen::optimize(module);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  QUERN_CHECK(!(*machine)->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(module);
  return launch_comment(kernel) + text.str().str();
}

}  // namespace quern
