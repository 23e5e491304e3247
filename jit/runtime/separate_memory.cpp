#include "jit/runtime/separate_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace quern {

namespace {

/// Whole pages, which are protected one by one.
size_t pages_of(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return (std::max<size_t>(bytes, 1) + page - 1) / page * page;
}

}  // namespace

struct SeparateMemory::Blocks {
  std::mutex mutex;
  std::map<std::byte*, size_t> sizes;
  int running = 0;

  void protect(int access) const {
    for (const auto& [memory, size] : sizes) mprotect(memory, size, access);
  }
};

SeparateMemory::SeparateMemory(std::string name)
    : name_(std::move(name)), blocks_(std::make_unique<Blocks>()) {}

SeparateMemory::~SeparateMemory() {
  for (const auto& [memory, size] : blocks_->sizes) munmap(memory, size);
}

std::byte* SeparateMemory::allocate(size_t bytes) {
  const size_t size = pages_of(bytes);
  const std::lock_guard lock(blocks_->mutex);
  const int access = blocks_->running > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* memory = mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  blocks_->sizes.emplace(static_cast<std::byte*>(memory), size);
  return static_cast<std::byte*>(memory);
}

void SeparateMemory::release(std::byte* memory, size_t bytes) noexcept {
  const std::lock_guard lock(blocks_->mutex);
  blocks_->sizes.erase(memory);
  munmap(memory, pages_of(bytes));
}

void SeparateMemory::begin() {
  const std::lock_guard lock(blocks_->mutex);
  if (blocks_->running++ == 0) blocks_->protect(PROT_READ | PROT_WRITE);
}

void SeparateMemory::end() noexcept {
  const std::lock_guard lock(blocks_->mutex);
  if (--blocks_->running == 0) blocks_->protect(PROT_NONE);
}

std::vector<std::shared_ptr<Device>> separate_devices(std::string_view names) {
  std::vector<std::shared_ptr<Device>> devices;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const std::string_view number = name.substr(std::min(name.size(), kHostDevice.size() + 1));
    const bool is_host = name.starts_with(kHostDevice) && name.substr(kHostDevice.size()).starts_with(':');
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    if (is_host && !number.empty() && std::ranges::all_of(number, is_digit))
      devices.push_back(std::make_shared<SeparateMemory>(std::string(name)));
  }
  return devices;
}

}  // namespace quern
