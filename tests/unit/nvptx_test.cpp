#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jit/codegen/codegen.h"
#include "tests/unit/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;

const DType kF32 = DType::float32();

/// out[i, j] = 2.5 * x[i, j] + y[j], as a nest of two loops.
loops::Kernel saxpy(loops::ValuePtr (*function)(loops::ValuePtr)) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const Dim at = dim_add(dim_mul(i, m), j);
  const auto scaled = apply(ScalarOp::Mul, {constant(kF32, 2.5), function(load(0, kF32, at))});
  const auto body = store(2, at, apply(ScalarOp::Add, {scaled, load(1, kF32, j)}));
  return kernel("saxpy", {{"x", kF32, {n, m}}, {"y", kF32, {m}}, {"out", kF32, {n, m}, true}}, {n, m},
                {loop(i, n, {vectorize(j, m, 16, {body})})});
}

loops::ValuePtr itself(loops::ValuePtr x) { return x; }
loops::ValuePtr tanh_of(loops::ValuePtr x) { return apply(ScalarOp::Tanh, {x}); }
loops::ValuePtr sin_of(loops::ValuePtr x) { return apply(ScalarOp::Sin, {x}); }
loops::ValuePtr power_of(loops::ValuePtr x) { return apply(ScalarOp::Pow, {x, constant(kF32, 1.5)}); }
loops::ValuePtr rest_of(loops::ValuePtr x) { return apply(ScalarOp::Mod, {x, constant(kF32, 1.5)}); }

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
  for (auto* function : {itself, tanh_of, sin_of, power_of}) {
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const auto ptx = emit_ptx(saxpy(function), architecture);
      ASSERT_TRUE(ptx) << ptx.error().message;
      std::ofstream(path) << *ptx;
      const std::string command = ptxas + " -arch=" + architecture + " -o /dev/null " + path.string();
      EXPECT_EQ(std::system(command.c_str()), 0) << *ptx;
    }
  }
  std::filesystem::remove(path);
}

TEST(Nvptx, RefusesWhatItHasNoCodeFor) {
  const auto ptx = emit_ptx(saxpy(rest_of), "sm_90");
  ASSERT_FALSE(ptx);
  EXPECT_NE(ptx.error().message.find("fmod"), std::string::npos);
  EXPECT_FALSE(emit_ptx(saxpy(itself), "sm_1"));
}

}  // namespace
}  // namespace quern
