#include "jit/nest/steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern::loops {

namespace {

bool is_word(ArgumentKind kind) { return kind == ArgumentKind::Tensor || kind == ArgumentKind::Word; }

/// The argument at a position of a group; the last one may repeat.
const ScheduleArgument& argument_at(const std::vector<ScheduleArgument>& group, size_t place) {
  return group[std::min(place, group.size() - 1)];
}

}  // namespace

LoopNames::LoopNames(const Computation& computation) {
  const auto add_all = [&](const std::vector<Dim>& vars) {
    for (const Dim var : vars) {
      std::string name(var->name);
      for (int copy = 2; find(name) != kNoLoop; ++copy) name = fmt::format("{}_{}", var->name, copy);
      names_.push_back(std::move(name));
    }
  };
  add_all(computation.vars);
  for (const Reduction& r : computation.reductions) add_all(r.vars);
  consumed_.resize(names_.size());
}

LoopId LoopNames::find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? kNoLoop : LoopId(static_cast<int>(found - names_.begin()));
}

/// The existing loops, for messages.
std::string LoopNames::there() const {
  std::vector<std::string_view> names;
  for (size_t k = 0; k < names_.size(); ++k)
    if (!consumed_[k]) names.push_back(names_[k]);
  return fmt::format("the loops are {}", fmt::join(names, ", "));
}

Result<LoopId> LoopNames::read_loop(const std::string& name, ArgumentKind kind) const {
  const LoopId loop = find(name);
  if (loop == kNoLoop) return Failure{fmt::format("there is no loop `{}`; {}", name, there())};
  if (kind != ArgumentKind::OnceLoop && consumed_[index_of(loop)])
    return Failure{fmt::format("`{}` is split or fused already; {}", name, there())};
  return loop;
}

Result<LoopStep> LoopNames::read(const ScheduleStep& step) const {
  QUERN_CHECK(is_well_formed(step));
  const auto& groups = info(step.primitive).groups;
  LoopStep out{step.primitive, std::vector<LoopIds>(groups.size()), step.numbers, {}, step.makes};
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t k = 0; k < step.loops[g].size(); ++k) {
      const std::string& name = step.loops[g][k];
      const ArgumentKind kind = argument_at(groups[g], k).kind;
      if (is_word(kind)) {
        out.words.push_back(name);
        continue;
      }
      auto loop = read_loop(name, kind);
      if (!loop) return loop.error();
      out.loops[g].push_back(*loop);
    }
  for (const std::string& name : step.makes)
    if (name.empty() || find(name) != kNoLoop)
      return Failure{fmt::format("there is a loop `{}` already", name)};
  return out;
}

ScheduleStep LoopNames::written(const LoopStep& step) const {
  const auto& groups = info(step.primitive).groups;
  ScheduleStep out{step.primitive, step.makes, {}, step.numbers};
  size_t word = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::string>& names = out.loops.emplace_back();
    size_t loop = 0;
    const auto loops = g < step.loops.size() ? step.loops[g] : LoopIds();
    for (const ScheduleArgument& argument : groups[g]) {
      if (is_word(argument.kind) && word < step.words.size()) names.push_back(step.words[word++]);
      if (is_word(argument.kind) || argument.kind == ArgumentKind::Number) continue;
      for (size_t taken = 0; loop < loops.size() && (taken == 0 || argument.many); ++taken)
        names.push_back(of(loops[loop++]));
    }
  }
  return out;
}

Schedule LoopNames::written(const std::vector<LoopStep>& steps) const {
  Schedule schedule;
  for (const LoopStep& step : steps) schedule.steps.push_back(written(step));
  return schedule;
}

std::string LoopNames::unused(std::string name) const {
  while (find(name) != kNoLoop) name += '_';
  return name;
}

LoopStep LoopNames::named(LoopStep step) const {
  const auto& makes = info(step.primitive).makes;
  if (!step.makes.empty() || makes.empty()) return step;
  const LoopIds& loops = step.loops.at(0);
  std::string whole;
  for (const LoopId loop : loops) whole += of(loop);
  size_t split = 0;
  for (const MadeLoop made : makes) switch (made) {
      case MadeLoop::Fused: step.makes.push_back(unused(whole)); break;
      case MadeLoop::Outer: step.makes.push_back(unused(of(loops.at(split)) + "o")); break;
      case MadeLoop::Inner: step.makes.push_back(unused(of(loops.at(split++)) + "i")); break;
    }
  return step;
}

LoopIds LoopNames::add(const LoopStep& step) {
  const auto& groups = info(step.primitive).groups;
  for (size_t g = 0; g < step.loops.size(); ++g)
    for (size_t k = 0; k < step.loops[g].size(); ++k)
      if (argument_at(groups[g], k).kind == ArgumentKind::ConsumedLoop)
        consumed_[index_of(step.loops[g][k])] = true;
  LoopIds made;
  for (const std::string& name : step.makes) {
    made.push_back(LoopId(static_cast<int>(names_.size())));
    names_.push_back(name);
    consumed_.push_back(false);
  }
  return made;
}

}  // namespace quern::loops
