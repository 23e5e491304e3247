// Memory of a device that only what runs on it may touch.

#include "jit/runtime/separate_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

#include "ir/value/tensor.h"
#include "jit/runtime/fault.h"

namespace quern {
namespace {

bool can_be_read(const std::byte* memory) {
  return !fault_of([memory] { static_cast<void>(*static_cast<const volatile std::byte*>(memory)); });
}

TEST(SeparateMemory, IsReadBetweenBeginAndEnd) {
  auto device = std::make_shared<SeparateMemory>("cpu:1");
  const TensorPtr before = HostTensor::on(device, DType::float32(), {3});
  EXPECT_EQ(before->device(), device.get());
  EXPECT_FALSE(can_be_read(before->data()));
  {
    const RunningOn running(device.get());
    const TensorPtr meanwhile = HostTensor::on(device, DType::float32(), {5000});
    EXPECT_TRUE(can_be_read(before->data()));
    EXPECT_TRUE(can_be_read(meanwhile->data() + meanwhile->bytes() - 1));
    const RunningOn again(device.get());
  }
  EXPECT_FALSE(can_be_read(before->data()));
}

TEST(SeparateMemory, OfAViewIsThatOfItsTensor) {
  auto device = std::make_shared<SeparateMemory>("cpu:1");
  const TensorPtr view = HostTensor::view(HostTensor::on(device, DType::float32(), {6}), {2, 3});
  EXPECT_EQ(view->device(), device.get());
  EXPECT_EQ(HostTensor::zeros(DType::float32(), {6})->device(), nullptr);
}

TEST(SeparateMemory, IsThatOfNamedDevices) {
  const auto devices = separate_devices("cpu:1,cuda:0,cpu,cpu:,cpu:x,cpu:12,");
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0]->name(), "cpu:1");
  EXPECT_EQ(devices[1]->name(), "cpu:12");
  EXPECT_TRUE(separate_devices("").empty());
}

}  // namespace
}  // namespace quern
