// What nodes that draw random numbers compute: their dtype, their range, and the moments of their distribution.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/import/nodes.h"

namespace quern::onnx {

namespace {

double mean_of(const std::vector<double>& elements) {
  return std::accumulate(elements.begin(), elements.end(), 0.0) / static_cast<double>(elements.size());
}

double deviation_of(const std::vector<double>& elements) {
  const double mean = mean_of(elements);
  double sum = 0;
  for (double element : elements) sum += (element - mean) * (element - mean);
  return std::sqrt(sum / static_cast<double>(elements.size()));
}

class RandomNodes : public testing::Test {
 protected:
  RandomNodes() : model_(empty_model()) { add_output(model_, "y"); }

  /// What the model computes, the same interpreted and compiled.
  TensorPtr drawn() {
    TensorPtr interpreted = computed(model_, inputs_, true);
    EXPECT_EQ(elements_of(interpreted), elements_of(computed(model_, inputs_, false)));
    return interpreted;
  }
  void input(const std::string& name, const std::vector<std::string>& shape, TensorPtr tensor) {
    add_input(model_, name, shape);
    inputs_[name] = std::move(tensor);
  }

  ::onnx::ModelProto model_;
  std::map<std::string, TensorPtr> inputs_;
};

// Of 4000 numbers, the mean is off by more than 5 of its deviations once in a million seeds.
constexpr int64_t kCount = 4000;
const double kMeanDeviation = 5 / std::sqrt(static_cast<double>(kCount));

TEST_F(RandomNodes, Normal) {
  auto& node = add_node(model_, "RandomNormal", {}, {"y"});
  set_integers(node, "shape", {4, kCount / 4});
  set_integer(node, "dtype", ::onnx::TensorProto::DOUBLE);
  set_float(node, "mean", 2);
  set_float(node, "scale", 0.5F);
  const TensorPtr result = drawn();
  EXPECT_EQ(result->dtype(), DType::float64());
  EXPECT_EQ(result->shape(), (Shape{4, kCount / 4}));
  EXPECT_NEAR(mean_of(elements_of(result)), 2, 0.5 * kMeanDeviation);
  EXPECT_NEAR(deviation_of(elements_of(result)), 0.5, 0.03);
}

TEST_F(RandomNodes, StandardNormalByDefault) {
  set_integers(add_node(model_, "RandomNormal", {}, {"y"}), "shape", {kCount});
  const TensorPtr result = drawn();
  EXPECT_EQ(result->dtype(), DType::float32());
  EXPECT_NEAR(mean_of(elements_of(result)), 0, kMeanDeviation);
  EXPECT_NEAR(deviation_of(elements_of(result)), 1, 0.06);
}

TEST_F(RandomNodes, Uniform) {
  auto& node = add_node(model_, "RandomUniform", {}, {"y"});
  set_integers(node, "shape", {kCount});
  set_float(node, "low", -1);
  set_float(node, "high", 3);
  const std::vector<double> elements = elements_of(drawn());
  ASSERT_EQ(elements.size(), static_cast<size_t>(kCount));
  const auto [least, most] = std::ranges::minmax(elements);
  EXPECT_GE(least, -1);
  EXPECT_LT(least, -0.98);
  EXPECT_GT(most, 2.98);
  EXPECT_LE(most, 3);
  EXPECT_NEAR(mean_of(elements), 1, 4 / std::sqrt(12.0) * kMeanDeviation);
}

// An extent that is a dim, and one that only a run knows.
TEST_F(RandomNodes, LikeATensor) {
  for (const char* op : {"RandomNormalLike", "RandomUniformLike"}) {
    model_.mutable_graph()->clear_node();
    model_.mutable_graph()->clear_input();
    input("x", {"n", "2"}, floats({3, 2}, {1, 0, 0, 0, 1, 1}));
    add_node(model_, op, {"x"}, {"a"});
    add_node(model_, "NonZero", {"x"}, {"places"});
    auto& node = add_node(model_, op, {"places"}, {"b"});
    set_integer(node, "dtype", ::onnx::TensorProto::FLOAT);
    add_node(model_, "Transpose", {"b"}, {"c"});
    add_node(model_, "Sub", {"a", "c"}, {"y"});
    const TensorPtr result = drawn();
    EXPECT_EQ(result->dtype(), DType::float32()) << op;
    EXPECT_EQ(result->shape(), (Shape{3, 2})) << op;
  }
}

TEST_F(RandomNodes, Bernoulli) {
  std::vector<float> probabilities(static_cast<size_t>(kCount), 0.25F);
  probabilities.front() = 0;
  probabilities.back() = 1;
  input("x", {"4000"}, floats({kCount}, probabilities));
  set_integer(add_node(model_, "Bernoulli", {"x"}, {"y"}), "dtype", ::onnx::TensorProto::INT32);
  const TensorPtr result = drawn();
  const std::vector<double> elements = elements_of(result);
  EXPECT_EQ(result->dtype(), DType::int32());
  EXPECT_EQ(elements.front(), 0);
  EXPECT_EQ(elements.back(), 1);
  EXPECT_TRUE(std::ranges::all_of(elements, [](double element) { return element == 0 || element == 1; }));
  EXPECT_NEAR(mean_of(elements), 0.25, std::sqrt(0.25 * 0.75) * kMeanDeviation);
}

TEST_F(RandomNodes, BernoulliOfTheDataDtype) {
  input("x", {"2"}, floats({2}, {0, 1}));
  add_node(model_, "Bernoulli", {"x"}, {"y"});
  const TensorPtr result = drawn();
  EXPECT_EQ(result->dtype(), DType::float32());
  EXPECT_EQ(elements_of(result), (std::vector<double>{0, 1}));
}

// The classes are as likely as the exponentials of their elements.
TEST_F(RandomNodes, Multinomial) {
  input("x", {"2", "3"},
        floats({2, 3}, {std::log(2.0F), std::log(6.0F), -INFINITY, -INFINITY, -INFINITY, 7}));
  auto& node = add_node(model_, "Multinomial", {"x"}, {"y"});
  set_integer(node, "sample_size", kCount);
  set_integer(node, "dtype", ::onnx::TensorProto::INT64);
  const TensorPtr result = drawn();
  EXPECT_EQ(result->dtype(), DType::int64());
  EXPECT_EQ(result->shape(), (Shape{2, kCount}));
  const std::vector<double> elements = elements_of(result);
  const std::vector<double> first(elements.begin(), elements.begin() + kCount);
  EXPECT_TRUE(std::ranges::all_of(first, [](double element) { return element == 0 || element == 1; }));
  EXPECT_NEAR(mean_of(first), 0.75, std::sqrt(0.25 * 0.75) * kMeanDeviation);
  EXPECT_EQ(std::count(elements.begin() + kCount, elements.end(), 2), kCount);
}

TEST_F(RandomNodes, OneSampleByDefault) {
  input("x", {"2", "2"}, floats({2, 2}, {-INFINITY, 0, 0, -INFINITY}));
  add_node(model_, "Multinomial", {"x"}, {"y"});
  const TensorPtr result = drawn();
  EXPECT_EQ(result->dtype(), DType::int32());
  EXPECT_EQ(elements_of(result), (std::vector<double>{1, 0}));
}

/// The differences of what two nodes draw.
class TwoDraws : public RandomNodes {
 protected:
  std::vector<double> differences(const std::string& op, std::optional<float> first,
                                  std::optional<float> second, bool is_of_a_constant = false) {
    model_.mutable_graph()->clear_node();
    if (is_of_a_constant) add_weight(model_, "w", {8}, std::vector<float>(8, 0.5F));
    for (const auto& [output, seed] : {std::pair("a", first), std::pair("b", second)}) {
      auto& node =
          add_node(model_, op, is_of_a_constant ? std::vector<std::string>{"w"} : std::vector<std::string>(),
                   {output});
      if (!is_of_a_constant) set_integers(node, "shape", {8});
      if (seed) set_float(node, "seed", *seed);
    }
    add_node(model_, "Sub", {"a", "b"}, {"y"});
    return elements_of(drawn());
  }
  const std::vector<double> none_ = std::vector<double>(8);
};

TEST_F(TwoDraws, WithoutSeeds) { EXPECT_NE(differences("RandomUniform", {}, {}), none_); }

// It is computed while it is imported.
TEST_F(TwoDraws, OfAConstantWithoutSeeds) {
  EXPECT_NE(differences("RandomUniformLike", {}, {}, true), none_);
}

// A seed counts without its fraction, and is none of those that nodes without one have.
TEST_F(TwoDraws, WithSeeds) {
  EXPECT_EQ(differences("RandomUniform", 7.25F, 7.75F), none_);
  EXPECT_NE(differences("RandomUniform", 7.0F, 8.0F), none_);
  EXPECT_NE(differences("RandomUniform", {}, 1.0F), none_);
  EXPECT_NE(differences("RandomUniform", 2.0F, {}), none_);
}

}  // namespace

}  // namespace quern::onnx
