#pragma once
// What a call costs of the function or the operator whose name is at a place, by what its kernels say.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ide/kernel_cost.h"
#include "session/run/profile_report.h"
#include "session/session.h"

namespace quern::ide {

/// Each kernel is called once, and what it costs is known before it runs, over the dims of the place.
struct CallCost {
  std::vector<KernelCost> kernels;
};

/// A function that takes longer to optimise than an answer may take: `Session::optimised` does it once, and from then on
/// the answer is there.
struct CostToCome {
  ModuleId module;
  std::string function;  ///< without `@`
};

/// Of a function: where it is declared at its own dims, and where it is used at those of the use. Of an operator: of the
/// call, with its operands at hand. Nothing where neither is named, where it has errors, and where the cost depends on more
/// than on dims.
std::variant<std::monostate, CallCost, CostToCome> call_cost(Session& session, SourceId source,
                                                             uint32_t offset);

/// "26.0 MFLOP, 1.1 MiB, 22.59 FLOP/byte, about 214 us at the machine's peaks", without the time where the peaks are 0;
/// formulas for what depends on dims, and nothing where these are long.
std::optional<std::string> to_text(const CallCost& cost, const Peaks& peaks);

}  // namespace quern::ide
