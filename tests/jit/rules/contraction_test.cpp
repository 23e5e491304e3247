// Schedules of contractions, by the registers of the machine.

#include "jit/rules/contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "ir/expr/schedule.h"
#include "jit/loops/kernel.h"
#include "tests/jit/nest/dots_in_programs.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const char* const kPadded =
    "def @main(%x: Tensor[(1, 56, 56, 64), float32], %w: Tensor[(3, 3, 64, 64), float32]) {\n"
    "  nn.conv2d(%x, %w, padding=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n"
    "}\n";
const char* const kPointwise =
    "def @main(%x: Tensor[(1, 7, 7, 160), float32], %w: Tensor[(1, 1, 160, 64), float32]) {\n"
    "  nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n"
    "}\n";

/// A convolution by two places in NHWC, or in NCHW.
std::string strided(const std::string& image, const std::string& weight, int padding, bool channels_last) {
  return fmt::format(
      "def @main(%x: Tensor[(1, {}), float32], %w: Tensor[({}), float32]) {{\n"
      "  nn.conv2d(%x, %w, strides=[2, 2], padding=[{}, {}]{})\n}}\n",
      image, weight, padding, padding, channels_last ? ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"" : "");
}

std::string schedule_of(const loops::Lowered& lowered) { return to_string(lowered.schedules.at(0)); }

// At known steps of the window, and in tiles apart from the first and last, each test has a known result.
TEST(Contraction, HasNoMasksWhereTheyHaveNoRegistersOfTheirOwn) {
  const loops::Lowered narrow = lowered_main(kPadded, narrow_machine());
  EXPECT_THAT(schedule_of(narrow), AllOf(HasSubstr("peel(xo)"), HasSubstr("unroll(s)")));
  EXPECT_THAT(schedule_of(lowered_main(strided("14, 14, 256", "3, 3, 256, 512", 1, true), narrow_machine())),
              HasSubstr("unroll(s)"));
}

// A window's steps read again what the row beside them has read; channels and the steps of a product do not.
TEST(Contraction, FencesStepsThatShareReads) {
  const auto loops = [](const std::string& program) {
    return print_kernel(lowered_main(program, narrow_machine()).kernel);
  };
  EXPECT_THAT(loops(kPadded),
              AllOf(HasSubstr("for s in 0..3 unroll fenced {"), HasSubstr("for d in 0..64 unroll 2 {")));
  EXPECT_THAT(loops(strided("3, 224, 224", "64, 3, 7, 7", 3, false)),
              HasSubstr("for s in 0..7 unroll fenced {"));
  EXPECT_THAT(loops(strided("224, 224, 3", "7, 7, 3, 64", 3, true)),
              AllOf(HasSubstr("for s in 0..7 unroll fenced {"), HasSubstr("for d in 0..3 unroll {")));
  EXPECT_THAT(loops("def @main(%a: Tensor[(512, 512), float32], %b: Tensor[(512, 512), float32]) { "
                    "nn.matmul(%a, %b) }"),
              AllOf(HasSubstr("for r in 0..512 unroll 2 {"), Not(HasSubstr("fenced"))));
}

TEST(Contraction, MasksRowsWhereMasksHaveRegistersOfTheirOwn) {
  const loops::Lowered wide = lowered_main(kPadded);
  EXPECT_THAT(schedule_of(wide), Not(HasSubstr("peel(")));
  EXPECT_THAT(print_kernel(wide.kernel), HasSubstr("unseen"));
}

TEST(Contraction, FusesRowsThatEveryAccessTraversesLikeOne) {
  for (const loops::MachineModel& machine : {narrow_machine(), wide_machine()}) {
    const loops::Lowered lowered = lowered_main(kPointwise, machine);
    EXPECT_THAT(schedule_of(lowered), HasSubstr("fuse("));
    const std::string loops = print_kernel(lowered.kernel);
    EXPECT_THAT(loops, Not(HasSubstr(" / ")));
    EXPECT_THAT(loops, Not(HasSubstr(" % ")));
  }
}

// 24 columns of 144 steps stay in the first-level cache, so that three vectors beside each other cost no more than two.
TEST(Contraction, HasWiderTilesOfPanelsThatStayNear) {
  const auto schedule = [](int channels) {
    return schedule_of(lowered_main(fmt::format("def @main(%x: Tensor[(3136, {}), float32], %w: "
                                                "Tensor[({}, 24), float32]) {{ nn.matmul(%x, %w) }}\n",
                                                channels, channels),
                                    narrow_machine()));
  };
  EXPECT_THAT(schedule(144), HasSubstr("split(j, 24)"));
  EXPECT_THAT(schedule(1440), HasSubstr("split(j, 16)"));
}

// 64 n columns and 48 n rows are whole tiles: there is no loop over none that are left.
TEST(Contraction, HasNoRestOfRowsAndColumnsThatFillTheirTiles) {
  const std::string program =
      "def @main[n, m, k](%x: Tensor[(n, 48 * m, k), float32], %w: Tensor[(k, 64 * m), float32]) {\n"
      "  [a < n, b < 48 * m, c < 64 * m] => sum[r < k] %x[a, b, r] * %w[r, c]\n"
      "}\n";
  for (const loops::MachineModel& machine : {narrow_machine(), wide_machine()})
    EXPECT_THAT(print_kernel(lowered_main(program, machine).kernel),
                AllOf(HasSubstr("vectorize"), Not(HasSubstr(" in 0..0 "))));
}

// The batches of both operands are one loop, along which the second one is packed.
TEST(Contraction, PacksAlongFusedBatches) {
  const std::string program =
      "def @main[b, n](%x: Tensor[(b, 2, n, 8), float32], %y: Tensor[(b, 2, n, 8), float32]) {\n"
      "  [i < b, j < 2, r < n, c < n] => sum[k < 8] %x[i, j, r, k] * %y[i, j, c, k]\n"
      "}\n";
  EXPECT_THAT(schedule_of(lowered_main(program)), AllOf(HasSubstr("fuse("), HasSubstr("pack(")));
}

// The sum runs over an image's places, and a tile has the windows of 3x3 whole.
std::string gradient_of_windows(int channels, int height, int width) {
  return fmt::format(
      "def @main(%dy: Tensor[({0}, {1}, {2}), int32], %x: Tensor[({0}, {1}, {2}), int32]) {{\n"
      "  [o < {0}, c < {0}, h < 3, w < 3] => sum[y < {1}, x < {2}]\n"
      "    %dy[o, y, x] * (%x[c, y + h - 1, x + w - 1] else 0)\n"
      "}}\n",
      channels, height, width);
}

TEST(Contraction, StoresWindowsWholeAndMasksTheirBordersOnly) {
  const std::string schedule = schedule_of(lowered_main(gradient_of_windows(64, 14, 14), wide_machine()));
  EXPECT_THAT(schedule, AllOf(HasSubstr("split(x, 2)"), HasSubstr("peel(xo)"), HasSubstr("fuse(h, w)")));
  EXPECT_THAT(schedule, HasSubstr("turn_write("));
}

TEST(Contraction, SumsGradientsOfWindowsAsTheInterpreterDoes) {
  std::mt19937 engine(3);
  for (const auto& [height, width] : {std::pair(6, 7), std::pair(4, 9), std::pair(3, 5)}) {
    const std::string program = gradient_of_windows(33, height, width);
    Main main(program);
    const std::vector<Value> arguments = main.random_arguments(engine);
    expect_same(main.compiled(arguments, {.tiers = Tiers::Best}), main.interpreted(arguments), program);
  }
}

std::string transposed_sum(const std::string& residual, int columns) {
  return fmt::format(
      "def @main(%x: Tensor[(40, 24), int32], %w: Tensor[({0}, 24), int32], %r: Tensor[{1}, int32]) {{\n"
      "  [j < {0}, i < 40] => max(0, sum[k < 24] %x[i, k] * %w[j, k] + %r[{2}])\n"
      "}}\n",
      columns, residual == "i, j" ? fmt::format("(40, {})", columns) : fmt::format("({}, 40)", columns),
      residual);
}

// What is read beside a sum is read along the lanes before the transpose, or along the result after it.
TEST(Contraction, FinishesResultsBeforeTheyAreTransposedWhereTheirOperandsAreAlongTheLanes) {
  const auto last_store = [](const std::string& residual) {
    const std::string loops = print_kernel(lowered_main(transposed_sum(residual, 64), wide_machine()).kernel);
    return loops.substr(loops.rfind("out["));
  };
  EXPECT_THAT(last_store("i, j"), Not(HasSubstr("max(")));
  EXPECT_THAT(last_store("j, i"), HasSubstr("max("));
}

TEST(Contraction, TransposesResultsAsTheInterpreterDoes) {
  std::mt19937 engine(4);
  for (const std::string residual : {"i, j", "j, i"})
    for (const int columns : {64, 33}) {
      const std::string program = transposed_sum(residual, columns);
      Main main(program);
      const std::vector<Value> arguments = main.random_arguments(engine);
      expect_same(main.compiled(arguments, {.tiers = Tiers::Best}), main.interpreted(arguments), program);
    }
}

// GELU binds its operand, which is the product, by a `let`.
TEST(Contraction, TilesProductsUnderALet) {
  const std::string program =
      "def @main(%x: Tensor[(64, 768), float32], %w: Tensor[(3072, 768), float32], %b: Tensor[(3072,), "
      "float32]) {\n"
      "  nn.gelu(nn.dense(%x, %w) + %b)\n"
      "}\n";
  EXPECT_THAT(schedule_of(lowered_main(program)), AllOf(HasSubstr("pack("), HasSubstr("vectorize(")));
}

// In the place of its uses each let would double the element.
TEST(Contraction, LeavesLongChainsOfLetsAsTheyAre) {
  std::string program = "op chain(%c: Tensor[s, t]) -> Tensor[s, t] { [..i] => { let %v0 = %c[..i]; ";
  for (int k = 1; k <= 40; ++k)
    program += "let %v" + std::to_string(k) + " = %v" + std::to_string(k - 1) + " + max(%v" +
               std::to_string(k - 1) + ", 1); ";
  program +=
      "%v40 } }\ndef @main(%x: Tensor[(64, 64), float32], %w: Tensor[(64, 64), float32]) { "
      "chain(nn.dense(%x, %w)) }\n";
  EXPECT_TRUE(lowered_main(program).schedules.empty());
}

TEST(Contraction, KeepsTheRowsOfAWindowThatIsPadded) {
  EXPECT_THAT(schedule_of(lowered_main(kPadded)), Not(HasSubstr("fuse(")));
}

// 8 rows of a transposed convolution's weights would be read across 16 MiB, a line each per term.
TEST(Contraction, TakesNoRowsFromLinesOfALargeTensor) {
  const std::string program =
      "def @main(%x: Tensor[(1, 512, 8, 8), float32], %w: Tensor[(512, 256, 4, 4), float32]) {\n"
      "  nn.conv2d_transpose(%x, %w, channels=256, kernel_size=[4, 4], strides=[2, 2], padding=[1, 1])\n"
      "}\n";
  const loops::Lowered lowered = lowered_main(program, narrow_machine());
  for (const auto& schedule : lowered.schedules) EXPECT_THAT(to_string(schedule), HasSubstr("pack(w"));
}

// 24 filters fill three vectors less well than 3136 places do, but the image would be packed in each call.
TEST(Contraction, PacksWeightsAndNotData) {
  const std::string program =
      "def @main(%x: Tensor[(1, 56, 56, 96), float32], %w: Tensor[(24, 96, 1, 1), float32]) {\n"
      "  nn.conv2d(%x, %w, data_layout=\"NHWC\")\n"
      "}\n";
  EXPECT_THAT(schedule_of(lowered_main(program, narrow_machine())), HasSubstr("pack(w"));
}

// A weight and its update are read and written row by row where they exceed the cache and the panels do not.
TEST(Contraction, GoesThroughAllPanelsBeforeTheNextRowsOfALargeResult) {
  const auto update = [](int rows) {
    return schedule_of(lowered_main(
        fmt::format("def @main(%w: Tensor[({0}, 256), float32], %d: Tensor[(64, {0}), float32], %x: "
                    "Tensor[(64, 256), float32]) {{\n"
                    "  [o < {0}, i < 256] => %w[o, i] - 0.01 * (sum[t < 64] %d[t, o] * %x[t, i])\n"
                    "}}\n",
                    rows)));
  };
  EXPECT_THAT(update(1024), HasSubstr("reorder(oo, io, t, oi, ii)"));
  EXPECT_THAT(update(256), HasSubstr("reorder(io, oo, t, oi, ii)"));
}

/// The schedule of a product of a tensor of these rows and a weight that is given, or computed before.
std::string product(const std::string& call, const std::string& shape, bool is_fresh, int rows = 64) {
  const PrimitivesOfMain main(
      fmt::format("def @main(%x: Tensor[({}, 1024), float32], %v: Tensor[{}, float32]) {{\n"
                  "  let %w = {};\n  {}\n}}\n",
                  rows, shape, is_fresh ? "nn.softmax(%v)" : "%v", call));
  const auto lowered = loops::lower(*main.primitives.back(), wide_machine());
  return lowered ? schedule_of(*lowered) : lowered.error().message;
}

/// A form of a weight costs as much as its product with so few rows; one that is used again only costs memory.
TEST(Contraction, HasFewRowsInLanesBesideALargeWeight) {
  EXPECT_THAT(product("nn.dense(%x, %w)", "(2048, 1024)", false), HasSubstr("pack(x, "));
  EXPECT_THAT(product("nn.dense(%x, %w)", "(2048, 1024)", true), HasSubstr("pack(x, "));
  EXPECT_THAT(product("nn.dense(%x, %w)", "(2048, 1024)", false, 1024), HasSubstr("pack(v, "));
}

/// A gradient by weights: both operands have the summed index first.
std::string gradient_by_weights(int steps, int rows, int columns) {
  return fmt::format(
      "def @main(%d: Tensor[({0}, {1}), float32], %x: Tensor[({0}, {2}), float32]) {{\n"
      "  [o < {1}, c < {2}] => sum[t < {0}] %d[t, o] * %x[t, c]\n}}\n",
      steps, rows, columns);
}

// All columns take as many rows as half of the second-level cache has room for before the next ones.
TEST(Contraction, CutsRowsIntoBlocksThatTheSecondLevelCacheKeeps) {
  const auto product = [](int rows, int columns) {
    return schedule_of(lowered_main(fmt::format("def @main(%x: Tensor[({}, 1024), float32], %w: "
                                                "Tensor[(1024, {}), float32]) {{ nn.matmul(%x, %w) }}\n",
                                                rows, columns),
                                    narrow_machine()));
  };
  EXPECT_THAT(product(1024, 1024),
              AllOf(HasSubstr("split(i, 60)"), HasSubstr("reorder(io, jo, iio, r, iii, ji)")))
      << product(1024, 1024);
  EXPECT_THAT(product(96, 1024), Not(HasSubstr("split(i, 60)")));  // the rows stay in the cache
  EXPECT_THAT(product(1024, 64), Not(HasSubstr("split(i, 60)")));  // few columns read them again
}

TEST(Contraction, PacksRowsOfStepsThatArePagesApart) {
  const auto schedule = [](int steps, int rows, int columns) {
    return schedule_of(lowered_main(gradient_by_weights(steps, rows, columns), narrow_machine()));
  };
  EXPECT_THAT(schedule(320, 2048, 512), HasSubstr("pack(d, 6; ; o; t)")) << schedule(320, 2048, 512);
  EXPECT_THAT(schedule(320, 2064, 512), Not(HasSubstr("pack(d, ")));  // in many sets of the cache
  EXPECT_THAT(schedule(32, 2048, 512), Not(HasSubstr("pack(d, ")));   // few steps, which stay in it
  EXPECT_THAT(schedule(320, 2048, 64), Not(HasSubstr("pack(d, ")));   // few columns read them again
}

// A tile of whole windows takes a mask for each of its rows, and reads a line for each; one of channels does not.
TEST(Contraction, HasChannelsAndNotWindowsAsRowsWhereRegistersAreFew) {
  const std::string gradient =
      "def @main(%d: Tensor[(14, 14, 64), float32], %i: Tensor[(14, 14, 64), float32]) {\n"
      "  [o < 64, c < 64, r < 3, s < 3] =>\n"
      "    sum[y < 14, x < 14] %d[y, x, o] * (%i[y + r - 1, x + s - 1, c] else 0.0)\n}\n";
  EXPECT_THAT(schedule_of(lowered_main(gradient, narrow_machine())), HasSubstr("split(c, 6)"));
  EXPECT_THAT(schedule_of(lowered_main(gradient, wide_machine())), Not(HasSubstr("split(c, ")));
}

TEST(Contraction, TakesFreshColumnsInBlocks) {
  EXPECT_THAT(product("nn.matmul(%x, %w)", "(1024, 2048)", false), HasSubstr("pack(v, "));
  EXPECT_THAT(product("nn.matmul(%x, %w)", "(1024, 2048)", true),
              AllOf(HasSubstr("cache_write("), HasSubstr("ro, ri = split(r, 32)"), Not(HasSubstr("pack("))));
  // Rows of 2,080 elements are in more sets of the first-level cache than rows that are pages apart.
  EXPECT_THAT(product("nn.matmul(%x, %w)", "(1024, 2080)", true), HasSubstr("ro, ri = split(r, 64)"));
  // What stays in the second-level cache is packed.
  EXPECT_THAT(product("nn.matmul(%x, %w)", "(1024, 64)", true), Not(HasSubstr("cache_write(")));
  // The sums of so many rows would not stay there.
  EXPECT_THAT(product("nn.matmul(%x, %w)", "(1024, 2048)", true, 4096), Not(HasSubstr("cache_write(")));
}

// A gradient by weights whose columns are channels of the image: every tile of rows would read all of it again.
TEST(Contraction, TakesWindowsOfADistantTensorInBlocks) {
  const auto gradient = [](int images, int places) {
    return schedule_of(
        lowered_main(fmt::format("def @main(%d: Tensor[({0}, {1}, {1}, 64), float32], "
                                 "%i: Tensor[({0}, {1}, {1}, 64), float32]) {{\n"
                                 "  [o < 64, r < 3, s < 3, c < 64] => sum[b < {0}, y < {1}, x < {1}] "
                                 "%d[b, y, x, o] * (%i[b, y + r - 1, x + s - 1, c] else 0.0)\n}}\n",
                                 images, places),
                     wide_machine()));
  };
  EXPECT_THAT(gradient(16, 56), HasSubstr("cache_write("));
  EXPECT_THAT(gradient(1, 28), Not(HasSubstr("cache_write(")));    // it stays in the second-level cache
  EXPECT_THAT(gradient(256, 14), Not(HasSubstr("cache_write(")));  // a row of it is a block too short
}

// Columns of an image of unknown size leave lanes empty and are masked at its borders; channels are not.
TEST(Contraction, HasChannelsInLanesBesideAnImageOfUnknownSize) {
  for (const std::string channels : {"64", "c"}) {
    const std::string program = fmt::format(
        "def @main[{1}h, w](%x: Tensor[({0}, h, w), float32], %v: Tensor[({0}, {0}, 3, 3), float32]) {{\n"
        "  [q < {0}, y < h, x < w] => sum[d < {0}, r < 3, s < 3] (%x[d, y + r - 1, x + s - 1] else 0.0) * "
        "%v[q, d, r, s]\n}}\n",
        channels, channels == "c" ? "c, " : "");
    EXPECT_THAT(schedule_of(lowered_main(program, wide_machine())), HasSubstr("pack(v, ")) << channels;
  }
}

// The innermost loop over places is split there: its parts stand for it.
TEST(Contraction, PrefetchesTheWeightsOfAWindowWithTheirUpdate) {
  const std::string schedule = schedule_of(
      lowered_main("def @main(%w: Tensor[(512, 512, 3, 3), float32], %d: Tensor[(512, 14, 14), float32], "
                   "%i: Tensor[(512, 14, 14), float32]) {\n"
                   "  [o < 512, c < 512, r < 3, s < 3] => %w[o, c, r, s] - 0.01 * (sum[y < 14, x < 14] "
                   "%d[o, y, x] * (%i[c, y + r - 1, x + s - 1] else 0.0))\n}\n"));
  EXPECT_THAT(schedule, AllOf(HasSubstr("prefetch(w, "), HasSubstr("peel(xo)"))) << schedule;
}

TEST(Contraction, PrefetchesWhatComesFromAfar) {
  // The rows of a weight, and what its update reads; not rows that stay in the second-level cache.
  EXPECT_THAT(product("nn.dense(%x, %w)", "(2048, 1024)", false), HasSubstr("prefetch(v, r)"));
  EXPECT_THAT(product("nn.dense(%x, %w)", "(64, 1024)", false), Not(HasSubstr("prefetch(")));
  EXPECT_THAT(product("nn.matmul(%x, %w)", "(1024, 2048)", true), HasSubstr("prefetch(w, ri)"));
  // With half as many registers a step takes half as long, and the prefetch as long as before.
  const std::string update =
      "def @main(%w: Tensor[(2048, 1024), float32], %d: Tensor[(64, 2048), float32], "
      "%x: Tensor[(64, 1024), float32]) {\n"
      "  [o < 2048, c < 1024] => %w[o, c] - 0.01 * (sum[t < 64] %d[t, o] * %x[t, c])\n}\n";
  EXPECT_THAT(schedule_of(lowered_main(update, wide_machine())), HasSubstr("prefetch("));
  EXPECT_THAT(schedule_of(lowered_main(update, narrow_machine())), Not(HasSubstr("prefetch(")));
}

}  // namespace
}  // namespace quern
