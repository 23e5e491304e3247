// `@loss.ctc` against the sum over all paths, each of which is a class for each time (Graves et al., ICML 2006, equation 3).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "frontend/text/render.h"
#include "session/run/execution.h"
#include "tests/support/compare.h"

namespace quern::numeric {
namespace {

constexpr size_t kClasses = 3;

/// The labels of a path: without repetitions, then without blanks.
std::vector<int> labels_of(const std::vector<int>& path) {
  std::vector<int> labels;
  for (size_t t = 0; t < path.size(); ++t)
    if (path[t] != 0 && (t == 0 || path[t] != path[t - 1])) labels.push_back(path[t]);
  return labels;
}

/// The negative log of the sum of the probabilities of the paths of `length` times with these labels. `log_probs` has
/// kClasses numbers for each time.
double by_paths(const std::vector<double>& log_probs, size_t length, const std::vector<int>& labels) {
  double sum = 0;
  size_t paths = 1;
  for (size_t t = 0; t < length; ++t) paths *= kClasses;
  for (size_t number = 0; number < paths; ++number) {
    std::vector<int> path;
    double log_prob = 0;
    for (size_t t = 0, rest = number; t < length; ++t, rest /= kClasses) {
      path.push_back(static_cast<int>(rest % kClasses));
      log_prob += log_probs[t * kClasses + rest % kClasses];
    }
    if (labels_of(path) == labels) sum += std::exp(log_prob);
  }
  return -std::log(sum);
}

std::vector<Value> run(const std::string& text) {
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "ctc.relay", text);
  std::vector<Value> values;
  for (const LocatedDiagnostic& problem : session.check(source))
    ADD_FAILURE() << render_terminal(problem, false);
  Execution execution(session, module, {}, [](std::string_view) {});
  for (const DeclarationId statement : session.statements(source)) {
    const StatementResult result = execution.run(statement);
    if (result.failure) ADD_FAILURE() << render_terminal(*result.failure, false);
    values.push_back(result.value.value_or(Value()));
  }
  return values;
}

struct CtcCase {
  std::vector<int> labels;
  size_t length;
};

TEST(Ctc, IsTheSumOverAllPaths) {
  constexpr size_t kTimes = 5;
  const std::vector<CtcCase> cases{{{1, 2}, 5}, {{2, 2}, 5},    {{1, 2}, 2}, {{1}, 4},
                                   {{}, 3},     {{2, 1, 2}, 4}, {{1, 1}, 3}};
  std::string labels, lengths, label_lengths;
  for (const CtcCase& c : cases) {
    std::vector<int> padded = c.labels;
    padded.resize(3, 1);  // what is behind the labels does not count
    labels += fmt::format("[{}], ", fmt::join(padded, ", "));
    lengths += fmt::format("{}, ", c.length);
    label_lengths += fmt::format("{}, ", c.labels.size());
  }
  const std::string arguments = fmt::format("[{}], [{}], [{}]", labels, lengths, label_lengths);
  const std::string type = fmt::format("Tensor[({}, {}, {}), float32]", kTimes, cases.size(), kClasses);
  const std::vector<Value> values = run(fmt::format(
      "let %x = nn.log_softmax(random.normal(random.threefry_key(5), 0.0, 1.0, ({}, {}, {})).1);\n"
      "cast(%x, dtype=\"float64\"); cast(@loss.ctc(%x, {}), dtype=\"float64\");\n"
      "cast(grad(fn (%x: {}) {{ sum(@loss.ctc(%x, {})) }})(%x).0, dtype=\"float64\");\n",
      kTimes, cases.size(), kClasses, arguments, type, arguments));
  const std::vector<double> probs = float64_numbers(values[1]), found = float64_numbers(values[2]),
                            slopes = float64_numbers(values[3]);
  ASSERT_EQ(probs.size(), kTimes * cases.size() * kClasses);
  ASSERT_EQ(found.size(), cases.size());
  ASSERT_EQ(slopes.size(), probs.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto at = [&](size_t t, size_t c) { return (t * cases.size() + i) * kClasses + c; };
    std::vector<double> own;
    for (size_t t = 0; t < kTimes; ++t)
      for (size_t c = 0; c < kClasses; ++c) own.push_back(probs[at(t, c)]);
    EXPECT_NEAR(found[i], by_paths(own, cases[i].length, cases[i].labels), 1e-5) << "sequence " << i;
    for (size_t t = 0; t < kTimes; ++t)
      for (size_t c = 0; c < kClasses; ++c) {
        constexpr double kStep = 1e-5;
        auto moved = [&](double by) {
          std::vector<double> other = own;
          other[t * kClasses + c] += by;
          return by_paths(other, cases[i].length, cases[i].labels);
        };
        EXPECT_NEAR(slopes[at(t, c)], (moved(kStep) - moved(-kStep)) / (2 * kStep), 1e-4)
            << "sequence " << i << ", time " << t << ", class " << c;
      }
  }
}

TEST(Orthogonal, WeightsHaveOrthonormalRows) {
  const std::vector<Value> values =
      run("def @off[n, m](%q: Tensor[(n, m), float32]) { cast(max(abs(nn.dense(%q, %q) - [i < n, j < n] => "
          "select(i == j, 1.0, 0.0))), dtype=\"float64\") }\n"
          "@off(@random.orthogonal(random.threefry_key(1), rows=64, columns=64).1);\n"
          "@off(@random.orthogonal(random.threefry_key(2), rows=3, columns=40).1);\n"
          "@off(@random.orthogonal(random.threefry_key(3), rows=1, columns=1).1);\n");
  for (const Value& value : values) {
    ASSERT_EQ(float64_numbers(value).size(), 1U);
    EXPECT_LT(float64_numbers(value)[0], 1e-5);
  }
}

}  // namespace
}  // namespace quern::numeric
