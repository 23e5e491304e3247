#include "jit/tune/cost_model.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "jit/tune/xgboost.h"

namespace quern {

namespace {

struct FreeMatrix {
  const Xgboost* library = nullptr;
  void operator()(void* matrix) const { library->XGDMatrixFree(matrix); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;

/// XGBoost's last error on this thread. Its text continues with a stack trace, which does not help readers.
Failure failure_of(const Xgboost& library, std::string_view action) {
  std::string_view text = library.XGBGetLastError();
  return Failure{fmt::format("XGBoost could not {}: {}", action, text.substr(0, text.find('\n')))};
}

Result<Done> check_table(const FeatureTable& features) {
  if (features.columns == 0) return Failure{"A cost model needs at least one feature."};
  if (features.values.size() / features.columns != features.rows ||
      features.values.size() % features.columns != 0) {
    return Failure{fmt::format("A table of {} rows and {} features cannot hold {} values.", features.rows,
                               features.columns, features.values.size())};
  }
  return Done{};
}

Result<Done> check_training_set(const FeatureTable& features, std::span<const float> targets,
                                const CostModelOptions& options) {
  if (auto table = check_table(features); !table) return table;
  if (features.rows == 0) return Failure{"A cost model cannot be trained on an empty table."};
  if (targets.size() != features.rows) {
    return Failure{fmt::format("{} rows of features come with {} targets.", features.rows, targets.size())};
  }
  for (float target : targets) {
    if (!std::isfinite(target)) return Failure{"The targets of a cost model must be finite."};
  }
  if (!options.groups.empty()) {
    auto grouped = std::accumulate(options.groups.begin(), options.groups.end(), size_t{0});
    if (grouped != features.rows) {
      return Failure{fmt::format("The groups cover {} rows of {}.", grouped, features.rows)};
    }
  }
  return Done{};
}

Result<Matrix> training_matrix(const Xgboost& library, const FeatureTable& features,
                               std::span<const float> targets, const CostModelOptions& options) {
  constexpr std::string_view kAction = "take in the training table";
  DMatrixHandle handle = nullptr;
  if (library.XGDMatrixCreateFromMat(features.values.data(), features.rows, features.columns,
                                     std::numeric_limits<float>::quiet_NaN(), &handle) != 0) {
    return failure_of(library, kAction);
  }
  Matrix matrix(handle, FreeMatrix{&library});
  if (library.XGDMatrixSetFloatInfo(handle, "label", targets.data(), targets.size()) != 0)
    return failure_of(library, kAction);
  if (options.objective == CostObjective::PairwiseRank) {
    std::vector<uint32_t> groups = options.groups;
    if (groups.empty()) groups.push_back(static_cast<uint32_t>(features.rows));
    if (library.XGDMatrixSetUIntInfo(handle, "group", groups.data(), groups.size()) != 0)
      return failure_of(library, kAction);
  }
  return matrix;
}

bool set_parameters(const Xgboost& library, BoosterHandle booster, const CostModelOptions& options) {
  const std::pair<const char*, std::string> parameters[] = {
      {"objective", options.objective == CostObjective::SquaredError ? "reg:squarederror" : "rank:pairwise"},
      {"tree_method", "hist"},
      {"max_bin", std::to_string(options.max_bin)},
      {"max_depth", std::to_string(options.max_depth)},
      {"nthread", "1"},
      {"seed", "0"},
      {"verbosity", "0"},
  };
  for (const auto& [name, value] : parameters) {
    if (library.XGBoosterSetParam(booster, name, value.c_str()) != 0) return false;
  }
  return true;
}

}  // namespace

void CostModel::FreeBooster::operator()(void* booster) const { library->XGBoosterFree(booster); }

Result<CostModel> CostModel::fit(const FeatureTable& features, std::span<const float> targets,
                                 const CostModelOptions& options) {
  if (auto valid = check_training_set(features, targets, options); !valid) return valid.error();
  auto opened = xgboost();
  if (!opened) return opened.error();
  const Xgboost& library = **opened;
  auto matrix = training_matrix(library, features, targets, options);
  if (!matrix) return matrix.error();

  DMatrixHandle data = matrix->get();
  BoosterHandle handle = nullptr;
  if (library.XGBoosterCreate(&data, 1, &handle) != 0) return failure_of(library, "create a model");
  Booster booster(handle, FreeBooster{&library});
  if (!set_parameters(library, handle, options)) return failure_of(library, "set the model's parameters");
  for (int round = 0; round < options.rounds; ++round) {
    if (library.XGBoosterUpdateOneIter(handle, round, data) != 0)
      return failure_of(library, "train the model");
  }
  return CostModel(std::move(booster), features.columns);
}

Result<std::vector<float>> CostModel::predict(const FeatureTable& features) const {
  if (auto table = check_table(features); !table) return table.error();
  if (features.columns != columns_) {
    return Failure{fmt::format("The cost model was trained on {} features; the table has {}.", columns_,
                               features.columns)};
  }
  if (features.rows == 0) return std::vector<float>{};

  const Xgboost& library = *booster_.get_deleter().library;
  // XGBoost reads the table in place, by address, in NumPy's array interface notation.
  const nlohmann::json array = {
      {"data", {reinterpret_cast<uintptr_t>(features.values.data()), true}},
      {"shape", {features.rows, features.columns}},
      {"typestr", "<f4"},
      {"version", 3},
  };
  constexpr const char* kConfig =
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0,
          "strict_shape": false, "cache_id": 0, "missing": NaN})";
  const bst_ulong* shape = nullptr;
  bst_ulong rank = 0;
  const float* predictions = nullptr;
  if (library.XGBoosterPredictFromDense(booster_.get(), array.dump().c_str(), kConfig, nullptr, &shape, &rank,
                                        &predictions) != 0) {
    return failure_of(library, "predict");
  }
  return std::vector<float>(predictions, predictions + features.rows);
}

Result<std::string> CostModel::save() const {
  const Xgboost& library = *booster_.get_deleter().library;
  bst_ulong size = 0;
  const char* bytes = nullptr;
  if (library.XGBoosterSaveModelToBuffer(booster_.get(), R"({"format": "ubj"})", &size, &bytes) != 0) {
    return failure_of(library, "save the model");
  }
  return std::string(bytes, size);
}

Result<CostModel> CostModel::load(std::string_view bytes) {
  constexpr std::string_view kAction = "load the model";
  auto opened = xgboost();
  if (!opened) return opened.error();
  const Xgboost& library = **opened;
  BoosterHandle handle = nullptr;
  if (library.XGBoosterCreate(nullptr, 0, &handle) != 0) return failure_of(library, kAction);
  Booster booster(handle, FreeBooster{&library});
  // A model's bytes contain its trees but not runtime parameters.
  if (library.XGBoosterSetParam(handle, "nthread", "1") != 0 ||
      library.XGBoosterSetParam(handle, "verbosity", "0") != 0) {
    return failure_of(library, kAction);
  }
  bst_ulong columns = 0;
  if (library.XGBoosterLoadModelFromBuffer(handle, bytes.data(), bytes.size()) != 0 ||
      library.XGBoosterGetNumFeature(handle, &columns) != 0) {
    return failure_of(library, kAction);
  }
  return CostModel(std::move(booster), columns);
}

}  // namespace quern
