#pragma once
// Memory of the nodes of one result. Nodes are immutable and live as long as the arena that made them; a
// result holds its own arena and, through `keep`, every arena its nodes point into.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (auto it = destructors_.rbegin(); it != destructors_.rend(); ++it) it->second(it->first);
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    void* memory = allocate(sizeof(T), alignof(T));
    T* object = new (memory) T{std::forward<Args>(args)...};
    if constexpr (!std::is_trivially_destructible_v<T>)
      destructors_.emplace_back(object, [](void* p) { static_cast<T*>(p)->~T(); });
    return object;
  }

  template <class T>
  std::span<const T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (items.empty()) return {};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer; its own size is meant
    T* memory = static_cast<T*>(allocate(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), memory);
    return {memory, items.size()};
  }
  template <class T>
  std::span<const T> copy(const std::vector<T>& items) {
    return copy(std::span<const T>(items));
  }
  std::span<const bool> copy(const std::vector<bool>& flags) {
    if (flags.empty()) return {};
    auto* memory = static_cast<bool*>(allocate(flags.size(), alignof(bool)));
    std::uninitialized_copy(flags.begin(), flags.end(), memory);
    return {memory, flags.size()};
  }
  std::string_view copy(std::string_view text) {
    std::span<const char> chars = copy(std::span<const char>(text.data(), text.size()));
    return {chars.data(), chars.size()};
  }

  /// Keeps `other` alive at least as long as this arena.
  void keep(std::shared_ptr<const Arena> other) {
    if (other && other.get() != this) kept_.push_back(std::move(other));
  }

  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kFirst = 512, kLargest = 16 * 1024;

  void* allocate(size_t size, size_t alignment) {
    const size_t gap = -reinterpret_cast<uintptr_t>(next_) & (alignment - 1);
    if (gap + size > left_) return allocate_in_new_chunk(size, alignment);
    std::byte* const start = next_ + gap;
    next_ = start + size;
    left_ -= gap + size;
    return start;
  }

  void* allocate_in_new_chunk(size_t size, size_t alignment) {
    // Most results are small: chunks grow with the arena, so slowly that a third of it is unused at the most.
    const size_t capacity = std::max(size + alignment, std::clamp(bytes_ / 2, kFirst, kLargest));
    next_ = chunks_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(capacity)).get();
    left_ = capacity;
    bytes_ += capacity;
    return allocate(size, alignment);
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<std::pair<void*, void (*)(void*)>> destructors_;
  std::vector<std::shared_ptr<const Arena>> kept_;
  std::byte* next_ = nullptr;  ///< in the last chunk
  size_t left_ = 0, bytes_ = 0;
};

}  // namespace quern
