#include "ir/value/tensor.h"
#include "ir/base/internal_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ir/value/scalar.h"

namespace quern {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
TensorPtr tensor_of(DType dtype, Shape shape, std::vector<T> elements) {
  return HostTensor::from<T>(dtype, std::move(shape), elements);
}

template <class T>
TensorPtr ramp(DType dtype, Shape shape) {
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor->size(); ++i)
    tensor->elements<T>()[static_cast<size_t>(i)] = static_cast<T>(i);
  return tensor;
}

TEST(Tensor, ElementCount) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24);
  EXPECT_EQ(element_count(Shape{int64_t{1} << 60, 0}), 0);
  EXPECT_THROW(element_count(Shape{int64_t{1} << 40, int64_t{1} << 40}), InternalFailure);
  EXPECT_THROW(element_count(Shape{-1}), InternalFailure);
}

TEST(Tensor, MemoryIsAlignedAndZeroSizesAreFine) {
  for (int64_t n : {0, 1, 3, 17, 1000}) {
    TensorPtr tensor = HostTensor::zeros(DType::float32(), {n});
    EXPECT_NE(tensor->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0U);
    EXPECT_EQ(tensor->bytes(), static_cast<size_t>(n) * 4);
    for (float element : tensor->elements<float>()) EXPECT_EQ(element, 0);
  }
}

TEST(Tensor, ViewsShareMemoryAndKeepIt) {
  TensorPtr base = ramp<int32_t>(DType::int32(), {2, 3});
  TensorPtr view = HostTensor::view(HostTensor::view(base, {6}), {3, 2});
  EXPECT_EQ(view->data(), base->data());
  base.reset();
  EXPECT_EQ(to_string(*view), "Tensor[(3, 2), int32] [[0, 1], [2, 3], [4, 5]]");
  EXPECT_THROW((void)HostTensor::view(view, {5}), InternalFailure);
  EXPECT_EQ(HostTensor::view(HostTensor::make(DType::int8(), {0, 4}), {4, 0})->size(), 0);
}

TEST(Tensor, ElementsAsNumbers) {
  EXPECT_EQ(element_as_int(*tensor_of<int8_t>(DType::int8(), {2}, {-128, 127}), 0), -128);
  EXPECT_EQ(element_as_int(*tensor_of<uint8_t>(DType::uint8(), {1}, {255}), 0), 255);
  EXPECT_EQ(element_as_int(*tensor_of<int16_t>({DTypeCode::Int, 16}, {1}, {-3}), 0), -3);
  EXPECT_EQ(element_as_int(*tensor_of<uint32_t>({DTypeCode::UInt, 32}, {1}, {4294967295U}), 0), 4294967295);
  EXPECT_EQ(element_as_int(*tensor_of<int64_t>(DType::index(), {1}, {INT64_MIN}), 0), INT64_MIN);
  EXPECT_EQ(element_as_int(*tensor_of<uint8_t>(DType::boolean(), {1}, {1}), 0), 1);
  EXPECT_EQ(element_as_double(*tensor_of<uint64_t>({DTypeCode::UInt, 64}, {1}, {UINT64_MAX}), 0), 0x1p64);
  EXPECT_EQ(element_as_double(*tensor_of<uint8_t>(DType::boolean(), {1}, {1}), 0), 1);
  EXPECT_EQ(element_as_double(*tensor_of<double>(DType::float64(), {1}, {0.1}), 0), 0.1);
  EXPECT_EQ(element_as_double(*tensor_of<uint16_t>(DType::float16(), {1}, {0x3e00}), 0), 1.5);
  EXPECT_EQ(element_as_double(*tensor_of<uint16_t>(DType::bfloat16(), {1}, {0x3fc0}), 0), 1.5);
}

uint16_t encoded(DType dtype, double value) {
  return static_cast<uint16_t>(Scalar::from_double(dtype, value).bits);
}
double decoded(DType dtype, uint16_t bits) { return Scalar{dtype, bits}.as_double(); }

TEST(Tensor, NarrowFloatsComeBackUnchanged) {
  for (DType dtype : {DType::float16(), DType::bfloat16()})
    for (uint32_t i = 0; i <= 0xffff; ++i) {
      const auto bits = static_cast<uint16_t>(i);
      const double value = decoded(dtype, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decoded(dtype, encoded(dtype, value))));
      else
        EXPECT_EQ(encoded(dtype, value), bits);
    }
}

/// `value` rounded to a multiple of the last place of a binary float with `digits` bits and least exponent
/// `least`.
double round_binary(double value, int digits, int least, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  int quantum = std::max(std::ilogb(value) - digits + 1, least);
  double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  return std::fabs(rounded) > largest ? std::copysign(kInf, value) : rounded;
}

TEST(Tensor, NarrowFloatsRoundToNearestEven) {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    // Every exponent, and every other time a tie of float16.
    uint32_t bits = static_cast<uint32_t>(random());
    if (i % 2) bits = (bits & 0x800fe000) | 0x1000 | (0x38000000 + (bits & 0x0f000000));
    float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    EXPECT_EQ(decoded(DType::float16(), encoded(DType::float16(), value)),
              round_binary(value, 11, -24, 65504))
        << value;
    EXPECT_EQ(decoded(DType::bfloat16(), encoded(DType::bfloat16(), value)),
              round_binary(value, 8, -133, 0x1.fep127))
        << value;
  }
  EXPECT_EQ(encoded(DType::float16(), 65519.0F), 0x7bff);
  EXPECT_EQ(encoded(DType::float16(), 65520.0F), 0x7c00);
  EXPECT_EQ(encoded(DType::float16(), -0x1p-25F), 0x8000);
  EXPECT_EQ(encoded(DType::float16(), 0x1.8p-25F), 0x0001);
  EXPECT_EQ(encoded(DType::float16(), -0.0F), 0x8000);
}

TEST(TensorPrint, Types) {
  EXPECT_EQ(type_to_string(DType::float32(), {}), "float32");
  EXPECT_EQ(type_to_string(DType::int8(), Shape{3}), "Tensor[(3,), int8]");
  EXPECT_EQ(type_to_string(DType::boolean(), Shape{2, 0}), "Tensor[(2, 0), bool]");
}

TEST(TensorPrint, Values) {
  EXPECT_EQ(to_string(*tensor_of<float>(DType::float32(), {2, 2}, {1, 2, 3, 4})),
            "Tensor[(2, 2), float32] [[1, 2], [3, 4]]");
  EXPECT_EQ(to_string(*tensor_of<float>(DType::float32(), {}, {1.5F})), "float32 1.5");
  EXPECT_EQ(to_string(*tensor_of<float>(DType::float32(), {5}, {0.1F, 1e-7F, 1e20F, -0.0F, 16777216})),
            "Tensor[(5,), float32] [0.1, 1e-07, 1e+20, -0, 16777216]");
  EXPECT_EQ(to_string(*tensor_of<double>(DType::float64(), {4}, {0.1F, kNan, -kInf, kInf})),
            "Tensor[(4,), float64] (1 NaN, 2 Inf) [0.10000000149011612, nan, -inf, inf]");
  EXPECT_EQ(to_string(*tensor_of<uint8_t>(DType::boolean(), {2}, {1, 0})),
            "Tensor[(2,), bool] [True, False]");
  EXPECT_EQ(to_string(*tensor_of<uint64_t>({DTypeCode::UInt, 64}, {}, {UINT64_MAX})),
            "uint64 18446744073709551615");
  EXPECT_EQ(to_string(*tensor_of<int64_t>(DType::int64(), {}, {INT64_MIN})), "int64 -9223372036854775808");
  EXPECT_EQ(to_string(*HostTensor::make(DType::float32(), {2, 0, 3})), "Tensor[(2, 0, 3), float32] [[], []]");
}

TEST(TensorPrint, NarrowFloatsPrintShortest) {
  std::vector<uint16_t> halves;
  for (float value : {0.1F, 1.0F, 65504.0F, 0x1p-24F, -2048.0F, 0.333F})
    halves.push_back(encoded(DType::float16(), value));
  EXPECT_EQ(to_string(*tensor_of<uint16_t>(DType::float16(), {6}, halves)),
            "Tensor[(6,), float16] [0.1, 1, 65500, 6e-08, -2048, 0.333]");
  EXPECT_EQ(
      to_string(*tensor_of<uint16_t>(DType::bfloat16(), {2},
                                     {encoded(DType::bfloat16(), 0.1F), encoded(DType::bfloat16(), 3e38F)})),
      "Tensor[(2,), bfloat16] [0.1, 3e+38]");
  for (uint32_t i = 0; i < 0x7c00; ++i) {
    uint16_t bits = static_cast<uint16_t>(i);
    double half = std::stod(to_string(*tensor_of<uint16_t>(DType::float16(), {}, {bits})).substr(8));
    EXPECT_EQ(encoded(DType::float16(), static_cast<float>(half)), bits);
    double bfloat = std::stod(to_string(*tensor_of<uint16_t>(DType::bfloat16(), {}, {bits})).substr(9));
    EXPECT_EQ(encoded(DType::bfloat16(), static_cast<float>(bfloat)), bits);
  }
}

TEST(TensorPrint, ElidesLongAxesOnly) {
  EXPECT_EQ(to_string(*ramp<int32_t>(DType::int32(), {101})),
            "Tensor[(101,), int32] [0, 1, 2, …, 98, 99, 100]");
  EXPECT_EQ(to_string(*ramp<int32_t>(DType::int32(), {8}), {.threshold = 8}),
            "Tensor[(8,), int32] [0, 1, 2, 3, 4, 5, 6, 7]");
  EXPECT_EQ(to_string(*ramp<int32_t>(DType::int32(), {2, 7}), {.threshold = 8}),
            "Tensor[(2, 7), int32] [[0, 1, 2, …, 4, 5, 6], [7, 8, 9, …, 11, 12, 13]]");
  EXPECT_EQ(to_string(*ramp<int32_t>(DType::int32(), {7, 2}), {.threshold = 8}),
            "Tensor[(7, 2), int32] [[0, 1], [2, 3], [4, 5], …, [8, 9], [10, 11], [12, 13]]");
  EXPECT_EQ(to_string(*HostTensor::make(DType::int8(), {int64_t{1} << 40, 0})),
            "Tensor[(1099511627776, 0), int8] [[], [], [], …, [], [], []]");
}

// --- vectors

constexpr DType kInt8x3{DTypeCode::Int, 8, 3};

TEST(Vectors, AndTheirLanesShareMemory) {
  TensorPtr vectors = tensor_of<int8_t>(kInt8x3, {2}, {1, 2, 3, 4, 5, -6});
  TensorPtr lanes = HostTensor::lanes_of(vectors);
  EXPECT_EQ(to_string(*lanes), "Tensor[(2, 3), int8] [[1, 2, 3], [4, 5, -6]]");
  EXPECT_EQ(lanes->data(), vectors->data());
  EXPECT_EQ(HostTensor::lanes_of(lanes), lanes);
  vectors.reset();
  EXPECT_EQ(to_string(*HostTensor::vectors_of(lanes, kInt8x3)),
            "Tensor[(2,), int8x3] [<1, 2, 3>, <4, 5, -6>]");
  EXPECT_EQ(HostTensor::vectors_of(lanes, *parse_dtype("int8x2")), nullptr);
  EXPECT_EQ(HostTensor::vectors_of(lanes, *parse_dtype("uint8x3")), nullptr);
  EXPECT_EQ(HostTensor::vectors_of(tensor_of<int8_t>(DType::int8(), {}, {1}), kInt8x3), nullptr);
  EXPECT_EQ(HostTensor::lanes_of(HostTensor::make(kInt8x3, {0}))->shape(), (Shape{0, 3}));
}

TEST(Vectors, AreFilledAndComparedLaneByLane) {
  TensorPtr tensor = HostTensor::zeros(kInt8x3, {2});
  fill_element(*tensor, 1, Scalar::from_int(DType::int8(), -7));
  EXPECT_EQ(to_string(*tensor), "Tensor[(2,), int8x3] [<0, 0, 0>, <-7, -7, -7>]");
  EXPECT_TRUE(lanes_agree(*tensor));
  tensor->elements<int8_t>()[4] = 1;
  EXPECT_FALSE(lanes_agree(*tensor));
  EXPECT_TRUE(lanes_agree(*tensor_of<int8_t>(DType::int8(), {2}, {1, 2})));
  EXPECT_EQ(element_as_int(*tensor, 5), -7);
  EXPECT_THROW((void)element_as_int(*tensor, 6), InternalFailure);
}

TEST(Vectors, PrintAsTheirLanes) {
  EXPECT_EQ(to_string(*tensor_of<float>({DTypeCode::Float, 32, 2}, {}, {0.1F, -2})), "float32x2 <0.1, -2>");
  EXPECT_EQ(to_string(*tensor_of<uint16_t>({DTypeCode::Float, 16, 2}, {1}, {0x3e00, 0xfc00})),
            "Tensor[(1,), float16x2] (1 Inf) [<1.5, -inf>]");
  EXPECT_EQ(to_string(*ramp<int32_t>({DTypeCode::Int, 32, 4}, {0}), {.threshold = 8}),
            "Tensor[(0,), int32x4] []");
  TensorPtr wide = HostTensor::zeros({DTypeCode::Int, 8, 9}, {1});
  EXPECT_EQ(to_string(*wide, {.threshold = 8}), "Tensor[(1,), int8x9] [<0, 0, 0, …, 0, 0, 0>]");
  EXPECT_EQ(to_json(*tensor_of<int8_t>(kInt8x3, {1}, {1, 2, 3})), "[[1, 2, 3]]");
}

TEST(TensorPrint, Json) {
  EXPECT_EQ(to_json(*tensor_of<float>(DType::float32(), {2}, {1, 2})), "[1.0, 2.0]");
  EXPECT_EQ(to_json(*tensor_of<float>(DType::float32(), {}, {1e-7F})), "1e-07");
  EXPECT_EQ(to_json(*tensor_of<double>(DType::float64(), {4}, {kNan, -kInf, kInf, -0.0})),
            R"(["nan", "-inf", "inf", -0.0])");
  EXPECT_EQ(to_json(*tensor_of<uint8_t>(DType::boolean(), {1, 2}, {1, 0})), "[[true, false]]");
  EXPECT_EQ(to_json(*HostTensor::make(DType::int8(), {2, 0})), "[[], []]");
  std::string long_list = to_json(*ramp<int32_t>(DType::int32(), {100}));
  EXPECT_TRUE(long_list.starts_with("[0, 1, 2, 3, 4,") && long_list.ends_with("98, 99]"));
}

class CountingObserver final : public MemoryObserver {
 public:
  void released(const HostTensor& owner) override { seen.push_back({&owner, owner.elements<float>()[0]}); }
  std::vector<std::pair<const HostTensor*, float>> seen;
};

TEST(Tensor, ReportsItsReleaseOnceToEachObserver) {
  const auto first = std::make_shared<CountingObserver>(), second = std::make_shared<CountingObserver>();
  auto third = std::make_shared<CountingObserver>();
  TensorPtr tensor = tensor_of<float>(DType::float32(), {2}, {5, 6});
  EXPECT_TRUE(tensor->is_own());
  const HostTensor* owner = tensor.get();
  TensorPtr view = HostTensor::view(tensor, {1, 2});
  view->observe_release(first);  // a view's memory is that of its base
  EXPECT_FALSE(tensor->is_own());
  tensor->observe_release(second);
  tensor->observe_release(third);
  third.reset();
  tensor.reset();
  EXPECT_THAT(first->seen, testing::IsEmpty()) << "the view still has the memory";
  view.reset();
  const auto once = testing::ElementsAre(testing::Pair(owner, 5.0F));
  EXPECT_THAT(first->seen, once);
  EXPECT_THAT(second->seen, once);
}

TEST(Tensor, WithinABlockHasItsPartOfTheMemory) {
  TensorPtr block = HostTensor::make(DType::uint8(), {256});
  const std::byte* memory = block->data();
  const std::weak_ptr<HostTensor> alive = block;
  TensorPtr part = HostTensor::within(block, 128, DType::float32(), {4, 8});
  EXPECT_EQ(part->data(), memory + 128);
  EXPECT_EQ(part->size(), 32);
  EXPECT_TRUE(part->is_own());
  EXPECT_THROW((void)HostTensor::within(block, 128, DType::float32(), {33}), InternalFailure);
  EXPECT_THROW((void)HostTensor::within(block, 320, DType::float32(), {0}), InternalFailure);
  EXPECT_THROW((void)HostTensor::within(block, 4, DType::float32(), {1}), InternalFailure);
  block.reset();
  TensorPtr view = HostTensor::view(part, {32});
  part.reset();
  EXPECT_FALSE(alive.expired());
  view.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(Tensor, HasTheMemoryOfOneThatDied) {
  const Shape large{1 << 20};
  const std::byte* first = nullptr;
  {
    const TensorPtr tensor = HostTensor::make(DType::float32(), large);
    first = tensor->data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
    const TensorPtr beside = HostTensor::make(DType::float32(), large);
    EXPECT_NE(beside->data(), first);
  }
  const TensorPtr a = HostTensor::make(DType::float32(), large),
                  b = HostTensor::make(DType::float32(), large);
  EXPECT_NE(a->data(), b->data());
#ifndef __SANITIZE_ADDRESS__
  EXPECT_TRUE(a->data() == first || b->data() == first);
#endif
}

}  // namespace
}  // namespace quern
