#pragma once
// Devices that have memory of their own. The host has none of these: its tensors are in the process's memory.

#include <cstddef>
#include <string>
#include <string_view>

namespace quern {

/// The host's name in programs.
inline constexpr std::string_view kHostDevice = "cpu";

class Device {
 public:
  virtual ~Device() = default;
  /// As programs name it: "cpu:1".
  virtual const std::string& name() const = 0;
  /// Uninitialised memory, aligned as tensors are. Throws std::bad_alloc. Thread-safe, as `release` is.
  virtual std::byte* allocate(size_t bytes) = 0;
  virtual void release(std::byte* memory, size_t bytes) noexcept = 0;
  /// Between these, what runs may touch its memory. They nest, on all threads together.
  virtual void begin() = 0;
  virtual void end() noexcept = 0;
};

/// While it exists, what runs may touch the memory of a device; that of the host (null) always.
class RunningOn {
 public:
  explicit RunningOn(Device* device) : device_(device) {
    if (device_) device_->begin();
  }
  ~RunningOn() {
    if (device_) device_->end();
  }
  RunningOn(const RunningOn&) = delete;
  RunningOn& operator=(const RunningOn&) = delete;

 private:
  Device* const device_;
};

}  // namespace quern
