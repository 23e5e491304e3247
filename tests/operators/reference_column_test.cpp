// Each operator of the library against stored references that PyTorch computed (make_references.py).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/references.h"

namespace quern::numeric {
namespace {

const std::string kGroups[] = {"elementwise", "reduction", "nn",    "transform", "models",
                               "scan",        "parts",     "order", "images"};

class References : public testing::TestWithParam<std::tuple<std::string, Evaluator>> {};

TEST_P(References, Agree) {
  auto [group, evaluator] = GetParam();
  std::vector<Reference> references = read_table(group, 1);
  std::vector<Case> cases;
  cases.reserve(references.size());
  for (const Reference& reference : references) cases.push_back(reference.of);
  std::string file = reference_file(fmt::format("{}.safetensors", group));
  auto entries = read_tensors(file);
  ASSERT_TRUE(entries) << entries.error().message;
  std::map<std::string, TensorPtr> tensors(entries->begin(), entries->end());

  CaseSession session(file, cases, library_texts());
  std::vector<Outcome> outcomes = session.run(evaluator);
  ASSERT_EQ(outcomes.size(), references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    const TensorPtr& expected = tensors[references[i].results[0]];
    ASSERT_TRUE(expected) << "no entry " << references[i].results[0];
    std::string problem = outcomes[i].problem;
    if (problem.empty())
      problem = difference(*outcomes[i].tensor, *expected, closeness(expected->dtype(), references[i].terms));
    if (problem.empty()) continue;
    ADD_FAILURE() << references[i].of.name << ", " << to_string(evaluator) << ": " << problem << "\n"
                  << session.text(i);
  }
}

INSTANTIATE_TEST_SUITE_P(Library, References,
                         testing::Combine(testing::ValuesIn(kGroups),
                                          testing::Values(Evaluator::Interpreter, Evaluator::Compiled)),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<0>(info.param),
                                              to_string(std::get<1>(info.param)));
                         });

TEST(ReferencesOfTheLibrary, CoverEveryOperator) {
  std::set<std::string> covered;
  for (const std::string& group : kGroups)
    for (const Reference& reference : read_table(group, 1))
      covered.insert(reference.of.name.substr(0, reference.of.name.rfind('.')));
  std::vector<std::string> operators = operators_of(library_texts());
  EXPECT_FALSE(operators.empty());
  for (const std::string& name : operators)
    EXPECT_TRUE(covered.contains(name)) << "`" << name << "` has no case in tests/numeric/make_references.py";
  for (const std::string& name : covered)
    EXPECT_TRUE(std::ranges::count(operators, name)) << "`" << name << "` is no operator of the library";
}

}  // namespace
}  // namespace quern::numeric
