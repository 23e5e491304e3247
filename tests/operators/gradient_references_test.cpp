// Gradients of the library's operators against those of torch.autograd, which are stored
// (reference_gradients.py).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"
#include "tests/support/references.h"

namespace quern::numeric {
namespace {

using Tensors = std::map<std::string, TensorPtr>;

/// The gradients of a call with respect to its operands, all at once, for a cotangent %y of its result.
Case gradients_of(const Reference& reference, const Tensors& tensors) {
  std::string params, args;
  for (const auto& [variable, entry] : reference.of.inputs) {
    const HostTensor& tensor = *tensors.at(entry);
    std::string comma = params.empty() ? "" : ", ";
    params += fmt::format("{}%{}: {}", comma, variable, type_to_string(tensor.dtype(), tensor.shape()));
    args.append(comma).append("%").append(variable);
  }
  Case one = reference.of;
  one.expression = fmt::format("grad(fn ({}) {{ sum({} * %y) }})({})", params, reference.of.expression, args);
  one.inputs.emplace_back("y", reference.results[0]);
  return one;
}

class GradientReferences : public testing::TestWithParam<Evaluator> {};

TEST_P(GradientReferences, Agree) {
  std::vector<Reference> references = read_table("gradients", 2);
  std::string file = reference_file("gradients.safetensors");
  auto entries = read_tensors(file);
  ASSERT_TRUE(entries) << entries.error().message;
  Tensors tensors(entries->begin(), entries->end());
  std::vector<Case> cases;
  cases.reserve(references.size());
  for (const Reference& reference : references) cases.push_back(gradients_of(reference, tensors));

  CaseSession session(file, cases, library_texts());
  std::vector<Outcome> outcomes = session.run(GetParam());
  ASSERT_EQ(outcomes.size(), references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    std::vector<std::string> wanted = split(references[i].results[1], " ");
    std::string problem = outcomes[i].problem;
    if (problem.empty() && outcomes[i].fields.size() != wanted.size())
      problem = fmt::format("{} gradients instead of {}", outcomes[i].fields.size(), wanted.size());
    for (size_t k = 0; k < wanted.size() && problem.empty(); ++k) {
      const TensorPtr& got = outcomes[i].fields[k];
      if (wanted[k] == "-") continue;
      ASSERT_TRUE(tensors[wanted[k]]) << "no entry " << wanted[k];
      if (!got)
        problem = "is no tensor";
      else
        problem = difference(*got, *tensors[wanted[k]], closeness(DType::float32(), references[i].terms));
      if (!problem.empty()) problem = fmt::format("the gradient of operand {} {}", k, problem);
    }
    if (problem.empty()) continue;
    ADD_FAILURE() << references[i].of.name << ", " << to_string(GetParam()) << ": " << problem << "\n"
                  << session.text(i);
  }
}

INSTANTIATE_TEST_SUITE_P(Library, GradientReferences,
                         testing::Values(Evaluator::Interpreter, Evaluator::Compiled),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace quern::numeric
