#include "jit/schedule/stated.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jit/rules/schedule_default.h"

namespace quern::loops {

namespace {

constexpr int64_t kOpenSplit = 4, kMostUnrolled = 8, kOpenUnroll = 4;

/// Tracks the number of steps of each loop, as far as known, through the schedule's steps.
class Extents {
 public:
  explicit Extents(const Computation& computation) {
    const Nest nest(computation);
    for (const LoopId loop : nest.loops()) of_.push_back(as_const(nest.extent_of(loop)));
  }

  std::optional<int64_t> of(LoopId loop) const { return of_.at(index_of(loop)); }
  /// Applies a step with these numbers.
  void apply(const LoopStep& step, const std::vector<int64_t>& numbers) {
    const auto loop = [&](size_t k) { return of(step.loops.at(0).at(k)); };
    size_t split = 0;
    for (const MadeLoop made : info(step.primitive).makes) switch (made) {
        case MadeLoop::Outer: of_.push_back(steps_of(loop(split), numbers.at(split))); break;
        case MadeLoop::Inner: of_.emplace_back(numbers.at(split++)); break;
        case MadeLoop::Fused: of_.push_back(product(step.loops.at(0))); break;
      }
  }
  /// The inner part that a step will make with its n-th number; nothing if it is not a split.
  std::optional<LoopId> inner_part(const LoopStep& step, size_t n) const {
    const auto& makes = info(step.primitive).makes;
    for (size_t k = 0, split = 0; k < makes.size(); ++k)
      if (makes[k] == MadeLoop::Inner && split++ == n) return LoopId(static_cast<int>(of_.size() + k));
    return std::nullopt;
  }

 private:
  static std::optional<int64_t> steps_of(std::optional<int64_t> all, int64_t size) {
    return all ? std::optional((*all + size - 1) / size) : std::nullopt;
  }
  std::optional<int64_t> product(const LoopIds& loops) const {
    std::optional<int64_t> all = 1;
    for (const LoopId loop : loops) {
      const auto extent = of(loop);
      all = all && extent ? std::optional(*all * *extent) : std::nullopt;
    }
    return all;
  }

  std::vector<std::optional<int64_t>> of_;
};

std::vector<int64_t> each_once(const std::vector<int64_t>& choices) {
  std::vector<int64_t> found;
  for (const int64_t choice : choices)
    if (std::ranges::find(found, choice) == found.end()) found.push_back(choice);
  return found;
}

bool runs_in_lanes(const std::vector<LoopStep>& steps, LoopId loop) {
  return std::ranges::any_of(steps, [&](const LoopStep& step) {
    return step.primitive == Primitive::Vectorize && step.loops[0][0] == loop;
  });
}

/// The choices for the n-th number of a step, if open.
std::vector<int64_t> open_choices(const std::vector<LoopStep>& steps, const LoopStep& step, size_t n,
                                  const Extents& extents, int64_t lanes) {
  const auto inner = extents.inner_part(step, n);
  const bool in_lanes = inner && runs_in_lanes(steps, *inner);
  if (step.primitive == Primitive::Vectorize || in_lanes)
    return each_once({lanes, std::max<int64_t>(1, lanes / 2), 2 * lanes});
  if (step.primitive == Primitive::Unroll) {
    const auto extent = extents.of(step.loops[0][0]);
    return each_once({extent && *extent <= kMostUnrolled ? 0 : kOpenUnroll, 2, 4, 8});
  }
  return {kOpenSplit, 2, 8, 16};
}

/// The schedule with tensors renamed to the computation's buffers.
Schedule with_buffers(const Schedule& schedule, const ComprehensionExpr& e, const FnExpr& primitive,
                      const Computation& computation) {
  std::vector<std::string> names = tensors_of(schedule);
  for (size_t k = 0; k < names.size() && k < e.scheduled.size(); ++k) {
    auto* var = as<VarExpr>(e.scheduled[k]);
    const auto param = std::ranges::find(primitive.params, var ? var->variable : nullptr);
    if (param == primitive.params.end()) continue;
    names[k] = computation.buffers[static_cast<size_t>(param - primitive.params.begin())].name;
  }
  return with_tensors(schedule, names);
}

}  // namespace

std::vector<Knob> knobs_of(const std::vector<LoopStep>& steps, const Computation& computation,
                           const MachineModel& machine) {
  Extents extents(computation);
  const int64_t lanes = lanes_of(computation, machine.vector_bytes);
  std::vector<Knob> knobs;
  for (size_t s = 0; s < steps.size(); ++s) {
    const LoopStep& step = steps[s];
    std::vector<int64_t> used;
    for (size_t n = 0; n < step.numbers.size(); ++n) {
      const ScheduleNumber& number = step.numbers[n];
      std::vector<int64_t> choices{number.value};
      choices.insert(choices.end(), number.others.begin(), number.others.end());
      if (number.is_open) choices = open_choices(steps, step, n, extents, lanes);
      used.push_back(std::max<int64_t>(1, choices[0]));
      if (number.is_open || choices.size() > 1) knobs.push_back({s, n, std::move(choices)});
    }
    extents.apply(step, used);
  }
  return knobs;
}

std::vector<LoopStep> closed(std::vector<LoopStep> steps, const std::vector<Knob>& knobs,
                             std::span<const size_t> choices) {
  for (size_t k = knobs.size(); k-- > 0;) {
    const Knob& knob = knobs[k];
    auto& numbers = steps[knob.step].numbers;
    const int64_t chosen = knob.choices[k < choices.size() ? choices[k] : 0];
    if (chosen > 0)
      numbers[knob.number] = chosen;
    else
      numbers.erase(numbers.begin() + static_cast<ptrdiff_t>(knob.number));
  }
  return steps;
}

Computation computation_for_steps(const FnExpr& primitive) {
  Computation computation = computation_of(primitive);
  auto in_value = with_lets_in_value(computation);
  return in_value ? *std::move(in_value) : std::move(computation);
}

std::variant<Nest, StatedFailure> stated_nest(const FnExpr& primitive, const MachineModel& machine,
                                              std::span<const size_t> choices) {
  const auto& e = *as<ComprehensionExpr>(primitive.body);
  const Schedule& stated = e.schedule->schedule;
  const Computation computation = computation_for_steps(primitive);
  if (!computation.running_results.empty())
    return StatedFailure{stated.steps.size(), "a `scan` goes along its loop in order, and takes no schedule"};
  if (computation.scatter)
    return StatedFailure{stated.steps.size(), "a `scatter` is done point by point, and takes no schedule"};
  const Schedule schedule = with_buffers(stated, e, primitive, computation);
  LoopNames names(computation);
  std::vector<LoopStep> steps;
  for (const ScheduleStep& step : schedule.steps) {
    auto read = names.read(step);
    if (!read) return StatedFailure{steps.size(), read.error().message};
    names.add(*read);
    steps.push_back(*read);
  }
  const std::vector<Knob> knobs = knobs_of(steps, computation, machine);
  steps = closed(std::move(steps), knobs, choices);
  Nest nest(computation, {}, machine.dots);
  for (size_t s = 0; s < steps.size(); ++s)
    if (auto done = nest.apply(steps[s]); !done) return StatedFailure{s, done.error().message};
  if (auto complete = nest.is_complete(); !complete)
    return StatedFailure{steps.size(), complete.error().message};
  return nest;
}

}  // namespace quern::loops
