// Schedules: their text, what a step cannot do, and the loops that they make.

#include <gtest/gtest.h>

#include "frontend/index/schedule_clause.h"
#include "jit/schedule/stated.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;

/// A load of the tensor's element at the indices, of a buffer with these extents.
ValuePtr element(int buffer, const std::vector<Dim>& shape, const std::vector<Dim>& at) {
  Dim offset = num(0);
  for (size_t a = 0; a < shape.size(); ++a) offset = dim_add(dim_mul(offset, shape[a]), at[a]);
  LoadValue v = load_value(buffer, DType::float32(), offset);
  v.indices = at;
  return make(std::move(v));
}

/// out[i, j] = sum over k of a[i, k] * b[k, j]
Computation product(Dim m, Dim n, Dim k_extent) {
  const Dim i = dim_var("i"), j = dim_var("j"), k = dim_var("k");
  Computation c;
  const DType f32 = DType::float32();
  c.buffers = {{"a", f32, {m, k_extent}}, {"b", f32, {k_extent, n}}, {"out", f32, {m, n}, true}};
  c.vars = {i, j};
  c.extents = {m, n};
  Reduction r{ReduceKind::Sum, {k}, {k_extent}};
  r.accumulator = f32;
  r.value = apply(ScalarOp::Mul, {element(0, {m, k_extent}, {i, k}), element(1, {k_extent, n}, {k, j})});
  c.reductions = {r};
  c.locals = 1;
  c.value = local(0, f32);
  c.store_offset = dim_add(dim_mul(i, n), j);
  return c;
}

std::string applied(Nest& nest, std::string_view text) {
  const auto schedule = parse_schedule(text);
  if (!schedule) return schedule.error().message;
  const auto done = nest.apply(*schedule);
  return done ? "" : done.error().message;
}

TEST(Schedule, ReadsWhatItWrites) {
  const std::string text =
      "io, ii = split(i, 14);\n"
      "f = fuse(a, b);\n"
      "pack(weight, 32; g; j; k, l);\n"
      "pack(data, 8 | 16; ; j; k);\n"
      "reorder(jo, io, k, ii, ji);\n"
      "unroll(k, 4);\n"
      "unroll(ii);\n"
      "vectorize(ji, ?);\n"
      "parallel(jo);\n"
      "peel(io);\n"
      "turn(x; v, u);\n"
      "turn_write(v, u);\n"
      "pack(weight, 32, 4; g; j; k, l);\n"
      "cache_read(weight, jo);\n"
      "cache_write(jo);\n"
      "compute_at(t, jo);\n"
      "inline(t);\n"
      "vthread(ii);\n"
      "bind(io, blockIdx.x);\n"
      "tensorize(ji, ki; x86.dot4_512);\n";
  const auto schedule = parse_schedule(text);
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(to_string(*schedule), text);
  const auto other = parse_schedule("io, ii = split(i, 14 | 7)");
  ASSERT_TRUE(other);
  EXPECT_NE(schedule->steps[0], other->steps[0]);
}

TEST(Schedule, ClosesWhatIsOpen) {
  const auto schedule = parse_schedule(
      "io, ii = split(i, ?); jo, ji = split(j, ?); ko, ki = split(k, 5 | 4); vectorize(ji, ?); unroll(ii, "
      "?); "
      "unroll(ko, ?)");
  ASSERT_TRUE(schedule) << schedule.error().message;
  const Computation computation = product(num(30), num(40), num(100));
  LoopNames names(computation);
  std::vector<LoopStep> steps;
  for (const ScheduleStep& step : schedule->steps) {
    const auto read = names.read(step);
    ASSERT_TRUE(read) << read.error().message;
    names.add(*read);
    steps.push_back(*read);
  }
  const std::vector<Knob> knobs = knobs_of(steps, computation, {.vector_bytes = 32});
  const auto closed_by = [&](const std::vector<size_t>& choices) {
    return to_string(names.written(closed(steps, knobs, choices)));
  };
  EXPECT_EQ(closed_by({}),
            "io, ii = split(i, 4);\njo, ji = split(j, 8);\nko, ki = split(k, 5);\nvectorize(ji, 8);\n"
            "unroll(ii);\nunroll(ko, 4);\n");
  ASSERT_EQ(knobs.size(), 6U);
  EXPECT_EQ(knobs[2].choices, (std::vector<int64_t>{5, 4}));
  EXPECT_EQ(closed_by({2, 1, 1}),
            "io, ii = split(i, 8);\njo, ji = split(j, 4);\nko, ki = split(k, 4);\nvectorize(ji, 8);\n"
            "unroll(ii);\nunroll(ko, 4);\n");
}

TEST(Schedule, StepsThatRulesMakeTakeWhatTheTableSays) {
  using Names = std::vector<std::vector<std::string>>;
  const auto made = [](Primitive primitive, std::vector<std::string> makes, Names loops,
                       std::vector<ScheduleNumber> numbers = {}) {
    return is_well_formed({primitive, std::move(makes), std::move(loops), std::move(numbers)});
  };
  EXPECT_TRUE(made(Primitive::Split, {"o", "i"}, {{"l"}}, {4}));
  EXPECT_TRUE(made(Primitive::Split, {"o", "i"}, {{"l"}}, {ScheduleNumber::open()}));
  EXPECT_FALSE(made(Primitive::Split, {"o"}, {{"l"}}, {4}));
  EXPECT_FALSE(made(Primitive::Split, {"o", "i"}, {{"l"}}));
  EXPECT_FALSE(made(Primitive::Split, {"o", "i"}, {{"l"}}, {0}));
  EXPECT_FALSE(made(Primitive::Split, {"o", "i"}, {{"l", "m"}}, {4}));
  EXPECT_TRUE(made(Primitive::Unroll, {}, {{"l"}}));
  EXPECT_TRUE(made(Primitive::Unroll, {}, {{"l"}}, {4}));
  EXPECT_FALSE(made(Primitive::Unroll, {}, {{"l"}}, {4, 4}));
  EXPECT_TRUE(made(Primitive::Reorder, {}, {{"l", "m", "k"}}));
  EXPECT_FALSE(made(Primitive::Reorder, {}, {{}}));
  EXPECT_TRUE(made(Primitive::Pack, {}, {{"b"}, {}, {"m"}, {"k"}}, {32}));
  EXPECT_TRUE(made(Primitive::Pack, {}, {{"b"}, {"l", "n"}, {"m"}, {"k"}}, {32, 4}));
  EXPECT_FALSE(made(Primitive::Pack, {}, {{"b"}, {}, {"m"}, {}}, {32}));
  EXPECT_FALSE(made(Primitive::Pack, {}, {{"b"}, {"m"}, {"k"}}, {32}));
  EXPECT_TRUE(made(Primitive::Tensorize, {}, {{"l", "m"}, {"x"}}));
  EXPECT_FALSE(made(Primitive::Tensorize, {}, {{"l"}, {"x"}}));
  EXPECT_FALSE(made(Primitive::Bind, {}, {{"l"}}));
}

TEST(Schedule, SaysWhatCannotBeDone) {
  Nest nest(product(num(30), num(40), num(20)));
  EXPECT_EQ(applied(nest, "io, ii = split(x, 3)"),
            "io, ii = split(x, 3): there is no loop `x`; the loops are i, j, k");
  EXPECT_EQ(applied(nest, "io, ii = split(i, 0)"),
            "a number of a schedule is an integer from 1 to 1048576: `o, i = split(l, n)`");
  EXPECT_EQ(applied(nest, "f = fuse(j, k)"), "f = fuse(j, k): `k` does not stand right inside of `j`");
  EXPECT_EQ(applied(nest, "j, k = split(i, 2)"), "j, k = split(i, 2): there is a loop `j` already");
  EXPECT_EQ(applied(nest, "parallel(k)"), "parallel(k): `k` is of a reduction");
  EXPECT_EQ(applied(nest, "turn_write(i, i)"), "turn_write(i, i): takes two loops, and not one twice");
  EXPECT_EQ(applied(nest, "turn(a; i, j)"), "turn(a; i, j): takes the two innermost loops");
  EXPECT_EQ(applied(nest, "pack(c, 8; ; j; k)"), "pack(c, 8; ; j; k): there is no buffer `c`");
  EXPECT_EQ(applied(nest, "pack(b, 8; ; j; i)"), "pack(b, 8; ; j; i): `b` is read along other loops too");
  EXPECT_EQ(applied(nest, "io, ii = split(i, 4)"), "");
  EXPECT_EQ(applied(nest, "reorder(ii, io)"),
            "reorder(ii, io): `ii` runs inside of `io`: how far depends on it");
  EXPECT_EQ(applied(nest, "io2, ii2 = split(io, 2)"),
            "io2, ii2 = split(io, 2): `io` counts the steps of a split; what can be split again is the step");
}

TEST(Schedule, TakesLoopsAsHandlesAndWritesNames) {
  // j and jo: the outer part of j cannot be `jo`.
  Computation c = product(num(30), num(40), num(20));
  c.vars[0] = dim_var("jo");
  Nest nest(c);
  const LoopId jo = nest.loop_of(c.vars[0]), j = nest.loop_of(c.vars[1]);
  const auto parts = nest.apply({Primitive::Split, {{j}}, {8}});
  ASSERT_TRUE(parts);
  EXPECT_FALSE(nest.apply({Primitive::Fuse, {{(*parts)[0], (*parts)[1]}}}));
  ASSERT_TRUE(nest.apply({Primitive::Split, {{jo}}, {5}}));
  ASSERT_TRUE(nest.apply({Primitive::Reorder, {{(*parts)[0], nest.loops()[0]}}}));
  const std::string text = to_string(nest.schedule());
  EXPECT_EQ(text, "jo_, ji = split(j, 8);\njoo, joi = split(jo, 5);\nreorder(jo_, joo);\n");
  Nest again(c);
  ASSERT_TRUE(again.apply(*parse_schedule(text)));
  EXPECT_EQ(again.loops(), nest.loops());
  EXPECT_EQ(applied(again, "unroll(j)"),
            "unroll(j): `j` is split or fused already; the loops are k, jo_, ji, joo, joi");
}

TEST(Schedule, SaysWhatThereIsNoCodeFor) {
  const auto message = [](std::string_view text, Dim n = num(40)) {
    Nest nest(product(num(30), n, num(20)));
    EXPECT_EQ(applied(nest, text), "");
    const auto complete = nest.is_complete();
    return complete ? std::string() : complete.error().message;
  };
  EXPECT_EQ(message("reorder(k, i, j)"), "a tile of more than 64 vectors");
  EXPECT_EQ(message("reorder(i, k, j)", dim_var("n")), "how far `j` runs in a tile is not known");
  EXPECT_EQ(message("jo, ji = split(j, 8); reorder(i, jo, k, ji); vectorize(i, 4)"),
            "`i` runs in lanes around a tile");
  EXPECT_EQ(message("vectorize(i, 4); vectorize(j, 4)"), "`i` is the second loop in lanes");
  EXPECT_EQ(message("jo, ji = split(j, 32); reorder(i, jo, k, ji); vectorize(ji, 16)"), "");
  EXPECT_EQ(message("turn_write(i, j)"), "results are stored along `i`, which is no loop of a tile");
  const std::string tile = "io, ii = split(i, 4); jo, ji = split(j, 32); reorder(io, jo, k, ii, ji); ";
  EXPECT_EQ(message("jo, ji = split(j, 8); reorder(i, jo, k, ji); turn_write(jo, ji)"),
            "results are stored along `jo`, which is no loop of a tile");
  EXPECT_EQ(
      message("io, ii = split(i, 4); jo, ji = split(j, 8); reorder(io, jo, k, ii, ji); turn_write(ii, ji)"),
      "results are turned from the lanes of `ji`, which is not the tile's last loop and in lanes");
  EXPECT_EQ(message(tile + "vectorize(ji, 32); turn_write(ii, ji)"),
            "results are turned from 2, 4, 8 or 16 lanes, and not from the 32 of `ji`");
  EXPECT_EQ(message(tile + "vectorize(ji, 16); turn_write(ii, ji); cache_write(io)"),
            "what is turned in registers is not in scratch memory");
  EXPECT_EQ(message(tile + "vectorize(ji, 16); turn_write(ii, ji)"), "");
}

TEST(Schedule, MakesTilesOfTwoHeights) {
  Nest nest(product(num(30), num(32), num(20)));
  ASSERT_EQ(applied(nest, "io, ii = split(i, 7); reorder(io, k, ii, j); vectorize(j, 16)"), "");
  const std::string text = print_kernel(nest.kernel());
  EXPECT_NE(text.find("acc0: float32[6, 32 by 16] = 0"), std::string::npos) << text;
  EXPECT_EQ(text.find("acc0: float32[7"), std::string::npos) << text;
}

TEST(Schedule, DoesThePartOfTheRangeThatIsAskedFor) {
  Nest nest(product(num(10), num(4), num(3)));
  ASSERT_EQ(applied(nest, "io, ii = split(i, 4); reorder(io, k, ii, j); vectorize(j, 4); parallel(io)"), "");
  const Kernel kernel = nest.kernel();
  ASSERT_TRUE(is_const(kernel.range, 3)) << print_kernel(kernel);
  const auto compiled = compile(kernel);
  GuardedArray a(DType::float32(), 30), b(DType::float32(), 12), out(DType::float32(), 40);
  const Scalar one = Scalar::from_int(DType::float32(), 1),
               untouched = Scalar::from_int(DType::float32(), -7);
  for (size_t i = 0; i < 30; ++i) a.set(i, one);
  for (size_t i = 0; i < 12; ++i) b.set(i, one);
  for (int64_t begin = 0; begin < 3; ++begin) {
    for (size_t i = 0; i < 40; ++i) out.set(i, untouched);
    ASSERT_EQ(run(*compiled, {&a, &b, &out}, {begin, begin + 1}), 0);
    // 10 rows in steps of 4, 3 and 3.
    const size_t first = begin == 0 ? 0 : begin == 1 ? 4 : 7, last = begin == 0 ? 4 : begin == 1 ? 7 : 10;
    for (size_t row = 0; row < 10; ++row)
      EXPECT_EQ(out[row * 4].as_double(), row >= first && row < last ? 3 : -7) << begin << ", row " << row;
  }
}

/// out[x, g, m] = sum over d of a[x, g, d] * b[g, m, d]
Computation grouped(int64_t rows, int64_t groups, int64_t columns, int64_t depth) {
  const Dim x = dim_var("x"), g = dim_var("g"), m = dim_var("m"), d = dim_var("d");
  const DType f32 = DType::float32();
  const auto at = [](Dim outer, int64_t extent, Dim inner) {
    return dim_add(dim_mul(outer, num(extent)), inner);
  };
  Computation c;
  c.buffers = {{"a", f32, {num(rows), num(groups), num(depth)}},
               {"b", f32, {num(groups), num(columns), num(depth)}},
               {"out", f32, {num(rows), num(groups), num(columns)}, true}};
  c.vars = {x, g, m};
  c.extents = {num(rows), num(groups), num(columns)};
  Reduction r{ReduceKind::Sum, {d}, {num(depth)}};
  r.accumulator = f32;
  r.value = apply(ScalarOp::Mul, {load(0, f32, at(at(x, groups, g), depth, d)),
                                  load(1, f32, at(at(g, columns, m), depth, d))});
  c.reductions = {r};
  c.locals = 1;
  c.value = local(0, f32);
  c.store_offset = at(at(x, groups, g), columns, m);
  return c;
}

/// Behind the arrays lies a page that cannot be read.
TEST(Schedule, LoadsGroupsSideBySideWithinTheTensor) {
  constexpr int64_t kRows = 5, kGroups = 6, kColumns = 5, kDepth = 7;
  Nest nest(grouped(kRows, kGroups, kColumns, kDepth));
  ASSERT_EQ(applied(nest,
                    "f = fuse(g, m); fo, fi = split(f, 15); xo, xi = split(x, 2); "
                    "reorder(fo, xo, d, xi, fi); vectorize(fi, 16)"),
            "");
  const auto compiled = compile(nest.kernel());
  GuardedArray a(DType::float32(), kRows * kGroups * kDepth),
      b(DType::float32(), kGroups * kColumns * kDepth), out(DType::float32(), kRows * kGroups * kColumns);
  for (size_t i = 0; i < a.size(); ++i)
    a.set(i, Scalar::from_int(DType::float32(), static_cast<int64_t>(i % 11)));
  for (size_t i = 0; i < b.size(); ++i)
    b.set(i, Scalar::from_int(DType::float32(), static_cast<int64_t>(i % 7)));
  ASSERT_EQ(run(*compiled, {&a, &b, &out}), 0);
  size_t at = 0;
  for (int64_t x = 0; x < kRows; ++x)
    for (int64_t g = 0; g < kGroups; ++g)
      for (int64_t m = 0; m < kColumns; ++m, ++at) {
        int64_t sum = 0;
        for (int64_t d = 0; d < kDepth; ++d)
          sum += (((x * kGroups + g) * kDepth + d) % 11) * (((g * kColumns + m) * kDepth + d) % 7);
        EXPECT_EQ(out[at].as_double(), static_cast<double>(sum)) << x << ", " << g << ", " << m;
      }
}

}  // namespace
}  // namespace quern::loops
