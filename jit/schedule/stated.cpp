#include "jit/schedule/stated.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "jit/rules/schedule_default.h"

namespace quern::loops {

namespace {

constexpr int64_t kOpenSplit = 4, kMostUnrolled = 8, kOpenUnroll = 4;

/// How many steps each loop has, as far as that is known, step by step.
class Extents {
 public:
  explicit Extents(const Computation& computation) {
    const Nest nest(computation);
    for (const std::string& name : nest.loops()) of_.emplace(name, as_const(nest.extent_of(name)));
  }

  std::optional<int64_t> of(const std::string& loop) const {
    const auto found = of_.find(loop);
    return found == of_.end() ? std::nullopt : found->second;
  }
  /// What a step makes, a split by steps of `number`.
  void apply(const ScheduleStep& step, int64_t number) {
    const auto loop = [&](size_t k) { return of(step.loops.at(0).at(k)); };
    if (step.primitive == Primitive::Split) {
      const auto all = loop(0);
      of_[step.makes.at(0)] = all ? std::optional((*all + number - 1) / number) : std::nullopt;
      of_[step.makes.at(1)] = number;
    } else if (step.primitive == Primitive::Fuse) {
      const auto outer = loop(0), inner = loop(1);
      of_[step.makes.at(0)] = outer && inner ? std::optional(*outer * *inner) : std::nullopt;
    }
  }

 private:
  std::map<std::string, std::optional<int64_t>> of_;
};

std::vector<int64_t> each_once(const std::vector<int64_t>& choices) {
  std::vector<int64_t> found;
  for (const int64_t choice : choices)
    if (std::ranges::find(found, choice) == found.end()) found.push_back(choice);
  return found;
}

bool runs_in_lanes(const Schedule& schedule, const std::string& loop) {
  return std::ranges::any_of(schedule.steps, [&](const ScheduleStep& step) {
    return step.primitive == Primitive::Vectorize && step.loops[0][0] == loop;
  });
}

std::vector<int64_t> open_choices(const Schedule& schedule, const ScheduleStep& step, const Extents& extents,
                                  int64_t lanes) {
  const bool in_lanes = step.primitive == Primitive::Split && runs_in_lanes(schedule, step.makes.at(1));
  if (step.primitive == Primitive::Vectorize || in_lanes)
    return each_once({lanes, std::max<int64_t>(1, lanes / 2), 2 * lanes});
  if (step.primitive == Primitive::Unroll) {
    const auto steps = extents.of(step.loops[0][0]);
    return each_once({steps && *steps <= kMostUnrolled ? 0 : kOpenUnroll, 2, 4, 8});
  }
  return {kOpenSplit, 2, 8, 16};
}

/// The names of tensors as those of the computation's buffers.
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

std::vector<Knob> knobs_of(const Schedule& schedule, const Computation& computation,
                           const MachineModel& machine) {
  Extents extents(computation);
  const int64_t lanes = lanes_of(computation, machine.vector_bytes);
  std::vector<Knob> knobs;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const ScheduleStep& step = schedule.steps[s];
    int64_t used = 1;
    for (size_t n = 0; n < step.numbers.size(); ++n) {
      const ScheduleNumber& number = step.numbers[n];
      std::vector<int64_t> choices{number.value};
      choices.insert(choices.end(), number.others.begin(), number.others.end());
      if (number.is_open) choices = open_choices(schedule, step, extents, lanes);
      used = std::max<int64_t>(1, choices[0]);
      if (number.is_open || choices.size() > 1) knobs.push_back({s, n, std::move(choices)});
    }
    extents.apply(step, used);
  }
  return knobs;
}

Schedule closed(Schedule schedule, const std::vector<Knob>& knobs, std::span<const size_t> choices) {
  for (size_t k = knobs.size(); k-- > 0;) {
    const Knob& knob = knobs[k];
    auto& numbers = schedule.steps[knob.step].numbers;
    const int64_t chosen = knob.choices[k < choices.size() ? choices[k] : 0];
    if (chosen > 0)
      numbers[knob.number] = chosen;
    else
      numbers.erase(numbers.begin() + static_cast<ptrdiff_t>(knob.number));
  }
  return schedule;
}

std::variant<Nest, StatedFailure> stated_nest(const FnExpr& primitive, const MachineModel& machine,
                                              std::span<const size_t> choices) {
  const auto& e = *as<ComprehensionExpr>(primitive.body);
  const Schedule& stated = e.schedule->schedule;
  const Computation computation = computation_of(primitive);
  if (!computation.running_results.empty())
    return StatedFailure{stated.steps.size(), "a `scan` goes along its loop in order, and takes no schedule"};
  if (computation.scatter)
    return StatedFailure{stated.steps.size(), "a `scatter` is done point by point, and takes no schedule"};
  Schedule schedule = with_buffers(stated, e, primitive, computation);
  schedule = closed(schedule, knobs_of(schedule, computation, machine), choices);
  Nest nest(computation, {}, machine.dots);
  for (size_t s = 0; s < schedule.steps.size(); ++s)
    if (auto done = nest.apply(schedule.steps[s]); !done) return StatedFailure{s, done.error().message};
  if (auto complete = nest.is_complete(); !complete)
    return StatedFailure{schedule.steps.size(), complete.error().message};
  return nest;
}

}  // namespace quern::loops
