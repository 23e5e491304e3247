#include "jit/tune/xgboost.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace quern {

namespace {

/// Finds functions by name, and keeps the first name that the library does not have.
struct Library {
  void* handle;
  std::string missing{};

  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (!function && missing.empty()) missing = name;
  }
};

Result<const Xgboost*> open_library() {
  Library library{dlopen("libxgboost.so.0", RTLD_NOW | RTLD_LOCAL)};
  if (!library.handle)
    return Failure{fmt::format("XGBoost cannot be loaded ({}); install libxgboost0", dlerror())};
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
  if (!library.missing.empty()) return Failure{fmt::format("this XGBoost has no `{}`", library.missing)};
  return &all;
}

}  // namespace

Result<const Xgboost*> xgboost() {
  static const Result<const Xgboost*> opened = open_library();
  return opened;
}

}  // namespace quern
