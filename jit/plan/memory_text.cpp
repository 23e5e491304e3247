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

/// Where a result lies in the block of its call.
std::string place_of(const MemoryStep& step, const MemoryPlan& plan) {
  if (!step.stored) return "";
  const auto block = plan.blocks.find(step.function);
  return block == plan.blocks.end() ? "in the block"
                                    : fmt::format("at {}", block->second.offsets[*step.stored]);
}

}  // namespace

std::string peak_text(const MemoryPlan& plan, const DimMap& dims) {
  std::string text;
  for (const Dim peak : plan.peaks) text += (text.empty() ? "" : " or ") + text_of(substitute(peak, dims));
  text = text.empty() ? "no memory for tensors" : fmt::format("at most {} of tensors", text);
  return plan.is_whole ? text
                       : text + ", beside what recursion makes and functions that are known at run time only";
}

std::string to_string(const MemoryPlan& plan, const std::function<std::string(const FnExpr&)>& name_of,
                      LineOrigins& origins) {
  std::vector<std::array<std::string, 4>> rows;
  std::array<size_t, 4> widths{};
  for (const MemoryStep& step : plan.steps) {
    rows.push_back({step.primitive ? name_of(*step.primitive) : std::string(step.text),
                    is_const(step.made, 0) ? "in place" : text_of(step.made), text_of(step.live),
                    place_of(step, plan)});
    for (size_t k = 0; k < widths.size(); ++k) widths[k] = std::max(widths[k], rows.back()[k].size());
  }
  std::string text = peak_text(plan) + "\n";
  uint32_t function = 0, line = count_line_ends(text);
  for (size_t k = 0; k < rows.size(); ++k) {
    const MemoryStep& step = plan.steps[k];
    if (k == 0 || step.function != function) {
      const auto block = plan.blocks.find(step.function);
      text += fmt::format("\nfn{}:", step.function);
      if (block != plan.blocks.end())
        text += fmt::format(" a block of {}", bytes_text(static_cast<size_t>(block->second.bytes)));
      text += "\n";
      line += 2;
    }
    origins.push_back({line, line, step.origin});
    ++line;
    function = step.function;
    text += fmt::format("{:4}  {:<{}}  {:>{}}  {:>{}}", step.at, rows[k][0], widths[0], rows[k][1], widths[1],
                        rows[k][2], widths[2]);
    text += rows[k][3].empty() ? "\n" : fmt::format("  {}\n", rows[k][3]);
  }
  return text;
}

}  // namespace quern
