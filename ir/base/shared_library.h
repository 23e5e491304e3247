#pragma once
// A library that is opened when it is first used: to load it takes longer than all else that the program does as
// it starts.

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "ir/base/result.h"

namespace quern {

/// Opened for good.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) problem_ = dlerror();
  }
  /// The function of a name, as the library's header declares it.
  template <class Function>
  void find(const char* name, Function& function) {
    if (!handle_) return;
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (!function && problem_.empty()) problem_ = fmt::format("it has no `{}`", name);
  }
  /// Fails where the library, or a function that was looked for, is not there. `package` is Debian's name of it.
  Result<Done> done(const char* name, const char* package) const {
    if (problem_.empty()) return Done{};
    return Failure{fmt::format("{} cannot be loaded ({}); install {}", name, problem_, package)};
  }

 private:
  void* handle_;
  std::string problem_;
};

}  // namespace quern
