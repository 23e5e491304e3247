#include "jit/tune/xgboost.h"

#include "ir/base/shared_library.h"

namespace quern {

namespace {

Result<const Xgboost*> open_library() {
  SharedLibrary library("libxgboost.so.0");
  static Xgboost all;
  library.find("XGBGetLastError", all.XGBGetLastError);
  library.find("XGDMatrixCreateFromMat", all.XGDMatrixCreateFromMat);
  library.find("XGDMatrixFree", all.XGDMatrixFree);
  library.find("XGDMatrixSetFloatInfo", all.XGDMatrixSetFloatInfo);
  library.find("XGDMatrixSetUIntInfo", all.XGDMatrixSetUIntInfo);
  library.find("XGBoosterCreate", all.XGBoosterCreate);
  library.find("XGBoosterFree", all.XGBoosterFree);
  library.find("XGBoosterSetParam", all.XGBoosterSetParam);
  library.find("XGBoosterUpdateOneIter", all.XGBoosterUpdateOneIter);
  library.find("XGBoosterPredictFromDense", all.XGBoosterPredictFromDense);
  library.find("XGBoosterSaveModelToBuffer", all.XGBoosterSaveModelToBuffer);
  library.find("XGBoosterLoadModelFromBuffer", all.XGBoosterLoadModelFromBuffer);
  library.find("XGBoosterGetNumFeature", all.XGBoosterGetNumFeature);
  const Result<Done> done = library.done("XGBoost", "libxgboost0");
  if (!done) return done.error();
  return &all;
}

}  // namespace

Result<const Xgboost*> xgboost() {
  static const Result<const Xgboost*> opened = open_library();
  return opened;
}

}  // namespace quern
