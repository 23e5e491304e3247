// Threefry: the known answers that come with Random123 (Salmon et al. 2011), and what tensors are made of them.

#include "ir/value/threefry.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace quern {
namespace {

TEST(Threefry, GivesTheKnownAnswers) {
  EXPECT_EQ(threefry4x64({}, {}),
            (ThreefryWords{0x09218ebde6c85537, 0x55941f5266d86105, 0x4bd25e16282434dc, 0xee29ec846bd2e40b}));
  constexpr uint64_t kOnes = UINT64_MAX;
  EXPECT_EQ(threefry4x64({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes, kOnes, kOnes}),
            (ThreefryWords{0x29c24097942bba1b, 0x0371bbfb0f6f4e11, 0x3c231ffa33f83a1c, 0xcd29113fde32d168}));
  // The digits of pi.
  EXPECT_EQ(threefry4x64({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                         {0x452821e638d01377, 0xbe5466cf34e90c6c, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd}),
            (ThreefryWords{0xa7e8fde591651bd9, 0xbaafd0c30138319b, 0x84a5c1a729e685b9, 0x901d406ccebc1ba4}));
}

TEST(Threefry, CountsBlocks) {
  Threefry numbers(0);
  const std::vector<uint64_t> first = numbers.generate(2), second = numbers.generate(4);
  const ThreefryWords block = threefry4x64({0, 0, 0, 0}, {}), next = threefry4x64({0, 0, 0, 1}, {});
  EXPECT_EQ(first, (std::vector<uint64_t>{block[0], block[1]}));
  EXPECT_EQ(second, std::vector<uint64_t>(next.begin(), next.end()));
  EXPECT_NE(Threefry(1).generate(1), first);
}

TEST(Threefry, MakesTensorsOfEveryDtype) {
  for (const std::string& name : dtype_names()) {
    const DType dtype = *parse_dtype(name);
    const TensorPtr tensor = Threefry(3).tensor(dtype, {40, 50});
    double least = 1e9, most = -1e9, sum = 0;
    for (int64_t i = 0; i < tensor->size(); ++i) {
      const double x = element_as_double(*tensor, i);
      least = std::min(least, x), most = std::max(most, x), sum += x;
    }
    const double end = dtype.is_float() ? 1 : dtype.is_bool() ? 2 : 16;
    EXPECT_GE(least, 0) << name;
    EXPECT_LT(most, end) << name;
    const double middle = dtype.is_float() ? end / 2 : (end - 1) / 2;
    EXPECT_NEAR(sum / 2000, middle, end / 20) << name;
  }
  const TensorPtr vectors = Threefry(3).tensor(*parse_dtype("int8x4"), {2});
  EXPECT_EQ(vectors->shape(), (Shape{2}));
  EXPECT_EQ(vectors->lane_count(), 8);
}

}  // namespace
}  // namespace quern
