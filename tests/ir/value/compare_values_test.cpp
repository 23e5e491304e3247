#include "ir/value/compare_values.h"

#include <gtest/gtest.h>

#include <vector>

namespace quern {
namespace {

Value vectors(std::vector<float> lanes, Shape shape = {2}) {
  return Value::tensor(
      HostTensor::from<float>({DTypeCode::Float, 32, 2}, std::move(shape), std::span<const float>(lanes)));
}

TEST(CompareValues, VectorsLaneByLane) {
  EXPECT_EQ(difference_of_values(vectors({1, 2, 3, 4}), vectors({1, 2, 3, 4}), std::nullopt), "");
  EXPECT_EQ(difference_of_values(vectors({1, 2, 3, 4}), vectors({1, 2, 3, 4.001F}), Tolerance{1e-2, 0}), "");
  EXPECT_EQ(difference_of_values(vectors({1, 2, 3, 4}), vectors({1, 2.5F, 7, 9}), std::nullopt),
            "2 of 2 elements differ, the worst is [1] lane 1: 4 where 9 is expected\n"
            "the value:    Tensor[(2,), float32x2] [<1, 2>, <3, 4>]\n"
            "the expected: Tensor[(2,), float32x2] [<1, 2.5>, <7, 9>]");
  EXPECT_EQ(difference_of_values(vectors({1, 2}, {}), vectors({0, 2}, {}), std::nullopt),
            "it is lane 0: 1 where 0 is expected\n"
            "the value:    float32x2 <1, 2>\nthe expected: float32x2 <0, 2>");
}

TEST(CompareValues, VectorsAreNoTensorsOfLanes) {
  TensorPtr lanes = HostTensor::lanes_of(vectors({1, 2, 3, 4}).as_tensor());
  EXPECT_EQ(difference_of_values(vectors({1, 2, 3, 4}), Value::tensor(lanes), std::nullopt).substr(0, 76),
            "this is Tensor[(2,), float32x2] where Tensor[(2, 2), float32] is expected\nth");
}

}  // namespace
}  // namespace quern
