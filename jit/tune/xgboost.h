#pragma once
// XGBoost's C interface. The library is loaded on first use: loading it takes longer than the rest of the
// program's start.

#include <xgboost/c_api.h>

#include "ir/base/result.h"

namespace quern {

/// The functions that the cost model uses, under their own names.
struct Xgboost {
  decltype(&::XGBGetLastError) XGBGetLastError = nullptr;
  decltype(&::XGDMatrixCreateFromMat) XGDMatrixCreateFromMat = nullptr;
  decltype(&::XGDMatrixFree) XGDMatrixFree = nullptr;
  decltype(&::XGDMatrixSetFloatInfo) XGDMatrixSetFloatInfo = nullptr;
  decltype(&::XGDMatrixSetUIntInfo) XGDMatrixSetUIntInfo = nullptr;
  decltype(&::XGBoosterCreate) XGBoosterCreate = nullptr;
  decltype(&::XGBoosterFree) XGBoosterFree = nullptr;
  decltype(&::XGBoosterSetParam) XGBoosterSetParam = nullptr;
  decltype(&::XGBoosterUpdateOneIter) XGBoosterUpdateOneIter = nullptr;
  decltype(&::XGBoosterPredictFromDense) XGBoosterPredictFromDense = nullptr;
  decltype(&::XGBoosterSaveModelToBuffer) XGBoosterSaveModelToBuffer = nullptr;
  decltype(&::XGBoosterLoadModelFromBuffer) XGBoosterLoadModelFromBuffer = nullptr;
  decltype(&::XGBoosterGetNumFeature) XGBoosterGetNumFeature = nullptr;
};

/// Loaded once per process and never closed. Fails if the library is not installed.
Result<const Xgboost*> xgboost();

}  // namespace quern
