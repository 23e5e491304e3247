// Compiled kernels as a whole: index arithmetic, run-time dims, stores, lifetimes.

#include "jit/codegen/codegen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "tests/dtypes.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;
using loops::Kernel;

/// out[i] = 2 * a[i] over a run-time extent.
Kernel doubling(int width) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const auto body = store(1, i, apply(ScalarOp::Mul, {load(0, kFloat, i), constant(kFloat, 2)}));
  return kernel("doubling", {{"a", kFloat, {n}}, {"out", kFloat, {n}, true}}, {n},
                {loop_of(i, n, width, {body})});
}

TEST(Codegen, OrcCompilesAndCallsAFunction) {
  EXPECT_TRUE(llvm_version().starts_with("19."));
  EXPECT_GE(code_generator().target().machine.vector_bytes, 16);
  EXPECT_FALSE(code_generator().target().cpu.empty());
  const auto compiled = compile(doubling(8));
  GuardedArray a(kFloat, {1, 2, 3});
  GuardedArray out(kFloat, 3);
  EXPECT_EQ(run(*compiled, {&a, &out}, {3}), 0);
  EXPECT_EQ(out.doubles(), (std::vector<double>{2, 4, 6}));
}

TEST(Codegen, ShowsItsCode) {
  const auto ir = code_generator().llvm_ir(doubling(8));
  ASSERT_TRUE(ir);
  EXPECT_NE(ir->find("define i32 @doubling(ptr"), std::string::npos);
  EXPECT_NE(ir->find("<8 x float>"), std::string::npos);
  const auto assembly = code_generator().assembly(doubling(8));
  ASSERT_TRUE(assembly);
  EXPECT_NE(assembly->find("doubling:"), std::string::npos);
}

TEST(Codegen, RefusesVectorElements) {
  Kernel packed = doubling(1);
  packed.buffers[0].dtype = {DTypeCode::Int, 8, 4};
  const auto compiled = code_generator().compile(packed);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message.find("int8x4"), std::string::npos);
}

TEST(Codegen, KernelsOutliveTheirGeneratorAndMayShareAName) {
  std::shared_ptr<CompiledKernel> first;
  std::shared_ptr<CompiledKernel> second;
  {
    auto generator = CodeGenerator::create();
    ASSERT_TRUE(generator);
    first = *(*generator)->compile(doubling(8));
    second = *(*generator)->compile(doubling(1));
  }
  first.reset();
  GuardedArray a(kFloat, {5});
  GuardedArray out(kFloat, 1);
  EXPECT_EQ(run(*second, {&a, &out}, {1}), 0);
  EXPECT_EQ(out.doubles(), std::vector<double>{10});
}

TEST(Codegen, CompilesOnSeveralThreads) {
  code_generator();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 8; ++round) {
        const auto compiled = compile(doubling(t % 2 == 0 ? 16 : 4));
        GuardedArray a(kFloat, {1, 2, 3, 4, 5});
        GuardedArray out(kFloat, 5);
        EXPECT_EQ(run(*compiled, {&a, &out}, {5}), 0);
        EXPECT_EQ(out.doubles(), (std::vector<double>{2, 4, 6, 8, 10}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Codegen, ComputesEveryKindOfDim) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim shifted = dim_sub(i, m);  // negative at first
  const std::vector<Dim> dims{dim_add(dim_mul(num(3), dim_mul(i, n)), dim_sub(m, num(7))),
                              dim_floordiv(shifted, num(4)),
                              dim_floormod(shifted, num(4)),
                              dim_floordiv(shifted, n),
                              dim_floormod(shifted, n),
                              dim_floordiv(i, num(3)),
                              dim_floormod(i, n),
                              dim_floordiv(i, dim_add(n, num(1))),
                              dim_floordiv(shifted, dim_sub(num(2), n)),
                              dim_floormod(shifted, dim_sub(num(2), n)),
                              dim_min(i, dim_min(m, num(5))),
                              dim_max(shifted, dim_sub(n, i)),
                              dim_broadcast(n, m),
                              dim_broadcast(m, n),
                              dim_mul(i, i)};
  const auto count = static_cast<int64_t>(dims.size());
  for (const int width : {1, 8}) {
    std::vector<loops::StmtPtr> body;
    for (int64_t k = 0; k < count; ++k) {
      const Dim at = dim_add(dim_mul(i, num(count)), num(k));
      body.push_back(store(0, at, cast(kInt64, index(dims[static_cast<size_t>(k)]))));
    }
    const Dim extent = dim_add(m, n);
    const auto compiled = compile(kernel("dims", {{"out", kInt64, {extent, num(count)}, true}}, {n, m},
                                         {loop_of(i, extent, width, body)}));
    for (const auto& sizes : {std::pair<int64_t, int64_t>{3, 3}, {1, 10}, {5, 1}, {20, 20}}) {
      const int64_t n_value = sizes.first;
      const int64_t m_value = sizes.second;
      const auto total = static_cast<size_t>((n_value + m_value) * count);
      GuardedArray out(kInt64, total);
      ASSERT_EQ(run(*compiled, {&out}, {n_value, m_value}), 0);
      for (size_t k = 0; k < total; ++k) {
        const auto at = static_cast<int64_t>(k) / count;
        const Dim d = dims[k % dims.size()];
        const auto expected = evaluate(d, [&](Dim var) {
          return std::optional<int64_t>(var == n ? n_value : var == m ? m_value : at);
        });
        ASSERT_EQ(out[k].as_int(), expected.value())
            << to_string(d) << " at i = " << at << ", n = " << n_value;
      }
    }
  }
}

TEST(Codegen, TransposesOverRunTimeDims) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  for (const int width : {1, 4, 16}) {
    const auto read = store(1, dim_add(dim_mul(i, m), j), load(0, kFloat, dim_add(dim_mul(j, n), i)));
    const auto gathers = compile(kernel("gathers", {{"a", kFloat, {m, n}}, {"out", kFloat, {n, m}, true}},
                                        {n, m}, {loop(i, n, {loop_of(j, m, width, {read})})}));
    const auto scatters = compile(kernel("scatters", {{"a", kFloat, {m, n}}, {"out", kFloat, {n, m}, true}},
                                         {n, m}, {loop(j, m, {loop_of(i, n, width, {read})})}));
    for (const auto& [rows, columns] :
         {std::pair<int64_t, int64_t>{5, 37}, {33, 3}, {0, 4}, {4, 0}, {1, 1}}) {
      GuardedArray a(kFloat, static_cast<size_t>(rows * columns));
      for (size_t k = 0; k < a.size(); ++k) a.set(k, Scalar::from_double(kFloat, static_cast<double>(k)));
      for (const auto& compiled : {gathers, scatters}) {
        GuardedArray out(kFloat, a.size());
        ASSERT_EQ(run(*compiled, {&a, &out}, {rows, columns}), 0);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            ASSERT_EQ(out[static_cast<size_t>(r * columns + c)], a[static_cast<size_t>(c * rows + r)]);
          }
        }
      }
    }
  }
}

TEST(Codegen, StoresInAVectorLoopKeepTheOrderOfTheLanes) {
  const Dim i = dim_var("i");
  const auto one_place = vectorize(i, num(21), 8, {store(0, num(0), cast(kInt64, index(i)))});
  const auto reversed = vectorize(i, num(21), 8, {store(0, dim_sub(num(21), i), cast(kInt64, index(i)))});
  GuardedArray out(kInt64, 22);
  ASSERT_EQ(
      run(*compile(kernel("stores", {{"out", kInt64, {num(22)}, true}}, {}, {one_place, reversed})), {&out}),
      0);
  EXPECT_EQ(out[0].as_int(), 20);
  for (size_t k = 1; k < 22; ++k) EXPECT_EQ(out[k].as_int(), 21 - static_cast<int64_t>(k));
}

TEST(Codegen, SelectsByUniformAndByVaryingConditions) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const auto is_small = apply(ScalarOp::Lt, {index(i), index(num(3))});
  const auto is_long = apply(ScalarOp::Gt, {index(n), index(num(5))});
  const auto inner = select(is_long, load(0, kFloat, i), constant(kFloat, -1));
  const auto value = select(is_small, constant(kFloat, 0.5), inner);
  for (const int width : {1, 4}) {
    const auto compiled = compile(kernel("selects", {{"a", kFloat, {n}}, {"out", kFloat, {n}, true}}, {n},
                                         {loop_of(i, n, width, {store(1, i, value)})}));
    GuardedArray a(kFloat, {10, 11, 12, 13, 14, 15});
    GuardedArray out(kFloat, 6);
    ASSERT_EQ(run(*compiled, {&a, &out}, {6}), 0);
    EXPECT_EQ(out.doubles(), (std::vector<double>{0.5, 0.5, 0.5, 13, 14, 15}));
    GuardedArray shorter(kFloat, 4);
    GuardedArray fewer(kFloat, 4);
    ASSERT_EQ(run(*compiled, {&shorter, &fewer}, {4}), 0);
    EXPECT_EQ(fewer.doubles(), (std::vector<double>{0.5, 0.5, 0.5, -1}));
  }
}

/// out = a @ b with one output axis vectorised, the reduction inside it.
TEST(Codegen, MultipliesMatricesOverRunTimeDims) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim k = dim_var("k");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const Dim r = dim_var("r");
  const auto product = apply(ScalarOp::Mul, {load(0, kFloat, dim_add(dim_mul(i, k), r)),
                                             load(1, kFloat, dim_add(dim_mul(r, m), j))});
  for (const int width : {1, 16}) {
    const std::vector<loops::StmtPtr> cell{declare(0, kFloat, constant(kFloat, 0)),
                                           loop(r, k, {reduce(ReduceKind::Sum, 0, product)}),
                                           store(2, dim_add(dim_mul(i, m), j), local(0, kFloat))};
    const auto compiled = compile(
        kernel("matmul", {{"a", kFloat, {n, k}}, {"b", kFloat, {k, m}}, {"out", kFloat, {n, m}, true}},
               {n, m, k}, {loop(i, n, {loop_of(j, m, width, cell)})}, 1));
    const int64_t rows = 3;
    const int64_t columns = 37;
    for (const int64_t inner : {0, 1, 5}) {
      GuardedArray a(kFloat, static_cast<size_t>(rows * inner));
      GuardedArray b(kFloat, static_cast<size_t>(inner * columns));
      for (size_t e = 0; e < a.size(); ++e)
        a.set(e, Scalar::from_double(kFloat, static_cast<double>(e % 7) - 3));
      for (size_t e = 0; e < b.size(); ++e)
        b.set(e, Scalar::from_double(kFloat, static_cast<double>(e % 5) - 2));
      GuardedArray out(kFloat, static_cast<size_t>(rows * columns));
      ASSERT_EQ(run(*compiled, {&a, &b, &out}, {rows, columns, inner}), 0);
      for (int64_t e = 0; e < rows * columns; ++e) {
        double expected = 0;
        for (int64_t x = 0; x < inner; ++x) {
          expected += a[static_cast<size_t>(e / columns * inner + x)].as_double() *
                      b[static_cast<size_t>(x * columns + e % columns)].as_double();
        }
        ASSERT_EQ(out[static_cast<size_t>(e)].as_double(), expected);
      }
    }
  }
}

/// LLVM cannot split what takes vectors of 512 bits where it may use none.
TEST(Codegen, HasVectorsOf512BitsOnlyWhereLlvmMayUseThem) {
  const std::string wide = "+avx512f,+avx512vl,+avx512dq,";
  for (const auto& [features, bytes] : {std::pair(wide + "-evex512", 32), std::pair(wide + "+evex512", 64)}) {
    auto generator = CodeGenerator::create({.features = features});
    ASSERT_TRUE(generator) << generator.error().message;
    EXPECT_EQ((*generator)->target().machine.vector_bytes, bytes) << features;
  }
}

}  // namespace
}  // namespace quern
