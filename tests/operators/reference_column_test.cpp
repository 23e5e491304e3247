// Column: reference. Each operator of the library against stored references that PyTorch computed
// (make_references.py).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/operators/drawn.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/references.h"

namespace quern::numeric {
namespace {

const std::string kGroups[] = {"elementwise", "reduction", "nn",        "transform", "models",      "scan",
                               "parts",       "order",     "images",    "losses",    "activations", "math",
                               "spaces",      "arrays",    "recurrent", "vision",    "quantised",   "layouts",
                               "signals",     "linalg",    "dyn",       "packed"};

class ReferenceColumn : public testing::TestWithParam<std::string> {};

// Of a group those of one operator.
std::vector<Reference> references_of(const std::string& op, const std::string& group) {
  std::vector<Reference> all = read_table(group, 1);
  std::erase_if(all, [&](const Reference& r) { return r.of.name.substr(0, r.of.name.rfind('.')) != op; });
  return all;
}

void expect_agreement(const std::string& group, const std::vector<Reference>& references,
                      Evaluator evaluator) {
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

TEST_P(ReferenceColumn, IsPyTorchs) {
  bool any = false;
  for (const std::string& group : kGroups) {
    std::vector<Reference> references = references_of(GetParam(), group);
    if (references.empty()) continue;
    any = true;
    for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled})
      expect_agreement(group, references, evaluator);
  }
  if (!any)
    GTEST_SKIP() << "no result of PyTorch is stored: the examples of its doc comment are its references";
}

INSTANTIATE_TEST_SUITE_P(Operators, ReferenceColumn, testing::ValuesIn(operators_of(library_texts())),
                         [](const auto& info) { return test_name(info.param); });

TEST(References, AreOfOperators) {
  std::vector<std::string> operators = operators_of(library_texts());
  for (const std::string& group : kGroups)
    for (const Reference& reference : read_table(group, 1)) {
      std::string name = reference.of.name.substr(0, reference.of.name.rfind('.'));
      EXPECT_TRUE(std::ranges::count(operators, name)) << "`" << name << "` is no operator of the library";
    }
}

}  // namespace
}  // namespace quern::numeric
