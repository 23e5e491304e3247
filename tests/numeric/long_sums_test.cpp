// Long sums of rounded numbers stay within the error that docs/kernels.md states, in both evaluators.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

/// A sum over `%a`, to the elements that `wanted` gives for each of its elements: -1 for none.
struct LongSum {
  std::string name, expression;
  Shape shape;
  std::function<int64_t(int64_t)> wanted;
};

const LongSum kSums[] = {
    {"of_small_inner_axes", "sum(%a)", {128, 128, 3, 3}, [](int64_t) { return 0; }},
    {"over_unknown_extents", "@whole(%a)", {128, 128, 3, 3}, [](int64_t) { return 0; }},
    {"of_columns", "sum(%a, axis=[0])", {100'000, 9}, [](int64_t at) { return at % 9; }},
    {"of_few_rows", "sum(%a, axis=[1])", {2, 300'000}, [](int64_t at) { return at / 300'000; }},
    {"of_an_inner_axis",
     "sum(%a, axis=[1])",
     {3, 70'001, 5},
     [](int64_t at) { return at / (70'001 * 5) * 5 + at % 5; }},
    {"of_what_is_gathered",
     "[j < 2] => sum[i < 150000] %a[index(%i[i % 3]) + i, j]",
     {150'004, 2},
     [](int64_t) { return -1; }},
};

class LongSums : public testing::TestWithParam<LongSum> {};

TEST_P(LongSums, AreNearTheExactOnes) {
  const LongSum& c = GetParam();
  Random random(3);
  TensorPtr drawn = random.tensor(DType::float32(), c.shape, Values::Positive);
  auto a = HostTensor::make(DType::float32(), c.shape);
  // All of one sign and far from short: what a single chain would lose shows.
  for (int64_t i = 0; i < a->size(); ++i)
    a->elements<float>()[static_cast<size_t>(i)] = 1000.1F + static_cast<float>(element_as_double(*drawn, i));
  TensorPtr i = HostTensor::from<int32_t>(DType::int32(), {3}, std::array{0, 2, 1});
  Entries<TensorPtr> tensors = {{"a", a}, {"i", i}};
  TemporaryFile file("long_sums_" + c.name);
  ASSERT_TRUE(write_tensors(file.path(), tensors));
  Case one{c.name, c.expression, {{"a", "a"}, {"i", "i"}}};
  one.definition = "def @whole[n, m, k, l](%x: Tensor[(n, m, k, l), float32]) { sum(%x) }";
  CaseSession session(file.path(), {one}, library_texts());
  ASSERT_EQ(session.problem(0), "");
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled, Evaluator::Checked}) {
    Outcome outcome = session.run(evaluator)[0];
    ASSERT_EQ(outcome.problem, "");
    std::vector<double> exact(static_cast<size_t>(outcome.tensor->size()));
    if (c.name == "of_what_is_gathered") {
      for (int64_t k = 0; k < 150'000; ++k)
        for (int64_t j = 0; j < 2; ++j)
          exact[static_cast<size_t>(j)] += element_as_double(*a, (std::array{0, 2, 1}[k % 3] + k) * 2 + j);
    } else {
      for (int64_t k = 0; k < a->size(); ++k)
        exact[static_cast<size_t>(c.wanted(k))] += element_as_double(*a, k);
    }
    for (size_t k = 0; k < exact.size(); ++k)
      EXPECT_NEAR(element_as_double(*outcome.tensor, static_cast<int64_t>(k)), exact[k], exact[k] * 2e-5)
          << to_string(evaluator) << ", element " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Numeric, LongSums, testing::ValuesIn(kSums),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace quern::numeric
