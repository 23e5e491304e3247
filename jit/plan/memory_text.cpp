// The text form of a plan of memory.

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/units.h"
#include "jit/plan/memory.h"

namespace quern {

namespace {

std::string text_of(Dim bytes) {
  const auto number = as_const(bytes);
  return number ? bytes_text(static_cast<size_t>(*number)) : to_string(bytes) + " bytes";
}

}  // namespace

std::string to_string(const MemoryPlan& plan, const std::function<std::string(const FnExpr&)>& name_of,
                      LineOrigins& origins) {
  std::vector<std::array<std::string, 3>> rows;
  std::array<size_t, 3> widths{};
  for (const MemoryStep& step : plan.steps) {
    rows.push_back({step.primitive ? name_of(*step.primitive) : std::string(step.text),
                    is_const(step.made, 0) ? "in place" : text_of(step.made), text_of(step.live)});
    for (size_t k = 0; k < widths.size(); ++k) widths[k] = std::max(widths[k], rows.back()[k].size());
  }
  std::string text = "at most ";
  for (size_t k = 0; k < plan.peaks.size(); ++k)
    text += fmt::format("{}{}", k == 0 ? "" : " or ", text_of(plan.peaks[k]));
  text += plan.peaks.empty() ? "nothing\n" : " of tensors\n";
  if (!plan.is_whole) text += "beside what recursion makes, and functions that are known at run time only\n";
  uint32_t function = 0, line = count_line_ends(text);
  for (size_t k = 0; k < rows.size(); ++k) {
    const MemoryStep& step = plan.steps[k];
    if (k == 0 || step.function != function) {
      text += fmt::format("\nfn{}:\n", step.function);
      line += 2;
    }
    origins.push_back({line, line, step.origin});
    ++line;
    function = step.function;
    text += fmt::format("{:4}  {:<{}}  {:>{}}  {:>{}}\n", step.at, rows[k][0], widths[0], rows[k][1],
                        widths[1], rows[k][2], widths[2]);
  }
  return text;
}

}  // namespace quern
