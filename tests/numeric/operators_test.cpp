// Each operator of the library against stored references that PyTorch computed (make_references.py).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/numeric/cases.h"
#include "tests/numeric/compare.h"
#include "tests/numeric/library.h"

namespace quern::numeric {
namespace {

const std::string kGroups[] = {"elementwise", "reduction", "nn",    "transform", "models",
                               "scan",        "parts",     "order", "images"};

std::string reference_file(const std::string& name) {
  return std::string(QUERN_SOURCE_DIR) + "/tests/numeric/references/" + name;
}

/// One line of a table: a case, and what it has to give.
struct Reference {
  Case of;
  int64_t terms = 1;     ///< how many elements a reduction adds up
  std::string expected;  ///< an entry of the group's file
};

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t at; (at = text.find(separator, begin)) != std::string::npos; begin = at + separator.size())
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// `name | terms | expression | %variable=entry… | expected`
std::vector<Reference> read_table(const std::string& group) {
  std::vector<Reference> references;
  std::ifstream in(reference_file(group + ".txt"));
  EXPECT_TRUE(in) << "references/" << group << ".txt cannot be read";
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> fields = split(line, " | ");
    if (fields.size() != 5) {
      ADD_FAILURE() << "references/" << group << ".txt: a line is no case: " << line;
      continue;
    }
    Reference reference{{fields[0], fields[2], {}}, std::stoll(fields[1]), fields[4]};
    std::istringstream inputs(fields[3]);
    for (std::string input; inputs >> input;) {
      size_t equals = input.find('=');
      reference.of.inputs.emplace_back(input.substr(1, equals - 1), input.substr(equals + 1));
    }
    references.push_back(std::move(reference));
  }
  return references;
}

class References : public testing::TestWithParam<std::tuple<std::string, Evaluator>> {};

TEST_P(References, Agree) {
  auto [group, evaluator] = GetParam();
  std::vector<Reference> references = read_table(group);
  std::vector<Case> cases;
  for (const Reference& reference : references) cases.push_back(reference.of);
  std::string file = reference_file(fmt::format("{}.safetensors", group));
  auto entries = read_tensors(file);
  ASSERT_TRUE(entries) << entries.error().message;
  std::map<std::string, TensorPtr> tensors(entries->begin(), entries->end());

  CaseSession session(file, cases, library_texts());
  std::vector<Outcome> outcomes = session.run(evaluator);
  ASSERT_EQ(outcomes.size(), references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    const TensorPtr& expected = tensors[references[i].expected];
    ASSERT_TRUE(expected) << "no entry " << references[i].expected;
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
    for (const Reference& reference : read_table(group))
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
