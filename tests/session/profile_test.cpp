// What is told of kernels: their names, and what their calls took and did.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "jit/cache/kernel_name.h"
#include "jit/vm/operation_count.h"
#include "session/run/profile_report.h"
#include "tests/golden/run_program.h"
#include "tests/jit/nest/primitives_of_main.h"
#include "tests/session/compiled_main.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const char* const kDense =
    "def @main[n](%a: Tensor[(n, 30), float32], %b: Tensor[(70, 30), float32]) { nn.dense(%a, %b) }";
const char* const kElementwise =
    "def @main(%a: Tensor[(50, 20), float32], %b: Tensor[(50, 20), float32]) { exp(%a + %b) * %a }";

/// The profile of a program that runs some times; its unknown extents are 37.
std::vector<KernelProfile> profile_of(const std::string& text, int times) {
  CompiledMain main(text, {Tiers::First});
  main.compiler.set_profiling(true);
  for (int i = 0; i < times; ++i) main.run();
  return main.compiler.profile().kernels();
}

/// That of one kernel, without forms.
KernelProfile only_kernel(const std::string& text, int times = 1) {
  std::vector<KernelProfile> kernels = profile_of(text, times);
  std::erase_if(kernels, [](const KernelProfile& k) { return k.name.find("_pack") != std::string::npos; });
  EXPECT_EQ(kernels.size(), 1U) << text;
  return kernels.empty() ? KernelProfile() : kernels.front();
}

TEST(Profile, CountsCalls) {
  const KernelProfile kernel = only_kernel(kElementwise, 3);
  EXPECT_EQ(kernel.calls, 3U);
  EXPECT_GT(kernel.running.count(), 0);
  EXPECT_GT(kernel.compiling.count(), 0);
}

TEST(Profile, CountsWhatThePrimitiveSays) {
  const KernelProfile dense = only_kernel(kDense, 2);
  EXPECT_EQ(dense.operations, 2 * 2.0 * 37 * 70 * 30);
  EXPECT_EQ(dense.bytes, 2 * 4.0 * (37 * 30 + 70 * 30 + 37 * 70));
  const KernelProfile elementwise = only_kernel(kElementwise);
  EXPECT_EQ(elementwise.operations, 3.0 * 50 * 20);
  EXPECT_EQ(elementwise.bytes, 3 * 4.0 * 50 * 20);
}

TEST(Profile, CountsNoIndicesAndNoCasts) {
  EXPECT_EQ(only_kernel("def @main(%a: Tensor[(6, 50), float32]) { transpose(%a) }").operations, 0);
  EXPECT_EQ(
      only_kernel("def @main(%a: Tensor[(6, 50), float32]) { cast(cast(%a, \"int32\") + 1, \"float32\") }")
          .operations,
      0);
}

TEST(Profile, CountsEachStepOfRowsAndScans) {
  // The largest, the difference, exp, their sum, its inverse, the product.
  EXPECT_EQ(only_kernel("def @main(%a: Tensor[(7, 33), float32]) { nn.softmax(%a) }").operations,
            7 * (33 + 33 + 33 + 33 + 1 + 33));
  EXPECT_EQ(only_kernel("def @main(%a: Tensor[(6, 50), float32]) { cumsum(%a, axis=1) }").operations, 6 * 50);
}

TEST(Profile, IsOffAtFirst) {
  CompiledMain main(kDense, {Tiers::First});
  main.run();
  EXPECT_TRUE(main.compiler.profile().kernels().empty());
  main.compiler.set_profiling(true);
  main.run();
  main.compiler.set_profiling(false);
  main.run();
  for (const KernelProfile& kernel : main.compiler.profile().kernels()) EXPECT_LE(kernel.calls, 1U);
}

TEST(Profile, TakesCallsOfAllThreads) {
  Profile profile;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) profile.note_call("k", {std::chrono::nanoseconds(1), 2, 3});
      });
  }
  const KernelProfile kernel = profile.kernels().front();
  EXPECT_EQ(kernel.calls, 4000U);
  EXPECT_EQ(kernel.running.count(), 4000);
  EXPECT_EQ(kernel.operations, 8000);
}

// --- names -------------------------------------------------------------------------------------------------

TEST(KernelName, SaysTheOperatorsAsTheUserCalledThem) {
  EXPECT_THAT(only_kernel(kDense).name, MatchesRegex("dense_[0-9a-f]{8}"));
  EXPECT_THAT(only_kernel(kElementwise).name, MatchesRegex("add_exp_multiply_[0-9a-f]{8}"));
  EXPECT_THAT(only_kernel("def @main(%a: Tensor[(7, 33), float32]) { nn.softmax(%a) }").name,
              StartsWith("softmax_"));
}

TEST(KernelName, SaysTheUsersOwnDefinition) {
  EXPECT_THAT(only_kernel("op mine.twice(%x: Tensor[(n,), t]) -> Tensor[(n,), t] { [i] => %x[i] + %x[i] }\n"
                          "def @main(%a: Tensor[(7,), float32]) { mine.twice(%a) }")
                  .name,
              MatchesRegex("twice_[0-9a-f]{8}"));
}

TEST(KernelName, IsShortAndASymbol) {
  std::string chain = "%a";
  for (const char* f : {"tanh", "exp", "erf", "sqrt", "sigmoid", "nn.relu", "abs", "cos", "sin", "log"})
    chain = fmt::format("{}({})", f, chain);
  const std::string name =
      only_kernel(fmt::format("def @main(%a: Tensor[(7,), float32]) {{ {} }}", chain)).name;
  EXPECT_THAT(name, MatchesRegex("tanh_[a-z_]+_[0-9a-f]{8}"));
  EXPECT_LE(name.size(), 40U + 9U);
}

TEST(KernelName, IsTheSameInEachProcessAndForEachName) {
  const PrimitivesOfMain one("def @main(%a: Tensor[(7,), float32]) { exp(%a) }");
  const PrimitivesOfMain other("def @main(%b: Tensor[(7,), float32]) { exp(%b) }");
  const NameOfOrigin none;
  const auto name = [&](const FnExpr& f) { return kernel_name(f, canonical_text(f).text, none); };
  EXPECT_EQ(name(*one.primitives.at(0)), name(*other.primitives.at(0)));
  EXPECT_THAT(name(*one.primitives.at(0)), StartsWith("kernel_"));
}

TEST(PerfMap, HasKernelsByName) {
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  unlink(path.c_str());
  CompilerOptions options{Tiers::Both};
  options.perf_map = true;
  CompiledMain main(kElementwise, options);
  const TensorPtr named = main.run();
  main.compiler.wait_until_idle();
  EXPECT_TRUE(same_bits(main.run(), named));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  EXPECT_THAT(text.str(), MatchesRegex("([0-9a-f]+ [0-9a-f]+ add_exp_multiply_[0-9a-f]{8}\n)+"));
}

// --- reports -----------------------------------------------------------------------------------------------

std::vector<KernelProfile> two_kernels() {
  using std::chrono::microseconds;
  return {{"dense_1", 4, microseconds(2000), microseconds(500), 8e6, 4e6},
          {"take_2", 1, microseconds(1000), microseconds(0), std::nan(""), 1e6}};
}

TEST(ProfileReport, IsATable) {
  EXPECT_EQ(profile_text({}, {}), "no kernel was called\n");
  const std::string text = profile_text(two_kernels(), {40, 0, 2});
  std::istringstream lines(text);
  std::string title, dense, take, all, peaks;
  std::getline(lines, title);
  std::getline(lines, dense);
  std::getline(lines, take);
  std::getline(lines, all);
  std::getline(lines, peaks);
  EXPECT_THAT(title, StartsWith("kernel "));
  EXPECT_THAT(dense, MatchesRegex("dense_1 +4 +2\\.000 +500\\.0 +4\\.0 +10 % +2\\.0 +- +0\\.50"));
  EXPECT_THAT(take, MatchesRegex("take_2 +1 +1\\.000 +1000\\.0 +- +- +1\\.0 +- +0\\.00"));
  EXPECT_THAT(all, MatchesRegex("all +5 +3\\.000 +0\\.50"));
  EXPECT_EQ(dense.size(), title.size());
  EXPECT_EQ(all.size(), title.size());
  EXPECT_EQ(peaks, "peak 40.0 GFLOP/s in float32, copies - GB/s, 2 threads");
}

TEST(ProfileReport, IsJson) {
  const std::string text = profile_json(two_kernels(), {40, 10, 2});
  EXPECT_THAT(text, AllOf(HasSubstr("\"name\":\"dense_1\""), HasSubstr("\"operations\":null")));
}

TEST(ProfileReport, ComesAfterARun) {
  const TemporaryFolder folder;
  const auto path = folder / "profiled.relay";
  std::ofstream(path) << "nn.relu(ones((2, 3)))\n";
  const ProgramOutcome outcome =
      run_program({QUERN_BINARY, "run", "--profile", path.string()}, QUERN_SOURCE_DIR);
  EXPECT_THAT(outcome.out, StartsWith("Tensor[(2, 3), float32]"));
  EXPECT_THAT(outcome.err, AllOf(StartsWith("kernel"), HasSubstr("relu_"), HasSubstr("GFLOP/s")));
}

}  // namespace
}  // namespace quern
