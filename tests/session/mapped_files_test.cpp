// Data files that are mapped: more than the memory holds, and what happens where they change.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/io/data_files.h"
#include "ir/io/mapped_file.h"
#include "jit/codegen/codegen.h"
#include "jit/runtime/prepacked_forms.h"
#include "session/run/execution.h"
#include "session/session.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::HasSubstr;

constexpr int64_t kColumns = 1024;

/// A .npy of `rows` rows of zeros, which takes no room on the disk.
std::string sparse_matrix(const TemporaryFolder& folder, int64_t rows) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, kColumns);
  header.resize(117, ' ');
  header += '\n';
  std::string file = (folder / "x.npy").string();
  std::ofstream(file, std::ios::binary) << std::string_view("\x93NUMPY\x01\x00\x76\x00", 10) << header;
  std::filesystem::resize_file(file, 128 + static_cast<uint64_t>(rows * kColumns) * 4);
  return file;
}

/// Sets an element of the file.
void put(const std::string& file, int64_t element, float number) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(128 + element * 4);
  out.write(reinterpret_cast<const char*>(&number), sizeof number);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::string_view kMemory = "unlimited";  // the shadow of a sanitizer is data too
#else
constexpr std::string_view kMemory = "1048576";
#endif

/// With room for 1 GiB of data of its own.
ProgramOutcome quern_in_little_memory(const std::string& command, const std::string& file) {
  return run_program(
      {"/bin/sh", "-c", fmt::format("ulimit -d {}; exec {} {} {}", kMemory, QUERN_BINARY, command, file)},
      QUERN_SOURCE_DIR);
}

/// How many bytes of the tensor's pages the process has.
size_t resident_bytes(const HostTensor& tensor) {
  const auto first = reinterpret_cast<uintptr_t>(tensor.data());
  std::ifstream maps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    size_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_inside = begin <= first && first < end;
    if (is_inside && std::sscanf(line.c_str(), "Rss: %zu kB", &kilobytes) == 1) return kilobytes << 10;
  }
  return 0;
}

TEST(MappedFiles, GivePagesBackOnceAFormIsMadeOfThem) {
  constexpr int64_t kRows = 1024;
  const TemporaryFolder folder;
  const std::string file = sparse_matrix(folder, kRows);
  put(file, 7, 1.5f);
  const Result<std::shared_ptr<TensorFile>> opened = open_tensor_file(file);
  ASSERT_TRUE(opened) << opened.error().message;
  const Result<TensorPtr> read = (*opened)->tensor(0);
  ASSERT_TRUE(read) << read.error().message;
  const TensorPtr& tensor = *read;
  const auto sum = [&] {
    float all = 0;
    for (const float element : tensor->elements<float>()) all += element;
    return all;
  };
  EXPECT_EQ(sum(), 1.5f);
  EXPECT_GE(resident_bytes(*tensor), tensor->bytes());
  PrepackedForms forms;
  forms.keep(*tensor, std::make_shared<CompiledKernel>(), {}, HostTensor::zeros(DType::float32(), {1}));
  EXPECT_LE(resident_bytes(*tensor), tensor->bytes() / 16);
  EXPECT_EQ(sum(), 1.5f);
}

TEST(MappedFiles, MayBeLargerThanTheMemory) {
  const TemporaryFolder folder;
  const int64_t rows = int64_t{1} << 19;  // 2 GiB
  const std::string data = sparse_matrix(folder, rows), program = (folder / "program.relay").string();
  put(data, 3 * kColumns + 5, 1.5f);
  put(data, rows * kColumns - 1, 2.0f);
  std::ofstream(program) << R"(
    let %x = load("x.npy");
    def @batches[n](%x: Tensor[(n, 1024), float32], %at: int32, %sum: float32) -> float32 {
      if (%at == 524288) { %sum } else {
        let %batch = [i < 4096] => index(%at) + i;
        let %rows = %x[%batch];
        @batches(%x, %at + 4096, %sum + sum(%rows))
      }
    }
    @batches(%x, 0, 0.0))";
  for (const char* run : {"run", "check"}) {
    const ProgramOutcome outcome = quern_in_little_memory(run, program);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, std::string_view(run) == "run" ? "float32 3.5\n" : "");
  }
}

// Two evaluations of one session: the file is cut between them.
class ChangedFiles : public testing::TestWithParam<bool> {
 protected:
  ChangedFiles() {
    options.interpret = GetParam();
    source = session.add_source(session.make_module(), "x.relay",
                                "let %x = load(\"x.npy\");\nsum(%x[0]);\nsum(%x)\n", folder.string());
    execution.emplace(session, session.module_of(source), options, [](std::string_view) {});
  }
  StatementResult run(size_t statement) { return execution->run(session.statements(source)[statement]); }

  const TemporaryFolder folder;
  const std::string file = sparse_matrix(folder, 1024);
  Session session;
  ExecutionOptions options;
  SourceId source = 0;
  std::optional<Execution> execution;
};
INSTANTIATE_TEST_SUITE_P(Ways, ChangedFiles, testing::Bool(),
                         [](const auto& info) { return info.param ? "Interpreted" : "Compiled"; });

TEST_P(ChangedFiles, EndAnEvaluationAndNothingElse) {
  ASSERT_FALSE(run(0).failure);
  EXPECT_FALSE(run(2).failure);
  std::filesystem::resize_file(file, 8192);
  for (int time = 0; time < 2; ++time) {
    const StatementResult whole = run(2);
    ASSERT_TRUE(whole.failure);
    EXPECT_EQ(whole.failure->kind, DiagnosticKind::FileProblem);
    EXPECT_THAT(whole.failure->message, HasSubstr("x.npy' has become shorter"));
    EXPECT_FALSE(is_interrupted());
    // What is still there is read.
    EXPECT_FALSE(run(1).failure);
  }
}

// A loop has its tensors' memory for its results, but not that of a file.
TEST(MappedFiles, AreNotWrittenByKernelsInPlace) {
  const TemporaryFolder folder;
  const std::string data = sparse_matrix(folder, 1024), program = (folder / "program.relay").string();
  std::ofstream(program) << R"(
    def @run(%k: int32, %x: Tensor[(1024, 1024), float32]) -> Tensor[(1024, 1024), float32] {
      if (%k == 0) { %x } else { @run(%k - 1, %x + 1.0) }
    }
    sum(@run(3, load("x.npy")));
    sum(load("x.npy")))";
  const ProgramOutcome outcome = run_program({QUERN_BINARY, "run", program}, QUERN_SOURCE_DIR);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "float32 3145728\nfloat32 0\n");
}

TEST(MappedFiles, AreNotTouchedByWhatReplacesThem) {
  const TemporaryFolder folder;
  const std::string file = sparse_matrix(folder, 1024);
  put(file, 7, 3.0f);
  const auto before = read_tensors(file);
  ASSERT_TRUE(before);
  const TensorPtr ones = HostTensor::from<float>(DType::float32(), {2}, std::vector<float>{1, 1});
  ASSERT_TRUE(write_tensors(file, {{"", ones}}));
  EXPECT_EQ(before->at(0).second->elements<float>()[7], 3.0f);
  EXPECT_FALSE(take_lost_file());
}

// Elements that a mapping would not show as they are in memory are read.
TEST(MappedFiles, HaveOtherOrdersConverted) {
  const TemporaryFolder folder;
  const std::string file = sparse_matrix(folder, 1024);
  put(file, 1, 3.0f);
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(21) << '>';
  const auto swapped = read_tensors(file);
  ASSERT_TRUE(swapped) << swapped.error().message;
  EXPECT_NE(swapped->at(0).second->elements<float>()[1], 3.0f);
  std::filesystem::resize_file(file, 0);
  EXPECT_EQ(swapped->at(0).second->elements<float>()[kColumns * 1024 - 1], 0.0f);
  EXPECT_FALSE(take_lost_file());
}

}  // namespace
}  // namespace quern
