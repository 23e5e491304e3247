#pragma once
// Files as memory: their pages are read when they are first touched, and the system may drop them again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace quern {

/// A file that is mapped as a whole, to be read. A page that cannot be read, because the file has been cut or the
/// disk fails, reads as zeros instead of ending the process: what runs is interrupted (ir/base/interrupt.h), and
/// whoever started it asks `take_lost_file`.
class MappedFile {
 public:
  /// Of an open file, which `name` tells in messages. Null where it cannot be mapped: then it has to be read.
  static std::shared_ptr<const MappedFile> map(int descriptor, uint64_t bytes, std::string name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  MappedFile() = default;

  friend std::optional<std::string> take_lost_file();
  std::string name_;
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  size_t slot_ = 0;
};

/// What is wrong with a mapped file that could not be read since this was last asked; ends the interrupt that it
/// requested. The next touch of its missing pages fails again.
std::optional<std::string> take_lost_file();

/// For handlers of SIGBUS: whether the address is in a mapped file, whose missing pages are zeros from now on.
bool supply_lost_pages(const void* address);

}  // namespace quern
