#include "ir/expr/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/base/result.h"

namespace quern::loops {

namespace {

std::vector<std::vector<ScheduleArgument>> groups_of(std::string_view takes) {
  std::vector<std::vector<ScheduleArgument>> groups(1);
  for (const char letter : takes) switch (letter) {
      case ';': groups.emplace_back(); break;
      case 'l': groups.back().push_back({ArgumentKind::Loop}); break;
      case 'c': groups.back().push_back({ArgumentKind::ConsumedLoop}); break;
      case 'o': groups.back().push_back({ArgumentKind::OnceLoop}); break;
      case 'b': groups.back().push_back({ArgumentKind::Tensor}); break;
      case 'x': groups.back().push_back({ArgumentKind::Word}); break;
      case 'n': groups.back().push_back({ArgumentKind::Number}); break;
      case '?': groups.back().back().optional = true; break;
      case '+': groups.back().back().many = true; break;
      case '*': groups.back().back().optional = groups.back().back().many = true; break;
      default: QUERN_CHECK(false && "primitives.def has a letter that stands for no argument");
    }
  return groups;
}

std::vector<MadeLoop> loops_of(std::string_view makes) {
  std::vector<MadeLoop> loops;
  for (const char letter : makes) switch (letter) {
      case 'o': loops.push_back(MadeLoop::Outer); break;
      case 'i': loops.push_back(MadeLoop::Inner); break;
      case 'f': loops.push_back(MadeLoop::Fused); break;
      default: QUERN_CHECK(false && "primitives.def has a letter that stands for no loop");
    }
  return loops;
}

std::string to_string(const ScheduleNumber& number) {
  if (number.is_open) return "?";
  std::string text = std::to_string(number.value);
  for (const int64_t other : number.others) text += fmt::format(" | {}", other);
  return text;
}

/// Calls `f` with each name that a step takes, and its kind.
template <class Step, class F>
void for_each_name(Step& step, const F& f) {
  const auto& groups = info(step.primitive).groups;
  for (size_t g = 0; g < std::min(groups.size(), step.loops.size()); ++g)
    for (size_t k = 0; k < step.loops[g].size(); ++k)
      f(groups[g][std::min(k, groups[g].size() - 1)].kind, step.loops[g][k]);
}
template <class Step, class F>
void for_each_tensor(Step& step, const F& f) {
  for_each_name(step, [&](ArgumentKind kind, auto& name) {
    if (kind == ArgumentKind::Tensor) f(name);
  });
}

}  // namespace

const std::vector<PrimitiveInfo>& primitives() {
  static const std::vector<PrimitiveInfo> table{
#define QUERN_PRIMITIVE(name, text, makes, takes, form, does) \
  {text, loops_of(makes), groups_of(takes), form, does},
#include "ir/expr/primitives.def"
#undef QUERN_PRIMITIVE
  };
  return table;
}

const PrimitiveInfo& info(Primitive primitive) { return primitives()[static_cast<size_t>(primitive)]; }

std::string_view to_string(Primitive primitive) { return info(primitive).text; }

std::optional<Primitive> find_primitive(std::string_view text) {
  const auto found = std::ranges::find(primitives(), text, &PrimitiveInfo::text);
  if (found == primitives().end()) return std::nullopt;
  return static_cast<Primitive>(found - primitives().begin());
}

namespace {

/// The number of a group's arguments of the kinds that `is_counted` accepts.
template <class F>
bool takes_as_many(const std::vector<ScheduleArgument>& group, size_t given, const F& is_counted) {
  size_t least = 0, most = 0;
  for (const ScheduleArgument& argument : group) {
    if (!is_counted(argument.kind)) continue;
    least += argument.optional ? 0 : 1;
    most += argument.many ? given : 1;
  }
  return least <= given && given <= most;
}

}  // namespace

bool is_well_formed(const ScheduleStep& step) {
  const PrimitiveInfo& primitive = info(step.primitive);
  const auto is_number = [](ArgumentKind kind) { return kind == ArgumentKind::Number; };
  const auto is_name = [&](ArgumentKind kind) { return !is_number(kind); };
  if (step.makes.size() != primitive.makes.size() || step.loops.size() != primitive.groups.size())
    return false;
  for (size_t g = 0; g < step.loops.size(); ++g)
    if (!takes_as_many(primitive.groups[g], step.loops[g].size(), is_name)) return false;
  return takes_as_many(primitive.groups[0], step.numbers.size(), is_number) &&
         std::ranges::all_of(step.numbers, [](const ScheduleNumber& n) { return n.is_open || n.value > 0; });
}

std::string to_string(const ScheduleStep& step) {
  std::string text = step.makes.empty() ? "" : fmt::format("{} = ", fmt::join(step.makes, ", "));
  text += fmt::format("{}(", to_string(step.primitive));
  for (size_t k = 0; k < step.loops.size(); ++k) {
    if (k > 0) text += "; ";
    text += fmt::format("{}", fmt::join(step.loops[k], ", "));
    if (k == 0)
      for (const ScheduleNumber& number : step.numbers) text += ", " + to_string(number);
  }
  return text + ")";
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const ScheduleStep& step : schedule.steps) text += to_string(step) + ";\n";
  return text;
}

std::string to_clause(const Schedule& schedule) {
  std::vector<std::string> steps;
  steps.reserve(schedule.steps.size());
  for (const ScheduleStep& step : schedule.steps) steps.push_back(to_string(step));
  return fmt::format("schedule {{ {} }}", fmt::join(steps, "; "));
}

std::vector<std::string> tensors_of(const Schedule& schedule) {
  std::vector<std::string> found;
  for (const ScheduleStep& step : schedule.steps)
    for_each_tensor(step, [&](const std::string& name) {
      if (std::ranges::find(found, name) == found.end()) found.push_back(name);
    });
  return found;
}

Schedule with_tensors(Schedule schedule, const std::vector<std::string>& names) {
  const std::vector<std::string> old = tensors_of(schedule);
  for (ScheduleStep& step : schedule.steps)
    for_each_tensor(step, [&](std::string& name) {
      const auto at = static_cast<size_t>(std::ranges::find(old, name) - old.begin());
      if (at < names.size()) name = names[at];
    });
  return schedule;
}

Schedule with_loops(Schedule schedule, const std::map<std::string, std::string>& names) {
  for (ScheduleStep& step : schedule.steps)
    for_each_name(step, [&](ArgumentKind kind, std::string& name) {
      const auto other = names.find(name);
      if (kind != ArgumentKind::Tensor && other != names.end()) name = other->second;
    });
  return schedule;
}

}  // namespace quern::loops
