#include "ir/value/value.h"

#include <gtest/gtest.h>

#include "ir/interpret/evaluation.h"
#include "tests/dtypes.h"

namespace quern {
namespace {

const std::span<const Constructor> kList = data_constructors("List", 1, {{"Cons", {"", ""}}, {"Nil", {}}});
const Constructor& cons = kList[0];
const Constructor& nil = kList[1];

TEST(Value, TextAndJson) {
  Value number = Scalar::from_double(kFloat, 1.5), flag = Scalar::from_int(DType::boolean(), 1);
  std::vector<float> elements = {1, 2};
  Value tensor = Value::tensor(HostTensor::from<float>(kFloat, {2}, elements));
  Value list = Value::data(cons, {number, Value::data(cons, {flag, Value::data(nil, {})})});
  EXPECT_EQ(to_string(list), "List [float32 1.5, bool True]");
  EXPECT_EQ(
      to_json(list),
      R"({"ctor": "Cons", "fields": [1.5, {"ctor": "Cons", "fields": [true, {"ctor": "Nil", "fields": []}]}]})");
  Value nested = Value::tuple(
      {Value::tuple({tensor}), Value::unit(), Value(new ClosureObject(function_type({}, unit_type())))});
  EXPECT_EQ(to_string(nested), "((Tensor[(2,), float32] [1, 2],), (), fn () -> ())");
  EXPECT_EQ(to_json(nested), "[[[1.0, 2.0]], [], null]");
}

TEST(Value, FieldsWithNamesKeepThem) {
  const Constructor& net = data_constructors("Net", 2, {{"Net", {"conv1", "fc", ""}}})[0];
  Value one = Scalar::from_int(DType::int32(), 1);
  Value value = Value::data(net, {one, Value::tuple({one}), Value::data(nil, {})});
  EXPECT_EQ(to_string(value), "Net(conv1=int32 1, fc=(int32 1,), List [])");
  EXPECT_EQ(to_json(value), R"({"ctor": "Net", "fields": [1, [1], {"ctor": "Nil", "fields": []}]})");
}

TEST(Value, ReferencesShowWhatTheyHoldOnce) {
  Value one = Scalar::from_int(DType::int32(), 1);
  Value place = Value::reference(one);
  EXPECT_EQ(to_string(place), "ref(int32 1)");
  EXPECT_EQ(to_json(place), R"({"ref": 1})");
  auto* knot = place.object_as<RefObject>();
  knot->content = Value::data(cons, {one, place});
  EXPECT_EQ(to_string(place), "ref(Cons(int32 1, ref(…)))");
  EXPECT_EQ(to_json(place), R"({"ref": {"ctor": "Cons", "fields": [1, null]}})");
  knot->content = Value();  // counted references do not find cycles
}

TEST(Value, ScalarsAreUnboxedAndBoxedAnew) {
  TensorPtr boxed = HostTensor::make(DType::int8(), {});
  boxed->elements<int8_t>()[0] = -3;
  Value value = Value::tensor(boxed);
  ASSERT_TRUE(value.is_scalar());
  EXPECT_EQ(value.scalar(), Scalar::from_int(DType::int8(), -3));
  EXPECT_EQ(value.as_tensor()->elements<int8_t>()[0], -3);
  EXPECT_EQ(value.fields(), nullptr);
  EXPECT_EQ(Value::unit().as_tensor(), nullptr);
}

TEST(Value, LongListsAreWrittenAndDroppedWithoutRecursion) {
  const int count = 1'000'000;
  Value list = Value::data(nil, {});
  for (int k = 0; k < count; ++k) list = Value::data(cons, {Value::unit(), std::move(list)});
  EXPECT_EQ(to_string(list), "List (more than 200000 elements) [(), (), (), …]");
  EXPECT_EQ(to_json(list).substr(0, 40), R"({"ctor": "Cons", "fields": [[], {"ctor":)");
  Value nested;
  for (int k = 0; k < count; ++k) nested = Value::tuple({std::move(nested), Value::unit()});
}

// A reference to a pair of itself and a tensor.
std::pair<Value, std::weak_ptr<HostTensor>> knot() {
  TensorPtr tensor = HostTensor::make(DType::float32(), {2});
  std::weak_ptr<HostTensor> watched = std::const_pointer_cast<HostTensor>(tensor);
  Value reference = Value::reference(Value::unit());
  reference.object_as<RefObject>()->content = Value::tuple({reference, Value::tensor(tensor)});
  return {reference, watched};
}

TEST(Value, ReferencesThatOnlyReachThemselvesAreFreed) {
  auto [held, kept] = knot();
  std::weak_ptr<HostTensor> lost = knot().second;
  EXPECT_FALSE(lost.expired());
  collect_cycles();
  EXPECT_TRUE(lost.expired());
  EXPECT_FALSE(kept.expired());
  EXPECT_EQ(held.object_as<RefObject>()->content.fields()->size(), 2U);
  held = Value();
  collect_cycles();
  EXPECT_TRUE(kept.expired());
}

TEST(Value, CyclesAreCollectedAsReferencesBecomeMany) {
  std::weak_ptr<HostTensor> first = knot().second;
  for (int i = 0; i < 10'000; ++i) knot();
  EXPECT_TRUE(first.expired());
}

TEST(BindDims, BindsAndCompares) {
  Dim n = dim_var("n"), m = dim_var("m");
  auto tensor = [](Shape shape) { return Value::tensor(HostTensor::zeros(kFloat, std::move(shape))); };
  auto type = [](std::vector<Dim> dims) { return tensor_type(dims, kFloat); };
  std::unordered_map<Dim, int64_t> dims;
  EXPECT_EQ(bind_dims(type({n, dim_const(2), dim_any()}), tensor({3, 2, 9}), dims), "");
  EXPECT_EQ(dims, (std::unordered_map<Dim, int64_t>{{n, 3}}));
  EXPECT_EQ(bind_dims(type({n}), tensor({4}), dims),
            "axis 0 of Tensor[(4,), float32] has extent 4, but n is 3");
  EXPECT_EQ(bind_dims(type({dim_const(5)}), tensor({4}), dims),
            "axis 0 of Tensor[(4,), float32] has extent 4, not 5");
  EXPECT_EQ(bind_dims(type({n}), tensor({4, 4}), dims),
            "the value has rank 2, not 1 as Tensor[(n,), float32]");
  EXPECT_EQ(bind_dims(type({}), Scalar::from_int(kFloat, 0), dims), "");
  EXPECT_EQ(bind_dims(unit_type(), Value::unit(), dims), "");

  dims.clear();
  Type pair = tuple_type(std::vector<Type>{type({dim_mul(n, dim_const(2))}), type({dim_add(n, m)})});
  EXPECT_EQ(bind_dims(pair, Value::tuple({tensor({6}), tensor({10})}), dims), "");
  EXPECT_EQ(dims, (std::unordered_map<Dim, int64_t>{{n, 3}, {m, 7}}));
  dims.clear();
  EXPECT_NE(bind_dims(pair, Value::tuple({tensor({5}), tensor({10})}), dims), "");
  dims.clear();
  EXPECT_NE(bind_dims(pair, Value::tuple({tensor({6}), tensor({2})}), dims), "");
}

}  // namespace
}  // namespace quern
