// Calls that have no result: both evaluators say so, each in its words, instead of making one up.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

/// Over %a of shape (3, 4), %e of shape (0, 4) and an index %i = [3].
const std::vector<std::string> kCalls = {
    "argmax(%e, axis=[0])",
    "argmin(%e, axis=[0], keepdims=True)",
    "argmax(%e)",
    "take(%a, %i, axis=0, mode=\"fast\")",
    "take(%a, %i - 4, axis=1, mode=\"fast\")",
    "take(%e, %i, axis=0)",
    "take(%e, %i, axis=0, mode=\"wrap\")",
    "reshape(%a, newshape=[5, 3])",
};

/// Sizes without a value, and more of them than there is memory.
const std::vector<std::pair<std::string, std::string>> kTooLarge = {
    {"zeros((4294967296, 4294967296, 4))", "too large"},
    {"zeros((3037000500, 3037000500))", "too large"},
    {"zeros((1000000000000,))", "not enough memory"},
    {"[j < 2] => sum[i < 4294967296 * 4294967296 * 4] (%a[0, 0] + cast<float32>(i))", "overflow"},
    {"[j < 2] => sum[i < 4294967296, k < 4294967296, l < 4] (%a[0, 0] + cast<float32>(i))", "overflow"},
};

TEST(Failures, OfSizesSayWhatIsTooLarge) {
  Entries<TensorPtr> tensors = {{"a", HostTensor::make(DType::float32(), {1, 1})}};
  std::vector<Case> cases;
  cases.reserve(kTooLarge.size() + 1);
  for (const auto& [call, problem] : kTooLarge) cases.push_back({call, call, {{"a", "a"}}});
  cases.push_back({"afterwards", "%a + 1", {{"a", "a"}}});
  TemporaryFile file("sizes");
  auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), cases, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> outcomes = session.run(evaluator);
    for (size_t i = 0; i < kTooLarge.size(); ++i)
      EXPECT_NE(outcomes[i].problem.find(kTooLarge[i].second), std::string::npos)
          << to_string(evaluator) << ": " << outcomes[i].problem << "\n"
          << session.text(i);
    EXPECT_EQ(outcomes.back().problem, "");
  }
}

TEST(Failures, AreThoseOfBothEvaluators) {
  Random random(11);
  TensorPtr index = HostTensor::from<int32_t>(DType::int32(), {1}, std::array{3});
  Entries<TensorPtr> tensors = {{"a", random.tensor(DType::float32(), {3, 4}, Values::Moderate)},
                                {"e", random.tensor(DType::float32(), {0, 4}, Values::Moderate)},
                                {"i", index}};
  std::vector<Case> cases;
  for (const std::string& call : kCalls) {
    Case one{call, call, {{"a", "a"}, {"e", "e"}, {"i", "i"}}};
    cases.push_back(one);
    cases.push_back(over_unknown_dims(one, tensors, cases.size()));
  }
  TemporaryFile file("failures");
  auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), cases, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> outcomes = session.run(evaluator);
    for (size_t i = 0; i < cases.size(); ++i)
      EXPECT_NE(outcomes[i].problem, "")
          << to_string(evaluator) << " gave " << to_string(*outcomes[i].tensor) << ":\n"
          << session.text(i);
  }
}

}  // namespace
}  // namespace quern::numeric
