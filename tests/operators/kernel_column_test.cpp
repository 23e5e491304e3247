// Column: kernel. Compiled code against the reference interpreter, on every operator of the library over
// random shapes and attributes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/operators/drawn.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"

namespace quern::numeric {

std::vector<Row> agreement_rows() {
  std::vector<Row> rows;
  for (auto part :
       {elementwise_rows, reduction_rows, nn_rows,        transform_rows, model_rows,      scan_rows,
        parts_rows,       image_rows,     loss_rows,      random_rows,    activation_rows, math_rows,
        space_rows,       array_rows,     recurrent_rows, vision_rows,    quantised_rows,  layout_rows,
        shape_rows,       signal_rows,    linalg_rows,    dyn_rows,       packed_rows})
    for (Row& row : part()) rows.push_back(std::move(row));
  return rows;
}

namespace {

constexpr uint64_t kKernelDraws = 32, kNarrowDraws = 8;

struct Draws {
  std::vector<Case> cases;
  Entries<TensorPtr> tensors;
};

/// The draws of these numbers, for one session.
Draws draw(const Row& row, uint64_t begin, uint64_t end) {
  Draws draws;
  for (uint64_t number = begin; number < end; ++number) {
    Arguments arguments = drawn(row, number).arguments;
    Case one{fmt::format("{}, draw {}", row.name, number), arguments.expression, {}};
    for (size_t t = 0; t < arguments.tensors.size(); ++t) {
      std::string variable(1, static_cast<char>('a' + t));
      one.inputs.emplace_back(variable, fmt::format("{}{}", variable, number));
      draws.tensors.emplace_back(one.inputs.back().second, arguments.tensors[t]);
    }
    draws.cases.push_back(std::move(one));
  }
  return draws;
}

/// Both evaluators on every case. `typed` counts those that type-check; the others are failures unless
/// `may_not_type`.
void compare(const Row& row, const Draws& draws, Evaluator evaluator, bool may_not_type, size_t& typed) {
  TemporaryFile file(row.name);
  auto written = write_tensors(file.path(), draws.tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), draws.cases, library_texts());
  std::vector<Outcome> wanted = session.run(Evaluator::Interpreter);
  std::vector<Outcome> got = session.run(evaluator);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (may_not_type && !session.problem(i).empty()) continue;
    ++typed;
    std::string where = fmt::format("{}:\n{}", draws.cases[i].name, session.text(i));
    if (!wanted[i].problem.empty() || !got[i].problem.empty()) {
      ADD_FAILURE() << where << "\ninterpreted: " << wanted[i].problem << "\ncompiled: " << got[i].problem;
      continue;
    }
    std::string problem = difference_in_ulps(*got[i].tensor, *wanted[i].tensor, row.ulps, row.absolute);
    if (!problem.empty()) ADD_FAILURE() << where << "\ncompiled code against the interpreter: " << problem;
  }
}

class KernelColumn : public testing::TestWithParam<Row> {};

// The tiers compile the same LLVM IR, so each has half of the draws.
TEST_P(KernelColumn, OverKnownDims) {
  size_t typed = 0;
  compare(GetParam(), draw(GetParam(), 0, kKernelDraws / 2), Evaluator::Compiled, false, typed);
  compare(GetParam(), draw(GetParam(), kKernelDraws / 2, kKernelDraws), Evaluator::First, false, typed);
  EXPECT_EQ(typed, kKernelDraws);
}

// Of the tails beside vectors, of narrow registers, and without fused multiply-add.
TEST_P(KernelColumn, WithNarrowVectors) {
  size_t typed = 0;
  compare(GetParam(), draw(GetParam(), 0, kNarrowDraws), Evaluator::Narrow, false, typed);
  EXPECT_EQ(typed, kNarrowDraws);
}

// A call may depend on what only the dims say (groups that divide the channels, say), but not every call.
TEST_P(KernelColumn, OverUnknownDims) {
  if (declaration_text(GetParam().name).find("lowering \"") != std::string::npos)
    GTEST_SKIP() << "the extents of an intrinsic are numbers";
  Draws draws = draw(GetParam(), 0, kKernelDraws);
  for (size_t k = 0; k < draws.cases.size(); ++k)
    draws.cases[k] = over_unknown_dims(draws.cases[k], draws.tensors, k, GetParam().stated);
  size_t typed = 0;
  compare(GetParam(), draws, Evaluator::Checked, true, typed);
  EXPECT_GE(typed, kKernelDraws / 4) << "most calls over unknown dims do not type-check";
}

INSTANTIATE_TEST_SUITE_P(Operators, KernelColumn, testing::ValuesIn(operator_rows()),
                         [](const auto& info) { return test_name(info.param.name); });

TEST(Operators, HaveARowEach) {
  std::set<std::string> rows;
  for (const Row& row : agreement_rows())
    EXPECT_TRUE(rows.insert(row.name).second) << row.name << " stands twice";
  std::vector<std::string> operators = operators_of(library_texts());
  EXPECT_FALSE(operators.empty());
  for (const std::string& name : rows)
    EXPECT_TRUE(std::ranges::count(operators, name)) << "`" << name << "` is no operator of the library";
  for (const std::string& name : operators)
    EXPECT_TRUE(rows.contains(name) || !doc_comment(name).empty())
        << "`" << name << "` has neither a row nor an example in its doc comment";
}

}  // namespace
}  // namespace quern::numeric
