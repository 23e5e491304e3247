#include "jit/cache/kernel_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/base/counted_work.h"
#include "ir/base/internal_failure.h"
#include "ir/base/interrupt.h"
#include "ir/dim/arena.h"
#include "jit/cache/build_id.h"
#include "jit/runtime/separate_memory.h"
#include "jit/schedule/lower.h"

namespace quern {

namespace {

/// How long the end of a program may be delayed to write more code to disk.
constexpr std::chrono::milliseconds kOptimizedPatience{250};

Tiers tiers_of(std::string_view wanted) {
  return wanted == "first" ? Tiers::First : wanted == "best" ? Tiers::Best : Tiers::Both;
}

int winograd_tile_of(std::string_view wanted) { return wanted == "2" ? 2 : wanted == "4" ? 4 : 0; }

std::filesystem::path cache_file(const std::function<std::string(const char*)>& value_of) {
  if (const std::string wanted = value_of("QUERN_CACHE"); !wanted.empty())
    return wanted == "off" ? std::filesystem::path() : std::filesystem::path(wanted);
  // The XDG base directory specification requires relative paths to be ignored.
  if (const std::filesystem::path caches = value_of("XDG_CACHE_HOME"); caches.is_absolute())
    return caches / "quern" / "kernels.db";
  if (const std::filesystem::path home = value_of("HOME"); home.is_absolute())
    return home / ".cache" / "quern" / "kernels.db";
  return {};
}

/// What code depends on besides its primitive: this build of Quern, LLVM, and the machine. Empty if the build
/// has no id.
std::string code_origin(const CodegenTarget& target) {
  if (build_id().empty()) return {};
  const loops::MachineModel& machine = target.machine;
  return fmt::format("{} LLVM {} {} {} {}/{} {}/{} winograd {} {}\n", build_id(), llvm_version(),
                     target.triple, target.cpu, machine.vector_bytes, machine.vector_registers,
                     machine.l1_bytes, machine.l2_bytes, machine.winograd_tile, target.features);
}

/// The name of a kernel's k-th form, the k-th buffer after its output.
std::string form_name(const std::string& kernel, size_t k) { return fmt::format("{}_pack{}", kernel, k); }

}  // namespace

CompilerOptions CompilerOptions::from(const std::function<std::string(const char*)>& value_of) {
  CompilerOptions options{tiers_of(value_of("QUERN_TIERS")),
                          cache_file(value_of),
                          winograd_tile_of(value_of("QUERN_WINOGRAD")),
                          value_of("QUERN_LOOPS") == "plain",
                          value_of("QUERN_PERF_MAP") == "1",
                          value_of("QUERN_GDB") == "1"};
  options.execution.devices = separate_devices(value_of("QUERN_DEVICES"));
  return options;
}

CompilerOptions CompilerOptions::from_environment() {
  return from([](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value ? value : "");
  });
}

KernelCache::KernelCache(CompilerOptions options, NameOfOrigin name_of)
    : options_(std::move(options)), name_of_(std::move(name_of)) {}
KernelCache::~KernelCache() = default;

Result<CodeGenerator*> KernelCache::code_generator() {
  if (generator_) return generator_.get();
  // Objects on disk do not and must not contain the unwind tables that a debugger needs.
  const bool keeps = !options_.cache.empty() && !options_.plain_loops && !options_.debugger &&
                     !options_.checks_bounds && options_.stand_ins.empty();
  CodegenOptions codegen{options_.tiers};
  if (keeps) codegen.patience = kOptimizedPatience;
  codegen.winograd_tile = options_.winograd_tile;
  codegen.perf_map = options_.perf_map;
  codegen.debugger = options_.debugger;
  codegen.checks_bounds = options_.checks_bounds;
  codegen.features = options_.features;
  codegen.stand_ins = options_.stand_ins;
  auto created = CodeGenerator::create(codegen);
  if (!created) return created.error();
  generator_ = std::move(*created);
  key_prefix_ = code_origin(generator_->target());
  if (keeps && !key_prefix_.empty()) store_ = std::make_shared<CodeStore>(options_.cache);
  return generator_.get();
}

void KernelCache::declare(DotIntrinsics dots) {
  QUERN_CHECK(!machine_);
  declared_dots_ = std::move(dots);
}

Result<const loops::MachineModel*> KernelCache::machine() {
  auto generator = code_generator();
  if (!generator) return generator.error();
  if (!machine_) {
    machine_ = (*generator)->target().machine;
    machine_->plain_loops = options_.plain_loops;
    std::ranges::copy_if(declared_dots_, std::back_inserter(machine_->dots),
                         [this](const DotIntrinsicPtr& dot) { return generator_->has(*dot); });
  }
  return &*machine_;
}

void KernelCache::wait_until_idle() {
  if (generator_) generator_->wait_until_idle();
}

Result<KernelCode> KernelCache::kernel(const FnExpr& primitive) {
  auto generator = code_generator();
  if (!generator) return generator.error();
  const auto start = std::chrono::steady_clock::now();
  const CanonicalText text = canonical_text(primitive);
  auto known = entries_.find(text.text);
  if (known != entries_.end()) {
    ++counts_.shared;
  } else {
    auto made = entry_of(primitive, text, **generator);
    if (!made) return made.error();
    if (is_profiling_) profile_.note_compilation(made->name, std::chrono::steady_clock::now() - start);
    if (entries_.size() >= options_.most_kernels) forget_oldest();
    known = entries_.emplace(text.text, std::move(*made)).first;
  }
  known->second.last_request = ++requests_;
  return code_of(known->second, text.variables);
}

void KernelCache::forget_oldest() {
  std::vector<uint64_t> requests;
  for (const auto& [_, entry] : entries_) requests.push_back(entry.last_request);
  const auto middle = requests.begin() + std::ssize(requests) / 2;
  std::ranges::nth_element(requests, middle);
  std::erase_if(entries_, [&](const auto& known) { return known.second.last_request < *middle; });
  std::erase_if(forms_, [](const auto& form) { return form.second.code.use_count() <= 1; });
}

Result<KernelCache::Entry> KernelCache::entry_of(const FnExpr& primitive, const CanonicalText& text,
                                                 CodeGenerator& generator) {
  const std::string name = kernel_name(primitive, text.text, name_of_);
  if (!store_) return compiled(primitive, text, name, generator);
  const std::string key = key_prefix_ + text.text;
  if (std::optional<Entry> found = loaded(key, text, name, generator)) return std::move(*found);
  auto made = compiled(primitive, text, name, generator);
  if (made) store_later(key, *made, generator);
  return made;
}

KernelCode KernelCache::code_of(const Entry& entry, std::span<const Dim> variables) const {
  auto code = kernel_code(entry.record, entry.codes, variables);
  QUERN_CHECK(code.has_value());
  code->name = entry.name;
  for (size_t k = 0; k < code->packed.size(); ++k)
    code->packed[k].name = forms_.at(entry.record.packed[k].text).name;
  return std::move(*code);
}

Result<KernelCache::Entry> KernelCache::compiled(const FnExpr& primitive, const CanonicalText& text,
                                                 const std::string& name, CodeGenerator& generator) {
  ++counts_.lowered;
  const CountedWork compiling(fmt::format("compiling kernel {}: {}", counts_.lowered, name), 0);
  auto machine = this->machine();
  if (!machine) return machine.error();
  // Nothing kept from a lowering contains dims.
  DimArena dims;
  const DimArena::Use use(dims);
  auto made = [&] {
    Stage stage("loops", primitive.body->origin, name);
    return loops::lower(primitive, **machine);
  }();
  if (!made) return made.error();
  if (is_interrupted()) return Failure{kInterrupted};
  loops::Lowered lowered = std::move(*made);
  Entry entry{record_of(lowered, text), {}, name};
  lowered.kernel.name = name;
  Stage stage("code", primitive.body->origin, name);
  auto code = generator.compile(lowered.kernel);
  if (!code) return code.error();
  entry.codes.push_back(std::move(*code));
  for (size_t k = 0; k < lowered.packed.size(); ++k) {
    Form& form = forms_[entry.record.packed[k].text];
    if (!form.code) {
      form.name = form_name(name, k);
      lowered.packed[k].form.name = form.name;
      auto made = generator.compile(lowered.packed[k].form);
      if (!made) return made.error();
      form.code = std::move(*made);
    }
    entry.codes.push_back(form.code);
  }
  return entry;
}

std::optional<KernelCache::Entry> KernelCache::loaded(const std::string& key, const CanonicalText& text,
                                                      const std::string& name, CodeGenerator& generator) {
  auto found = store_->find(key);
  if (!found) return std::nullopt;
  const auto linked = [&]() -> std::optional<Entry> {
    auto record = record_from_bytes(found->object, key);
    if (!record) return std::nullopt;
    Codes codes;
    for (size_t k = 0; k < record->objects.size(); ++k) {
      Form none{nullptr, name};
      Form& part = k == 0 ? none : forms_[record->packed[k - 1].text];
      if (!part.code) {
        if (k > 0) part.name = form_name(name, k - 1);
        auto code = generator.link(record->objects[k], part.name);
        if (!code) return std::nullopt;
        part.code = std::move(*code);
      }
      codes.push_back(part.code);
    }
    record->objects.clear();
    if (!kernel_code(*record, codes, text.variables)) return std::nullopt;
    return Entry{std::move(*record), std::move(codes), name};
  };
  std::optional<Entry> entry = linked();
  if (!entry)
    generator.later([store = store_, key] { store->remove(key); });
  else if (found->is_stale)
    generator.later([store = store_, key] { store->note_use(key); });
  if (entry) ++counts_.loaded;
  return entry;
}

/// Writes the record when all of its objects exist: the jobs of their code come first.
void KernelCache::store_later(std::string key, const Entry& entry, CodeGenerator& generator) {
  if (options_.tiers == Tiers::First) return;
  generator.later([store = store_, key = std::move(key), record = entry.record, codes = entry.codes] {
    KernelRecord whole = record;
    for (const auto& code : codes) {
      whole.objects.push_back(code->object());
      if (whole.objects.back().empty()) return;
    }
    store->put(key, to_bytes(whole, key));
  });
}

}  // namespace quern
