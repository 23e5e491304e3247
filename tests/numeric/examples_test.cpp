// The examples on real input: what they print about themselves holds, by compiled code and by the
// interpreter.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "frontend/text/render.h"
#include "ir/io/data_files.h"
#include "lsp/spawn.h"
#include "session/run/execution.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

std::string source_dir() { return QUERN_SOURCE_DIR; }

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A script run to its end; the values of its variables stay.
class Script {
 public:
  Script(const std::string& file, bool interpret, std::map<std::string, std::string> inputs = {}) {
    session_ = std::make_unique<Session>();
    module_ = session_->make_module();
    source_ = session_->add_source(module_, file, read(source_dir() + "/examples/" + file),
                                   source_dir() + "/examples");
    for (const LocatedDiagnostic& d : session_->check(source_)) ADD_FAILURE() << render_terminal(d, false);
    execution_ = std::make_unique<Execution>(
        *session_, module_, ExecutionOptions{.interpret = interpret, .inputs = std::move(inputs)},
        [this](std::string_view line) { printed.emplace_back(line); });
    for (DeclarationId statement : session_->statements(source_)) {
      StatementResult result = execution_->run(statement);
      if (result.failure) ADD_FAILURE() << render_terminal(*result.failure, false);
      if (result.failure) return;
    }
  }

  TensorPtr tensor(const std::string& name) {
    for (DeclarationId statement : session_->statements(source_)) {
      if (session_->info(statement).name != name) continue;
      const Value* value = execution_->value_of(session_->statement_variables(statement)[0]->variable);
      if (value) return value->as_tensor();
    }
    return nullptr;
  }
  /// The number at the end of the printed line that starts with `label`.
  double number(const std::string& label) {
    for (const std::string& line : printed)
      if (line.starts_with(label)) return std::stod(line.substr(line.rfind(' ')));
    ADD_FAILURE() << "nothing is printed about " << label;
    return NAN;
  }

  std::vector<std::string> printed;

 private:
  std::unique_ptr<Session> session_;
  ModuleId module_ = 0;
  SourceId source_ = 0;
  std::unique_ptr<Execution> execution_;
};

class Scratch {
 public:
  std::string write(const std::string& name, const Entries<TensorPtr>& entries) {
    std::string path = (folder_ / name).string();
    auto done = write_tensors(path, entries);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return path;
  }

 private:
  const TemporaryFolder folder_;
};

double worst_difference(const HostTensor& a, const HostTensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double worst = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(element_as_double(a, i) - element_as_double(b, i)));
  return worst;
}

TensorPtr entry(const std::string& file, const std::string& name) {
  auto entries = read_tensors(source_dir() + "/examples/data/" + file);
  for (auto& [known, tensor] : *entries)
    if (known == name) return tensor;
  return nullptr;
}

// Row `order[i]` of a tensor as row i.
TensorPtr rows_in_order(const HostTensor& tensor, const std::vector<int64_t>& order) {
  TensorPtr out = HostTensor::make(tensor.dtype(), tensor.shape());
  size_t row = tensor.bytes() / order.size();
  for (size_t i = 0; i < order.size(); ++i)
    std::copy_n(tensor.data() + static_cast<size_t>(order[i]) * row, row, out->data() + i * row);
  return out;
}

TEST(Digits, ClassifiesTheTestImages) {
  Script script("digits.relay", false);
  EXPECT_NEAR(script.number("accuracy:"), 0.9832, 5e-5);
  EXPECT_LE(script.number("worst logit error:"), 1e-4);
}

TEST(Digits, PermutedImagesPermuteTheLogits) {
  Scratch scratch;
  std::vector<int64_t> order(297);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  std::string images =
      scratch.write("images.npy", {{"", rows_in_order(*entry("digits.npz", "test_images"), order)}});
  std::string labels =
      scratch.write("labels.npy", {{"", rows_in_order(*entry("digits.npz", "test_labels"), order)}});
  Script straight("digits.relay", false);
  Script permuted("digits.relay", false, {{"images", images}, {"labels", labels}});
  EXPECT_NEAR(permuted.number("accuracy:"), 0.9832, 5e-5);
  TensorPtr expected = rows_in_order(*straight.tensor("found"), order);
  EXPECT_EQ(worst_difference(*expected, *permuted.tensor("found")), 0);
}

TEST(Digits, OtherWeightsChangeTheLogitsAsTheInterpreterSays) {
  Scratch scratch;
  auto entries = read_tensors(source_dir() + "/examples/data/digits_cnn.safetensors");
  ASSERT_TRUE(entries);
  std::mt19937 random(11);
  std::normal_distribution<float> noise(0, 0.1f);
  for (auto& [name, tensor] : *entries)
    for (float& x : tensor->elements<float>()) x += noise(random);
  std::string params = scratch.write("other.safetensors", *entries);
  Script compiled("digits.relay", false, {{"params", params}});
  Script interpreted("digits.relay", true, {{"params", params}});
  EXPECT_GT(compiled.number("worst logit error:"), 0.1);
  EXPECT_LE(worst_difference(*compiled.tensor("found"), *interpreted.tensor("found")), 1e-4);
}

TEST(Capsule, EqualsTheInterpreter) {
  Script compiled("capsule.relay", false), interpreted("capsule.relay", true);
  ASSERT_TRUE(compiled.tensor("out"));
  EXPECT_EQ(compiled.tensor("out")->shape(), (Shape{1, 8, 3, 3, 4, 4}));
  // Every value is a small multiple of 1/32: both orders of summation are exact.
  EXPECT_EQ(worst_difference(*compiled.tensor("out"), *interpreted.tensor("out")), 0);
}

TEST(Schedules, EqualTheInterpreter) {
  Script compiled("schedules.relay", false), interpreted("schedules.relay", true);
  for (const char* name : {"product", "sums"}) {
    ASSERT_TRUE(compiled.tensor(name));
    EXPECT_EQ(worst_difference(*compiled.tensor(name), *interpreted.tensor(name)), 0) << name;
  }
}

std::string steps_file(Scratch& scratch, int32_t steps) {
  return scratch.write(
      "steps" + std::to_string(steps) + ".npy",
      {{"", HostTensor::from<int32_t>(DType::int32(), {}, std::span<const int32_t>(&steps, 1))}});
}

TEST(CharLstm, LogitsAndHiddenStatesEqualTheReferences) {
  Scratch scratch;
  std::string steps = steps_file(scratch, 500);
  Script compiled("char_lstm.relay", false, {{"steps", steps}});
  Script interpreted("char_lstm.relay", true, {{"steps", steps}});
  EXPECT_LE(compiled.number("worst logit error:"), 1e-4);
  EXPECT_LE(interpreted.number("worst logit error:"), 1e-4);
  EXPECT_NEAR(compiled.number("sum of hidden states:"), interpreted.number("sum of hidden states:"), 2e-3);
}

// The interpreter needs over a minute for 100,000 steps: its sum, -7070.946, is kept here. The sums of vectors of 8 differ from
// those of 16 by 0.1.
TEST(CharLstm, TheSumAfter100000StepsIsTheInterpreters) {
  Script compiled("char_lstm.relay", false);
  EXPECT_NEAR(compiled.number("sum of hidden states:"), -7070.946, 0.2);
}

// Peak resident KiB of a run of the command.
long peak_kib(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), QUERN_BINARY);
  lsp::SpawnOptions options;
  options.output = lsp::SpawnOptions::Stream::Null;
  const auto child = lsp::spawn(arguments, options);
  if (!child) {
    ADD_FAILURE() << child.error().message;
    return 0;
  }
  int status = 0;
  rusage usage{};
  wait4(child->id, &status, 0, &usage);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return usage.ru_maxrss;
}

TEST(CharLstm, ALongLoopTakesNoMoreMemoryThanOneStep) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what is freed";
#endif
  Scratch scratch;
  std::string example = source_dir() + "/examples/char_lstm.relay";
  long one = peak_kib({"run", example, "--input", "steps=" + steps_file(scratch, 1)});
  long all = peak_kib({"run", example});
  EXPECT_LE(all - one, 10 * 1024);
}

}  // namespace
}  // namespace quern
