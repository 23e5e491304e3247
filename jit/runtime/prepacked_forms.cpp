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

  explicit Table(bool keeps) : keeps_(keeps) {}

  HostTensor* find(const HostTensor& owner, const CompiledKernel& maker,
                   std::span<const int64_t> dims) const {
    if (!keeps_) return nullptr;
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(&owner);
    if (found == entries_.end()) return nullptr;
    Entry* known = find(found->second, maker, dims);
    return known ? known->form.get() : nullptr;
  }

  /// The form that is kept, and whether it is the first of this memory.
  std::pair<HostTensor*, bool> keep(const HostTensor& owner, Entry entry) {
    const std::lock_guard lock(mutex_);
    Entries& entries = entries_[&owner];
    Entry* known = find(entries, *entry.maker, entry.dims);
    if (known && !keeps_) known->form = std::move(entry.form);
    if (known) return {known->form.get(), false};
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
  static Entry* find(Entries& entries, const CompiledKernel& maker, std::span<const int64_t> dims) {
    for (Entry& entry : entries)
      if (entry.maker.get() == &maker && std::ranges::equal(entry.dims, dims)) return &entry;
    return nullptr;
  }

  const bool keeps_;

  mutable std::mutex mutex_;
  mutable std::unordered_map<const HostTensor*, Entries> entries_;  ///< by the tensor that owns the memory
};

PrepackedForms::PrepackedForms(bool keeps) : table_(std::make_shared<Table>(keeps)) {}
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
