#pragma once
// The memory that a database's values own.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace quern {

/// The memory of one kind of object in a session.
struct MemoryUse {
  std::string kind;
  size_t count = 0;  ///< 0 where they are not all of one sort
  size_t bytes = 0;
};

/// Objects already counted: several values may share one.
class MemoryCount {
 public:
  bool is_first(const void* shared) { return shared && seen_.insert(shared).second; }

 private:
  std::unordered_set<const void*> seen_;
};

/// Bytes that a value owns besides itself: `OwnedBytes<T>::of(value, count)`. A query whose value type has no
/// specialisation does not compile.
template <class T>
struct OwnedBytes;

template <class T>
size_t owned_bytes(const T& value, MemoryCount& count) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>)
    return 0;
  else
    return OwnedBytes<T>::of(value, count);
}

template <>
struct OwnedBytes<std::string> {
  static size_t of(const std::string& text, MemoryCount&) {
    constexpr size_t kInside = 15;
    return text.capacity() > kInside ? text.capacity() + 1 : 0;
  }
};
template <class T>
struct OwnedBytes<std::vector<T>> {
  static size_t of(const std::vector<T>& list, MemoryCount& count) {
    size_t bytes = list.capacity() * sizeof(T);  // NOLINT(bugprone-sizeof-expression): T may be a pointer
    for (const T& item : list) bytes += owned_bytes<T>(item, count);
    return bytes;
  }
};
template <class A, class B>
struct OwnedBytes<std::pair<A, B>> {
  static size_t of(const std::pair<A, B>& pair, MemoryCount& count) {
    return owned_bytes(pair.first, count) + owned_bytes(pair.second, count);
  }
};
template <class T>
struct OwnedBytes<std::optional<T>> {
  static size_t of(const std::optional<T>& value, MemoryCount& count) {
    return value ? owned_bytes(*value, count) : 0;
  }
};
template <class K, class V>
struct OwnedBytes<std::map<K, V>> {
  static size_t of(const std::map<K, V>& map, MemoryCount& count) {
    constexpr size_t kNode = 4 * sizeof(void*);
    size_t bytes = 0;
    for (const auto& [key, value] : map)
      bytes += kNode + sizeof(K) + sizeof(V) + owned_bytes(key, count) + owned_bytes(value, count);
    return bytes;
  }
};
template <class T>
struct OwnedBytes<std::shared_ptr<T>> {
  static size_t of(const std::shared_ptr<T>& shared, MemoryCount& count) {
    if (!count.is_first(shared.get())) return 0;
    constexpr size_t kControl = 2 * sizeof(void*);
    return kControl + sizeof(T) + owned_bytes<std::remove_const_t<T>>(*shared, count);
  }
};

}  // namespace quern
