#pragma once
// Schedules that a program states (docs/kernels.md, "Schedules by hand").

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "jit/loops/machine_model.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// A number of a schedule that is left open, or has other choices.
struct Knob {
  size_t step, number;           ///< which of the steps, which of its numbers
  std::vector<int64_t> choices;  ///< the first is what is used; 0 for all steps of an unrolled loop
};
/// The choices of an open number: for lanes, and for a split whose inner part runs in lanes, those that a
/// vector of the machine has of the widest element that takes part, half and twice as many; 4, 2, 8 or 16 for
/// other splits; for an unrolled loop all steps where there are at most 8, or else 4, and 2 and 8.
std::vector<Knob> knobs_of(const std::vector<LoopStep>& steps, const Computation& computation,
                           const MachineModel& machine);
/// The steps with one number for each knob: the choice of that place, or the first where `choices` is
/// shorter.
std::vector<LoopStep> closed(std::vector<LoopStep> steps, const std::vector<Knob>& knobs,
                             std::span<const size_t> choices = {});

/// Why a schedule cannot be: which of its steps (their number where it is what they make together), and a
/// sentence.
struct StatedFailure {
  size_t step;
  std::string why;
};
/// The nest of a primitive function whose index expression states its schedule, complete.
std::variant<Nest, StatedFailure> stated_nest(const FnExpr& primitive, const MachineModel& machine,
                                              std::span<const size_t> choices = {});

}  // namespace quern::loops
