#include "jit/tune/xgboost.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace quern {

namespace {

constexpr const char* kLibrary = "libxgboost.so.0";

Result<const Xgboost*> open_library() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) return Failure{fmt::format("XGBoost cannot be loaded ({}); install libxgboost0", dlerror())};
  static Xgboost functions;
#define QUERN_XGBOOST_FIND(name)                                               \
  functions.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (!functions.name) return Failure{fmt::format("{} has no `{}`", kLibrary, #name)};
  QUERN_XGBOOST_FUNCTIONS(QUERN_XGBOOST_FIND)
#undef QUERN_XGBOOST_FIND
  return &functions;
}

}  // namespace

Result<const Xgboost*> xgboost() {
  static const Result<const Xgboost*> opened = open_library();
  return opened;
}

}  // namespace quern
