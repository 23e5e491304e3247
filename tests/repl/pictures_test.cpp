// Pictures of values on a terminal.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repl/picture/histogram.h"
#include "repl/picture/image.h"
#include "repl/picture/plot.h"
#include "repl/report/summary.h"
#include "tests/repl/editor/emulator.h"
#include "tests/repl/editor/screen_session.h"

namespace quern::picture {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorPtr floats(Shape shape, const std::vector<float>& numbers) {
  return HostTensor::from<float>(DType::float32(), std::move(shape), numbers);
}

// --- curves

std::string plot_text(std::vector<Curve> curves, const Size& size) {
  const auto plot = plot_of(std::move(curves));
  return plot ? plot_text(*plot, size, false) : "";
}
std::string plot_text(const Curve& curve, const Size& size) { return plot_text(std::vector{curve}, size); }

TEST(Plot, DrawsACurveOnAxes) {
  EXPECT_EQ(plot_text(Curve{{0, 1, 2, 3, 4, 5}, {0, 1, 4, 9, 16, 25}}, {40, 10}),
            "   │                                 ⢀⠤⠊\n"
            "20 ┤                               ⡠⠒⠁\n"
            "   │                            ⢀⠔⠊\n"
            "   │                         ⣀⠤⠊⠁\n"
            "   │                      ⣀⠔⠊\n"
            "   │                 ⢀⡠⠤⠒⠉\n"
            "   │           ⢀⣀⡠⠤⠒⠉⠁\n"
            " 0 ┤⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠉⠁\n"
            "   └┬─────────────┬─────────────┬───────\n"
            "    0             2             4\n");
}

TEST(Plot, LeavesOutWhatIsNotFinite) {
  const std::string gap = plot_text(Curve{{0, 1, 2, 3, 4}, {1, 1, kNan, 1, 1}}, {30, 6});
  EXPECT_EQ(gap,
            "1.5 ┤\n"
            "1.0 ┤⣀⣀⣀⣀⣀⣀⡀           ⢀⣀⣀⣀⣀⣀⣀\n"
            "    │\n"
            "0.5 ┤\n"
            "    └┬───────────┬───────────┬\n"
            "     0           2           4\n");
  EXPECT_EQ(plot_text(Curve{{0, 1}, {kNan, INFINITY}}, {30, 6}), "");
  EXPECT_EQ(plot_text(Curve{}, {30, 6}), "");
}

TEST(Plot, LinesFitAndHaveNoBlanksAtTheirEnds) {
  Curve curve;
  for (int i = 0; i < 1000; ++i) {
    curve.x.push_back(i * 1e-5);
    curve.y.push_back(1e9 * std::sin(i / 50.0));
  }
  for (const Size size : {Size{20, 4}, Size{80, 20}, Size{120, 40}}) {
    const std::string text = plot_text(curve, size);
    EXPECT_EQ(std::ranges::count(text, '\n'), size.rows);
    editor::Emulator screen(size.columns, size.rows + 1);
    for (const char c : text) screen.feed(c == '\n' ? "\r\n" : std::string(1, c));
    EXPECT_EQ(screen.text() + "\n", text);
  }
}

TEST(Plot, NumbersFarFromEachOtherAndAlone) {
  const double most = std::numeric_limits<double>::max();
  for (const Curve& curve : {Curve{{0}, {0}}, Curve{{3}, {-1e300}}, Curve{{-most, most}, {-most, most}},
                             Curve{{0, 1e-320}, {1, 1 + 1e-15}}})
    EXPECT_FALSE(plot_text(curve, {60, 10}).empty());
}

TEST(Plot, TellsCurvesApartByMarksAndNames) {
  const std::vector<Curve> curves{{{0, 1, 2}, {0, 1, 2}, "%up"}, {{0, 1, 2}, {2, 1.5, 0}, "%down"}};
  const std::string text = plot_text(curves, {40, 9});
  EXPECT_EQ(text,
            "2 ┤■⠉⠒⠒⠒⠤⠤⠤⣀⣀⣀                    ⣀⡠⠤⠔⠒●\n"
            "  │           ⠉⠉⠉⠒⠒⠒⠤■⢄⡀   ⢀⣀⠤⠔⠒⠊⠉\n"
            "1 ┤                  ●⡠⠬⠓⠲⢍⡁\n"
            "  │            ⣀⡠⠤⠒⠊⠉      ⠈⠑⠢⢄⣀\n"
            "  │     ⢀⣀⠤⠔⠒⠊⠉                 ⠉⠒⠤⣀\n"
            "0 ┤●⠤⠔⠒⠉⠁                           ⠉⠒⠤■\n"
            "  └┬─────────────────┬─────────────────┬\n"
            "   0                 1                 2\n"
            "   ● %up   ■ %down\n");
  // In colours it is the same text.
  const std::string coloured = plot_text(*plot_of(curves), {40, 9}, true);
  EXPECT_NE(coloured, text);
  editor::Emulator screen(40, 10);
  for (const char c : coloured) screen.feed(c == '\n' ? "\r\n" : std::string(1, c));
  EXPECT_EQ(screen.text() + "\n", text);
  // The marks in the legend have the colours of their curves.
  const int row = 8, first = static_cast<int>(text.substr(text.rfind('\n', text.size() - 2) + 1).find("●"));
  EXPECT_NE(screen.colours(row, first), screen.colours(row, first + 8));
  EXPECT_EQ(screen.row(row).substr(static_cast<size_t>(first), 3), "●");
}

TEST(Plot, MarksAFewPointsOfACurve) {
  EXPECT_EQ(mark_places(3, 0, 2), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(mark_places(101, 0, 2), (std::vector<size_t>{5, 25, 45, 65, 85}));
  EXPECT_EQ(mark_places(101, 1, 2), (std::vector<size_t>{15, 35, 55, 75, 95}));
  EXPECT_TRUE(mark_places(0, 0, 2).empty());
}

// --- bars

TEST(HistogramOf, CountsByRoundEdges) {
  const Histogram one = histogram_of({0, 0.1, 0.2, 0.25, 0.6, 0.9}, false);
  EXPECT_EQ(one.counts, (std::vector<int64_t>{2, 2, 0, 1, 1}));
  EXPECT_EQ(one.edges.front(), 0);
  EXPECT_EQ(one.edges.back(), 1);
  EXPECT_EQ(one.edges[3], 0.6);
  const Histogram whole = histogram_of({3, 5, 5}, true);
  EXPECT_EQ(whole.edges, (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(whole.counts, (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(histogram_of({2.5, 2.5}, false).counts, (std::vector<int64_t>{2}));
  std::vector<double> many;
  many.reserve(10'000);
  for (int i = 0; i < 10'000; ++i) many.push_back(i);
  for (const int most : {1, 2, 7, 20, 50}) {
    const Histogram of = histogram_of(many, true, most);
    EXPECT_LE(of.counts.size(), static_cast<size_t>(std::max(2, most)));
    int64_t all = 0;
    for (const int64_t count : of.counts) all += count;
    EXPECT_EQ(all, 10'000);
  }
  EXPECT_EQ(histogram_text(histogram_of({1, 2, 2, 3, 3, 3, 3}, true), 16),
            "1  1  ██▌\n2  2  █████\n3  4  ██████████\n");
  EXPECT_EQ(histogram_text(histogram_of({0, 0.1, 0.5}, false), 30),
            "[0.0, 0.1)  1  ███████████████\n"
            "[0.1, 0.2)  1  ███████████████\n"
            "[0.2, 0.3)  0\n"
            "[0.3, 0.4)  0\n"
            "[0.4, 0.5]  1  ███████████████\n");
}

// --- images

TEST(ImageOf, ReadsMatricesAndChannels) {
  struct Row {
    Shape shape;
    int64_t width, height;
    int channels;
  };
  for (const Row& row :
       {Row{{2, 3}, 3, 2, 1}, Row{{1, 2, 3}, 3, 2, 1}, Row{{1, 1, 2, 3}, 3, 2, 1}, Row{{2, 3, 1}, 3, 2, 1},
        Row{{3, 2, 5}, 5, 2, 3}, Row{{2, 5, 3}, 5, 2, 3}, Row{{4, 2, 5}, 5, 2, 3}, Row{{2, 5, 4}, 5, 2, 3}}) {
    const auto image = image_of(*HostTensor::zeros(DType::float32(), row.shape));
    ASSERT_TRUE(image);
    EXPECT_EQ(image->width, row.width);
    EXPECT_EQ(image->height, row.height);
    EXPECT_EQ(image->channels, row.channels);
    EXPECT_EQ(image->numbers.size(), static_cast<size_t>(row.width * row.height * row.channels));
  }
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 2, 2}, Shape{2, 3, 4, 4}, Shape{0, 3}})
    EXPECT_FALSE(image_of(*HostTensor::zeros(DType::float32(), shape)));
}

TEST(ImageOf, KnowsWhatIsBlackAndWhite) {
  const auto range = [](const TensorPtr& tensor) {
    const auto image = image_of(*tensor);
    return std::pair(image->black, image->white);
  };
  EXPECT_EQ(range(floats({1, 3}, {-1, 0, 3})), std::pair(-1.0, 3.0));
  EXPECT_EQ(range(floats({1, 2}, {2, 2})), std::pair(2.0, 3.0));
  EXPECT_EQ(range(floats({1, 3}, {NAN, 0, 4})), std::pair(0.0, 4.0));
  EXPECT_EQ(range(floats({2, 1, 3}, {0, 0.5F, 0.75F, 0, 0, 0})), std::pair(0.0, 1.0));
  EXPECT_EQ(range(floats({2, 1, 3}, {0, 7, 200, 0, 0, 0})), std::pair(0.0, 255.0));
  EXPECT_EQ(range(HostTensor::zeros({DTypeCode::UInt, 8}, {2, 2})), std::pair(0.0, 255.0));
}

TEST(ImageText, IsShadesWithoutColours) {
  EXPECT_EQ(image_text(*image_of(*floats({2, 2}, {0, 1, 0, 1})), {4, 2}, Ink::Text), "  @@\n  @@\n");
  EXPECT_EQ(image_text(*image_of(*floats({2, 4}, {0, 0, 1, 1, 1, 1, 0, 0})), {4, 1}, Ink::Text), "++++\n");
  EXPECT_EQ(image_text(*image_of(*floats({2, 2}, {0, NAN, 0, 1})), {2, 1}, Ink::Text), " ?\n");
  // Larger ones become smaller.
  const auto large = image_of(*HostTensor::zeros(DType::float32(), {1000, 3000}));
  const std::string text = image_text(*large, {60, 40}, Ink::Text);
  EXPECT_EQ(std::ranges::count(text, '\n'), 10);
}

TEST(ImageText, IsHalfBlocksInColours) {
  const std::vector<float> pixels = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  const auto image = image_of(*floats({2, 2, 3}, pixels));
  editor::Emulator screen(2, 2);
  screen.feed(image_text(*image, {2, 1}, Ink::True));
  EXPECT_EQ(screen.text(), "▀▀");
  using Colours = editor::Emulator::Colours;
  EXPECT_EQ(screen.colours(0, 0), (Colours{0xff0000, 0x0000ff}));
  EXPECT_EQ(screen.colours(0, 1), (Colours{0x00ff00, 0xffffff}));
  // The palette has these colours too.
  const std::string in_palette = image_text(*image, {2, 1}, Ink::Palette);
  EXPECT_EQ(in_palette, "\x1b[38;5;196m\x1b[48;5;21m▀\x1b[38;5;46m\x1b[48;5;231m▀\x1b[0m\n");
  // Of an odd last row, what is below is as the terminal has it.
  editor::Emulator single(2, 2);
  single.feed(image_text(*image_of(*floats({3, 1, 1}, {0, 0, 1})), {1, 1}, Ink::True));
  EXPECT_EQ(single.colours(0, 0).front, 0x0000ffU);
}

// --- numbers

TEST(Summary, OfFiniteNumbersAndCountsOfOthers) {
  const NumberSummary of = summarize(*floats({2, 4}, {1, 2, 3, 4, 0, NAN, INFINITY, -INFINITY}));
  EXPECT_EQ(of.count, 8);
  EXPECT_EQ(of.nans, 1);
  EXPECT_EQ(of.infinities, 2);
  EXPECT_EQ(of.zeros, 1);
  EXPECT_EQ(of.least, 0);
  EXPECT_EQ(of.greatest, 4);
  EXPECT_EQ(of.mean, 2);
  EXPECT_DOUBLE_EQ(of.deviation, std::sqrt(2));
  EXPECT_EQ(of.quantiles[1], 1);
  EXPECT_EQ(of.quantiles[2], 2);
  EXPECT_DOUBLE_EQ(of.quantiles[0], 0.2);
  for (const TensorPtr& none : {floats({0}, {}), floats({1}, {NAN})}) {
    const NumberSummary empty = summarize(*none);
    EXPECT_TRUE(std::isnan(empty.mean) && std::isnan(empty.least) && std::isnan(empty.quantiles[2]));
  }
}

// --- at the prompt

TEST(Pictures, OfThePromptFitOnItsScreen) {
  editor::ScreenSession session("/tmp", "off", 50, 16);
  ASSERT_TRUE(session.wait_for_prompt());
  session.type(":plot [0.0, 1.0, 4.0, 9.0]\r");
  ASSERT_TRUE(session.wait_for("└"));
  ASSERT_TRUE(session.wait_for_prompt());
  const std::string shown = session.screen().text();
  EXPECT_NE(shown.find(":plot"), std::string::npos) << shown;
  EXPECT_NE(shown.find("┤"), std::string::npos) << shown;
  session.type(":image [[0.0, 1.0]]\r");
  ASSERT_TRUE(session.wait_for("white 1"));
  ASSERT_TRUE(session.wait_for_prompt());
  int row = 0;
  while (row < 16 && !session.screen().row(row).starts_with("▀")) ++row;
  EXPECT_EQ(session.screen().colours(row, 0).front, 0x000000U);
  EXPECT_EQ(session.screen().colours(row, 8).front, 0xffffffU);
}

}  // namespace
}  // namespace quern::picture
