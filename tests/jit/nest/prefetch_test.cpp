// Which lines a `prefetch` brings near, and when; what is refused. Expected are lines of 64 bytes: 16 elements of float32.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "frontend/index/schedule_clause.h"
#include "jit/nest/nest.h"
#include "session/session.h"

namespace quern::loops {
namespace {

/// The prefetches of @main in the loops that the schedule makes, or why there are none.
std::string prefetches_of(const std::string& program, const std::string& schedule) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "test.relay", program);
  const Definition* main = session.definition(module, "main");
  if (!main) return "no @main";
  Nest nest(staged_computation_of(*as<FnExpr>(main->body)));
  const auto steps = parse_schedule(schedule);
  if (!steps) return steps.error().message;
  if (const auto done = nest.apply(*steps); !done) return done.error().message;
  if (const auto complete = nest.is_complete(); !complete) return complete.error().message;
  std::istringstream text(print_kernel(nest.kernel()));
  std::string found, before;
  for (std::string line; std::getline(text, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const std::string_view condition = before.starts_with("if") ? std::string_view(before) : "";
    if (line.starts_with("prefetch"))
      found += fmt::format("{}{}{}\n", condition, condition.empty() ? "" : "\n", line);
    before = line;
  }
  return found;
}

const char* const kUpdatedWeights =
    "def @main(%w: Tensor[(24, 96), float32], %d: Tensor[(9, 24), float32], %x: Tensor[(9, 96), float32]) "
    "{ [o < 24, i < 96] => %w[o, i] - (sum[t < 9] %d[t, o] * %x[t, i]) }";
const char* const kRowsByColumns =
    "def @main(%d: Tensor[(24, 96), float32], %x: Tensor[(96, 16), float32]) "
    "{ [o < 24, t < 16] => sum[k < 96] %d[o, k] * %x[k, t] }";
const char* const kBlocksOfColumns =
    "def @main(%w: Tensor[(64, 96), float32], %d: Tensor[(8, 64), float32]) "
    "{ [t < 8, i < 96] => sum[o < 64] %d[t, o] * %w[o, i] }";

/// A tile of 4 rows and 2 lines has 8 lines, one for each of the first 8 of 9 steps.
TEST(Prefetch, BringsWhatTheResultsOfATileRead) {
  EXPECT_EQ(
      prefetches_of(kUpdatedWeights,
                    "oo, oi = split(o, 4); io, ii = split(i, 32); reorder(oo, io, t, oi, ii); unroll(oi); "
                    "vectorize(ii, 16); prefetch(w, t)"),
      "if 0 <= t < 8 {\nprefetch w[16*(t % 2) + 32*io + 384*oo + 96*(t / 2)]\n");
}

/// The next tile's 4 rows are contiguous: 24 lines over 96 steps.
TEST(Prefetch, BringsTheRowsOfTheNextTile) {
  EXPECT_EQ(prefetches_of(
                kRowsByColumns,
                "oo, oi = split(o, 4); reorder(oo, k, oi, t); unroll(oi); vectorize(t, 16); prefetch(d, k)"),
            "prefetch d[16*(k / 4) + 384*oo + 384]\n");
}

/// A block of 16 rows of 2 lines: the next one's come while two tiles of rows take this one.
TEST(Prefetch, BringsTheNextBlockThatAllRowsTake) {
  EXPECT_EQ(
      prefetches_of(
          kBlocksOfColumns,
          "reorder(t, i); io, ii = split(i, 32); to, ti = split(t, 4); oo, oi = split(o, 16); "
          "cache_write(io); reorder(io, oo, to, oi, ti, ii); unroll(ti); vectorize(ii, 16); prefetch(w, oi)"),
      "prefetch w[1536*oo + 16*(oi % 2) + 32*io + 768*to_2 + 96*(oi / 2) + 1536]\n");
}

/// Several lines a step where there are more lines than steps, up to four.
TEST(Prefetch, BringsSeveralLinesAtOnce) {
  EXPECT_EQ(
      prefetches_of(kUpdatedWeights,
                    "oo, oi = split(o, 12); io, ii = split(i, 16); reorder(oo, io, t, oi, ii); unroll(oi); "
                    "vectorize(ii, 16); prefetch(w, t)"),
      "if 0 <= 2*t < 12 {\nprefetch w[1152*oo + 16*io + 192*t]\n"
      "if 0 <= 2*t + 1 < 12 {\nprefetch w[1152*oo + 16*io + 192*t + 96]\n");
}

TEST(Prefetch, IsLeftOutOfASumWithoutTerms) {
  EXPECT_EQ(prefetches_of(
                "def @main(%d: Tensor[(24, 0), float32], %x: Tensor[(0, 16), float32]) "
                "{ [o < 24, t < 16] => sum[k < 0] %d[o, k] * %x[k, t] }",
                "oo, oi = split(o, 4); reorder(oo, k, oi, t); unroll(oi); vectorize(t, 16); prefetch(d, k)"),
            "");
}

/// All tiles read the same columns.
TEST(Prefetch, IsLeftOutWhereTheNextTileReadsTheSame) {
  EXPECT_EQ(prefetches_of(
                kRowsByColumns,
                "oo, oi = split(o, 4); reorder(oo, k, oi, t); unroll(oi); vectorize(t, 16); prefetch(x, k)"),
            "");
}

TEST(Prefetch, SaysWhereItCannotBe) {
  EXPECT_EQ(prefetches_of(kRowsByColumns, "prefetch(y, k)"), "prefetch(y, k): there is no buffer `y`");
  EXPECT_EQ(prefetches_of(kRowsByColumns, "prefetch(d, o)"), "prefetch(d, o): `o` is not of a reduction");
  EXPECT_EQ(prefetches_of(kRowsByColumns, "prefetch(d, k); prefetch(d, k)"),
            "prefetch(d, k): `d` is prefetched already");
  EXPECT_EQ(prefetches_of(kRowsByColumns, "prefetch(d, k); ko, ki = split(k, 4)"),
            "`k` is not around a tile, or an element, of the reduction");
}

}  // namespace
}  // namespace quern::loops
