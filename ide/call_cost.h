#pragma once
// The static cost of a call of the function or operator whose name is at a place, derived from its kernels.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ide/kernel_cost.h"
#include "session/run/profile_report.h"
#include "session/session.h"

namespace quern::ide {

/// Each kernel is called once, and its cost is known before it runs, over the dims at the place.
struct CallCost {
  std::vector<KernelCost> kernels;
};

/// A function that takes too long to optimise within a request. After one call of `Session::optimised` its cost is
/// available.
struct CostToCome {
  ModuleId module;
  std::string function;  ///< without `@`
};

/// For a function: at its own dims at the declaration, and at the dims of the use elsewhere. For an operator: of the
/// call, with its operands available. Nothing if neither is named, if there are errors, or if the cost depends on more
/// than dims.
std::variant<std::monostate, CallCost, CostToCome> call_cost(Session& session, SourceId source,
                                                             uint32_t offset);

/// "26.0 MFLOP, 1.1 MiB, 22.59 FLOP/byte, about 214 us at the machine's peaks", without the time where the peaks are 0;
/// formulas for what depends on dims, and nothing where these are long.
std::optional<std::string> to_text(const CallCost& cost, const Peaks& peaks);

}  // namespace quern::ide
