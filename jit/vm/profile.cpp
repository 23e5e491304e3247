#include "jit/vm/profile.h"

#include <algorithm>
#include <functional>

namespace quern {

void Profile::note_call(const std::string& kernel, const KernelCall& call) {
  const std::lock_guard lock(mutex_);
  KernelProfile& profile = kernels_[kernel];
  ++profile.calls;
  profile.running += call.time;
  profile.operations += call.operations;
  profile.bytes += call.bytes;
}

void Profile::note_compilation(const std::string& kernel, std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  kernels_[kernel].compiling += time;
}

void Profile::clear() {
  const std::lock_guard lock(mutex_);
  kernels_.clear();
}

std::vector<KernelProfile> Profile::kernels() const {
  std::vector<KernelProfile> list;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, profile] : kernels_) {
      list.push_back(profile);
      list.back().name = name;
    }
  }
  std::ranges::stable_sort(list, std::ranges::greater(), &KernelProfile::running);
  return list;
}

}  // namespace quern
