// Values as text for people: what fits on a line, and what is laid out beneath it.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ir/value/text/number_text.h"
#include "ir/value/value.h"

namespace quern {
namespace {

const auto kLists = data_constructors("List", 21, {{"Cons", {"", ""}}, {"Nil", {}}});
const auto kTrees = data_constructors("Tree", 22, {{"Rose", {"", ""}}});
const auto kOptions = data_constructors("Option", 23, {{"None", {}}, {"Some", {""}}});
const auto kNets = data_constructors("Net", 24, {{"Net", {"weight", "bias"}}});

Value integer(int64_t value) { return Scalar::from_int(DType::int32(), value); }

template <class T>
Value tensor(DType dtype, Shape shape, const std::function<T(int64_t)>& element) {
  TensorPtr made = HostTensor::make(dtype, std::move(shape));
  for (int64_t i = 0; i < made->lane_count(); ++i) made->elements<T>()[static_cast<size_t>(i)] = element(i);
  return Value::tensor(made);
}
Value counted(Shape shape) {
  return tensor<int32_t>(DType::int32(), std::move(shape), [](int64_t i) { return static_cast<int32_t>(i); });
}
Value floats(Shape shape, std::vector<float> of) {
  return tensor<float>(DType::float32(), std::move(shape),
                       [&](int64_t i) { return of[static_cast<size_t>(i)]; });
}

Value list(const std::vector<Value>& elements) {
  Value made = Value::data(kLists[1], {});
  for (auto element = elements.rbegin(); element != elements.rend(); ++element)
    made = Value::data(kLists[0], {*element, std::move(made)});
  return made;
}
Value rose(Value held, const std::vector<Value>& subtrees) {
  return Value::data(kTrees[0], {std::move(held), list(subtrees)});
}
Value some(Value value) { return Value::data(kOptions[1], {std::move(value)}); }

struct Shown {
  Value value;
  std::string text;
  ValueStyle style{};
  int column = 0;
};

void expect(const std::vector<Shown>& table) {
  for (const Shown& row : table) EXPECT_EQ(to_string(row.value, row.style, row.column), row.text);
}

TEST(ValuePrint, TensorsThatDoNotFitHaveRowsByTheirPoints) {
  expect({
      {floats({2, 2}, {1, -2.25F, 10.5F, 3e-7F}), "Tensor[(2, 2), float32] [[1, -2.25], [10.5, 3e-07]]"},
      {floats({2, 2}, {1, -2.25F, 10.5F, 3e-7F}),
       "Tensor[(2, 2), float32]\n[[ 1,   -2.25],\n [10.5,  3e-07]]",
       {.width = 40}},
      {counted({2, 2, 2}),
       "Tensor[(2, 2, 2), int32]\n[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]",
       {.width = 30}},
      {counted({4, 9}),
       "Tensor[(4, 9), int32]\n[[ 0,  1, …,  7,  8],\n [ 9, 10, …, 16, 17],\n [18, 19, …, 25, 26],\n [27, "
       "28, …, 34, "
       "35]]",
       {.width = 24}},
      {counted({9, 2}),
       "Tensor[(9, 2), int32]\n[[ 0,  1],\n [ 2,  3],\n …,\n [14, 15],\n [16, 17]]",
       {.width = 24, .threshold = 10, .edge_items = 2}},
      {counted({1, 9}), "Tensor[(1, 9), int32]\n[[0, …, 8]]", {.width = 1}},
      {tensor<uint8_t>(DType::boolean(), {2, 2}, [](int64_t i) { return i % 3 == 0; }),
       "Tensor[(2, 2), bool]\n[[ True, False],\n [False,  True]]",
       {.width = 40}},
      {tensor<int8_t>({DTypeCode::Int, 8, 2}, {2, 1}, [](int64_t) { return int8_t{7}; }),
       "Tensor[(2, 1), int8x2] [[<7, 7>], [<7, 7>]]"},
  });
}

TEST(ValuePrint, OneAxisGoesOnOverLines) {
  expect({
      {counted({12}), "Tensor[(12,), int32] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"},
      {counted({12}),
       "Tensor[(12,), int32]\n[ 0,  1,  2,  3,\n  4,  5,  6,  7,\n  8,  9, 10, 11]",
       {.width = 19}},
      {counted({12}), "Tensor[(12,), int32]\n[0, 1, 2, …, 9, 10, 11]", {.width = 30, .threshold = 10}},
      {counted({12}), "Tensor[(12,), int32]\n[0, 1, …, 10, 11]", {.width = 18, .threshold = 10}},
  });
}

TEST(ValuePrint, HeadingsCountWhatIsNoNumber) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  expect({
      {floats({4}, {0.5F, kNan, -kInf, kInf}), "Tensor[(4,), float32] (1 NaN, 2 Inf) [0.5, nan, -inf, inf]"},
      {floats({2}, {-kNan, 1}), "Tensor[(2,), float32] (1 NaN) [nan, 1]"},
      {Scalar::from_double(DType::float32(), kNan), "float32 nan"},
  });
  // In each dtype, wherever it stands, also beside what is shown.
  for (const DType dtype : {DType::float16(), DType::bfloat16(), DType::float32(), DType::float64()})
    for (const int64_t at : {0, 1023, 1024, 2999}) {
      TensorPtr made = HostTensor::zeros(dtype, {3000});
      fill_element(*made, at, Scalar::from_double(dtype, kNan));
      fill_element(*made, at / 2 + 1, Scalar::from_double(dtype, -kInf));
      EXPECT_TRUE(to_string(*made).starts_with("Tensor[(3000,), " + to_string(dtype) + "] (1 NaN, 1 Inf) ["))
          << to_string(*made);
    }
}

TEST(ValuePrint, ListsPrintAsTheirElements) {
  const Value one = floats({2}, {1, 2}), longer = floats({3}, {1, 2, 3});
  std::vector<Value> many;
  many.reserve(12);
  for (int i = 0; i < 12; ++i) many.push_back(integer(i));
  expect({
      {list({}), "List []"},
      {list({integer(7)}), "List[int32] [7]"},
      {list({integer(1), integer(2)}), "Cons(int32 1, Cons(int32 2, Nil))", {.as_built = true}},
      {list({list({integer(1)}), list({}), list({integer(2)})}), "List[List[int32]] [[1], [], [2]]"},
      {list({one, one}), "List[Tensor[(2,), float32]] [[1, 2], [1, 2]]"},
      {list({one, longer}), "List [Tensor[(2,), float32] [1, 2], Tensor[(3,), float32] [1, 2, 3]]"},
      {list({Value::tuple({integer(1), one})}), "List[(int32, Tensor[(2,), float32])] [(1, [1, 2])]"},
      {list({some(integer(1)), Value::data(kOptions[0], {})}), "List [Some(int32 1), None]"},
      {list(many),
       "List[int32] (12 elements)\n[ 0,  1,  2,  3,\n  4,  5,  6,  7,\n  8,  9, 10, 11]",
       {.width = 19}},
      {list(many), "List[int32] (12 elements) [0, 1, …, 10, 11]", {.threshold = 10, .edge_items = 2}},
      {list({one, longer}),
       "List (2 elements) [\n  Tensor[(2,), float32] [1, 2],\n  Tensor[(3,), float32] [1, 2, 3]\n]",
       {.width = 50}},
  });
}

TEST(ValuePrint, TreesAreDrawn) {
  const Value tree = rose(integer(1), {rose(integer(2), {rose(integer(3), {})}), rose(integer(4), {})});
  expect({
      {tree, "Tree[int32] (4 nodes)\n1\n├─ 2\n│  └─ 3\n└─ 4"},
      {rose(integer(1), {}), "Tree[int32] 1"},
      {Value::tuple({tree, integer(1)}),
       "(\n  Tree[int32] (4 nodes)\n    1\n    ├─ 2\n    │  └─ 3\n    └─ 4,\n  int32 1\n)"},
  });
}

TEST(ValuePrint, PartsThatDoNotFitAreBeneathEachOther) {
  const Value net = Value::data(kNets[0], {counted({2, 4}), integer(3)});
  const std::string rows = "\n    [[0, 1, 2, 3],\n     [4, 5, 6, 7]],\n  bias=int32 3\n)";
  expect({
      {net, "Net(weight=Tensor[(2, 4), int32] [[0, 1, 2, 3], [4, 5, 6, 7]], bias=int32 3)"},
      {net, "Net(\n  weight=Tensor[(2, 4), int32]" + rows, {.width = 40}},
      {some(net), "Some(Net(\n  weight=Tensor[(2, 4), int32]" + rows + ")", {.width = 40}},
      {some(counted({2, 4})),
       "Some(Tensor[(2, 4), int32]\n  [[0, 1, 2, 3],\n   [4, 5, 6, 7]])",
       {.width = 30}},
      {Value::tuple({net}),
       "(\n  Net(\n    weight=Tensor[(2, 4), int32]\n      [[0, 1, 2, 3],\n       [4, 5, 6, 7]],\n    "
       "bias=int32 3\n  ),\n)",
       {.width = 40}},
      {Value::tuple({integer(1), integer(2)}), "(\n  int32 1,\n  int32 2\n)", {.width = 10}},
      {Value::reference(counted({2, 4})),
       "ref(Tensor[(2, 4), int32]\n  [[0, 1, 2, 3],\n   [4, 5, 6, 7]])",
       {.width = 30}},
  });
}

TEST(ValuePrint, WithoutHeadings) {
  const ValueStyle plain{.width = 30, .heading = false};
  expect({
      {integer(3), "3", plain},
      {counted({3}), "[0, 1, 2]", plain},
      {Value::tuple({integer(1), some(counted({2}))}), "(1, Some([0, 1]))", plain},
      {counted({2, 5}), "[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]", {.heading = false}},
      {counted({2, 5}), "[[0, 1, 2, 3, 4],\n [5, 6, 7, 8, 9]]", plain},
      // After a text of five columns.
      {counted({2, 5}), "\n[[0, 1, 2, 3, 4],\n [5, 6, 7, 8, 9]]", plain, 5},
      {counted({3}), "[0, 1, 2]", plain, 5},
  });
}

TEST(ValuePrint, WholeValuesLeaveNothingOut) {
  const ValueStyle whole{.width = 24, .threshold = 2, .edge_items = 1, .whole = true};
  std::vector<Value> many;
  many.reserve(5);
  for (int i = 0; i < 5; ++i) many.push_back(integer(i));
  Value deep = integer(0);
  for (int k = 0; k < 100; ++k) deep = Value::data(kNets[0], {integer(k), std::move(deep)});
  const std::string nested = to_string(deep, whole);
  EXPECT_EQ(nested.find("…"), std::string::npos);
  EXPECT_NE(nested.find("bias=int32 0"), std::string::npos);
  expect({
      {counted({2, 12}),
       "Tensor[(2, 12), int32]\n[[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11],\n [12, 13, 14, 15, 16, "
       "17, 18, "
       "19, 20, 21, 22, 23]]",
       whole},
      {counted({5}), "Tensor[(5,), int32]\n[0, 1, 2, 3, 4]", whole},
      {list(many), "List[int32] (5 elements)\n[0, 1, 2, 3, 4]", whole},
      {list({counted({12}), counted({12})}),
       "List[Tensor[(12,), int32]] (2 elements) [\n  [ 0,  1,  2,  3,  4,\n    5,  6,  7,  8,  9,\n   10, "
       "11],\n  [ "
       "0,  1,  2,  3,  4,\n    5,  6,  7,  8,  9,\n   10, 11]\n]",
       whole},
      {rose(counted({12}), {}), "Tree[Tensor[(12,), int32]] (1 node)\n[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]",
       whole},
  });
}

TEST(ValuePrint, Formats) {
  const struct {
    double value;
    std::string_view format, text;
  } table[] = {
      {0.123456, "", "0.123456"}, {0.123456, ".3", "0.123"}, {123456, ".3", "1.23e+05"},
      {2, ".3f", "2.000"},        {2, ".0f", "2"},           {2, "8.2f", "    2.00"},
      {1234.5, ".1e", "1.2e+03"}, {0.5, "6", "   0.5"},      {0.5, "f", "0.500000"},
      {0.5, ".4g", "0.5"},        {0.5, "<6", "0.5   "},     {0.5, ">6", "   0.5"},
      {0.5, "^6", " 0.5  "},      {0.5, "<7.2f", "0.50   "}, {12345, "^3.0f", "12345"},
  };
  for (const auto& [value, format, text] : table) {
    const auto style = with_format({.heading = false}, format);
    ASSERT_TRUE(style) << format;
    EXPECT_EQ(to_string(Value(Scalar::from_double(DType::float32(), value)), *style), text) << format;
  }
  for (const std::string_view wrong :
       {"x", ".", ".f", "-3", "3.", "1000", ".2ff", " 3", ".4.2", "<", "^.2", "5<", "<<5"})
    EXPECT_FALSE(with_format({}, wrong)) << wrong;
  EXPECT_EQ(to_string(floats({2}, {1, 2.5F}), *with_format({}, "5.1f")),
            "Tensor[(2,), float32] [  1.0,   2.5]");
  EXPECT_EQ(to_string(integer(3), *with_format({}, ".2f")), "int32 3");
}

TEST(ValuePrint, LargeValuesTakeMilliseconds) {
  Value long_list = list({}), deep = integer(0);
  constexpr int kCount = 1'000'000;
  for (int k = kCount; k-- > 0;) long_list = Value::data(kLists[0], {integer(k), std::move(long_list)});
  for (int k = 0; k < kCount; ++k) deep = some(std::move(deep));
  EXPECT_EQ(to_string(long_list), "List[int32] (more than 200000 elements) [0, 1, 2, …]");
  EXPECT_EQ(to_string(long_list, {.as_built = true}).find('\n'), 5U);
  EXPECT_TRUE(to_string(deep).starts_with("Some(Some("));
  EXPECT_LT(to_string(deep).size(), 400U);
  std::vector<Value> units(20'000, Value::unit());
  EXPECT_EQ(to_string(list(units)), "List (20000 elements) [(), (), (), …, (), (), ()]");
  const Value matrix = counted({1000, 1000});
  EXPECT_TRUE(to_string(matrix).starts_with("Tensor[(1000, 1000), int32]\n[[     0,      1,      2,"));
  // Far above what it takes, far below what every element would.
  const auto start = std::chrono::steady_clock::now();
  for (const Value& value : {long_list, deep, matrix}) EXPECT_FALSE(to_string(value).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  // Every axis is short, and together they are many.
  EXPECT_LT(to_string(counted({6, 6, 6, 6, 6, 6})).size(), 20'000U);
}

}  // namespace
}  // namespace quern
