#pragma once
// XGBoost's C interface. The library is opened when it is first used: to load it takes longer than all else that
// the program does as it starts.

#include <xgboost/c_api.h>

#include "ir/base/result.h"

namespace quern {

#define QUERN_XGBOOST_FUNCTIONS(F)                                                                          \
  F(XGBGetLastError)                                                                                        \
  F(XGDMatrixCreateFromMat)                                                                                 \
  F(XGDMatrixFree)                                                                                          \
  F(XGDMatrixSetFloatInfo) F(XGDMatrixSetUIntInfo) F(XGBoosterCreate) F(XGBoosterFree) F(XGBoosterSetParam) \
      F(XGBoosterUpdateOneIter) F(XGBoosterPredictFromDense) F(XGBoosterSaveModelToBuffer)                  \
          F(XGBoosterLoadModelFromBuffer) F(XGBoosterGetNumFeature)

/// The functions that the cost model uses, under their own names.
struct Xgboost {
#define QUERN_XGBOOST_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT: a declaration
  QUERN_XGBOOST_FUNCTIONS(QUERN_XGBOOST_MEMBER)
#undef QUERN_XGBOOST_MEMBER
};

/// Opened once for the process, and never closed. Fails where the library is not installed.
Result<const Xgboost*> xgboost();

}  // namespace quern
