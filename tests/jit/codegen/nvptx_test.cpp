#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frontend/index/schedule_clause.h"
#include "jit/codegen/codegen.h"
#include "jit/nest/nest.h"
#include "tests/dtypes.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;

/// out[i, j] = 2.5 * x[i, j] + y[j], as a nest of two loops.
loops::Kernel saxpy(loops::ValuePtr (*function)(loops::ValuePtr)) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const Dim at = dim_add(dim_mul(i, m), j);
  const auto scaled = apply(ScalarOp::Mul, {constant(kFloat, 2.5), function(load(0, kFloat, at))});
  const auto body = store(2, at, apply(ScalarOp::Add, {scaled, load(1, kFloat, j)}));
  return kernel("saxpy", {{"x", kFloat, {n, m}}, {"y", kFloat, {m}}, {"out", kFloat, {n, m}, true}}, {n, m},
                {loop(i, n, {vectorize(j, m, 16, {body})})});
}

loops::ValuePtr itself(loops::ValuePtr x) { return x; }
loops::ValuePtr tanh_of(loops::ValuePtr x) { return apply(ScalarOp::Tanh, {x}); }
loops::ValuePtr sin_of(loops::ValuePtr x) { return apply(ScalarOp::Sin, {x}); }
loops::ValuePtr power_of(loops::ValuePtr x) { return apply(ScalarOp::Pow, {x, constant(kFloat, 1.5)}); }
loops::ValuePtr rest_of(loops::ValuePtr x) { return apply(ScalarOp::Mod, {x, constant(kFloat, 1.5)}); }

/// out[i, j] = sum over k of a[i, k] * b[k, j], with loops bound to the grid.
loops::Kernel bound_product(Dim m, Dim n, Dim k_extent, const std::string& more = "") {
  const Dim i = dim_var("i"), j = dim_var("j"), k = dim_var("k");
  loops::Computation c;
  c.buffers = {{"a", kFloat, {m, k_extent}}, {"b", kFloat, {k_extent, n}}, {"out", kFloat, {m, n}, true}};
  c.dims = {m, n, k_extent};
  std::erase_if(c.dims, [](Dim dim) { return dim->kind == DimKind::Const; });
  c.vars = {i, j};
  c.extents = {m, n};
  loops::Reduction r{ReduceKind::Sum, {k}, {k_extent}};
  r.accumulator = kFloat;
  loops::LoadValue a = load_value(0, kFloat, dim_add(dim_mul(i, k_extent), k));
  a.indices = {i, k};
  r.value = apply(ScalarOp::Mul, {make(std::move(a)), load(1, kFloat, dim_add(dim_mul(k, n), j))});
  c.reductions = {r};
  c.locals = 1;
  c.value = local(0, kFloat);
  c.store_offset = dim_add(dim_mul(i, n), j);
  loops::Nest nest(std::move(c));
  const auto schedule = parse_schedule(
      "io, ii = split(i, 4); jo, ji = split(j, 16); bind(io, blockIdx.y); bind(jo, blockIdx.x); "
      "bind(ji, threadIdx.x); reorder(io, jo, ji, k, ii)" +
      more);
  const auto done = nest.apply(*schedule);
  EXPECT_TRUE(done) << done.error().message;
  const auto complete = nest.is_complete();
  EXPECT_TRUE(complete) << complete.error().message;
  loops::Kernel kernel = nest.kernel();
  kernel.name = "product";
  return kernel;
}

/// The assembler's path, or empty.
std::string find_ptxas() {
  std::string folders = "/usr/local/cuda/bin";
  if (const char* path = std::getenv("PATH")) folders = std::string(path) + ":" + folders;
  for (size_t start = 0; start <= folders.size();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    std::string candidate = folders.substr(start, end - start) + "/ptxas";
    if (std::filesystem::exists(candidate)) return candidate;
    start = end + 1;
  }
  return "";
}

TEST(Nvptx, EmitsOneThreadPerElement) {
  const auto ptx = emit_ptx(saxpy(itself), "sm_90");
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_NE(ptx->find(".target sm_90"), std::string::npos);
  EXPECT_NE(ptx->find(".entry saxpy"), std::string::npos);
  EXPECT_NE(ptx->find("%tid.x"), std::string::npos);
  EXPECT_NE(ptx->find("ld.global"), std::string::npos);
  EXPECT_NE(ptx->find("st.global.f32"), std::string::npos);
}

TEST(Nvptx, TheAssemblerTakesIt) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas";
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const auto path = folder / ("quern_nvptx_test_" + std::to_string(getpid()) + ".ptx");
  std::vector<loops::Kernel> kernels{bound_product(num(32), num(70), num(20)),
                                     bound_product(dim_var("m"), dim_var("n"), dim_var("k")),
                                     bound_product(num(32), num(70), num(20), "; cache_read(a, ji)")};
  for (auto* function : {itself, tanh_of, sin_of, power_of}) kernels.push_back(saxpy(function));
  for (const loops::Kernel& kernel : kernels) {
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const auto ptx = emit_ptx(kernel, architecture);
      ASSERT_TRUE(ptx) << ptx.error().message;
      std::ofstream(path) << *ptx;
      const std::string command = ptxas + " -arch=" + architecture + " -o /dev/null " + path.string();
      EXPECT_EQ(std::system(command.c_str()), 0) << *ptx;
    }
  }
  std::filesystem::remove(path);
}

TEST(Nvptx, BindsLoopsToTheGrid) {
  const auto ptx = emit_ptx(bound_product(num(32), num(64), num(20)), "sm_90");
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_EQ(ptx->substr(0, ptx->find('\n')), "// launch: blockIdx.x = 4, blockIdx.y = 8, threadIdx.x = 16");
  for (const char* index : {"%ctaid.x", "%ctaid.y", "%tid.x"})
    EXPECT_NE(ptx->find(index), std::string::npos) << *ptx;
  EXPECT_EQ(ptx->find("%ntid"), std::string::npos);
}

TEST(Nvptx, HasScratchMemoryOfAThread) {
  const auto ptx =
      emit_ptx(bound_product(num(32), num(64), num(20), "; cache_read(a, ji); cache_write(ji)"), "sm_90");
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_NE(ptx->find("st.local.f32"), std::string::npos) << *ptx;
  EXPECT_NE(ptx->find("ld.local.f32"), std::string::npos) << *ptx;
}

/// Of a split whose last step is shorter both parts are done by the first threads.
TEST(Nvptx, TestsWhatTheGridMayExceed) {
  const auto count = [](const std::string& text, std::string_view part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const auto even = emit_ptx(bound_product(num(32), num(64), num(20)), "sm_90");
  const auto uneven = emit_ptx(bound_product(num(32), num(70), num(20)), "sm_90");
  ASSERT_TRUE(even && uneven);
  EXPECT_GT(count(*uneven, "setp"), count(*even, "setp"));
  const auto unknown = emit_ptx(bound_product(dim_var("m"), dim_var("n"), dim_var("k")), "sm_90");
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_NE(unknown->find("threadIdx.x = 16\n"), std::string::npos) << *unknown;
}

TEST(Nvptx, RefusesWhatItHasNoCodeFor) {
  const auto ptx = emit_ptx(saxpy(rest_of), "sm_90");
  ASSERT_FALSE(ptx);
  EXPECT_NE(ptx.error().message.find("fmod"), std::string::npos);
  EXPECT_FALSE(emit_ptx(saxpy(itself), "sm_1"));
}

}  // namespace
}  // namespace quern
