#pragma once
// XGBoost's C interface. The library is opened when it is first used: to load it takes longer than all else that
// the program does as it starts.

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

/// Opened once for the process, and never closed. Fails where the library is not installed.
Result<const Xgboost*> xgboost();

}  // namespace quern
