#pragma once

#include "ir/expr/expr.h"

namespace quern {

/// The kernel whose result has an integer of the program as its extent (ir/extern/kernels.cpp).
inline constexpr std::string_view kExtentKernel = "extent";

/// The dim that a binding opens for such an integer; null for another binding.
inline Dim computed_extent(const Binding& binding) {
  auto* check = as<CheckDimsExpr>(binding.value);
  auto* computed =
      check && check->value && check->opened.size() == 1 ? as<ExternExpr>(check->value) : nullptr;
  return computed && computed->kernel == kExtentKernel ? check->opened[0] : nullptr;
}

}  // namespace quern
