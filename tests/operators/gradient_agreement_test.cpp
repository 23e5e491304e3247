// Gradients of every operator of the library, derived from its definition: compiled code against the
// interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/operators/agreement_table.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

constexpr uint64_t kDraws = 16;

bool is_moderate(const HostTensor& tensor) {
  if (!tensor.dtype().is_float()) return true;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (!(std::fabs(element_as_double(tensor, i)) < 100)) return false;
  return true;
}

/// The gradient of the sum of squares of the call, for its first tensor of floats; nothing for a call that
/// has none.
std::optional<Case> gradient_of(const std::string& name, uint64_t k, const Arguments& arguments,
                                Entries<TensorPtr>& tensors) {
  std::string params, args;
  int of = -1;
  Case one{fmt::format("{}, draw {}", name, k), "", {}};
  for (size_t t = 0; t < arguments.tensors.size(); ++t) {
    const TensorPtr& tensor = arguments.tensors[t];
    // Sums of what is huge or infinite depend on their order.
    if (!is_moderate(*tensor)) return std::nullopt;
    if (of < 0 && tensor->dtype().is_float()) of = static_cast<int>(t);
    std::string variable(1, static_cast<char>('a' + t));
    one.inputs.emplace_back(variable, fmt::format("{}{}", variable, k));
    tensors.emplace_back(one.inputs.back().second, tensor);
    std::string comma = t == 0 ? "" : ", ";
    params += fmt::format("{}%{}: Tensor[{}, {}]", comma, variable, shape_text(tensor->shape()),
                          to_string(tensor->dtype()));
    args.append(comma).append("%").append(variable);
  }
  if (of < 0) return std::nullopt;
  one.expression = fmt::format("grad(fn ({}) {{ let %value = {}; sum(%value * %value) }})({}).{}", params,
                               arguments.expression, args, of);
  return one;
}

/// Whether a call is one that no gradient is asked of: its result is no tensor of floats, or it has no
/// derivative.
bool has_no_gradient(const std::string& problem) {
  return problem.find("there is no gradient") != std::string::npos ||
         problem.find("a function whose result is one tensor of floating-point numbers") != std::string::npos;
}

class GradientAgreement : public testing::TestWithParam<Row> {};

TEST_P(GradientAgreement, OfCompiledCode) {
  const Row& row = GetParam();
  std::vector<Case> cases;
  Entries<TensorPtr> tensors;
  Random random(std::hash<std::string>()(row.name) % 1000);
  for (uint64_t k = 0; k < kDraws; ++k)
    if (auto one = gradient_of(row.name, k, row.make(random), tensors)) cases.push_back(*one);
  if (cases.empty()) GTEST_SKIP() << "no floats";
  TemporaryFile file("gradient_" + row.name);
  auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), cases, library_texts());
  std::vector<Outcome> wanted = session.run(Evaluator::Interpreter), got = session.run(Evaluator::Compiled);
  size_t typed = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!session.problem(i).empty()) {
      EXPECT_TRUE(has_no_gradient(session.problem(i))) << session.text(i) << "\n" << session.problem(i);
      continue;
    }
    ++typed;
    std::string where = fmt::format("{}:\n{}", cases[i].name, session.text(i));
    if (!wanted[i].problem.empty() || !got[i].problem.empty()) {
      ADD_FAILURE() << where << "\ninterpreted: " << wanted[i].problem << "\ncompiled: " << got[i].problem;
      continue;
    }
    Closeness close = closeness(wanted[i].tensor->dtype(), 10'000);
    std::string problem = difference(*got[i].tensor, *wanted[i].tensor, close);
    if (!problem.empty()) ADD_FAILURE() << where << "\n" << problem;
  }
  if (typed == 0) GTEST_SKIP() << session.problem(0);
}

INSTANTIATE_TEST_SUITE_P(Library, GradientAgreement, testing::ValuesIn(agreement_rows()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace quern::numeric
