#include "repl/picture/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "repl/report/xml_text.h"

namespace quern::picture {

namespace {

// Six colours that the colour-blind can tell apart (Okabe and Ito 2008), darker on white and lighter on black.
constexpr std::array<Colours, kSeriesLooks> kSeriesColours{{{0x0068a8, 0x62b5ea},
                                                            {0xc84d00, 0xff9a52},
                                                            {0x00805e, 0x35d0a2},
                                                            {0xa83f88, 0xe79acb},
                                                            {0x8a6a00, 0xe8c63d},
                                                            {0x444444, 0xd0d0d0}}};
constexpr std::array<std::string_view, kSeriesLooks> kMarks{"●", "■", "▲", "◆", "▼", "✚"};
constexpr double kMarkSize = 4;

std::string class_of(const Tint& tint) {
  switch (tint.of) {
    case Tint::Of::Words: return "words";
    case Tint::Of::Axis: return "axis";
    case Tint::Of::Grid: return "grid";
    case Tint::Of::Series: return fmt::format("series{}", tint.series % kSeriesLooks);
  }
  return "";
}

std::string points_text(const std::vector<Point>& points) {
  std::string text;
  for (const Point& p : points) text += fmt::format("{}{:.2f},{:.2f}", text.empty() ? "" : " ", p.x, p.y);
  return text;
}

/// The colours as classes: `q-f-NAME` is what is filled, `q-l-NAME` what is drawn as a line.
std::string style_sheet() {
  std::string light, dark;
  const auto add = [&](const std::string& name, const Colours& colours) {
    light += fmt::format(".q-f-{0}{{fill:#{1:06x}}}.q-l-{0}{{stroke:#{1:06x}}}", name, colours.on_light);
    dark += fmt::format(".q-f-{0}{{fill:#{1:06x}}}.q-l-{0}{{stroke:#{1:06x}}}", name, colours.on_dark);
  };
  add("paper", kPaper);
  for (const auto of : {Tint::Of::Words, Tint::Of::Axis, Tint::Of::Grid})
    add(class_of({of}), colours_of({of}));
  for (size_t i = 0; i < kSeriesLooks; ++i) {
    const Tint tint{Tint::Of::Series, i};
    add(class_of(tint), colours_of(tint));
  }
  return fmt::format("<style>{}@media(prefers-color-scheme:dark){{{}}}</style>\n", light, dark);
}

struct SvgShape {
  std::string operator()(const Stroke& stroke) const {
    std::string dashes;
    if (!stroke.dashes.empty())
      dashes = fmt::format(" stroke-dasharray=\"{}\"", fmt::join(stroke.dashes, " "));
    return fmt::format(
        "<polyline class=\"q-l-{}\" fill=\"none\" stroke-width=\"{}\"{} stroke-linejoin=\"round\" "
        "points=\"{}\"/>\n",
        class_of(stroke.tint), stroke.width, dashes, points_text(stroke.points));
  }
  std::string operator()(const Area& area) const {
    return fmt::format("<polygon class=\"q-f-{}\" points=\"{}\"/>\n", class_of(area.tint),
                       points_text(area.corners));
  }
  std::string operator()(const Words& words) const {
    constexpr std::array<std::string_view, 3> kAnchors{"start", "middle", "end"};
    return fmt::format("<text class=\"q-f-words\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">{}</text>\n",
                       words.at.x, words.at.y, kAnchors[static_cast<size_t>(words.part)],
                       xml_text(words.text));
  }
};

}  // namespace

Colours colours_of(const Tint& tint) {
  switch (tint.of) {
    case Tint::Of::Words: return {0x222222, 0xe6e6e6};
    case Tint::Of::Axis: return {0x555555, 0xa8a8a8};
    case Tint::Of::Grid: return {0xe3e3e3, 0x38383c};
    case Tint::Of::Series: return kSeriesColours[tint.series % kSeriesLooks];
  }
  return {};
}

std::string_view mark_character(size_t series) { return kMarks[series % kSeriesLooks]; }

std::vector<Point> mark_outline(size_t series, const Point& middle) {
  const auto polygon = [&](int corners, double first, double size) {
    std::vector<Point> points;
    for (int i = 0; i < corners; ++i) {
      const double angle = 2 * std::numbers::pi * (first + i) / corners;
      points.push_back({middle.x + size * std::sin(angle), middle.y - size * std::cos(angle)});
    }
    return points;
  };
  switch (series % kSeriesLooks) {
    case 0: return polygon(16, 0, kMarkSize);
    case 1: return polygon(4, 0.5, kMarkSize * 1.25);
    case 2: return polygon(3, 0, kMarkSize * 1.3);
    case 3: return polygon(4, 0, kMarkSize * 1.3);
    case 4: return polygon(3, 0.5, kMarkSize * 1.3);
    default: break;
  }
  const double a = kMarkSize * 1.2, b = kMarkSize * 0.4;
  std::vector<Point> cross;
  for (const auto& [x, y] : std::array<Point, 12>{{{-b, -a},
                                                   {b, -a},
                                                   {b, -b},
                                                   {a, -b},
                                                   {a, b},
                                                   {b, b},
                                                   {b, a},
                                                   {-b, a},
                                                   {-b, b},
                                                   {-a, b},
                                                   {-a, -b},
                                                   {-b, -b}}})
    cross.push_back({middle.x + x, middle.y + y});
  return cross;
}

std::vector<double> dashes_of(size_t series) {
  constexpr std::array<std::array<double, 4>, kSeriesLooks> kDashes{
      {{}, {7, 3, 7, 3}, {2, 2, 2, 2}, {9, 3, 2, 3}, {12, 4, 12, 4}, {4, 4, 1, 4}}};
  const auto& dashes = kDashes[series % kSeriesLooks];
  return dashes[0] == 0 ? std::vector<double>() : std::vector<double>(dashes.begin(), dashes.end());
}

std::string to_svg(const Drawing& drawing) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"{2}\">\n",
      drawing.width, drawing.height, kFontSize);
  out += style_sheet() + "<rect class=\"q-f-paper\" width=\"100%\" height=\"100%\"/>\n";
  for (const auto& shape : drawing.shapes) out += std::visit(SvgShape(), shape);
  return out + "</svg>\n";
}

}  // namespace quern::picture
