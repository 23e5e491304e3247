// ORC: machines, modules, and the lifetime of compiled code.

#include <llvm/ADT/StringExtras.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

#include "ir/base/interrupt.h"
#include "jit/codegen/background/abandoned.h"
#include "jit/codegen/background/background.h"
#include "jit/codegen/codegen.h"
#include "jit/codegen/debugging.h"
#include "jit/codegen/emitter.h"
#include "jit/codegen/host_functions.h"
#include "jit/codegen/optimize.h"
#include "jit/schedule/grid.h"

namespace quern {

namespace {

using codegen::Machine;
using loops::Kernel;

Failure failure(llvm::Error error) {
  return Failure{"The code generator failed: " + llvm::toString(std::move(error)) + "."};
}

/// The name of every kernel's entry in its object: each kernel has its own symbol table.
constexpr const char* kEntryName = "quern_kernel";

enum class Tier : uint8_t { First, Best };

void add_passes(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out,
                llvm::CodeGenFileType type) {
  QUERN_CHECK(!machine.addPassesToEmitFile(passes, out, nullptr, type));
}

/// LLVM's code generator for one tier. It serves one thread at a time and any number of modules: to make its passes and
/// the tables of the target takes a good part of the time that a small kernel takes.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::unique_ptr<llvm::TargetMachine> machine) : machine_(std::move(machine)) {
    add_passes(passes_, *machine_, out_, llvm::CodeGenFileType::ObjectFile);
  }
  std::string object(llvm::Module& module) {
    bytes_.clear();
    passes_.run(module);
    return {bytes_.begin(), bytes_.end()};
  }

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream out_{bytes_};
  llvm::legacy::PassManager passes_;
};

/// The state that compiled kernels keep alive.
struct Engine {
  std::array<llvm::orc::JITTargetMachineBuilder, 2> machine_builders;  ///< one per tier
  std::unique_ptr<llvm::orc::LLJIT> jit;
  CodegenTarget target;
  Machine machine;
  bool names_code = false;       ///< for perf or gdb
  bool tells_unwinding = false;  ///< emit unwind tables
  std::atomic<uint64_t> symbol_tables{0};

  explicit Engine(const llvm::orc::JITTargetMachineBuilder& builder) : machine_builders{builder, builder} {
    builder_of(Tier::First).setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
    builder_of(Tier::Best).setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  }

  llvm::orc::JITTargetMachineBuilder& builder_of(Tier tier) {
    return machine_builders.at(static_cast<size_t>(tier));
  }
  std::unique_ptr<ObjectWriter> take_writer(Tier tier) {
    std::unique_ptr<llvm::TargetMachine> machine;
    {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_.at(static_cast<size_t>(tier));
      if (!idle.empty()) {
        auto writer = std::move(idle.back());
        idle.pop_back();
        return writer;
      }
      machine = std::move(machines_.at(static_cast<size_t>(tier)));
    }
    if (!machine) machine = llvm::cantFail(builder_of(tier).createTargetMachine());
    return std::make_unique<ObjectWriter>(std::move(machine));
  }
  /// For the first writer of the tier.
  void keep_machine(Tier tier, std::unique_ptr<llvm::TargetMachine> machine) {
    machines_.at(static_cast<size_t>(tier)) = std::move(machine);
  }
  void give_back(Tier tier, std::unique_ptr<ObjectWriter> writer) {
    const std::lock_guard lock(mutex_);
    idle_.at(static_cast<size_t>(tier)).push_back(std::move(writer));
  }

 private:
  std::mutex mutex_;
  std::array<std::vector<std::unique_ptr<ObjectWriter>>, 2> idle_;
  std::array<std::unique_ptr<llvm::TargetMachine>, 2> machines_;  ///< per tier, or null
};

class OrcKernel final : public CompiledKernel {
 public:
  OrcKernel(std::shared_ptr<Engine> engine, std::string name)
      : engine_(std::move(engine)), name_(std::move(name)) {}
  ~OrcKernel() override {
    for (llvm::orc::JITDylib* table : tables_)
      llvm::consumeError(engine_->jit->getExecutionSession().removeJITDylib(*table));
  }

  std::string object() const override {
    const std::lock_guard lock(mutex_);
    return object_;
  }

  /// Links an object file and replaces the previous entry by its entry.
  llvm::Error take(const std::string& object, Tier tier) {
    llvm::orc::LLJIT& jit = *engine_->jit;
    // A symbol table without a platform's.
    llvm::orc::JITDylib& table =
        jit.getExecutionSession().createBareJITDylib("kernel." + std::to_string(engine_->symbol_tables++));
    table.addToLinkOrder(jit.getMainJITDylib());
    if (auto process = jit.getProcessSymbolsJITDylib()) table.addToLinkOrder(*process);
    const std::lock_guard lock(mutex_);
    tables_.push_back(&table);
    if (tier == Tier::Best) object_ = object;
    if (engine_->names_code) {
      auto named = codegen::with_entry_named(object, kEntryName, name_);
      return named ? enter(table, *named, name_) : named.takeError();
    }
    return enter(table, object, kEntryName);
  }

 private:
  llvm::Error enter(llvm::orc::JITDylib& table, const std::string& object, const std::string& symbol) {
    llvm::orc::LLJIT& jit = *engine_->jit;
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, table.getName());
    if (llvm::Error error = jit.addObjectFile(table, std::move(buffer))) return error;
    auto address = jit.lookup(table, symbol);
    if (!address) return address.takeError();
    entry.store(address->toPtr<KernelEntry>(), std::memory_order_release);
    return llvm::Error::success();
  }

  std::shared_ptr<Engine> engine_;
  const std::string name_;
  mutable std::mutex mutex_;
  std::vector<llvm::orc::JITDylib*> tables_;  ///< one per linked code
  std::string object_;
};

/// A module and its context, for one kernel.
struct Unit {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

// LLVM has vectors of 512 bits where evex512 stands beside avx512f, as on every host that has the latter.
int vector_bytes(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86()) return 16;
  return features.checkFeatures("+avx512f,+evex512") ? 64 : features.checkFeatures("+avx2") ? 32 : 16;
}

int64_t cache_bytes(int name, int64_t otherwise) {
  const int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

loops::MachineModel machine_model(const llvm::TargetMachine& machine) {
  loops::MachineModel model;
  model.vector_bytes = vector_bytes(machine);
  model.vector_registers = loops::registers_of(model.vector_bytes);
  model.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, model.l1_bytes);
  model.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, model.l2_bytes);
  return model;
}

/// Whether the machine's features, in LLVM's syntax, cover an intrinsic's needs.
bool has_features(llvm::StringRef machine, llvm::StringRef needs) {
  llvm::SmallVector<llvm::StringRef, 128> had;
  llvm::SmallVector<llvm::StringRef, 2> kinds;
  machine.split(had, ',');
  needs.split(kinds, '|');
  return llvm::any_of(kinds, [&](llvm::StringRef kind) {
    llvm::SmallVector<llvm::StringRef, 4> names;
    kind.split(names, ',');
    return llvm::all_of(
        names, [&](llvm::StringRef name) { return llvm::is_contained(had, ("+" + name.trim()).str()); });
  });
}

codegen::Machine machine_of(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86()) return {.has_fma = true};
  return {.has_fma = features.checkFeatures("+fma"),
          .has_avx2 = features.checkFeatures("+avx2"),
          .has_avx512 = features.checkFeatures("+avx512f,+avx512vl,+avx512dq,+evex512")};
}

/// The better tier's common subexpression elimination is quadratic in block size: 0.4 s at 10,000
/// instructions become minutes at 100,000.
bool is_huge(const llvm::Module& module) {
  constexpr unsigned kHuge = 20'000;
  return module.getInstructionCount() > kHuge;
}

std::string object_code(Engine& engine, llvm::Module& module, Tier tier) {
  if (is_huge(module)) tier = Tier::First;
  std::unique_ptr<ObjectWriter> writer = engine.take_writer(tier);
  std::string object = writer->object(module);
  engine.give_back(tier, std::move(writer));
  return object;
}

class OrcGenerator final : public CodeGenerator {
 public:
  OrcGenerator(std::shared_ptr<Engine> engine, const CodegenOptions& options)
      : engine_(std::move(engine)), tiers_(options.tiers), background_(options.patience) {}

  const CodegenTarget& target() const override { return engine_->target; }
  bool has(const DotIntrinsic& intrinsic) const override {
    return has_features(engine_->target.features, intrinsic.needs) && can_call(intrinsic);
  }

  Result<std::shared_ptr<CompiledKernel>> compile(const Kernel& kernel) override {
    Result<std::shared_ptr<Unit>> unit = translate(kernel, kEntryName);
    if (!unit) return unit.error();
    const Tier now = tiers_ == Tiers::Best ? Tier::Best : Tier::First;
    const auto generated = std::make_shared<Generated>();
    const auto generate = [engine = engine_, unit = *unit, generated, now, both = tiers_ == Tiers::Both] {
      codegen::optimize(*unit->module);
      // Code generation modifies the module.
      generated->twice = both && !is_huge(*unit->module);
      auto copy = generated->twice ? llvm::CloneModule(*unit->module) : nullptr;
      generated->object = object_code(*engine, copy ? *copy : *unit->module, now);
    };
    if ((*unit)->module->getInstructionCount() < kLarge)
      generate();
    else if (!codegen::done_unless_interrupted(generate))
      return Failure{kInterrupted};
    auto compiled = std::make_shared<OrcKernel>(engine_, kernel.name);
    if (llvm::Error error = compiled->take(generated->object, now)) return failure(std::move(error));
    if (generated->twice) compile_later(std::move(*unit), compiled);
    return std::shared_ptr<CompiledKernel>(std::move(compiled));
  }

  Result<std::shared_ptr<CompiledKernel>> link(const std::string& object, const std::string& name) override {
    auto compiled = std::make_shared<OrcKernel>(engine_, name);
    if (llvm::Error error = compiled->take(object, Tier::Best)) return failure(std::move(error));
    return std::shared_ptr<CompiledKernel>(std::move(compiled));
  }

  void later(std::function<void()> job) override { background_.add(std::move(job)); }
  void wait_until_idle() override { background_.wait_until_idle(); }

  Result<std::string> llvm_ir(const Kernel& kernel) override {
    Result<std::shared_ptr<Unit>> unit = build(kernel, kernel.name);
    if (!unit) return unit.error();
    std::string text;
    llvm::raw_string_ostream out(text);
    (*unit)->module->print(out, nullptr);
    return text;
  }

  Result<std::string> assembly(const Kernel& kernel) override {
    Result<std::shared_ptr<Unit>> unit = build(kernel, kernel.name);
    if (!unit) return unit.error();
    const auto machine = llvm::cantFail(engine_->builder_of(Tier::Best).createTargetMachine());
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager passes;
    add_passes(passes, *machine, out, llvm::CodeGenFileType::AssemblyFile);
    passes.run(*(*unit)->module);
    return std::string(text);
  }

 private:
  /// More instructions take LLVM over some 10 ms: too long to delay a Ctrl-C.
  static constexpr unsigned kLarge = 1'000;

  struct Generated {
    std::string object{};
    bool twice = false;  ///< a second tier follows
  };

  Result<std::shared_ptr<Unit>> build(const Kernel& kernel, const std::string& symbol) {
    auto unit = translate(kernel, symbol);
    if (unit) codegen::optimize(*(*unit)->module);
    return unit;
  }

  /// As it was emitted.
  Result<std::shared_ptr<Unit>> translate(const Kernel& kernel, const std::string& symbol) {
    for (const loops::Buffer& buffer : kernel.buffers) {
      if (buffer.dtype.lanes != 1) {
        return Failure{"There is no code for tensors of " + to_string(buffer.dtype) + " yet."};
      }
    }
    if (!loops::launch_extents(kernel).empty())
      return Failure{"The host has no grid of threads: `bind` is for GPUs."};
    auto unit = std::make_shared<Unit>();
    unit->module = std::make_unique<llvm::Module>(symbol, unit->context);
    unit->module->setDataLayout(engine_->jit->getDataLayout());
    unit->module->setTargetTriple(engine_->target.triple);
    codegen::Emitter(*unit->module, kernel, engine_->machine).emit_host(symbol);
    for (llvm::Function& function : *unit->module) {
      if (function.isDeclaration()) continue;
      if (engine_->tells_unwinding) function.setUWTableKind(llvm::UWTableKind::Async);
      function.addFnAttr("target-cpu", engine_->target.cpu);
      function.addFnAttr("target-features", engine_->target.features);
      function.addFnAttr("prefer-vector-width", std::to_string(engine_->target.machine.vector_bytes * 8));
    }
    return unit;
  }

  /// The job takes only LLVM's module. A kernel without owners is left unchanged, and so is one whose new
  /// code fails to link: its code works.
  void compile_later(std::shared_ptr<Unit> unit, const std::weak_ptr<OrcKernel>& kernel) {
    background_.add([engine = engine_, unit = std::move(unit), kernel] {
      const std::shared_ptr<OrcKernel> alive = kernel.lock();
      if (!alive) return;
      llvm::consumeError(alive->take(object_code(*engine, *unit->module, Tier::Best), Tier::Best));
    });
  }

  std::shared_ptr<Engine> engine_;
  const Tiers tiers_;
  codegen::Background background_;
};

llvm::Error add_host_functions(llvm::orc::LLJIT& jit, const std::vector<StandIn>& stand_ins) {
  llvm::orc::SymbolMap symbols;
  const auto add = [&](const std::string& symbol, const void* address) {
    symbols[jit.mangleAndIntern(symbol)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                            llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  for (const codegen::HostFunction& function : codegen::host_functions())
    add(function.symbol, function.address);
  symbols[jit.mangleAndIntern(codegen::kInterruptFlag)] = {llvm::orc::ExecutorAddr::fromPtr(&interrupt_flag),
                                                           llvm::JITSymbolFlags::Exported};
  for (const StandIn& stand_in : stand_ins) add("quern_stand_in." + stand_in.intrinsic, stand_in.function);
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

/// Whether the Linux kernel lets this process use matrix registers, which must be requested: their state is
/// so large that threads get no memory for it otherwise (Linux, Documentation/arch/x86/ xstate.rst).
bool may_use_matrices() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023, kMatrices = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kMatrices) == 0;
#else
  return false;
#endif
}

llvm::SmallVector<llvm::StringRef, 4> names_in(llvm::StringRef features) {
  llvm::SmallVector<llvm::StringRef, 4> names;
  features.split(names, ',', -1, false);
  return names;
}

/// Sets the host features that this process may use, and the requested ones.
void set_features(llvm::orc::JITTargetMachineBuilder& builder, const std::string& asked) {
  const auto is_of_matrices = [](llvm::StringRef feature) { return feature.starts_with("+amx-"); };
  llvm::SubtargetFeatures& features = builder.getFeatures();
  std::vector<std::string> all = features.getFeatures();
  if (llvm::any_of(all, is_of_matrices) && !may_use_matrices())
    for (std::string& feature : all)
      if (is_of_matrices(feature)) feature[0] = '-';
  for (const llvm::StringRef name : names_in(asked)) {
    llvm::erase_if(all, [&](llvm::StringRef feature) { return feature.substr(1) == name.substr(1); });
    all.push_back(name.str());
  }
  features = llvm::SubtargetFeatures(llvm::join(all, ","));
}

/// A requested feature that the target does not know, or "". LLVM itself would ignore it.
std::string unknown_feature(llvm::orc::JITTargetMachineBuilder builder, const std::string& asked) {
  if (asked.empty()) return {};
  auto machine = builder.createTargetMachine();
  if (!machine) return llvm::toString(machine.takeError());
  const auto known = (*machine)->getMCSubtargetInfo()->getAllProcessorFeatures();
  for (const llvm::StringRef name : names_in(asked)) {
    const bool is_signed = name.starts_with("+") || name.starts_with("-");
    if (!is_signed ||
        llvm::none_of(known, [&](const auto& feature) { return name.substr(1) == feature.Key; }))
      return name.str();
  }
  return {};
}

/// The host, looked at once: what identifies a processor is slow in a virtual machine.
Result<llvm::orc::JITTargetMachineBuilder> host_builder() {
  using Builder = llvm::orc::JITTargetMachineBuilder;
  static const Result<Builder> host = []() -> Result<Builder> {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto builder = Builder::detectHost();
    if (!builder) return failure(builder.takeError());
    return std::move(*builder);
  }();
  return host;
}

/// LLJIT makes a compiler for modules, with a machine of its own. It is given objects alone.
class NoModules final : public llvm::orc::IRCompileLayer::IRCompiler {
 public:
  NoModules() : IRCompiler(llvm::orc::IRSymbolMapper::ManglingOptions()) {}
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module&) override {
    bug("a module for LLJIT", __FILE__, __LINE__);
  }
};

/// A linker of objects that need no platform: kernels have no constructors and no exceptions.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> linker(const llvm::orc::JITTargetMachineBuilder& builder,
                                                         const llvm::TargetMachine& machine) {
  using Compiler = llvm::Expected<std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>>;
  const auto no_compiler = [](const auto&) -> Compiler { return std::make_unique<NoModules>(); };
  return llvm::orc::LLJITBuilder()
      .setJITTargetMachineBuilder(builder)
      .setDataLayout(machine.createDataLayout())
      .setCompileFunctionCreator(no_compiler)
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
      .create();
}

}  // namespace

Result<std::unique_ptr<CodeGenerator>> CodeGenerator::create(const CodegenOptions& options) {
  auto builder = host_builder();
  if (!builder) return builder.error();
  // The linker places a kernel's parts close together and reaches distant code through stubs.
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  if (const std::string name = unknown_feature(*builder, options.features); !name.empty())
    return Failure{"`" + name + "` is no feature of " + builder->getTargetTriple().getArchName().str() +
                   ": each is `+` or `-` and a name that LLVM has, with `,` between them."};
  set_features(*builder, options.features);
  auto engine = std::make_shared<Engine>(*builder);
  const Tier first = options.tiers == Tiers::Best ? Tier::Best : Tier::First;
  auto machine = engine->builder_of(first).createTargetMachine();
  if (!machine) return failure(machine.takeError());
  auto jit = linker(*builder, **machine);
  if (!jit) return failure(jit.takeError());
  engine->jit = std::move(*jit);
  if (llvm::Error error = add_host_functions(*engine->jit, options.stand_ins))
    return failure(std::move(error));
  if (options.perf_map)
    if (llvm::Error error = codegen::write_perf_map(*engine->jit)) return failure(std::move(error));
  if (options.debugger)
    if (llvm::Error error = codegen::tell_debuggers(*engine->jit)) return failure(std::move(error));
  engine->names_code = options.perf_map || options.debugger;
  engine->tells_unwinding = options.debugger;
  engine->target = {(*machine)->getTargetTriple().str(), (*machine)->getTargetCPU().str(),
                    (*machine)->getTargetFeatureString().str(), machine_model(**machine)};
  engine->machine = machine_of(**machine);
  engine->machine.checks_bounds = options.checks_bounds;
  for (const StandIn& stand_in : options.stand_ins) engine->machine.stand_ins.insert(stand_in.intrinsic);
  engine->target.machine.winograd_tile = options.winograd_tile;
  engine->keep_machine(first, std::move(*machine));
  return std::unique_ptr<CodeGenerator>(std::make_unique<OrcGenerator>(std::move(engine), options));
}

loops::MachineModel host_machine() {
  static const loops::MachineModel model = [] {
    auto builder = host_builder();
    if (!builder) return loops::MachineModel();
    auto machine = builder->createTargetMachine();
    if (machine) return machine_model(**machine);
    llvm::consumeError(machine.takeError());
    return loops::MachineModel();
  }();
  return model;
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace quern
