// Each library that the design rests on does here what Quern needs of it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "jit/cache/cache_file.h"
#include "jit/tune/cost_model.h"

namespace quern {
namespace {

/// Rows of features in [-1, 1] and a target that depends on three of them.
struct TrainingSet {
  static constexpr size_t kRows = 600;
  static constexpr size_t kColumns = 8;
  std::vector<float> values;
  std::vector<float> targets;

  explicit TrainingSet(uint32_t seed) : values(kRows * kColumns), targets(kRows) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    for (float& value : values) value = uniform(random);
    for (size_t row = 0; row < kRows; ++row) {
      const float* x = &values[row * kColumns];
      targets[row] = 2.0F * x[0] + std::sin(3.0F * x[1]) + x[2] * x[2];
    }
  }
  FeatureTable table() const { return {kRows, kColumns, values}; }
};

double mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The share of the targets' variance that the predictions explain.
double explained(const std::vector<float>& targets, const std::vector<float>& predictions) {
  const double average = mean(targets);
  double residual = 0;
  double total = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    residual += std::pow(targets[i] - predictions[i], 2);
    total += std::pow(targets[i] - average, 2);
  }
  return 1 - residual / total;
}

TEST(CostModel, LearnsAFunctionInFiftyRounds) {
  const TrainingSet seen(1);
  const TrainingSet unseen(2);
  auto model = CostModel::fit(seen.table(), seen.targets);
  ASSERT_TRUE(model) << model.error().message;
  auto predictions = model->predict(unseen.table());
  ASSERT_TRUE(predictions) << predictions.error().message;
  EXPECT_GT(explained(unseen.targets, *predictions), 0.9);
}

TEST(CostModel, RanksWithinGroups) {
  TrainingSet seen(1);
  // Each group has an offset of its own, which only an objective that compares within groups can disregard.
  CostModelOptions options;
  options.objective = CostObjective::PairwiseRank;
  options.groups = {150, 200, 250};
  for (size_t row = 0; row < TrainingSet::kRows; ++row)
    seen.targets[row] += row < 150 ? 0 : row < 350 ? 50 : -50;
  auto model = CostModel::fit(seen.table(), seen.targets, options);
  ASSERT_TRUE(model) << model.error().message;

  const TrainingSet unseen(2);
  auto scores = model->predict(unseen.table());
  ASSERT_TRUE(scores) << scores.error().message;
  size_t agreeing = 0;
  size_t pairs = 0;
  for (size_t i = 0; i + 1 < TrainingSet::kRows; i += 2, ++pairs) {
    agreeing += (unseen.targets[i] < unseen.targets[i + 1]) == ((*scores)[i] < (*scores)[i + 1]);
  }
  EXPECT_GT(static_cast<double>(agreeing) / static_cast<double>(pairs), 0.85);
}

TEST(CostModel, PredictsTheSameAfterSavingAndLoading) {
  const TrainingSet data(3);
  auto model = CostModel::fit(data.table(), data.targets);
  ASSERT_TRUE(model) << model.error().message;
  auto bytes = model->save();
  ASSERT_TRUE(bytes) << bytes.error().message;
  auto loaded = CostModel::load(*bytes);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(model->predict(data.table()).value(), loaded->predict(data.table()).value());
}

TEST(CostModel, TrainsTheSameModelTwice) {
  const TrainingSet data(4);
  auto first = CostModel::fit(data.table(), data.targets);
  auto second = CostModel::fit(data.table(), data.targets);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->save().value(), second->save().value());
}

TEST(CostModel, RefusesWhatItCannotUse) {
  TrainingSet data(5);
  const FeatureTable table = data.table();
  EXPECT_FALSE(CostModel::fit({0, TrainingSet::kColumns, {}}, {}));
  EXPECT_FALSE(CostModel::fit({table.rows, table.columns + 1, table.values}, data.targets));
  EXPECT_FALSE(CostModel::fit(table, std::span(data.targets).first(10)));
  CostModelOptions half;
  half.groups = {300};
  EXPECT_FALSE(CostModel::fit(table, data.targets, half));
  CostModelOptions impossible;
  impossible.max_depth = -1;
  EXPECT_FALSE(CostModel::fit(table, data.targets, impossible));

  auto model = CostModel::fit(table, data.targets);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->predict({0, TrainingSet::kColumns, {}})->empty());
  EXPECT_FALSE(model->predict({table.rows * 2, table.columns / 2, table.values}));
  EXPECT_FALSE(CostModel::load("not a model"));

  data.targets[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(CostModel::fit(table, data.targets));
}

/// A fresh folder for each test, gone after it.
class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("quern_database_{}", getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "nested" / "quern.db"; }

 private:
  std::filesystem::path folder_;
};

TEST_F(DatabaseTest, KeepsCodeAcrossReopening) {
  const std::string object("\x7f\x45LF\0\0\xff", 7);
  {
    auto database = CacheFile::open(file());
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_EQ(database->get_code("kernel").value().has_value(), false);
    ASSERT_TRUE(database->put_code("kernel", "an older object"));
    ASSERT_TRUE(database->put_code("kernel", object));
    ASSERT_TRUE(database->put_code("empty", {}));
    EXPECT_EQ(database->get_code("kernel").value()->object, object);
  }
  auto database = CacheFile::open(file());
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_EQ(database->get_code("kernel").value()->object, object);
  EXPECT_EQ(database->get_code("empty").value()->object, "");
  EXPECT_EQ(database->get_code("other").value().has_value(), false);
}

TEST_F(DatabaseTest, TakesConcurrentProcesses) {
  constexpr int kProcesses = 4;
  constexpr int kObjects = 25;
  const auto write_all = [&](int process) {
    auto database = CacheFile::open(file());
    bool good = static_cast<bool>(database);
    for (int i = 0; good && i < kObjects; ++i) {
      good = static_cast<bool>(database->put_code(fmt::format("{}/{}", process, i), std::to_string(i)));
    }
    return good;
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(write_all(process) ? 0 : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  auto database = CacheFile::open(file());
  ASSERT_TRUE(database) << database.error().message;
  for (int process = 0; process < kProcesses; ++process) {
    for (int i = 0; i < kObjects; ++i) {
      EXPECT_EQ(database->get_code(fmt::format("{}/{}", process, i)).value()->object, std::to_string(i));
    }
  }
}

TEST_F(DatabaseTest, SaysWhatIsWrongWithAFile) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << std::string(4096, 'x');
  auto garbage = CacheFile::open(file());
  ASSERT_FALSE(garbage);
  EXPECT_NE(garbage.error().message.find(file().string()), std::string::npos);

  auto unreachable = CacheFile::open(file() / "below-a-file" / "quern.db");
  EXPECT_FALSE(unreachable);
}

TEST(Json, RoundTrips) {
  const nlohmann::json value = {{"type", "Tensor[(2,), float32]"},
                                {"value", {1.5, -2.0}},
                                {"exact", 9007199254740993},
                                {"text", "\"é\n"}};
  EXPECT_EQ(nlohmann::json::parse(value.dump()), value);
  EXPECT_TRUE(nlohmann::json::parse("{\"half\": ", nullptr, false).is_discarded());
}

}  // namespace
}  // namespace quern
