#pragma once
// Kernels of primitive functions: compiled on first request, and kept in memory and on disk.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/expr/canonical_text.h"
#include "jit/cache/code_store.h"
#include "jit/cache/kernel_name.h"
#include "jit/cache/kernel_record.h"
#include "jit/codegen/codegen.h"
#include "jit/vm/vm.h"

namespace quern {

struct CompilerOptions {
  Tiers tiers = Tiers::Both;
  std::filesystem::path cache{};        ///< the database of compiled code; none if empty
  int winograd_tile = 0;                ///< loops::MachineModel::winograd_tile
  bool plain_loops = false;             ///< loops::MachineModel::plain_loops
  bool perf_map = false;                ///< CodegenOptions::perf_map
  bool debugger = false;                ///< CodegenOptions::debugger
  bool checks_bounds = false;           ///< CodegenOptions::checks_bounds
  MachineOptions execution{};           ///< KernelSource::options
  std::vector<std::string> left_out{};  ///< passes that the session does without
  std::string features{};               ///< CodegenOptions::features
  std::vector<StandIn> stand_ins{};     ///< CodegenOptions::stand_ins
  size_t most_kernels = 2048;           ///< in memory: about 50 KiB each

  /// QUERN_TIERS (both, first, best), QUERN_CACHE (a file, or off; otherwise quern/kernels.db in
  /// $XDG_CACHE_HOME or ~/.cache), QUERN_WINOGRAD (2 or 4), QUERN_LOOPS=plain, QUERN_PERF_MAP=1,
  /// QUERN_GDB=1 and QUERN_DEVICES (a list of devices made of the host, `cpu:1`). `value_of` returns a variable's value, or "" if it is unset.
  static CompilerOptions from(const std::function<std::string(const char* variable)>& value_of);
  /// Those from the process's environment.
  static CompilerOptions from_environment();
};

/// Where kernels have come from so far.
struct KernelCounts {
  size_t lowered = 0;  ///< lowered from a primitive
  size_t loaded = 0;   ///< found on disk
  size_t shared = 0;   ///< reused from an equal primitive
};

/// Primitives with the same canonical text share their code; so do forms of packed inputs with the same loop
/// nest.
class KernelCache final : public KernelSource {
 public:
  /// `name_of` is called when a kernel is first requested.
  explicit KernelCache(CompilerOptions options, NameOfOrigin name_of = {});
  ~KernelCache() override;

  Result<KernelCode> kernel(const FnExpr& primitive) override;
  PrepackedForms& forms() override { return prepacked_; }
  const MachineOptions& options() const override { return options_.execution; }
  Profile* profile() override { return is_profiling_ ? &profile_ : nullptr; }
  /// Whether executions that begin from now on record their calls; initially off.
  void set_profiling(bool on) { is_profiling_ = on; }
  Profile& calls() { return profile_; }
  Result<CodeGenerator*> code_generator();
  /// Kernels use these intrinsics, where the machine has them. To be called before the first kernel is lowered.
  void declare(DotIntrinsics dots);
  /// The machine that kernels are lowered for: the generator's target, with its intrinsics.
  Result<const loops::MachineModel*> machine();
  /// Returns when all code is in its final tier and on disk.
  void wait_until_idle();
  const KernelCounts& counts() const { return counts_; }

 private:
  using Codes = std::vector<std::shared_ptr<CompiledKernel>>;
  struct Entry {
    KernelRecord record;  ///< without objects
    Codes codes;          ///< of the kernel, then of each form
    std::string name;
    uint64_t last_request = 0;
  };
  /// Forms are shared by code and by name.
  struct Form {
    std::shared_ptr<CompiledKernel> code;
    std::string name;
  };
  Result<Entry> entry_of(const FnExpr& primitive, const CanonicalText& text, CodeGenerator& generator);
  Result<Entry> compiled(const FnExpr& primitive, const CanonicalText& text, const std::string& name,
                         CodeGenerator& generator);
  std::optional<Entry> loaded(const std::string& key, const CanonicalText& text, const std::string& name,
                              CodeGenerator& generator);
  KernelCode code_of(const Entry& entry, std::span<const Dim> variables) const;
  /// Forgets the half of the kernels that were requested least recently; programs keep the code that they call.
  void forget_oldest();
  void store_later(std::string key, const Entry& entry, CodeGenerator& generator);

  const CompilerOptions options_;
  std::shared_ptr<CodeStore> store_;  ///< null without one
  std::string key_prefix_;            ///< everything code depends on except the primitive
  KernelCounts counts_;
  uint64_t requests_ = 0;
  const NameOfOrigin name_of_;
  DotIntrinsics declared_dots_;
  std::optional<loops::MachineModel> machine_;
  PrepackedForms prepacked_;
  Profile profile_;
  bool is_profiling_ = false;
  std::unordered_map<std::string, Entry> entries_;  ///< by canonical text
  std::unordered_map<std::string, Form> forms_;     ///< by that of the loop nest
  // Destroyed first: its background work uses the store.
  std::unique_ptr<CodeGenerator> generator_;
};

}  // namespace quern
