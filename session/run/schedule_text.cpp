#include "session/run/schedule_text.h"

#include <fmt/format.h>

#include <cctype>
#include <functional>
#include <string_view>

#include "jit/nest/nest.h"
#include "jit/schedule/stated.h"

namespace quern {

namespace {

/// `w` of a text that begins with `%w[`; "" for any other.
std::string_view variable_at(std::string_view text) {
  if (!text.starts_with('%')) return {};
  size_t end = 1;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
    ++end;
  const bool is_field = end < text.size() && text[end] == '.';
  return is_field ? std::string_view() : text.substr(1, end - 1);
}

/// The source name of a kernel's parameter in its index expression; "" if that does not read it by name.
std::string written_name(Session& session, const FnExpr& primitive, const Variable* param) {
  const uint32_t home = primitive.body->origin.declaration;
  std::string name;
  std::function<void(ExprPtr)> walk = [&](ExprPtr expr) {
    auto* read = as<ReadExpr>(expr);
    auto* var = read ? as<VarExpr>(read->tensor) : nullptr;
    if (var && var->variable == param && read->origin.declaration == home) {
      const Range at = session.range_of({read->origin, {}});
      name = variable_at(std::string_view(session.text(session.info(home).source)).substr(at.begin));
    }
    for_each_child(expr, walk);
  };
  walk(primitive.body);
  return name;
}

/// Whether the steps alone yield loops that have code.
bool can_be_stated(const loops::Schedule& schedule, const loops::Computation& computation) {
  loops::Nest nest(computation);
  return nest.apply(schedule) && nest.is_complete();
}

std::string commented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    out += "//   " + text.substr(at, end - at) + "\n";
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return out;
}

}  // namespace

std::string schedule_text(Session& session, const FnExpr& primitive, const loops::Lowered& lowered) {
  if (lowered.schedules.empty()) return "// the default loops, which no steps make\n";
  const loops::Computation computation = loops::computation_for_steps(primitive);
  std::vector<std::string> names = tensors_of(lowered.schedules[0]);
  for (size_t k = 0; k < primitive.params.size(); ++k)
    for (std::string& name : names)
      if (name == computation.buffers[k].name)
        if (std::string written = written_name(session, primitive, primitive.params[k]); !written.empty())
          name = written;
  if (lowered.schedules.size() == 1 && can_be_stated(lowered.schedules[0], computation)) {
    std::string text = "schedule {\n";
    for (const loops::ScheduleStep& step : with_tensors(lowered.schedules[0], names).steps)
      text += "  " + to_string(step) + ";\n";
    return text + "}\n";
  }
  std::string text = "// of loops that a rule has changed before, which cannot be stated:\n";
  for (const loops::Schedule& schedule : lowered.schedules) text += commented(to_string(schedule)) + "//\n";
  return text;
}

}  // namespace quern
