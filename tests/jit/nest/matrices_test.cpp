// Products of matrices by intrinsics, on a model of the processor's registers for them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>

#include "frontend/index/schedule_clause.h"
#include "jit/nest/nest.h"
#include "jit/rules/schedule_default.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"
#include "tests/jit/nest/dots_in_programs.h"
#include "tests/jit/nest/matrix_model.h"

namespace quern {
namespace {

CodeGenerator& generator(Tiers tiers) {
  static auto first = CodeGenerator::create(matrix_model::machine(Tiers::First)),
              best = CodeGenerator::create(matrix_model::machine(Tiers::Best));
  auto& created = tiers == Tiers::First ? first : best;
  if (!created) std::abort();
  return **created;
}

CompilerOptions with_matrices(Tiers tiers, bool checks_bounds = false) {
  CompilerOptions options{.tiers = tiers, .checks_bounds = checks_bounds};
  options.features = matrix_model::kFeatures;
  options.stand_ins = matrix_model::stand_ins();
  return options;
}

/// Processors with matrices have AVX-512, whose vectors the rules for matrices fill.
bool has_wide_vectors() { return __builtin_cpu_supports("avx512f") != 0; }
constexpr const char* kNoWideVectors = "this machine has no AVX-512";

DotIntrinsics intrinsics() {
  Session session;
  DotIntrinsics found;
  std::ranges::copy_if(session.dot_intrinsics(), std::back_inserter(found),
                       [](const DotIntrinsicPtr& dot) { return dot->is_of_matrices(); });
  return found;
}

DotIntrinsicPtr intrinsic(const std::string& name) {
  Session session;
  for (const DotIntrinsicPtr& dot : session.dot_intrinsics())
    if (dot->name == name) return dot;
  std::abort();
}

// --- schedules ---------------------------------------------------------------------------------------

/// out[i, j] = sum over k of a[i, k] * b[k, j]
loops::Computation product(const DotIntrinsic& dot, int64_t rows, int64_t columns, int64_t depth) {
  using namespace loops::build;
  const Dim i = dim_var("i"), j = dim_var("j"), k = dim_var("k");
  const Dim m = num(rows), n = num(columns), depths = num(depth);
  loops::Computation c;
  c.buffers = {{"a", dot.a, {m, depths}}, {"b", dot.b, {depths, n}}, {"out", dot.accumulator, {m, n}, true}};
  c.vars = {i, j};
  c.extents = {m, n};
  loops::Reduction r{ReduceKind::Sum, {k}, {depths}};
  r.accumulator = dot.accumulator;
  r.value = apply(ScalarOp::Mul, {cast(dot.accumulator, load(0, dot.a, dim_add(dim_mul(i, depths), k))),
                                  cast(dot.accumulator, load(1, dot.b, dim_add(dim_mul(k, n), j)))});
  c.reductions = {r};
  c.locals = 1;
  c.value = local(0, dot.accumulator);
  c.store_offset = dim_add(dim_mul(i, n), j);
  return c;
}

std::string tile(const DotIntrinsic& dot, int64_t rows, int64_t columns, int64_t terms) {
  return fmt::format(
      "pack(b, {1}, {4}; ; j; k); io, ii = split(i, {0}); jo, ji = split(j, {1}); ko, ki = split(k, {2}); "
      "reorder(jo, io, ko, ki, ii, ji); unroll(ii); vectorize(ji, 16); tensorize(ii, ji, ki; {3})",
      rows, columns, terms, dot.name, dot.group);
}

std::string applied(loops::Nest& nest, const std::string& text) {
  const auto schedule = parse_schedule(text);
  if (!schedule) return schedule.error().message;
  const auto done = nest.apply(*schedule);
  return done ? "" : done.error().message;
}

TEST(Matrices, AreWrittenAsLoopsOverATile) {
  const DotIntrinsicPtr dot = intrinsic("x86.matrix4_us");
  loops::Nest nest(product(*dot, 20, 40, 128), {}, {dot});
  ASSERT_EQ(applied(nest, tile(*dot, 32, 32, 64)), "");
  const auto complete = nest.is_complete();
  ASSERT_TRUE(complete) << complete.error().message;
  EXPECT_EQ(
      loops::print_kernel(nest.kernel()),
      "kernel(a: uint8[20, 128], b: int8[128, 40], out: int32[20, 40], b_packed: int8[2, 32, 32, 4]) dims() "
      "{\n"
      "  acc0: int32[20, 32 by 16] in matrices of 64 terms = 0\n"
      "  for ko in 0..2 {\n"
      "    for ii in 0..20 unroll {\n"
      "      for ji in 0..32 vectorize 16 unroll {\n"
      "        acc0[ii, ji] += x86.matrix4_us(a[128*ii + 64*ko :64], b_packed[2048*ko + 4*ji :4 by 128])\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "  settle acc0\n"
      "  for ii_2 in 0..20 unroll {\n"
      "    for ji_2 in 0..32 vectorize 16 unroll {\n"
      "      out[40*ii_2 + ji_2] = acc0[ii_2, ji_2]\n"
      "    }\n"
      "  }\n"
      "  acc0: int32[20, 8 by 16] in matrices of 64 terms = 0\n"
      "  for ko_2 in 0..2 {\n"
      "    for ii_3 in 0..20 unroll {\n"
      "      for ji_3 in 0..8 vectorize 16 unroll {\n"
      "        acc0[ii_3, ji_3] += x86.matrix4_us(a[128*ii_3 + 64*ko_2 :64], b_packed[2048*ko_2 + 4*ji_3 + "
      "4096 :4 by 128])\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "  settle acc0\n"
      "  for ii_4 in 0..20 unroll {\n"
      "    for ji_4 in 0..8 vectorize 16 unroll {\n"
      "      out[40*ii_4 + ji_4 + 32] = acc0[ii_4, ji_4]\n"
      "    }\n"
      "  }\n"
      "}\n");
}

TEST(Matrices, SayWhatTheyCannotBeUsedFor) {
  const DotIntrinsicPtr dot = intrinsic("x86.matrix4_us");
  const auto message = [&](const std::string& text) {
    loops::Nest nest(product(*dot, 20, 40, 128), {}, {dot});
    return applied(nest, text);
  };
  const auto missing = [&](const std::string& text, int64_t depth = 128) {
    loops::Nest nest(product(*dot, 60, 90, depth), {}, {dot});
    EXPECT_EQ(applied(nest, text), "");
    const auto complete = nest.is_complete();
    return complete ? "" : complete.error().message;
  };
  EXPECT_EQ(
      message("vectorize(j, 16); tensorize(j, k; x86.matrix4_us)"),
      "tensorize(j, k; x86.matrix4_us): `x86.matrix4_us` does the steps of 3 loops: `tensorize(v, l, m; "
      "x86.matrix4_us)`");
  for (const int terms : {2, 6, 68})
    EXPECT_EQ(
        message(fmt::format("ko, ki = split(k, {}); vectorize(j, 16); tensorize(i, j, ki; x86.matrix4_us)",
                            terms)),
        "tensorize(i, j, ki; x86.matrix4_us): `ki` is not the inner part of a split of a reduction's loop "
        "into steps of 4, or of a multiple of it up to 64");
  EXPECT_EQ(missing(tile(*dot, 17, 48, 64)),
            "a tile of 2 by 3 matrices and their factors take more than 8 registers");
  EXPECT_EQ(missing(tile(*dot, 32, 32, 64), 100),
            "`x86.matrix4_us` takes 64 steps of `k` at once, and some are left");
  const std::string whole_row =
      "ko, ki = split(k, 64); jo, ji = split(j, 16); reorder(i, jo, ko, ki, ji); vectorize(ji, 16); "
      "tensorize(i, ji, ki; x86.matrix4_us)";
  EXPECT_EQ(missing(whole_row), "`x86.matrix4_us` takes a tile of `i` and `ji`, whose sums are in registers");
  EXPECT_EQ(
      missing("io, ii = split(i, 16); ko, ki = split(k, 64); jo, ji = split(j, 16); reorder(io, jo, ko, "
              "ki, ii, ji); vectorize(ji, 16); tensorize(ii, ji, ki; x86.matrix4_us)"),
      "elements of `b` do not lie in groups of 4 that `x86.matrix4_us` takes");
  // Padding is in whole rows: some terms of a row are not left out.
  const auto padded = [&](const std::string& name, bool in_rows) {
    const DotIntrinsicPtr own = intrinsic(name);
    loops::Computation c = product(*own, 60, 90, 128);
    const Dim at = in_rows ? c.vars[0] : c.reductions[0].vars[0];
    const loops::BoundsCheck inside{dim_sub(at, dim_const(1)), nullptr, dim_const(50), nullptr};
    loops::Reduction& r = c.reductions[0];
    r.checks = {inside};
    r.value = loops::replace<loops::LoadValue>(r.value, [&](loops::LoadValue load) -> loops::ValuePtr {
      if (load.buffer != 0) return nullptr;
      load.checks = {inside};
      load.otherwise = loops::constant(Scalar::from_int(load.dtype, 0));
      return loops::make(load);
    });
    loops::Nest nest(c, {}, {own});
    EXPECT_EQ(applied(nest, tile(*own, 32, 32, 8)), "");
    const auto complete = nest.is_complete();
    return complete ? "" : complete.error().message;
  };
  EXPECT_EQ(padded("x86.matrix4_us", true), "");
  EXPECT_EQ(padded("x86.matrix4_us", false), "what `a` has outside of its bounds counts");
  EXPECT_EQ(padded("x86.matrix2", true), "what `a` has outside of its bounds counts");
  const DotIntrinsicPtr other = intrinsic("x86.matrix4_su");
  loops::Nest nest(product(*dot, 20, 40, 128), {}, {other});
  EXPECT_EQ(applied(nest, tile(*other, 32, 32, 64)), "");
  EXPECT_EQ(nest.is_complete().error().message,
            "`x86.matrix4_su` adds up products of int8, in rows, and uint8, in columns, in int32");
}

/// Of all heights, widths and depths of tiles, between inaccessible pages.
TEST(Matrices, KeepWhatIsComputed) {
  std::mt19937 engine(3);
  const auto size = [](int64_t count) { return static_cast<size_t>(count); };
  for (const DotIntrinsicPtr& dot : intrinsics())
    for (const auto& [rows, columns, depth, high, wide, terms] :
         std::vector<std::array<int64_t, 6>>{{16, 16, 16 * dot->group, 16, 16, 16 * dot->group},
                                             {1, 1, dot->group, 16, 16, dot->group},
                                             {20, 40, 32 * dot->group, 32, 32, 16 * dot->group},
                                             {33, 17, 10 * dot->group, 33, 16, 5 * dot->group},
                                             {7, 49, 12 * dot->group, 7, 48, 4 * dot->group},
                                             {45, 33, 3 * dot->group, 9, 32, 3 * dot->group}}) {
      loops::Nest nest(product(*dot, rows, columns, depth), {}, {dot});
      ASSERT_EQ(applied(nest, tile(*dot, high, wide, terms)), "");
      const auto complete = nest.is_complete();
      ASSERT_TRUE(complete) << complete.error().message;
      const loops::Kernel form = loops::schedule_default(nest.packed().at(0).form, 64);
      const int64_t panels = (columns + wide - 1) / wide;
      GuardedArray a(dot->a, size(rows * depth)), b(dot->b, size(depth * columns));
      GuardedArray out(dot->accumulator, size(rows * columns)), packed(dot->b, size(panels * wide * depth));
      for (GuardedArray* array : {&a, &b})
        for (size_t i = 0; i < array->size(); ++i)
          array->set(i,
                     dot->a.is_float()
                         ? Scalar::from_double((*array)[0].dtype, static_cast<double>(engine() % 33) / 4 - 4)
                         : Scalar::from_int((*array)[0].dtype, static_cast<int64_t>(engine() % 256)));
      ASSERT_EQ(run(*compile(form), {&b, &packed}, {0, as_const(form.range).value_or(0)}), 0);
      for (const Tiers tiers : {Tiers::First, Tiers::Best}) {
        const int64_t before = matrix_model::products();
        const auto kernel = generator(tiers).compile(nest.kernel());
        ASSERT_TRUE(kernel) << kernel.error().message;
        ASSERT_EQ(run(**kernel, {&a, &b, &out, &packed}), 0);
        EXPECT_GT(matrix_model::products(), before);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            double sum = 0;  // of few bits: exact
            for (int64_t k = 0; k < depth; ++k)
              sum += a[size(i * depth + k)].as_double() * b[size(k * columns + j)].as_double();
            ASSERT_EQ(out[size(i * columns + j)].as_double(), sum) << dot->name << ": " << i << ", " << j;
          }
      }
    }
}

// --- code --------------------------------------------------------------------------------------------

TEST(Matrices, HaveInstructions) {
  auto plain = CodeGenerator::create({.tiers = Tiers::Best, .features = matrix_model::kFeatures});
  ASSERT_TRUE(plain);
  for (const DotIntrinsicPtr& dot : intrinsics()) {
    loops::Nest nest(product(*dot, 32, 32, 64 * dot->group), {}, {dot});
    ASSERT_EQ(applied(nest, tile(*dot, 32, 32, 16 * dot->group)), "");
    const auto text = (*plain)->assembly(nest.kernel());
    ASSERT_TRUE(text) << text.error().message;
    const std::string instruction = dot->llvm.substr(dot->llvm.rfind('.') + 1);
    size_t at = 0;
    for (const std::string& next :
         {std::string("ldtilecfg"), std::string("tilezero"), std::string("tileloadd"), instruction,
          std::string("tilestored"), std::string("tilerelease")}) {
      at = text->find(next, at);
      ASSERT_NE(at, std::string::npos) << dot->name << ": " << next << "\n" << *text;
    }
    // The sums stay in registers: they are stored after the loop alone.
    EXPECT_EQ(text->find(instruction, text->find("tilestored")), std::string::npos) << *text;
    EXPECT_EQ(text->find("quern_stand_in"), std::string::npos);
  }
  // Its code without optimisation links too; nothing runs it here.
  auto first = CodeGenerator::create({.tiers = Tiers::First, .features = matrix_model::kFeatures});
  ASSERT_TRUE(first);
  const DotIntrinsicPtr dot = intrinsic("x86.matrix2");
  loops::Nest nest(product(*dot, 32, 32, 64), {}, {dot});
  ASSERT_EQ(applied(nest, tile(*dot, 32, 32, 32)), "");
  EXPECT_TRUE((*first)->compile(nest.kernel()));
}

TEST(Matrices, AreNotThereWithoutTheirFeatures) {
  const auto has = [](const std::string& features) {
    auto created = CodeGenerator::create({.features = features});
    return created && (*created)->has(*intrinsic("x86.matrix4_ss"));
  };
  EXPECT_TRUE(has("+amx-tile,+amx-int8"));
  EXPECT_FALSE(has("-amx-tile,-amx-int8"));
  EXPECT_FALSE(has("+amx-tile,-amx-int8"));
  for (const std::string features : {"amx-tile", "+amx-tiles", "+amx-tile, +amx-int8"}) {
    auto created = CodeGenerator::create({.features = features});
    ASSERT_FALSE(created);
    EXPECT_NE(created.error().message.find("is no feature of x86_64: each is `+` or `-`"), std::string::npos)
        << created.error().message;
  }
}

// --- programs ----------------------------------------------------------------------------------------

std::vector<std::string> programs() {
  std::vector<std::string> all = contractions();
  for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{{64, 64, 64}, {50, 100, 96}, {8, 16, 20}})
    for (const auto& [left, right] : std::vector<std::array<std::string, 2>>{
             {"int8", "int8"}, {"uint8", "int8"}, {"int8", "uint8"}, {"uint8", "uint8"}})
      all.push_back(
          fmt::format("def @main(%a: Tensor[({0}, {2}), {3}], %b: Tensor[({2}, {1}), {4}]) {{ "
                      "[i < {0}, j < {1}] => sum[r < {2}] cast<int32>(%a[i, r]) * cast<int32>(%b[r, j]) }}",
                      m, n, k, left, right));
  for (const std::string dtype : {"int8", "uint8"})
    all.push_back(
        fmt::format("def @main(%a: Tensor[(64, 40), {0}], %b: Tensor[(24, 64), {0}]) {{ [i < 24, j < 40] => "
                    "sum[r < 64] cast<int32>(%a[r, j]) * cast<int32>(%b[i, r]) }}",
                    dtype));
  all.push_back(
      "def @main[n](%a: Tensor[(n, 64), int8], %b: Tensor[(40, 64), int8]) { "
      "nn.relu(nn.dense(%a, %b, out_dtype=\"int32\") - 7) }");
  for (const std::string rest :
       {"padding=[1, 1]", "padding=[1, 1], strides=[2, 2]", "padding=[2, 2], dilation=[2, 2]"})
    all.push_back(
        fmt::format("def @main(%a: Tensor[(1, 12, 18, 32), int8], %b: Tensor[(3, 3, 32, 48), int8]) {{ "
                    "nn.conv2d(%a, %b, data_layout=\"NHWC\", kernel_layout=\"HWIO\", "
                    "out_dtype=\"int32\", {}) }}",
                    rest));
  return all;
}

TEST(Matrices, AreTakenWhereTheyFit) {
  if (!has_wide_vectors()) GTEST_SKIP() << kNoWideVectors;
  const auto takes = [](const std::string& text) {
    return Main(text).loops(with_matrices(Tiers::First)).find("x86.matrix") != std::string::npos;
  };
  const auto all = programs();
  for (size_t k = contractions().size(); k < all.size(); ++k) EXPECT_TRUE(takes(all[k])) << all[k];
  const auto dense = [](const std::string& dtype, const std::string& out, int m, int n, int k) {
    return fmt::format(
        "def @main(%a: Tensor[({0}, {2}), {3}], %b: Tensor[({1}, {2}), {3}]) {{ "
        "nn.dense(%a, %b, out_dtype=\"{4}\") }}",
        m, n, k, dtype, out);
  };
  EXPECT_TRUE(takes(dense("bfloat16", "float32", 64, 64, 64)));
  EXPECT_TRUE(takes(dense("bfloat16", "bfloat16", 64, 64, 64)));
  // One row is read from memory once; of 61 terms some would be left; float16 has no such instruction.
  EXPECT_FALSE(takes(dense("int8", "int32", 1, 64, 64)));
  EXPECT_FALSE(takes(dense("int8", "int32", 64, 64, 61)));
  EXPECT_FALSE(takes(dense("float16", "float32", 64, 64, 64)));
  // 0 times an infinity is no number: padding of floats has to be left out.
  const auto convolution = [](const std::string& padding) {
    return "def @main(%a: Tensor[(1, 12, 18, 32), bfloat16], %b: Tensor[(3, 3, 32, 48), bfloat16]) { "
           "nn.conv2d(%a, "
           "%b, data_layout=\"NHWC\", kernel_layout=\"HWIO\", padding=[" +
           padding + "]) }";
  };
  EXPECT_TRUE(takes(convolution("0, 0")));
  EXPECT_TRUE(takes(convolution("1, 0")));
  EXPECT_FALSE(takes(convolution("0, 1")));
  // This machine has none, or has: nothing is taken that it does not have.
  EXPECT_EQ(Main(dense("int8", "int32", 64, 64, 64)).loops().find("x86.matrix") != std::string::npos,
            code_generator().has(*intrinsic("x86.matrix4_ss")));
}

class MatrixPrograms : public testing::TestWithParam<size_t> {};

TEST_P(MatrixPrograms, AreWhatTheInterpreterSays) {
  const std::string text = programs()[GetParam()];
  Main main(text);
  std::mt19937 engine(12);
  for (const int64_t unknown : {37, 6}) {
    const std::vector<Value> arguments = main.random_arguments(engine, unknown);
    const TensorPtr wanted = main.interpreted(arguments);
    for (const Tiers tiers : {Tiers::First, Tiers::Best})
      expect_same(main.compiled(arguments, with_matrices(tiers)), wanted, text);
    expect_same(main.compiled(arguments, with_matrices(Tiers::First, true)), wanted, text);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixPrograms, testing::Range(size_t{0}, programs().size()));

TEST(Matrices, AreReachedFromPrograms) {
  const auto program = [](const std::string& rows, int terms, const std::string& tensorize) {
    return fmt::format(
        "op mm(%a: Tensor[(m, 128), uint8], %b: Tensor[(80, 128), int8]) -> Tensor[(m, 80), int32] schedule "
        "{{ "
        "pack(b, 32, 4; ; j; r); ro, ri = split(r, {}); jo, ji = split(j, 32); io, ii = split(i, {}); "
        "reorder(jo, "
        "io, ro, ri, ii, ji); unroll(ii); vectorize(ji, 16); {}; }} {{ [i, j] => sum[r] cast<int32>(%a[i, "
        "r]) * "
        "cast<int32>(%b[j, r]) }}\n"
        "def @main(%a: Tensor[(50, 128), uint8], %b: Tensor[(80, 128), int8]) {{ mm(%a, %b) }}",
        terms, rows, tensorize);
  };
  const std::string matrices = program("32", 64, "tensorize(ii, ji, ri; x86.matrix4_us)");
  std::mt19937 engine(13);
  Main main(matrices);
  const std::vector<Value> arguments = main.random_arguments(engine);
  const int64_t before = matrix_model::products();
  expect_same(main.compiled(arguments, with_matrices(Tiers::First)), main.interpreted(arguments), matrices);
  EXPECT_GT(matrix_model::products(), before);
  CompilerOptions without;
  without.features = "-amx-tile,-amx-int8";
  EXPECT_NE(main.loops(without).find("this machine has no intrinsic `x86.matrix4_us`"), std::string::npos)
      << main.loops(without);
  if (code_generator().has(*intrinsic("x86.dot4_512"))) {
    Main vectors(program("6", 4, "tensorize(ji, ri; x86.dot4_512)"));
    EXPECT_NE(vectors.loops().find("x86.dot4_512(a["), std::string::npos);
    expect_same(vectors.compiled(arguments, {.tiers = Tiers::First}), vectors.interpreted(arguments),
                "vectors");
  }
}

TEST(Matrices, OfSixteenBitsAreAsNearAsIsSaid) {
  if (!has_wide_vectors()) GTEST_SKIP() << kNoWideVectors;
  const int64_t before = matrix_model::products();
  expect_near_sums(40, 50, 320, "bfloat16", with_matrices(Tiers::First));
  EXPECT_GT(matrix_model::products(), before);
}

TEST(Matrices, HaveTheSameBitsOnTwoThreads) {
  if (!has_wide_vectors()) GTEST_SKIP() << kNoWideVectors;
  const int64_t before = matrix_model::products();
  for (const std::string dtype : {"int8", "bfloat16"})
    expect_same_bits_on_two_threads(200, 300, 192, dtype, with_matrices(Tiers::First));
  EXPECT_GT(matrix_model::products(), before);
}

}  // namespace
}  // namespace quern
