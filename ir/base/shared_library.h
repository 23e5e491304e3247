#pragma once
// A library that is loaded on first use: loading it takes longer than the rest of the program's start.

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "ir/base/result.h"

namespace quern {

/// Never closed.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) problem_ = dlerror();
  }
  /// Looks up a function by name; its type is that of the library's header.
  template <class Function>
  void find(const char* name, Function& function) {
    if (!handle_) return;
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (!function && problem_.empty()) problem_ = fmt::format("it has no `{}`", name);
  }
  /// Fails if the library, or a function that was looked up, is missing. `package` is Debian's name for it.
  Result<Done> done(const char* name, const char* package) const {
    if (problem_.empty()) return Done{};
    return Failure{fmt::format("{} cannot be loaded ({}); install {}", name, problem_, package)};
  }

 private:
  void* handle_;
  std::string problem_;
};

}  // namespace quern
