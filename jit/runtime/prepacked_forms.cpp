#include "jit/runtime/prepacked_forms.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace quern {

class PrepackedForms::Table final : public MemoryObserver {
 public:
  struct Entry {
    std::shared_ptr<const CompiledKernel> maker;
    std::vector<int64_t> dims;
    TensorPtr form;
  };
  using Entries = std::vector<Entry>;

  HostTensor* find(const HostTensor& owner, const CompiledKernel& maker,
                   std::span<const int64_t> dims) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(&owner);
    return found == entries_.end() ? nullptr : find(found->second, maker, dims);
  }

  /// The form that is kept, and whether it is the first of this memory.
  std::pair<HostTensor*, bool> keep(const HostTensor& owner, Entry entry) {
    const std::lock_guard lock(mutex_);
    Entries& entries = entries_[&owner];
    if (HostTensor* known = find(entries, *entry.maker, entry.dims)) return {known, false};
    entries.push_back(std::move(entry));
    return {entries.back().form.get(), entries.size() == 1};
  }

  void released(const HostTensor& owner) override {
    // A form may have forms of its own: their end waits for this lock.
    decltype(entries_)::node_type dropped;
    const std::lock_guard lock(mutex_);
    dropped = entries_.extract(&owner);
  }

  Size size() const {
    const std::lock_guard lock(mutex_);
    Size size;
    for (const auto& [owner, entries] : entries_)
      for (const Entry& entry : entries) {
        ++size.count;
        size.bytes += entry.form->bytes();
      }
    return size;
  }

 private:
  static HostTensor* find(const Entries& entries, const CompiledKernel& maker,
                          std::span<const int64_t> dims) {
    for (const Entry& entry : entries)
      if (entry.maker.get() == &maker && std::ranges::equal(entry.dims, dims)) return entry.form.get();
    return nullptr;
  }

  mutable std::mutex mutex_;
  std::unordered_map<const HostTensor*, Entries> entries_;  ///< by the tensor that owns the memory
};

PrepackedForms::PrepackedForms() : table_(std::make_shared<Table>()) {}
PrepackedForms::~PrepackedForms() = default;

HostTensor* PrepackedForms::find(const HostTensor& tensor, const CompiledKernel& maker,
                                 std::span<const int64_t> dims) const {
  return table_->find(tensor.owner(), maker, dims);
}

HostTensor& PrepackedForms::keep(const HostTensor& tensor, std::shared_ptr<const CompiledKernel> maker,
                                 std::vector<int64_t> dims, TensorPtr form) {
  const auto [kept, is_first] =
      table_->keep(tensor.owner(), {std::move(maker), std::move(dims), std::move(form)});
  if (is_first) tensor.observe_release(table_);
  tensor.release_pages();
  return *kept;
}

PrepackedForms::Size PrepackedForms::size() const { return table_->size(); }

}  // namespace quern
