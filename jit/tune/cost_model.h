#pragma once
// The learned cost model of the tuner: gradient-boosted trees (XGBoost) that predict performance from the
// features of a schedule.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"

namespace quern {

struct Xgboost;

/// A row-major table of features, one row per schedule; NaN marks a feature that a schedule does not have.
struct FeatureTable {
  size_t rows = 0;
  size_t columns = 0;
  std::span<const float> values;  ///< rows * columns
};

/// The learning objective: the target itself, or only which of two schedules of a group has the larger
/// target.
enum class CostObjective { SquaredError, PairwiseRank };

struct CostModelOptions {
  int rounds = 50;
  int max_bin = 32;  ///< histogram bins per feature; fewer train faster and lose little on schedule features
  int max_depth = 6;
  CostObjective objective = CostObjective::SquaredError;
  /// For PairwiseRank: the number of consecutive rows in each group (a kernel on a target). Empty: all rows
  /// form one group.
  std::vector<uint32_t> groups;
};

/// A trained model. Training uses one thread, since the thread count would change the model: the same table
/// and options always give the same predictions.
class CostModel {
 public:
  /// Trains on `features` and one target per row. Fails on an empty table, mismatched sizes, and non-finite
  /// targets.
  static Result<CostModel> fit(const FeatureTable& features, std::span<const float> targets,
                               const CostModelOptions& options = {});

  /// One prediction per row. Fails if the number of columns differs from the training data.
  Result<std::vector<float>> predict(const FeatureTable& features) const;

  /// The model as bytes that `load` reads, in this and in later versions of XGBoost.
  Result<std::string> save() const;
  static Result<CostModel> load(std::string_view bytes);

 private:
  struct FreeBooster {
    const Xgboost* library = nullptr;
    void operator()(void* booster) const;
  };
  using Booster = std::unique_ptr<void, FreeBooster>;

  CostModel(Booster booster, size_t columns) : booster_(std::move(booster)), columns_(columns) {}

  Booster booster_;
  size_t columns_ = 0;
};

}  // namespace quern
