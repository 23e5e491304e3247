// ORC: machines, modules, and the lifetime of compiled code.

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "jit/codegen/codegen.h"
#include "jit/codegen/emitter.h"
#include "jit/codegen/host_functions.h"
#include "jit/codegen/optimize.h"

namespace quern {

namespace {

using codegen::Machine;
using loops::Kernel;

Failure failure(llvm::Error error) {
  return Failure{"The code generator failed: " + llvm::toString(std::move(error)) + "."};
}

/// What compiled kernels keep alive.
struct Engine {
  llvm::orc::JITTargetMachineBuilder machine_builder;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  CodegenTarget target;
  std::string features;
  Machine machine;
  std::atomic<uint64_t> symbols{0};

  explicit Engine(llvm::orc::JITTargetMachineBuilder builder) : machine_builder(std::move(builder)) {}

  /// A target machine serves one thread at a time, and its tables of subtargets are worth keeping.
  std::unique_ptr<llvm::TargetMachine> take_machine() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto machine = std::move(idle_.back());
        idle_.pop_back();
        return machine;
      }
    }
    return llvm::cantFail(machine_builder.createTargetMachine());
  }
  void give_back(std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

class OrcKernel final : public CompiledKernel {
 public:
  OrcKernel(std::shared_ptr<Engine> engine, llvm::orc::ResourceTrackerSP tracker)
      : engine_(std::move(engine)), tracker_(std::move(tracker)) {}
  ~OrcKernel() override { llvm::consumeError(tracker_->remove()); }

 private:
  std::shared_ptr<Engine> engine_;
  llvm::orc::ResourceTrackerSP tracker_;
};

/// A module and its context, for one kernel.
struct Unit {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

int vector_bytes(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86()) return 16;
  return features.checkFeatures("+avx512f") ? 64 : features.checkFeatures("+avx2") ? 32 : 16;
}

int64_t cache_bytes(int name, int64_t otherwise) {
  const int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

loops::MachineModel machine_model(const llvm::TargetMachine& machine) {
  loops::MachineModel model;
  model.vector_bytes = vector_bytes(machine);
  model.vector_registers = model.vector_bytes == 64 ? 32 : 16;
  model.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, model.l1_bytes);
  model.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, model.l2_bytes);
  return model;
}

codegen::Machine machine_of(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86()) return {.has_fma = true};
  return {.has_fma = features.checkFeatures("+fma"),
          .has_avx2 = features.checkFeatures("+avx2"),
          .has_avx512 = features.checkFeatures("+avx512f,+avx512vl,+avx512dq")};
}

class OrcGenerator final : public CodeGenerator {
 public:
  explicit OrcGenerator(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  const CodegenTarget& target() const override { return engine_->target; }

  Result<std::shared_ptr<CompiledKernel>> compile(const Kernel& kernel) override {
    const std::string symbol = kernel.name + "." + std::to_string(engine_->symbols++);
    Result<std::unique_ptr<Unit>> unit = build(kernel, symbol);
    if (!unit) return unit.error();
    auto object = std::make_unique<llvm::SmallVectorMemoryBuffer>(
        emit(**unit, llvm::CodeGenFileType::ObjectFile), symbol, false);
    auto tracker = engine_->jit->getMainJITDylib().createResourceTracker();
    auto compiled = std::make_shared<OrcKernel>(engine_, tracker);
    if (llvm::Error error = engine_->jit->addObjectFile(tracker, std::move(object)))
      return failure(std::move(error));
    auto address = engine_->jit->lookup(symbol);
    if (!address) return failure(address.takeError());
    compiled->entry = address->toPtr<KernelEntry>();
    compiled->traps = kernel.traps;
    return std::shared_ptr<CompiledKernel>(std::move(compiled));
  }

  Result<std::string> llvm_ir(const Kernel& kernel) override {
    Result<std::unique_ptr<Unit>> unit = build(kernel, kernel.name);
    if (!unit) return unit.error();
    std::string text;
    llvm::raw_string_ostream out(text);
    (*unit)->module->print(out, nullptr);
    return text;
  }

  Result<std::string> assembly(const Kernel& kernel) override {
    Result<std::unique_ptr<Unit>> unit = build(kernel, kernel.name);
    if (!unit) return unit.error();
    const llvm::SmallVector<char, 0> text = emit(**unit, llvm::CodeGenFileType::AssemblyFile);
    return std::string(text.begin(), text.end());
  }

 private:
  Result<std::unique_ptr<Unit>> build(const Kernel& kernel, const std::string& symbol) {
    for (const loops::Buffer& buffer : kernel.buffers) {
      if (buffer.dtype.lanes != 1) {
        return Failure{"There is no code for tensors of " + to_string(buffer.dtype) + " yet."};
      }
    }
    auto unit = std::make_unique<Unit>();
    unit->module = std::make_unique<llvm::Module>(symbol, unit->context);
    unit->module->setDataLayout(engine_->jit->getDataLayout());
    unit->module->setTargetTriple(engine_->target.triple);
    codegen::Emitter(*unit->module, kernel, engine_->machine).emit_host(symbol);
    for (llvm::Function& function : *unit->module) {
      if (function.isDeclaration()) continue;
      function.addFnAttr("target-cpu", engine_->target.cpu);
      function.addFnAttr("target-features", engine_->features);
      function.addFnAttr("prefer-vector-width", std::to_string(engine_->target.machine.vector_bytes * 8));
    }
    codegen::optimize(*unit->module);
    return unit;
  }

  llvm::SmallVector<char, 0> emit(Unit& unit, llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    std::unique_ptr<llvm::TargetMachine> machine = engine_->take_machine();
    {
      llvm::legacy::PassManager passes;
      QUERN_CHECK(!machine->addPassesToEmitFile(passes, out, nullptr, type));
      passes.run(*unit.module);
    }
    engine_->give_back(std::move(machine));
    return bytes;
  }

  std::shared_ptr<Engine> engine_;
};

llvm::Error add_host_functions(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  for (const codegen::HostFunction& function : codegen::host_functions()) {
    symbols[jit.mangleAndIntern(function.symbol)] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

}  // namespace

Result<std::unique_ptr<CodeGenerator>> CodeGenerator::create() {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return failure(builder.takeError());
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  // The linker puts a kernel's parts close together and reaches what is far away through stubs.
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  auto engine = std::make_shared<Engine>(*builder);
  auto machine = builder->createTargetMachine();
  if (!machine) return failure(machine.takeError());
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jit) return failure(jit.takeError());
  engine->jit = std::move(*jit);
  if (llvm::Error error = add_host_functions(*engine->jit)) return failure(std::move(error));
  engine->target = {(*machine)->getTargetTriple().str(), (*machine)->getTargetCPU().str(),
                    machine_model(**machine)};
  engine->features = (*machine)->getTargetFeatureString().str();
  engine->machine = machine_of(**machine);
  engine->give_back(std::move(*machine));
  return std::unique_ptr<CodeGenerator>(std::make_unique<OrcGenerator>(std::move(engine)));
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace quern
