#include "ide/value_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "ide/number_summary.h"

namespace quern::ide {

namespace {

constexpr int64_t kMostBars = 24;

/// A character for each height between 0 and 1; a blank for NaN.
std::string bars(const std::vector<double>& heights) {
  constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double height : heights) {
    const double level = std::clamp(height, 0.0, 1.0) * (kBlocks.size() - 1);
    text += std::isnan(height) ? " " : kBlocks[static_cast<size_t>(std::lround(level))];
  }
  return text;
}

/// Means of neighbours in a vector, scaled so that its least number is 0 and its greatest is 1.
std::vector<double> curve(const HostTensor& tensor, const NumberSummary& of) {
  const double range = of.greatest - of.least;
  const int64_t count = std::min(kMostBars, tensor.size());
  std::vector<double> heights;
  for (int64_t bar = 0; bar < count; ++bar) {
    const int64_t begin = bar * tensor.size() / count, end = (bar + 1) * tensor.size() / count;
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += element_as_double(tensor, i);
    const double mean = sum / static_cast<double>(end - begin);
    heights.push_back(range > 0 ? (mean - of.least) / range : mean - of.least + 0.5);
  }
  return heights;
}

/// A histogram of the numbers over equal bins, relative to the fullest one.
std::vector<double> distribution(const HostTensor& tensor, const NumberSummary& of) {
  const double range = of.greatest - of.least;
  std::vector<double> counts(range > 0 ? kMostBars : 1, 0.0);
  for (int64_t i = 0; i < tensor.lane_count(); ++i) {
    const double number = element_as_double(tensor, i);
    if (!std::isfinite(number)) continue;
    const double part = range > 0 ? (number - of.least) / range : 0;
    ++counts[std::min(counts.size() - 1, static_cast<size_t>(part * static_cast<double>(counts.size())))];
  }
  const double most = *std::ranges::max_element(counts);
  for (double& count : counts) count = most > 0 ? count / most : 0;
  return counts;
}

ValueSummary::Numbers numbers_of(const HostTensor& tensor) {
  const NumberSummary of = summarize(tensor);
  ValueSummary::Numbers numbers{of.nans, of.infinities, of.least, of.mean, of.greatest, ""};
  const bool is_vector = tensor.shape().size() == 1 && !tensor.dtype().is_vector();
  if (!std::isnan(of.mean))
    numbers.sparkline = bars(is_vector ? curve(tensor, of) : distribution(tensor, of));
  return numbers;
}

}  // namespace

ValueSummary summary_of(const Value& value, Type type) {
  constexpr int64_t kMostElements = 12;
  constexpr size_t kMostBytes = 200;
  ValueStyle style = on_one_line(kMostElements);
  style.heading = false;
  style.as_built = false;
  ValueSummary summary{to_string(type), to_string(value, style), std::nullopt};
  std::ranges::replace(summary.text, '\n', ' ');
  if (summary.text.size() > kMostBytes) {
    size_t end = kMostBytes;
    while ((static_cast<unsigned char>(summary.text[end]) & 0xC0) == 0x80) --end;
    summary.text = summary.text.substr(0, end) + "…";
  }
  if (const TensorPtr tensor = value.as_tensor(); tensor && tensor->lane_count() > 1)
    summary.numbers = numbers_of(*tensor);
  return summary;
}

std::string to_markdown(const ValueSummary& summary) {
  std::string text = fmt::format("```quern\n{}: {}\n```", summary.text, summary.type);
  if (!summary.numbers) return text;
  const ValueSummary::Numbers& of = *summary.numbers;
  text += fmt::format("\n\nmin {:.4g}, mean {:.4g}, max {:.4g}", of.least, of.mean, of.greatest);
  if (of.nans > 0) text += fmt::format(", {} NaN", of.nans);
  if (of.infinities > 0) text += fmt::format(", {} Inf", of.infinities);
  if (!of.sparkline.empty()) text += fmt::format("  `{}`", of.sparkline);
  return text;
}

}  // namespace quern::ide
