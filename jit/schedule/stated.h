#pragma once
// Schedules stated in the program (docs/kernels.md, "Schedules by hand").

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "jit/loops/machine_model.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// A number of a schedule that is open or has alternatives.
struct Knob {
  size_t step, number;           ///< indices of the step and of its number
  std::vector<int64_t> choices;  ///< the first is the default; 0 for all steps of an unrolled loop
};
/// The choices of an open number: for lanes, and for a split whose inner part runs in lanes, the lanes of a
/// vector of the widest element involved, half and twice as many; 4, 2, 8 or 16 for other splits; for an
/// unrolled loop all steps if there are at most 8, otherwise 4, and 2 and 8.
std::vector<Knob> knobs_of(const std::vector<LoopStep>& steps, const Computation& computation,
                           const MachineModel& machine);
/// The steps with one number for each knob: the choice with that index, or the first if `choices` is shorter.
std::vector<LoopStep> closed(std::vector<LoopStep> steps, const std::vector<Knob>& knobs,
                             std::span<const size_t> choices = {});

/// The computation of a primitive function that steps are applied to.
Computation computation_for_steps(const FnExpr& primitive);

/// Why a schedule cannot be applied: the index of the failing step (the number of steps if only the
/// combination fails), and a sentence.
struct StatedFailure {
  size_t step;
  std::string why;
};
/// The complete nest of a primitive function whose index expression states its schedule.
std::variant<Nest, StatedFailure> stated_nest(const FnExpr& primitive, const MachineModel& machine,
                                              std::span<const size_t> choices = {});

}  // namespace quern::loops
