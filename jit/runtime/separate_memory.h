#pragma once
// A device made of the host's processors, with memory that only what runs on the device may touch: a program that is
// placed wrongly stops at the first access. It is there to try placements without another machine.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/value/device.h"

namespace quern {

class SeparateMemory final : public Device {
 public:
  explicit SeparateMemory(std::string name);
  ~SeparateMemory() override;

  const std::string& name() const override { return name_; }
  std::byte* allocate(size_t bytes) override;
  void release(std::byte* memory, size_t bytes) noexcept override;
  void begin() override;
  void end() noexcept override;

 private:
  struct Blocks;
  const std::string name_;
  const std::unique_ptr<Blocks> blocks_;
};

/// The devices that a list names, "cpu:1,cpu:2": each has memory of its own. Other names are passed over.
std::vector<std::shared_ptr<Device>> separate_devices(std::string_view names);

}  // namespace quern
