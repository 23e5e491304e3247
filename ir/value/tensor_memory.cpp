#include "ir/value/tensor_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>

namespace quern {

namespace {

/// Smaller blocks are left to the allocator, which is fast at these sizes.
constexpr size_t kSmallestKept = size_t{256} << 10;
/// From this size on, blocks use huge pages where available: fewer page faults, fewer TLB misses.
constexpr size_t kHugePage = size_t{2} << 20;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeeps = false;  // so that an access past the end is detected
#else
constexpr bool kKeeps = true;
#endif

/// How many bytes wait for their next use: a training step frees its activations and wants them again, and pages
/// from the system cost more than most kernels that fill them. A sixteenth of the machine's memory, or of what the
/// process may have where that is limited; at least 256 MiB.
size_t most_idle_bytes() {
  constexpr size_t kLeast = size_t{256} << 20, kShare = 16;
  size_t memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    memory = std::min<size_t>(memory, limit.rlim_cur);
  return std::max(kLeast, memory / kShare);
}

/// Rounds up by at most an eighth, so that tensors of similar size share blocks.
size_t block_size(size_t bytes) {
  const size_t step = std::max(kTensorAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

std::byte* from_system(size_t size) {
  if (size < kHugePage || !kKeeps) return static_cast<std::byte*>(std::aligned_alloc(kTensorAlignment, size));
  const size_t mapped = size + kHugePage;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(base);
  const size_t ahead = (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
  std::byte* block = first + ahead;
  if (ahead > 0) munmap(first, ahead);
  const size_t page = 4096, end = (size + page - 1) / page * page;
  if (mapped - ahead > end) munmap(block + end, mapped - ahead - end);
  madvise(block, end, MADV_HUGEPAGE);
  return block;
}

void to_system(std::byte* block, size_t size) {
  if (size < kHugePage || !kKeeps)
    std::free(block);
  else
    munmap(block, size);
}

class IdleBlocks {
 public:
  std::byte* take(size_t size) {
    const std::lock_guard lock(mutex_);
    for (auto at = blocks_.rbegin(); at != blocks_.rend(); ++at) {
      if (at->size != size) continue;
      std::byte* memory = at->memory;
      blocks_.erase(std::next(at).base());
      bytes_ -= size;
      return memory;
    }
    return nullptr;
  }

  void give(std::byte* memory, size_t size) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back({memory, size});
    bytes_ += size;
    drop_beyond(most_);
  }

  void drop_all() {
    const std::lock_guard lock(mutex_);
    drop_beyond(0);
  }

 private:
  struct Block {
    std::byte* memory;
    size_t size;
  };

  /// Releases the oldest first.
  void drop_beyond(size_t most) {
    while (bytes_ > most) {
      to_system(blocks_.front().memory, blocks_.front().size);
      bytes_ -= blocks_.front().size;
      blocks_.pop_front();
    }
  }

  const size_t most_ = most_idle_bytes();
  std::mutex mutex_;
  std::deque<Block> blocks_;
  size_t bytes_ = 0;
};

/// Never destroyed: tensors may outlive everything else.
IdleBlocks& idle_blocks() {
  static auto* blocks = new IdleBlocks;
  return *blocks;
}

}  // namespace

std::byte* allocate_tensor_memory(size_t bytes) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const bool kept = kKeeps && bytes >= kSmallestKept;
  const size_t size =
      kept ? block_size(bytes) : (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  std::byte* memory = kept ? idle_blocks().take(size) : nullptr;
  if (memory == nullptr) memory = from_system(size);
  if (memory == nullptr && kept) {
    idle_blocks().drop_all();
    memory = from_system(size);
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release_mapped_pages(const std::byte* memory, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGE_SIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void release_tensor_memory(std::byte* memory, size_t bytes) {
  if (kKeeps && bytes >= kSmallestKept) {
    idle_blocks().give(memory, block_size(bytes));
  } else {
    std::free(memory);
  }
}

}  // namespace quern
