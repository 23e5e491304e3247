#include "ir/value/rows.h"

#include <gtest/gtest.h>

#include <numeric>

namespace quern {
namespace {

Value counted_up(Shape shape) {
  TensorPtr tensor = HostTensor::make(DType::float32(), std::move(shape));
  std::iota(tensor->elements<float>().begin(), tensor->elements<float>().end(), 0.0F);
  return Value::tensor(std::move(tensor));
}

const HostTensor& tensor_of(const Value& value) { return *value.object_as<TensorObject>()->tensor; }

TEST(Rows, AreSlicesAlongTheLeadingAxis) {
  const Value rows = Value::tuple({counted_up({3, 2}), counted_up({3})}), row = row_of(rows, 1);
  EXPECT_EQ(to_string(row), "(Tensor[(2,), float32] [2, 3], float32 1)");
}

TEST(Rows, AreWrittenInPlaceWhereNothingElseHasThem) {
  Value rows = counted_up({3, 2});
  const void* memory = tensor_of(rows).data();
  rows = with_row(std::move(rows), 2, counted_up({2}));
  EXPECT_EQ(tensor_of(rows).data(), memory);
  EXPECT_EQ(to_string(rows), "Tensor[(3, 2), float32] [[0, 1], [2, 3], [0, 1]]");
}

TEST(Rows, AreCopiedWhereSomethingElseHasThem) {
  const std::string before = to_string(counted_up({2, 2}));
  const TensorPtr row = HostTensor::zeros(DType::float32(), {2});
  // Another value, a tensor's pointer, a view, an observer of its memory.
  for (int holder = 0; holder < 4; ++holder) {
    Value rows = counted_up({2, 2});
    TensorPtr tensor = rows.object_as<TensorObject>()->tensor;
    const std::byte* memory = tensor->data();
    Value other = holder == 0   ? rows
                  : holder == 2 ? Value::tensor(HostTensor::view(tensor, {2, 2}))
                                : Value();
    if (holder == 3) tensor->observe_release({});
    if (holder != 1) tensor.reset();
    const Value made = with_row(std::move(rows), 0, Value::tensor(row));
    if (tensor) other = Value::tensor(tensor);
    if (holder < 3) {
      EXPECT_EQ(to_string(other), before) << holder;
    }
    EXPECT_EQ(to_string(made), "Tensor[(2, 2), float32] [[0, 0], [2, 3]]") << holder;
    EXPECT_NE(tensor_of(made).data(), memory) << holder;
  }
}

TEST(Rows, MayHaveNoElements) {
  Value rows = counted_up({2, 0});
  rows = with_row(std::move(rows), 1, counted_up({0}));
  EXPECT_EQ(tensor_of(rows).size(), 0);
}

}  // namespace
}  // namespace quern
