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

/// A group as it is stored.
struct Group {
  std::vector<Reference> references;
  std::map<std::string, TensorPtr> tensors;
};

/// Each is read once for all operators.
const Group& group_of(const std::string& name) {
  static std::map<std::string, Group> groups;
  if (const auto known = groups.find(name); known != groups.end()) return known->second;
  Group& group = groups[name];
  group.references = read_table(name, 1);
  auto entries = read_tensors(reference_file(name + ".safetensors"));
  EXPECT_TRUE(entries) << entries.error().message;
  if (entries) group.tensors.insert(entries->begin(), entries->end());
  return group;
}

std::string operator_of(const Reference& reference) {
  return reference.of.name.substr(0, reference.of.name.rfind('.'));
}

/// Of both evaluators with what a group has of one operator; whether it has anything.
bool expect_agreement(const std::string& op, const std::string& name) {
  const Group& group = group_of(name);
  std::vector<Reference> references;
  std::vector<Case> cases;
  for (const Reference& reference : group.references) {
    if (operator_of(reference) != op) continue;
    references.push_back(reference);
    cases.push_back(reference.of);
  }
  if (cases.empty()) return false;
  CaseSession session(reference_file(name + ".safetensors"), cases, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> outcomes = session.run(evaluator);
    EXPECT_EQ(outcomes.size(), references.size());
    for (size_t i = 0; i < std::min(references.size(), outcomes.size()); ++i) {
      const auto expected = group.tensors.find(references[i].results[0]);
      std::string problem = outcomes[i].problem;
      if (expected == group.tensors.end()) problem = "no entry " + references[i].results[0];
      if (problem.empty())
        problem = difference(*outcomes[i].tensor, *expected->second,
                             closeness(expected->second->dtype(), references[i].terms));
      if (problem.empty()) continue;
      ADD_FAILURE() << references[i].of.name << ", " << to_string(evaluator) << ": " << problem << "\n"
                    << session.text(i);
    }
  }
  return true;
}

TEST_P(ReferenceColumn, IsPyTorchs) {
  bool any = false;
  for (const std::string& group : kGroups) any |= expect_agreement(GetParam(), group);
  if (!any)
    GTEST_SKIP() << "no result of PyTorch is stored: the examples of its doc comment are its references";
}

INSTANTIATE_TEST_SUITE_P(Operators, ReferenceColumn, testing::ValuesIn(operators_of(library_texts())),
                         [](const auto& info) { return test_name(info.param); });

TEST(References, AreOfOperators) {
  std::vector<std::string> operators = operators_of(library_texts());
  for (const std::string& group : kGroups)
    for (const Reference& reference : group_of(group).references) {
      const std::string name = operator_of(reference);
      EXPECT_TRUE(std::ranges::count(operators, name)) << "`" << name << "` is no operator of the library";
    }
}

}  // namespace
}  // namespace quern::numeric
