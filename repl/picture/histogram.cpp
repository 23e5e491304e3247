#include "repl/picture/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ir/base/interrupt.h"
#include "repl/picture/ticks.h"

namespace quern::picture {

namespace {

/// A bar in eighths of a character.
std::string bar(double eighths) {
  constexpr std::array<std::string_view, 8> kPart{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto count = static_cast<size_t>(std::lround(eighths));
  std::string text;
  for (size_t i = 0; i < count / 8; ++i) text += "█";
  text += kPart[count % 8];
  return text;
}

std::string range_text(const Histogram& histogram, size_t bin, const std::vector<std::string>& edges,
                       size_t width) {
  if (histogram.edges.size() == histogram.counts.size()) return fmt::format("{:>{}}", edges[bin], width);
  const bool is_last = bin + 1 == histogram.counts.size();
  return fmt::format("[{:>{}}, {:>{}}{}", edges[bin], width, edges[bin + 1], width, is_last ? "]" : ")");
}

/// The k-th edge: the number nearest to what its text says, as it is where it is written.
double edge_at(double k, double step) { return step < 1 ? k / std::round(1 / step) : k * step; }

}  // namespace

Histogram histogram_of(const std::vector<double>& numbers, bool are_whole, int most) {
  Histogram histogram;
  double least = numbers[0], greatest = least;
  for (const double number : numbers) {
    if (is_interrupted()) return histogram;
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  }
  const bool is_bin_a_number = greatest == least || (are_whole && greatest - least < most);
  if (is_bin_a_number) {
    for (double edge = least; edge <= greatest; ++edge) histogram.edges.push_back(edge);
    histogram.counts.resize(histogram.edges.size());
  } else {
    constexpr double kFewest = 6;
    const Interval interval = interval_of(least, greatest);
    const double wanted = std::sqrt(static_cast<double>(numbers.size()));
    const double bins = std::min(std::max(kFewest, std::ceil(wanted)),
                                 std::max(1.0, most - 1.0));  // the outer ones go beyond the interval
    histogram.step = round_step(interval.size() / bins);
    if (are_whole) histogram.step = std::max(1.0, histogram.step);
    const double first = std::floor(interval.low / histogram.step + 1e-9);
    const double last = std::max(first + 1, std::ceil(interval.high / histogram.step - 1e-9));
    for (double k = first; k <= last; ++k) histogram.edges.push_back(edge_at(k, histogram.step));
    histogram.counts.resize(histogram.edges.size() - 1);
  }
  const auto bins = static_cast<double>(histogram.counts.size());
  for (const double number : numbers) {
    if (is_interrupted()) break;
    // By the edges themselves: the quotient alone may be on their other side.
    double bin = std::clamp(std::floor((number - histogram.edges[0]) / histogram.step), 0.0, bins - 1);
    if (number < histogram.edges[static_cast<size_t>(bin)] && bin > 0) --bin;
    if (bin + 1 < bins && number >= histogram.edges[static_cast<size_t>(bin) + 1]) ++bin;
    ++histogram.counts[static_cast<size_t>(bin)];
  }
  return histogram;
}

std::string histogram_text(const Histogram& histogram, int columns) {
  std::vector<std::string> edges, ranges;
  size_t edge_width = 0, count_width = 0;
  const bool are_numbers = histogram.edges.size() == histogram.counts.size();
  for (const double edge : histogram.edges) {
    edges.push_back(are_numbers ? fmt::format("{}", edge) : text_by_step(edge, histogram.step));
    edge_width = std::max(edge_width, edges.back().size());
  }
  const int64_t most = std::max<int64_t>(1, std::ranges::max(histogram.counts));
  for (const int64_t count : histogram.counts)
    count_width = std::max(count_width, std::to_string(count).size());
  std::string out;
  for (size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    const int64_t count = histogram.counts[bin];
    std::string line =
        fmt::format("{}  {:>{}}  ", range_text(histogram, bin, edges, edge_width), count, count_width);
    const double room = std::max(8.0, columns - static_cast<double>(line.size()));
    const double eighths = 8 * room * static_cast<double>(count) / static_cast<double>(most);
    line += bar(count > 0 ? std::max(1.0, eighths) : 0);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace quern::picture
