#pragma once
// Kernels of primitive functions: compiled when they are first asked for, and kept in memory and on disk.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/canonical_text.h"
#include "jit/codegen/codegen.h"
#include "jit/tune/code_store.h"
#include "jit/tune/kernel_record.h"
#include "jit/vm/vm.h"

namespace quern {

struct CompilerOptions {
  Tiers tiers = Tiers::Both;
  std::filesystem::path cache{};  ///< the database of compiled code; none where it is empty
  int winograd_tile = 0;          ///< loops::MachineModel::winograd_tile
  bool checks_bounds = false;     ///< CodegenOptions::checks_bounds

  /// QUERN_TIERS (both, first, best), QUERN_CACHE (a file, or off; otherwise quern/kernels.db in
  /// $XDG_CACHE_HOME or ~/.cache) and QUERN_WINOGRAD (2 or 4). `value_of` gives a variable's value, empty
  /// where it has none.
  static CompilerOptions from(const std::function<std::string(const char* variable)>& value_of);
  /// Those of this process: of its environment when first asked for, then as they were set.
  static CompilerOptions& of_process();
};

/// Where kernels came from so far.
struct KernelCounts {
  size_t lowered = 0;  ///< made from a primitive
  size_t loaded = 0;   ///< found on disk
  size_t shared = 0;   ///< of an equal primitive before
};

/// Primitives with the same canonical text share their code; so do forms of packed inputs with the same loop
/// nest.
class KernelCache final : public KernelSource {
 public:
  explicit KernelCache(CompilerOptions options);
  ~KernelCache() override;

  Result<KernelCode> kernel(const FnExpr& primitive) override;
  Result<CodeGenerator*> code_generator();
  /// Returns when all code is the best there will be, and on disk.
  void wait_until_idle();
  const KernelCounts& counts() const { return counts_; }

 private:
  using Codes = std::vector<std::shared_ptr<CompiledKernel>>;
  struct Entry {
    KernelRecord record;  ///< without objects
    Codes codes;          ///< of the kernel, then of each form
  };
  Result<Entry> compiled(const FnExpr& primitive, const CanonicalText& text, CodeGenerator& generator);
  std::optional<Entry> loaded(const std::string& key, const CanonicalText& text, CodeGenerator& generator);
  void store_later(std::string key, const Entry& entry, CodeGenerator& generator);

  const CompilerOptions options_;
  std::unique_ptr<CodeStore> store_;  ///< null without one
  std::string key_prefix_;            ///< all that code depends on but the primitive
  KernelCounts counts_;
  std::unordered_map<std::string, Entry> entries_;                          ///< by canonical text
  std::unordered_map<std::string, std::shared_ptr<CompiledKernel>> forms_;  ///< by that of the loop nest
  // Ends first: what it still does in the background uses the store.
  std::unique_ptr<CodeGenerator> generator_;
};

}  // namespace quern
