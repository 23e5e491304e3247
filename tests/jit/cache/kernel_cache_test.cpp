// Compiled code on disk: found again, and never in the way.

#include "jit/cache/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "jit/cache/build_id.h"
#include "tests/jit/nest/primitives_of_main.h"
#include "tests/session/compiled_main.h"

namespace quern {
namespace {

const char* const kDense =
    "def @main[n](%a: Tensor[(n, 30), float32], %b: Tensor[(70, 30), float32]) { nn.dense(%a, %b) }";

class CodeOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("quern_kernels_{}", getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "nested" / "kernels.db"; }
  CompilerOptions options(Tiers tiers = Tiers::Both) const { return {tiers, file()}; }

  struct Run {
    TensorPtr result;
    KernelCounts counts;
  };
  /// A program in a compiler of its own, to the end of what it does in the background.
  static Run run(const std::string& text, const CompilerOptions& options) {
    CompiledMain main(text, options);
    TensorPtr result = main.run();
    main.compiler.wait_until_idle();
    return {result, main.compiler.kernel_counts()};
  }
  void expect_compiled(const std::string& text, const TensorPtr& expected) const {
    const Run now = run(text, options());
    EXPECT_GT(now.counts.lowered, 0U);
    EXPECT_EQ(now.counts.loaded, 0U);
    EXPECT_TRUE(same_bits(now.result, expected)) << text;
  }
  void expect_loaded(const std::string& text, const TensorPtr& expected) const {
    const Run now = run(text, options());
    EXPECT_EQ(now.counts.lowered, 0U);
    EXPECT_GT(now.counts.loaded, 0U);
    EXPECT_TRUE(same_bits(now.result, expected)) << text;
  }

  sqlite3* connection() const {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(file().string().c_str(), &handle), SQLITE_OK);
    return handle;
  }
  void change(const std::string& statement) const {
    sqlite3* handle = connection();
    EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << statement;
    sqlite3_close(handle);
  }

  std::filesystem::path folder_;
};

TEST_F(CodeOnDisk, IsNotLoweredAgain) {
  for (const std::string& text : kernel_programs()) {
    const TensorPtr expected = run(text, {Tiers::Best}).result;
    expect_compiled(text, expected);
    expect_loaded(text, expected);
  }
}

TEST_F(CodeOnDisk, IsNotThatOfADebugger) {
  const TensorPtr expected = run(kDense, {Tiers::Best}).result;
  CompilerOptions debugged = options();
  debugged.debugger = true;
  EXPECT_TRUE(same_bits(run(kDense, debugged).result, expected));
  EXPECT_FALSE(std::filesystem::exists(file()));
  expect_compiled(kDense, expected);
}

TEST_F(CodeOnDisk, HasNoNames) {
  CompilerOptions named = options();
  named.perf_map = true;
  const TensorPtr expected = run(kDense, named).result;
  std::filesystem::remove(fmt::format("/tmp/perf-{}.map", getpid()));
  expect_loaded(kDense, expected);
}

TEST_F(CodeOnDisk, IsOfTheBestTierOnly) {
  const TensorPtr expected = run(kDense, options(Tiers::First)).result;
  expect_compiled(kDense, expected);
  expect_loaded(kDense, expected);
}

TEST_F(CodeOnDisk, ServesOtherNamesButNoOtherProgram) {
  const TensorPtr expected = run(kDense, options()).result;
  expect_loaded(
      "def @main[m](%x: Tensor[(m, 30), float32], %w: Tensor[(70, 30), float32]) { nn.dense(%x, %w) }",
      expected);
  EXPECT_EQ(
      run("def @main[n](%a: Tensor[(n, 30), float32], %b: Tensor[(71, 30), float32]) { nn.dense(%a, %b) }",
          options())
          .counts.loaded,
      0U);
}

TEST_F(CodeOnDisk, ServesAnyExtentOfADim) {
  run(kDense, options());
  CompiledMain other(kDense, options(), 101);
  EXPECT_TRUE(same_bits(other.run(), CompiledMain(kDense, {Tiers::Best}, 101).run()));
  EXPECT_EQ(other.compiler.kernel_counts().loaded, 1U);
}

TEST_F(CodeOnDisk, IsWrittenWithinAQuarterOfASecondAfterTheEnd) {
  const std::string text = "def @main(%a: Tensor[(9,), float32]) { %a + 1f }";
  // A busy machine may leave the background nothing of a quarter of a second.
  bool is_loaded = false;
  for (int attempt = 0; attempt < 10 && !is_loaded; ++attempt) {
    std::filesystem::remove_all(folder_);
    CompiledMain(text, options()).run();
    is_loaded = run(text, options()).counts.loaded > 0;
  }
  EXPECT_TRUE(is_loaded);
}

TEST_F(CodeOnDisk, IsMadeAgainWhereARecordIsDamaged) {
  const TensorPtr expected = run(kDense, options()).result;
  for (const char* damage :
       {"object = x''", "object = zeroblob(100)", "object = substr(object, 1, length(object) - 1)",
        "object = substr(object, 1, 50) || x'77' || substr(object, 52)", "object = object || x'00'"}) {
    change(fmt::format("UPDATE code SET {}", damage));
    expect_compiled(kDense, expected);
    expect_loaded(kDense, expected);
  }
}

TEST_F(CodeOnDisk, IsMadeAgainWhereTheFileIsBroken) {
  const TensorPtr expected = run(kDense, options()).result;
  std::ofstream(file()) << std::string(50'000, 'x');
  expect_compiled(kDense, expected);
  expect_loaded(kDense, expected);
  // Only its first page is left.
  std::filesystem::resize_file(file(), 4096);
  expect_compiled(kDense, expected);
  expect_loaded(kDense, expected);
  // A table is not what it was.
  {
    std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096);
    bytes << std::string(20'000, 'x');
  }
  expect_compiled(kDense, expected);
  expect_loaded(kDense, expected);
}

TEST_F(CodeOnDisk, IsLeftAloneWhereALaterVersionWroteIt) {
  const TensorPtr expected = run(kDense, options()).result;
  change("PRAGMA user_version = 1000");
  expect_compiled(kDense, expected);
  expect_compiled(kDense, expected);
  EXPECT_TRUE(std::filesystem::exists(file()));
}

TEST_F(CodeOnDisk, IsDoneWithoutWhereThereIsNoPlace) {
  const TensorPtr expected = run(kDense, {Tiers::Best}).result;
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "nested") << "a file";
  expect_compiled(kDense, expected);
  expect_compiled(kDense, expected);
  for (const char* nowhere : {"/proc/quern/kernels.db", "/dev/null"})
    EXPECT_TRUE(same_bits(run(kDense, {Tiers::Both, nowhere}).result, expected)) << nowhere;
}

TEST_F(CodeOnDisk, IsDoneWithoutWhereTheFolderIsReadOnly) {
  const TensorPtr expected = run(kDense, options()).result;
  std::filesystem::permissions(file(), std::filesystem::perms::owner_read);
  std::filesystem::permissions(file().parent_path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const bool is_kept_out = access(file().parent_path().c_str(), W_OK) != 0;
  EXPECT_TRUE(same_bits(run(kDense, options()).result, expected));
  std::filesystem::permissions(file().parent_path(), std::filesystem::perms::owner_all);
  if (!is_kept_out) GTEST_SKIP() << "this user may write everywhere";
}

TEST_F(CodeOnDisk, IsDoneWithoutWhileAnotherLocksIt) {
  const std::string text = "def @main(%a: Tensor[(9,), float32]) { %a + 1f }";
  const TensorPtr expected = run(text, options()).result;
  sqlite3* other = connection();
  ASSERT_EQ(
      sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", nullptr, nullptr, nullptr),
      SQLITE_OK);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(same_bits(run(text, options()).result, expected));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(8));
  sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  expect_loaded(text, expected);
}

TEST_F(CodeOnDisk, IsNotWrittenWithoutAFile) {
  run(kDense, {Tiers::Both});
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(CodeOnDisk, IsOffWhereTheEnvironmentSaysSo) {
  const char* wanted = std::getenv("QUERN_CACHE");
  if (!wanted || wanted != std::string("off")) GTEST_SKIP() << "QUERN_CACHE is not off";
  EXPECT_TRUE(CompilerOptions::from_environment().cache.empty());
}

TEST_F(CodeOnDisk, TakesProcessesThatAreKilled) {
  const std::vector<std::string> programs = kernel_programs();
  std::vector<pid_t> children;
  for (int number = 0; number < 3; ++number) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (const std::string& text : programs) run(text, options());
      _exit(0);
    }
    children.push_back(child);
  }
  usleep(300'000);
  kill(children[0], SIGKILL);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(child == children[0] || status == 0);
  }
  // Who waits too long for the file goes on without it, so a kernel may be missing. The file is whole.
  for (const std::string& text : programs) {
    const TensorPtr expected = run(text, {Tiers::Best}).result;
    EXPECT_TRUE(same_bits(run(text, options()).result, expected)) << text;
    expect_loaded(text, expected);
  }
}

TEST_F(CodeOnDisk, SharesFormsOfPackedInputs) {
  const PrimitivesOfMain few(
      "def @main(%a: Tensor[(5, 300), float32], %b: Tensor[(70, 300), float32]) { nn.dense(%a, %b) }"),
      many("def @main(%a: Tensor[(50, 300), float32], %b: Tensor[(70, 300), float32]) { nn.dense(%a, %b) }");
  for (const size_t loaded : {0U, 2U}) {
    KernelCache cache(options());
    const auto one = cache.kernel(*few.primitives.at(0)), other = cache.kernel(*many.primitives.at(0));
    ASSERT_TRUE(one && other);
    EXPECT_NE(one->code, other->code);
    EXPECT_EQ(one->packed.at(0).code, other->packed.at(0).code);
    cache.wait_until_idle();
    EXPECT_EQ(cache.counts().loaded, loaded);
  }
}

// A form of weights is one for all batches.
TEST_F(CodeOnDisk, KnowsTheDimsThatAFormDependsOn) {
  const PrimitivesOfMain rows(kDense),
      both(
          "def @main[n, m](%a: Tensor[(n, 30), float32], %b: Tensor[(m, 30), float32]) { nn.dense(%a, %b) }");
  for (int times = 0; times < 2; ++times) {
    KernelCache cache(options());
    const auto one = cache.kernel(*rows.primitives.at(0)), other = cache.kernel(*both.primitives.at(0));
    ASSERT_TRUE(one && other);
    EXPECT_TRUE(one->packed.at(0).reads.empty());
    ASSERT_EQ(other->packed.at(0).reads.size(), 1U);
    EXPECT_EQ(to_string(other->dims.at(other->packed.at(0).reads[0])), "m");
    cache.wait_until_idle();
  }
}

TEST_F(CodeOnDisk, GoesWhenItWasNotUsedForTheLongestTime) {
  const auto put = [&](const std::string& key) {
    CodeStore(file(), 1000).put(key, std::string(300 - key.size(), 'x'));
  };
  const auto keys = [&] {
    std::string found;
    for (const std::string key : {"a", "b", "c", "d", "e"})
      if (CodeStore(file()).find(key)) found += key;
    return found;
  };
  for (const char* key : {"a", "b", "c"}) put(key);
  EXPECT_EQ(keys(), "abc");
  put("d");
  EXPECT_EQ(keys(), "bcd");
  change("UPDATE code SET used_at = 1000000");
  EXPECT_TRUE(CodeStore(file()).find("b")->is_stale);
  CodeStore(file()).note_use("b");
  EXPECT_FALSE(CodeStore(file()).find("b")->is_stale);
  put("e");
  EXPECT_EQ(keys(), "bde");
}

TEST(CompilerOptions, AreInTheEnvironment) {
  using Variables = std::map<std::string, std::string>;
  const auto options = [](const Variables& variables) {
    return CompilerOptions::from([&](const char* variable) {
      const auto found = variables.find(variable);
      return found == variables.end() ? "" : found->second;
    });
  };
  EXPECT_EQ(options({}).tiers, Tiers::Both);
  EXPECT_EQ(options({{"QUERN_TIERS", "both"}}).tiers, Tiers::Both);
  EXPECT_EQ(options({{"QUERN_TIERS", "first"}}).tiers, Tiers::First);
  EXPECT_EQ(options({{"QUERN_TIERS", "best"}}).tiers, Tiers::Best);
  const Variables user = {{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "/var/caches"}};
  const auto with = [&](const std::string& name, const std::string& value) {
    Variables variables = user;
    variables[name] = value;
    return options(variables).cache;
  };
  EXPECT_EQ(with("QUERN_CACHE", "/tmp/kernels"), "/tmp/kernels");
  EXPECT_EQ(with("QUERN_CACHE", "off"), "");
  EXPECT_EQ(with("QUERN_CACHE", ""), "/var/caches/quern/kernels.db");
  EXPECT_EQ(with("XDG_CACHE_HOME", "relative"), "/home/a/.cache/quern/kernels.db");
  EXPECT_EQ(options({}).cache, "");
  EXPECT_TRUE(options({{"QUERN_PERF_MAP", "1"}}).perf_map);
  EXPECT_TRUE(options({{"QUERN_GDB", "1"}}).debugger);
  EXPECT_FALSE(options({}).perf_map || options({}).debugger);
}

TEST(KernelRecords, ReadBackOnlyWhole) {
  KernelRecord record;
  record.dims = {"$1 "};
  record.share = {"#4 ", "#64 "};
  record.packed.push_back({1, "kernel(…)", "float32", {"#2 ", "$1 "}, {}, {0}});
  record.objects = {"first", std::string("\0second", 7)};
  const std::string bytes = to_bytes(record, "key");
  const auto read = record_from_bytes(bytes, "key");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->objects, record.objects);
  EXPECT_EQ(read->packed.at(0).shape, record.packed.at(0).shape);
  EXPECT_EQ(read->packed.at(0).reads, record.packed.at(0).reads);
  EXPECT_EQ(to_bytes(*read, "key"), bytes);
  EXPECT_FALSE(record_from_bytes(bytes, "kez"));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(record_from_bytes(bytes.substr(0, size), "key"));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= 4;
    EXPECT_FALSE(record_from_bytes(damaged, "key")) << at;
  }
}

TEST(KernelRecords, KnowTheBuild) {
  EXPECT_GE(build_id().size(), 16U);
  EXPECT_EQ(build_id().find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Kernels, OfEqualPrimitivesAreOne) {
  CompiledMain main(
      "def @main(%a: Tensor[(6, 9), float32], %b: Tensor[(6, 9), float32]) {\n"
      "  transpose(nn.softmax(%a)) + transpose(nn.softmax(%b))\n"
      "}",
      {});
  main.run();
  EXPECT_GE(main.compiler.kernel_counts().shared, 1U);
  EXPECT_GE(main.compiler.kernel_counts().lowered, 1U);
}

TEST(Kernels, InMemoryAreForgottenFromTheOldestOn) {
  CompilerOptions options;
  options.most_kernels = 4;
  KernelCache cache(options);
  const PrimitivesOfMain main(
      "def @main(%a: Tensor[(6, 9), float32]) {\n"
      "  (sum(%a), max(%a), sum(%a * %a), sum(sin(%a)), sum(exp(%a)), sum(%a, axis=0), max(%a, axis=1))\n"
      "}");
  ASSERT_EQ(main.primitives.size(), 7U);
  std::vector<KernelCode> held;
  for (const FnExpr* primitive : main.primitives) {
    auto code = cache.kernel(*primitive);
    ASSERT_TRUE(code);
    held.push_back(std::move(*code));
  }
  ASSERT_EQ(cache.counts().lowered, 7U);
  ASSERT_TRUE(cache.kernel(*main.primitives.back()));
  EXPECT_EQ(cache.counts().lowered, 7U);
  ASSERT_TRUE(cache.kernel(*main.primitives.front()));
  EXPECT_EQ(cache.counts().lowered, 8U);
}

}  // namespace
}  // namespace quern
