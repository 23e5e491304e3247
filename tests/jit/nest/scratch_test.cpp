// Schedules with scratch memory, stages, virtual threads and the grid of a GPU: the loops that they make, and
// what is refused.

#include <gtest/gtest.h>

#include "frontend/index/schedule_clause.h"
#include "jit/nest/nest.h"
#include "session/session.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;

/// The nest of @main, as it is written.
Nest nest_of(const std::string& program) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "test.relay", program);
  const Definition* main = session.definition(module, "main");
  if (main) return Nest(staged_computation_of(*as<FnExpr>(main->body)));
  ADD_FAILURE() << program;
  return Nest(Computation());
}

/// The loops, or why there are none.
std::string loops_of(const std::string& program, const std::string& schedule) {
  Nest nest = nest_of(program);
  const auto steps = parse_schedule(schedule);
  if (!steps) return steps.error().message;
  if (const auto done = nest.apply(*steps); !done) return done.error().message;
  if (const auto complete = nest.is_complete(); !complete) return complete.error().message;
  return "\n" + print_kernel(nest.kernel());
}

const char* const kProduct =
    "def @main(%a: Tensor[(8, 6), float32], %b: Tensor[(6, 16), float32]) "
    "{ [i < 8, j < 16] => max(sum[k < 6] %a[i, k] * %b[k, j], 0.0) }";
const char* const kUnknownProduct =
    "def @main[m, n, l](%a: Tensor[(m, l), float32], %b: Tensor[(l, n), float32]) "
    "{ [i < m, j < n] => sum[k < l] %a[i, k] * %b[k, j] }";
const char* const kWindow =
    "def @main(%x: Tensor[(30,), float32], %w: Tensor[(3,), float32]) "
    "{ [x < 15] => sum[s < 3] (%x[2 * x + s - 1] else 0.0) * %w[s] }";
const char* const kStages =
    "def @main(%a: Tensor[(8, 16), float32]) "
    "{ let %t = [i < 8, j < 16] => exp(%a[i, j]); [i < 8, j < 16] => max[r < 3] (%t[i + r - 1, j] else 0.0) "
    "}";
const char* const kSums =
    "def @main[m](%a: Tensor[(m, 16), float32]) "
    "{ let %t = [i < m] => sum[r < 16] %a[i, r]; [i < m, j < 16] => %a[i, j] / %t[i] }";

// --- cache_read ------------------------------------------------------------------------------------

TEST(CacheRead, CopiesWhatATileReads) {
  EXPECT_EQ(loops_of(kProduct,
                     "jo, ji = split(j, 8); ko, ki = split(k, 3); reorder(jo, ko, ki, i, ji); "
                     "vectorize(ji, 8); cache_read(b, ko)"),
            R"(
kernel(a: float32[8, 6], b: float32[6, 16], out: float32[8, 16], b_cache: scratch float32[3, 8]) dims() {
  for jo in 0..2 {
    acc0: float32[8, 8 by 8] = 0
    for ko in 0..2 {
      for b0 in 0..3 {
        for b1 in 0..8 vectorize 8 {
          b_cache[8*b0 + b1] = b[16*b0 + 48*ko + 8*jo + b1]
        }
      }
      for ki in 0..3 {
        for i in 0..8 unroll {
          for ji in 0..8 vectorize 8 unroll {
            acc0[i, ji] += a[3*ko + 6*i + ki] * b_cache[8*ki + ji]
          }
        }
      }
    }
    for i_2 in 0..8 unroll {
      for ji_2 in 0..8 vectorize 8 unroll {
        out[16*i_2 + 8*jo + ji_2] = max(acc0[i_2, ji_2], 0)
      }
    }
  }
}
)");
}

TEST(CacheRead, CopiesEachElementOfAWindowOnce) {
  EXPECT_EQ(loops_of(kWindow, "xo, xi = split(x, 5); cache_read(x, xo)"), R"(
kernel(x: float32[30], w: float32[3], out: float32[15], x_cache: scratch float32[11]) dims() {
  for xo in 0..3 {
    for x0 in 0..11 vectorize 16 {
      x_cache[x0] = (x[10*xo + x0 - 1] if 0 <= 10*xo + x0 - 1 < 30 else 0)
    }
    for xi in 0..5 {
      acc0: float32 = 0
      for s in 0..3 {
        if 0 <= 10*xo + 2*xi + s - 1 < 30 {
          acc0 += x_cache[2*xi + s] * w[s]
        }
      }
      out[5*xo + xi] = acc0
    }
  }
}
)");
}

TEST(CacheRead, LeavesOutWhatNoStepReads) {
  const std::string text =
      loops_of("def @main(%x: Tensor[(30,), float32]) { [i < 10] => %x[3 * i] }", "cache_read(x, io)");
  EXPECT_EQ(text, "cache_read(x, io): there is no loop `io`; the loops are i");
  EXPECT_NE(loops_of("def @main(%x: Tensor[(30,), float32]) { [i < 10] => %x[3 * i] }",
                     "io, ii = split(i, 5); cache_read(x, io)")
                .find("x_cache: scratch float32[5]"),
            std::string::npos);
}

TEST(CacheRead, CopiesTheRestOfASplit) {
  const std::string text = loops_of(kUnknownProduct,
                                    "ko, ki = split(k, 8); jo, ji = split(j, 16); "
                                    "reorder(i, jo, ko, ki, ji); vectorize(ji, 16); cache_read(b, ko)");
  EXPECT_NE(text.find("for b0_2 in 0..l % 8 {"), std::string::npos) << text;
}

TEST(CacheRead, CopiesPackedTiles) {
  EXPECT_EQ(loops_of(kProduct,
                     "pack(b, 8; ; j; k); jo, ji = split(j, 8); reorder(jo, i, k, ji); "
                     "vectorize(ji, 8); cache_read(b_packed, jo)"),
            R"(
kernel(a: float32[8, 6], b: float32[6, 16], out: float32[8, 16], b_packed: float32[2, 6, 8], b_packed_cache: scratch float32[6, 8]) dims() {
  for jo in 0..2 {
    for b_packed1 in 0..6 {
      for b_packed2 in 0..8 vectorize 8 {
        b_packed_cache[8*b_packed1 + b_packed2] = b_packed[48*jo + 8*b_packed1 + b_packed2]
      }
    }
    for i in 0..8 {
      acc0: float32[8 by 8] = 0
      for k in 0..6 {
        for ji in 0..8 vectorize 8 unroll {
          acc0[ji] += a[6*i + k] * b_packed_cache[8*k + ji]
        }
      }
      for ji_2 in 0..8 vectorize 8 unroll {
        out[16*i + 8*jo + ji_2] = max(acc0[ji_2], 0)
      }
    }
  }
}
)");
}

TEST(CacheRead, SaysWhereItCannotBe) {
  EXPECT_EQ(loops_of(kProduct, "cache_read(c, i)"), "cache_read(c, i): there is no buffer `c`");
  EXPECT_EQ(loops_of(kProduct, "cache_read(a)"), "`cache_read` takes a loop more: `cache_read(b, l)`");
  EXPECT_EQ(loops_of(kProduct, "cache_read(a, i); cache_read(a, j)"),
            "cache_read(a, j): `a` is in scratch memory already");
  EXPECT_EQ(loops_of(kProduct, "cache_read(a, i); io, ii = split(i, 2)"),
            "`a` is in scratch memory inside of `i`, which is split or fused");
  EXPECT_EQ(loops_of(kProduct, "vectorize(j, 8); cache_read(b, j)"),
            "`b` is in scratch memory inside of `j`, which runs in lanes");
  EXPECT_EQ(loops_of(kProduct, "jo, ji = split(j, 8); reorder(i, jo, k, ji); cache_read(b, ji)"),
            "`b` is in scratch memory inside of `ji`, which is in a tile");
  EXPECT_EQ(loops_of(kProduct, "cache_read(a, i); parallel(j)"),
            "every thread would fill the scratch memory of `a`: `i` runs around `j`, whose steps they share");
  EXPECT_EQ(loops_of(kUnknownProduct, "cache_read(a, i)"),
            "`a` cannot be in scratch memory inside of `i`: how far `k` runs is not known");
  EXPECT_EQ(
      loops_of("def @main(%a: Tensor[(9, 40000), float64]) { [i < 3] => sum[r < 9, s < 40000] %a[r, s] }",
               "cache_read(a, i)"),
      "`a` cannot be in scratch memory inside of `i`: that would take more than 1 MiB");
  EXPECT_EQ(loops_of("def @main(%a: Tensor[(9,), float32], %p: Tensor[(4,), int64]) "
                     "{ [i < 4] => %a[%p[i]] }",
                     "cache_read(a, i)"),
            "cache_read(a, i): where `a` is read is known at run time only");
  EXPECT_EQ(loops_of("def @main(%a: Tensor[(9, 9), float32]) { [i < 9, j < 9] => %a[i, j] + %a[j, i] }",
                     "cache_read(a, i)"),
            "`a` cannot be in scratch memory inside of `i`: its reads are not a fixed distance apart");
  EXPECT_EQ(loops_of("def @main(%a: Tensor[(9,), float32]) { [i < 9] => 1.0 }", "cache_read(a, i)"),
            "cache_read(a, i): `a` is not read");
}

/// A read that stops the kernel outside of its tensor does so when it comes to it, and not before.
TEST(CacheRead, KeepsTraps) {
  const DType f32 = DType::float32();
  for (const int64_t extent : {8, 10}) {
    const Dim i = dim_var("i");
    Computation c;
    c.buffers = {{"a", f32, {num(10)}}, {"out", f32, {num(extent)}, true}};
    c.vars = {i};
    c.extents = {num(extent)};
    LoadValue read = load_value(0, f32, dim_add(i, num(2)));
    read.indices = {read.offset};
    c.value = load_trap(std::move(read), {{dim_add(i, num(2)), nullptr, num(10), num(1)}}, 1);
    c.store_offset = i;
    c.traps = {"outside"};
    Nest nest(std::move(c));
    const auto schedule = parse_schedule("io, ii = split(i, 4); cache_read(a, io)");
    ASSERT_TRUE(nest.apply(*schedule));
    ASSERT_TRUE(nest.is_complete());
    const auto compiled = compile(nest.kernel());
    GuardedArray a(f32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), out(f32, static_cast<size_t>(extent));
    EXPECT_EQ(run(*compiled, {&a, &out}), extent == 8 ? 0 : 1);
    for (size_t k = 0; k < 8; ++k) EXPECT_EQ(out[k].as_double(), static_cast<double>(k) + 2);
  }
}

// --- cache_write -----------------------------------------------------------------------------------

TEST(CacheWrite, BlocksAReduction) {
  EXPECT_EQ(loops_of(kProduct,
                     "io, ii = split(i, 4); ko, ki = split(k, 3); cache_write(j); "
                     "reorder(j, ko, io, ki, ii)"),
            R"(
kernel(a: float32[8, 6], b: float32[6, 16], out: float32[8, 16], out_cache: scratch float32[8]) dims() {
  for j in 0..16 {
    for io in 0..2 {
      for ii in 0..4 unroll {
        out_cache[4*io + ii] = 0
      }
    }
    for ko in 0..2 {
      for io_2 in 0..2 {
        acc0: float32[4] = 0
        for ii_2 in 0..4 unroll {
          acc0[ii_2] = out_cache[4*io_2 + ii_2]
        }
        for ki in 0..3 {
          for ii_3 in 0..4 unroll {
            acc0[ii_3] += a[24*io_2 + 3*ko + 6*ii_3 + ki] * b[16*ki + 48*ko + j]
          }
        }
        for ii_4 in 0..4 unroll {
          out_cache[4*io_2 + ii_4] = acc0[ii_4]
        }
      }
    }
    for io_3 in 0..2 {
      for ii_5 in 0..4 unroll {
        out[16*ii_5 + 64*io_3 + j] = max(out_cache[4*io_3 + ii_5], 0)
      }
    }
  }
}
)");
}

TEST(CacheWrite, SaysWhereItCannotBe) {
  EXPECT_EQ(loops_of(kProduct, "cache_write(k)"), "cache_write(k): `k` is of a reduction");
  EXPECT_EQ(loops_of(kProduct, "cache_write(i); cache_write(j)"),
            "cache_write(j): `out` is in scratch memory already");
  EXPECT_EQ(loops_of(kUnknownProduct, "cache_write(i)"),
            "`out` cannot be in scratch memory inside of `i`: how far `j` runs is not known");
  EXPECT_EQ(loops_of(kProduct, "cache_write(j); reorder(i, k, j)"),
            "`out` is in scratch memory inside of `j`, which is in a tile");
  EXPECT_EQ(loops_of(kProduct, "reorder(k, j, i); ko, ki = split(k, 3); reorder(ko, j, ki, i)"),
            "reorder(ko, j, ki, i): the loops of a tile are inside of all loops of the reduction, where "
            "there is no `cache_write`");
}

// --- stages ----------------------------------------------------------------------------------------

TEST(Stages, AreComputedBeforeAllLoops) {
  EXPECT_EQ(loops_of(kStages, "vectorize(j, 8)"), R"(
kernel(a: float32[8, 16], out: float32[8, 16], t: scratch float32[8, 16]) dims() {
  for i in 0..8 {
    for j in 0..16 vectorize 8 {
      t[16*i + j] = exp(a[16*i + j])
    }
  }
  for i_2 in 0..8 {
    for j_2 in 0..16 vectorize 8 {
      acc0: float32 = -inf
      for r in 0..3 {
        acc0 max= (t[16*i_2 + 16*r + j_2 - 16] if 0 <= i_2 + r - 1 < 8 else 0)
      }
      out[16*i_2 + j_2] = acc0
    }
  }
}
)");
}

TEST(Stages, AreComputedInALoop) {
  EXPECT_EQ(loops_of(kStages, "io, ii = split(i, 4); vectorize(j, 8); compute_at(t, io)"), R"(
kernel(a: float32[8, 16], out: float32[8, 16], t: scratch float32[6, 16]) dims() {
  for io in 0..2 {
    for i in 0..6 {
      if 0 <= 4*io + i - 1 < 8 {
        for j in 0..16 vectorize 8 {
          t[16*i + j] = exp(a[16*i + 64*io + j - 16])
        }
      }
    }
    for ii in 0..4 {
      for j_2 in 0..16 vectorize 8 {
        acc0: float32 = -inf
        for r in 0..3 {
          acc0 max= (t[16*ii + 16*r + j_2] if 0 <= 4*io + ii + r - 1 < 8 else 0)
        }
        out[16*ii + 64*io + j_2] = acc0
      }
    }
  }
}
)");
}

TEST(Stages, AreComputedWhereTheyAreRead) {
  EXPECT_EQ(loops_of(kStages, "inline(t)"), R"(
kernel(a: float32[8, 16], out: float32[8, 16]) dims() {
  for i in 0..8 {
    for j in 0..16 {
      acc0: float32 = -inf
      for r in 0..3 {
        acc0 max= select((0 <= (i + r - 1)) and ((i + r - 1) < 8), exp((a[16*i + 16*r + j - 16] if 0 <= i + r - 1 < 8 else 0)), 0)
      }
      out[16*i + j] = acc0
    }
  }
}
)");
  EXPECT_EQ(loops_of(kSums, "inline(t)"), R"(
kernel(a: float32[m, 16], out: float32[m, 16]) dims(m) {
  for i in 0..m {
    for j in 0..16 {
      acc1: float32 = 0
      for r in 0..16 {
        acc1 += a[16*i + r]
      }
      acc2: float32 = acc1
      out[16*i + j] = a[16*i + j] / acc2
    }
  }
}
)");
}

TEST(Stages, SayWhereTheyCannotBe) {
  EXPECT_EQ(loops_of(kStages, "inline(a)"), "inline(a): there is no stage `a`");
  EXPECT_EQ(loops_of(kStages, "compute_at(t)"), "`compute_at` takes a loop more: `compute_at(t, l)`");
  EXPECT_EQ(loops_of(kStages, "compute_at(t, r)"), R"(
kernel(a: float32[8, 16], out: float32[8, 16], t: scratch float32[]) dims() {
  for i in 0..8 {
    for j in 0..16 {
      acc0: float32 = -inf
      for r in 0..3 {
        if 0 <= i + r - 1 < 8 {
          t[0] = exp(a[16*i + 16*r + j - 16])
        }
        acc0 max= (t[0] if 0 <= i + r - 1 < 8 else 0)
      }
      out[16*i + j] = acc0
    }
  }
}
)");
  EXPECT_EQ(loops_of(kStages, "parallel(i)"),
            "every thread would compute `t`: it can be computed at a loop, or inline");
  EXPECT_EQ(loops_of(kSums, ""), "how large `t` is, is not known: it can be computed at a loop, or inline");
  EXPECT_EQ(loops_of("def @main(%a: Tensor[(8,), float32]) { let %t = [i < 8] => exp(%a[i]); "
                     "let %u = [i < 7] => %t[i] + %t[i + 1]; [i < 7] => %u[i] }",
                     "compute_at(t, i)"),
            "compute_at(t, i): `t` is read by `u` too, which is not inside of `i`");
  EXPECT_EQ(loops_of(kStages, "cache_read(t, i); inline(t)"), "inline(t): `t` is read from scratch memory");
  EXPECT_EQ(loops_of("def @main(%a: Tensor[(8, 4), float32], %b: Tensor[(4, 4), float32]) "
                     "{ let %t = [i < 8, k < 4] => sum[r < 4] %a[i, r] * %b[r, k]; "
                     "[i < 8, j < 4] => sum[k < 4] %t[i, k] * %b[k, j] }",
                     "reorder(i, k, j); inline(t)"),
            "inline(t): `t` is a reduction, and a tile is of one reduction and of nothing else");
  EXPECT_EQ(loops_of("def @main(%a: Tensor[(8,), float32], %p: Tensor[(8,), int64]) "
                     "{ let %t = [i < 8] => %a[%p[i]]; [i < 8] => (%t[i + 1] else 0.0) }",
                     "inline(t)"),
            "inline(t): `t` is read with padding, and may stop the kernel");
}

// --- vthread ---------------------------------------------------------------------------------------

TEST(Vthread, TakesTurnsInsideOfTheReduction) {
  EXPECT_EQ(loops_of(kProduct,
                     "io, ii = split(i, 4); jo, ji = split(j, 8); vthread(io); vectorize(ji, 8); "
                     "reorder(ii, jo, k, io, ji)"),
            R"(
kernel(a: float32[8, 6], b: float32[6, 16], out: float32[8, 16]) dims() {
  for ii in 0..4 {
    for jo in 0..2 {
      acc0: float32[2, 8 by 8] = 0
      for k in 0..6 {
        for io in 0..2 unroll {
          for ji in 0..8 vectorize 8 unroll {
            acc0[io, ji] += a[24*io + 6*ii + k] * b[16*k + 8*jo + ji]
          }
        }
      }
      for io_2 in 0..2 unroll {
        for ji_2 in 0..8 vectorize 8 unroll {
          out[16*ii + 64*io_2 + 8*jo + ji_2] = max(acc0[io_2, ji_2], 0)
        }
      }
    }
  }
}
)");
}

TEST(Vthread, SaysWhatCannotTakeTurns) {
  EXPECT_EQ(loops_of(kProduct, "vthread(k)"), "vthread(k): `k` is of a reduction");
  EXPECT_EQ(loops_of(kUnknownProduct, "vthread(i)"), "vthread(i): `i` may have more than 16 steps");
  EXPECT_EQ(loops_of(kProduct, "vectorize(j, 8); vthread(j)"), "vthread(j): `j` runs in lanes");
  EXPECT_EQ(loops_of(kProduct, "io, ii = split(i, 3); vthread(io)"),
            "vthread(io): `ii` runs inside of `io`: how far depends on it");
  EXPECT_EQ(loops_of(kProduct, "vthread(i, 4)"), "`vthread` takes nothing more here: `vthread(l)`");
}

// --- bind ------------------------------------------------------------------------------------------

TEST(Bind, NamesTheIndexOfTheGrid) {
  EXPECT_EQ(loops_of(kProduct, "bind(i, blockIdx.x); bind(j, threadIdx.x)"), R"(
kernel(a: float32[8, 6], b: float32[6, 16], out: float32[8, 16]) dims() {
  for i in 0..8 bind blockIdx.x {
    for j in 0..16 bind threadIdx.x {
      acc0: float32 = 0
      for k in 0..6 {
        acc0 += a[6*i + k] * b[16*k + j]
      }
      out[16*i + j] = max(acc0, 0)
    }
  }
}
)");
}

TEST(Bind, SaysWhatCannotBeBound) {
  EXPECT_EQ(loops_of(kProduct, "bind(k, threadIdx.x)"), "bind(k, threadIdx.x): `k` is of a reduction");
  EXPECT_EQ(
      loops_of(kProduct, "bind(i, threadIdx)"),
      "bind(i, threadIdx): there is no `threadIdx`; there are blockIdx.x, .y, .z and threadIdx.x, .y, .z");
  EXPECT_EQ(loops_of(kProduct, "bind(i, blockIdx.x); bind(j, blockIdx.x)"),
            "bind(j, blockIdx.x): blockIdx.x is the index of `i` already");
  EXPECT_EQ(loops_of(kProduct, "bind(i, blockIdx.x); io, ii = split(i, 2)"),
            "`i` is blockIdx.x, and split or fused");
  EXPECT_EQ(loops_of(kProduct, "bind(j, threadIdx.x); reorder(i, k, j)"),
            "`j` is threadIdx.x, inside of a loop of the reduction");
  EXPECT_EQ(loops_of(kProduct, "bind(i, blockIdx.x); unroll(i)"),
            "the steps of `i` are to be done by blockIdx.x, and not in another way");
  EXPECT_EQ(loops_of(kProduct, "bind(i)"), "`bind` takes a name more: `bind(l, blockIdx.x)`");
}

TEST(Bind, IsNotForTheHost) {
  Nest nest = nest_of(kProduct);
  ASSERT_TRUE(nest.apply(*parse_schedule("bind(i, blockIdx.x)")));
  const auto compiled = code_generator().compile(nest.kernel());
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().message, "The host has no grid of threads: `bind` is for GPUs.");
}

}  // namespace
}  // namespace quern::loops
