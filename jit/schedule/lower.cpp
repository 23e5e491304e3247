// The schedule that a primitive states, or that of the first applicable rule.

#include "jit/schedule/lower.h"

#include <fmt/format.h>

#include "ir/base/internal_failure.h"
#include "jit/compute/residues.h"
#include "jit/compute/verify_accesses.h"
#include "jit/loops/verify_kernel.h"
#include "jit/rules/contraction.h"
#include "jit/rules/rows.h"
#include "jit/rules/schedule_default.h"
#include "jit/rules/sequence.h"
#include "jit/rules/transposition.h"
#include "jit/rules/window.h"
#include "jit/rules/winograd.h"
#include "jit/schedule/stated.h"
#include "passes/verify.h"

namespace quern::loops {

namespace {

Kernel named(Kernel kernel) {
  kernel.name = fmt::format("k_{:016x}", std::hash<std::string>()(canonical_text(kernel)));
  return kernel;
}

/// The kernel of a form. Transposing squares in registers takes longer to compile than gathering a small
/// tensor.
Kernel form_kernel(const Computation& form, const MachineModel& machine) {
  constexpr double kLarge = 1 << 14;
  double size = 1;
  for (const Dim extent : form.extents) size *= static_cast<double>(as_const(extent).value_or(1));
  if (size < kLarge) return named(schedule_default(form, machine.vector_bytes));
  const Computation simple = with_merged_loops(with_simple_loops(form));
  std::optional<Nest> nest = scheduled_transposition(simple, machine);
  if (!nest) nest = scheduled_blocks(simple);
  return named(nest ? nest->kernel() : schedule_default(form, machine.vector_bytes));
}

/// Takes over a nest's packed forms and steps.
void take_forms(const Nest& nest, const MachineModel& machine, Lowered& lowered) {
  for (const PackedBuffer& packed : nest.packed())
    lowered.packed.push_back({packed.buffer, form_kernel(packed.form, machine)});
  lowered.schedules.push_back(nest.schedule());
}

Result<Lowered> lower_as_stated(const FnExpr& primitive, const ScheduleClause& clause,
                                const MachineModel& machine) {
  auto made = stated_nest(primitive, machine);
  if (auto* failure = std::get_if<StatedFailure>(&made)) {
    const auto& steps = clause.schedule.steps;
    return Failure{failure->step < steps.size() ? fmt::format("the schedule step `{}`: {}",
                                                              to_string(steps[failure->step]), failure->why)
                                                : "the schedule: " + failure->why};
  }
  const Nest& nest = std::get<Nest>(made);
  Lowered lowered{named(nest.kernel()), {}};
  take_forms(nest, machine, lowered);
  return lowered;
}

/// Fails if a kernel breaks an invariant.
void check(const Kernel& kernel) {
  std::string wrong = verify(kernel);
  if (wrong.empty()) wrong = outside_access(kernel);
  if (!wrong.empty()) throw InternalFailure(fmt::format("{} in the kernel\n{}", wrong, print_kernel(kernel)));
}

Result<Lowered> unverified(const FnExpr& primitive, const MachineModel& machine) {
  if (primitive.body->kind == ExprKind::Block)
    return Lowered{named(scheduled_rows(rows_of(primitive), machine)), {}};
  const ScheduleClause* clause = as<ComprehensionExpr>(primitive.body)->schedule;
  if (clause && !machine.plain_loops) return lower_as_stated(primitive, *clause, machine);
  const Computation computation = with_simple_loops(computation_of(primitive));
  if (machine.plain_loops) return Lowered{named(schedule_default(computation, machine.loop_bytes())), {}};
  if (auto winograd = scheduled_winograd(with_lets_in_value(computation).value_or(computation), machine)) {
    winograd->kernel = named(std::move(winograd->kernel));
    for (PackedInput& input : winograd->packed) input.form = named(std::move(input.form));
    return *std::move(winograd);
  }
  Lowered lowered;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers = computation.buffers;
  for (Computation& part : residue_classes(computation)) {
    part.buffers = buffers;
    const Computation tiled = with_lets_in_value(part).value_or(part);
    auto nest = scheduled_contraction(tiled, machine);
    if (!nest) nest = scheduled_window(tiled, machine);
    if (!nest) nest = scheduled_transposition(part, machine);
    kernels.push_back(nest ? nest->kernel() : schedule_default(part, machine.vector_bytes));
    if (nest) take_forms(*nest, machine, lowered);
    buffers = kernels.back().buffers;
  }
  lowered.kernel = named(in_sequence(kernels));
  return lowered;
}

}  // namespace

Result<Lowered> lower(const FnExpr& primitive, const MachineModel& machine) {
  auto made = unverified(primitive, machine);
  if (!made || !is_verifying()) return made;
  check(made->kernel);
  for (const PackedInput& input : made->packed) check(input.form);
  return made;
}

}  // namespace quern::loops
