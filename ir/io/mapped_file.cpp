#include "ir/io/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "ir/base/interrupt.h"

namespace quern {

namespace {

/// What the signal handler reads of a mapped file, without a lock.
struct Slot {
  std::atomic<uintptr_t> begin = 0, end = 0;  ///< of whole pages; equal where the slot is free
  std::atomic<uintptr_t> lost = 0;            ///< where pages of zeros begin; 0 where there are none
};
constexpr size_t kMost = 1024;
constinit std::array<Slot, kMost> slots;
constinit std::array<const MappedFile*, kMost> files{};
constinit std::mutex mutex;  ///< of changes of the slots, and of the files
constinit std::atomic<bool> any_lost = false;
struct sigaction before;

uintptr_t page_size() {
  static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && supply_lost_pages(info->si_addr)) return;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  // The instruction is retried and ends the process; a sent signal is sent again.
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) raise(signal);
}

bool take_signal() {
  page_size();  // known before the handler asks
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_bus_error;
  // The handler before it may leave by a jump.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  return sigaction(SIGBUS, &action, &before) == 0;
}

}  // namespace

bool supply_lost_pages(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (Slot& slot : slots) {
    if (at < slot.begin.load() || at >= slot.end.load()) continue;
    // All that follows is beyond the end of the file as well.
    const uintptr_t page = at / page_size() * page_size();
    void* zeros = mmap(reinterpret_cast<void*>(page), slot.end.load() - page, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) return false;
    uintptr_t lost = slot.lost.load();
    while ((lost == 0 || page < lost) && !slot.lost.compare_exchange_weak(lost, page)) continue;
    any_lost.store(true);
    request_interrupt();
    return true;
  }
  return false;
}

std::shared_ptr<const MappedFile> MappedFile::map(int descriptor, uint64_t bytes, std::string name) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex);
  static const bool has_signal = take_signal();
  size_t free = 0;
  while (free < kMost && files[free] != nullptr) ++free;
  if (!has_signal || free == kMost) return nullptr;
  // No advice to the system: without reading ahead (MADV_RANDOM), shuffled rows of 4 KiB come three times as fast from
  // a disk, but those of 64 KiB at a tenth, and rows in order at a twentieth of the speed.
  const int own = ::dup(descriptor);
  void* data = own < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, own, 0);
  if (data == MAP_FAILED) {
    if (own >= 0) ::close(own);
    return nullptr;
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->name_ = std::move(name);
  file->descriptor_ = own;
  file->data_ = static_cast<std::byte*>(data);
  file->size_ = bytes;
  file->slot_ = free;
  files[free] = file.get();
  const auto begin = reinterpret_cast<uintptr_t>(data);
  slots[free].begin.store(begin);
  slots[free].end.store(begin + (bytes + page_size() - 1) / page_size() * page_size());
  return file;
}

MappedFile::~MappedFile() {
  const std::lock_guard lock(mutex);
  slots[slot_].end.store(0);
  slots[slot_].begin.store(0);
  slots[slot_].lost.store(0);
  files[slot_] = nullptr;
  munmap(data_, size_);
  ::close(descriptor_);
}

std::optional<std::string> take_lost_file() {
  if (!any_lost.load()) return std::nullopt;
  const std::lock_guard lock(mutex);
  any_lost.store(false);
  std::optional<std::string> message;
  for (size_t i = 0; i < kMost; ++i) {
    const uintptr_t lost = slots[i].lost.exchange(0);
    if (lost == 0 || files[i] == nullptr) continue;
    // The file's own pages again, so that the next touch fails like this one.
    const auto begin = reinterpret_cast<uintptr_t>(files[i]->data_);
    static_cast<void>(mmap(reinterpret_cast<void*>(lost), slots[i].end.load() - lost, PROT_READ,
                           MAP_PRIVATE | MAP_FIXED, files[i]->descriptor_, static_cast<off_t>(lost - begin)));
    message = fmt::format(
        "{} has become shorter, or cannot be read any more, since it was loaded: its elements are read when "
        "they are needed. Load it again once it is whole.",
        files[i]->name_);
  }
  clear_interrupt();
  return message;
}

}  // namespace quern
