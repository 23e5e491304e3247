#include "bench/ablations/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace quern::bench {

namespace {

constexpr double kLeft = 150, kWidth = 420, kBar = 11, kGap = 12, kTop = 60, kMost = 4, kLeast = 0.9;
// Distinct for most kinds of colour blindness (Okabe and Ito 2008).
constexpr std::array<std::string_view, 6> kColours{"#0072b2", "#e69f00", "#009e73",
                                                   "#cc79a7", "#56b4e9", "#d55e00"};

double place_of(double factor) {
  const double shown = std::clamp(factor, kLeast, kMost);
  return kLeft + kWidth * std::log(shown / kLeast) / std::log(kMost / kLeast);
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

}  // namespace

std::string bars(const std::vector<std::string>& series, const std::vector<Bars>& rows) {
  const double group = static_cast<double>(series.size()) * kBar + kGap;
  const double bottom = kTop + group * static_cast<double>(rows.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"{0:.0f}\" viewBox=\"0 0 660 "
      "{0:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      bottom + 30);
  svg += text_at(kLeft, 16, "start", "time without a measure, by the time with all of them");
  double x = 12;
  for (size_t k = 0; k < series.size(); ++k) {
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"28\" width=\"9\" height=\"9\" fill=\"{}\"/>\n", x,
                       kColours[k % kColours.size()]);
    svg += text_at(x + 13, 37, "start", series[k]);
    x += 28 + 6.2 * static_cast<double>(series[k].size());
  }
  for (const double line : {1.0, 1.5, 2.0, 3.0, kMost}) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.0f}\" y2=\"{2:.1f}\" stroke=\"#bbbbbb\"/>\n",
        place_of(line), kTop - 10, bottom);
    svg += text_at(place_of(line), bottom + 14, "middle", fmt::format("{}", line));
  }
  double y = kTop;
  for (const Bars& row : rows) {
    svg += text_at(kLeft - 34, y + (group - kGap) / 2 + 4, "end", row.row);
    for (size_t k = 0; k < row.lengths.size(); ++k, y += kBar) {
      const double from = std::min(place_of(1), place_of(row.lengths[k]));
      const double to = std::max(place_of(1), place_of(row.lengths[k]));
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                         from, y + 1, std::max(to - from, 1.0), kBar - 2, kColours[k % kColours.size()]);
      svg += text_at(to + 4, y + kBar - 2, "start", fmt::format("{:.2f}", row.lengths[k]));
    }
    y += kGap;
  }
  return svg + "</svg>\n";
}

}  // namespace quern::bench
