// Compiled code against the reference interpreter on random expressions of many operators, which passes fuse
// and reorder. All values are small integers (also those of floats), so that results are equal to the bit.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

constexpr uint64_t kBatches = 6, kProgramsInBatch = 16;

/// Random expressions of shape (rows, columns) over %a, %b of that shape, %c (columns,), %d (rows, 1), %w
/// (columns, columns) and integers.
class Programs {
 public:
  /// `known`: whether the expressions may name the extents.
  Programs(Random& random, int64_t rows, int64_t columns, bool known)
      : random_(random), rows_(rows), columns_(columns), known_(known) {}

  std::string expression(int depth) {
    if (depth == 0) return leaf();
    switch (random_.integer(0, known_ ? 11 : 9)) {
      case 0:
      case 1: return binary(depth);
      case 2:
      case 3: return unary(expression(depth - 1));
      case 4:
        return fmt::format("where({} > {}, {}, {})", expression(depth - 1), leaf(), expression(depth - 1),
                           leaf());
      case 5: return reduced(depth);
      case 6: return bounded(fmt::format("nn.dense({}, %w)", expression(depth - 1)));
      case 7: return shared(depth);
      case 8: return fmt::format("transpose(transpose({}) + {})", expression(depth - 1), "%d0");
      case 9: return fmt::format("nn.bias_add({}, %c)", expression(depth - 1));
      case 10:
        return fmt::format("reshape({}(reshape({}, newshape=[-1])), newshape=[{}, {}])", function(),
                           expression(depth - 1), rows_, columns_);
      default:
        return fmt::format("strided_slice(concatenate(({}, {}), axis=0), begin=[{}], end=[{}])",
                           expression(depth - 1), expression(depth - 1), rows_ / 2, rows_ / 2 + rows_);
    }
  }

 private:
  std::string leaf() {
    static const std::vector<std::string> kLeaves = {"%a",      "%b",      "%a",      "%b",
                                                     "%a + %c", "%b - %d", "(%a * 2)"};
    return random_.pick(kLeaves);
  }
  std::string function() {
    static const std::vector<std::string> kFunctions = {"nn.relu", "abs", "negative", "sign"};
    return random_.pick(kFunctions);
  }
  std::string unary(const std::string& x) { return fmt::format("{}({})", function(), x); }
  std::string binary(int depth) {
    static const std::vector<std::string> kForms = {"({} + {})", "({} - {})", "maximum({}, {})",
                                                    "minimum({}, {})"};
    std::string x = expression(depth - 1);
    std::string y =
        random_.chance(0.3) ? random_.pick(std::vector<std::string>{"%c", "%d", "3"}) : expression(depth - 1);
    if (random_.chance(0.2)) return bounded(fmt::format("({} * {})", x, y));
    return bounded(fmt::format(fmt::runtime(random_.pick(kForms)), x, y));
  }
  /// Within -8…8, so that sums and products stay exact in float16 too.
  static std::string bounded(const std::string& x) { return fmt::format("maximum(minimum({}, 8), -8)", x); }
  std::string reduced(int depth) {
    static const std::vector<std::string> kReductions = {"sum", "max", "min"};
    std::string reduction = fmt::format("{}({}, axis=[{}], keepdims=True)", random_.pick(kReductions),
                                        expression(depth - 1), random_.integer(0, 1));
    return bounded(fmt::format("{} - {}", leaf(), bounded(reduction)));
  }
  std::string shared(int depth) {
    std::string name = fmt::format("%t{}", next_++);
    return bounded(
        fmt::format("{{ let {0} = {1}; {2} + {3} }}", name, expression(depth - 1), unary(name),
                    random_.chance(0.5) ? fmt::format("max({}, axis=[1], keepdims=True)", name) : name));
  }

  Random& random_;
  int64_t rows_, columns_;
  bool known_;
  int next_ = 0;
};

struct Draws {
  std::vector<Case> cases;
  Entries<TensorPtr> tensors;
};

Draws draw(uint64_t batch, bool known) {
  Draws draws;
  for (uint64_t k = 0; k < kProgramsInBatch; ++k) {
    uint64_t seed = 1000 * (batch + 1) + k;
    Random random(seed);
    DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float32(), DType::float64(),
                                                 DType::int32(), DType::float16()});
    // Maxima over no elements are infinite, so no extent is 0.
    int64_t rows = random.extent(1), columns = random.extent(1);
    Case one{fmt::format("seed {}", seed), Programs(random, rows, columns, known).expression(4), {}};
    std::vector<std::pair<std::string, Shape>> inputs = {{"a", {rows, columns}}, {"b", {rows, columns}},
                                                         {"c", {columns}},       {"d", {rows, 1}},
                                                         {"d0", {rows}},         {"w", {columns, columns}}};
    for (auto& [variable, shape] : inputs) {
      one.inputs.emplace_back(variable, fmt::format("{}{}_{}", variable, k, batch));
      draws.tensors.emplace_back(one.inputs.back().second,
                                 random.tensor(dtype, shape, Values::SmallIntegers));
    }
    draws.cases.push_back(known ? one : over_unknown_dims(one, draws.tensors, k));
  }
  return draws;
}

class Fusion : public testing::TestWithParam<std::tuple<uint64_t, bool>> {};

TEST_P(Fusion, ChangesNoResult) {
  auto [batch, known] = GetParam();
  Draws draws = draw(batch, known);
  TemporaryFile file(fmt::format("fusion{}", batch));
  auto written = write_tensors(file.path(), draws.tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), draws.cases, library_texts());
  std::vector<Outcome> wanted = session.run(Evaluator::Interpreter);
  std::vector<Outcome> got = session.run(known ? Evaluator::Checked : Evaluator::Compiled);
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::string where = fmt::format("{}:\n{}", draws.cases[i].name, session.text(i));
    if (!wanted[i].problem.empty() || !got[i].problem.empty()) {
      ADD_FAILURE() << where << "\ninterpreted: " << wanted[i].problem << "\ncompiled: " << got[i].problem;
      continue;
    }
    std::string problem = difference_in_ulps(*got[i].tensor, *wanted[i].tensor, 0, 0);
    if (!problem.empty()) ADD_FAILURE() << where << "\ncompiled code against the interpreter: " << problem;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Fusion,
                         testing::Combine(testing::Range<uint64_t>(0, kBatches), testing::Bool()),
                         [](const auto& info) {
                           return fmt::format("{}_{}",
                                              std::get<1>(info.param) ? "known_dims" : "unknown_dims",
                                              std::get<0>(info.param));
                         });

/// Compiled code has the interpreter's bits.
void expect_interpreted(const std::string& name, const std::vector<Case>& cases,
                        const Entries<TensorPtr>& tensors) {
  TemporaryFile file(name);
  auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), cases, library_texts());
  std::vector<Outcome> wanted = session.run(Evaluator::Interpreter), got = session.run(Evaluator::Compiled);
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(wanted[i].problem + got[i].problem, "") << cases[i].name;
    EXPECT_EQ(difference_in_ulps(*got[i].tensor, *wanted[i].tensor, 0, 0), "") << cases[i].name;
  }
}

// A chain of n bindings costs n steps: what grew with its square would take minutes here.
TEST(LongChains, RunAsTheInterpreterSays) {
  auto chain = [](int64_t length, const char* step) {
    std::string text = "{ let %v0 = %a; ";
    for (int64_t i = 1; i < length; ++i)
      text += fmt::format("let %v{} = {}; ", i, fmt::format(fmt::runtime(step), i - 1, i % 3 - 1));
    return text + fmt::format("%v{} }}", length - 1);
  };
  std::string sum = "%a";
  // Expressions are walked by recursion, here on a stack of 8 MiB; frames are larger under a sanitizer.
  for (int i = 0; i < 400; ++i) sum += " + %a";
  Random random(5);
  Entries<TensorPtr> tensors = {{"a", random.tensor(DType::int32(), {3, 5}, Values::SmallIntegers)},
                                {"s", random.tensor(DType::int32(), {}, Values::SmallIntegers)}};
  std::vector<Case> cases = {
      {"tensors", chain(5'000, "%v{} + {}"), {{"a", "a"}}},
      {"a sum", sum, {{"a", "a"}}},
      {"numbers", chain(50'000, "%v{} + {}"), {{"a", "s"}}},
      {"reductions", chain(1'000, "sum(%v{}, axis=[0], keepdims=True) * {} + %a"), {{"a", "a"}}}};
  expect_interpreted("chains", cases, tensors);
}

// Long reductions are done in parts, some shorter than others.
TEST(LongReductions, RunAsTheInterpreterSays) {
  Random random(7);
  Entries<TensorPtr> tensors = {
      {"line", random.tensor(DType::int32(), {600'011}, Values::SmallIntegers)},
      {"pair", random.tensor(DType::float32(), {2, 300'000}, Values::SmallIntegers)},
      {"image", random.tensor(DType::float64(), {1, 50, 60, 200}, Values::SmallIntegers)},
      {"half", random.tensor(DType::float16(), {600'769}, Values::SmallIntegers)}};
  std::vector<Case> cases = {{"a sum", "sum(%a * 3)", {{"a", "line"}}},
                             {"a position", "argmax(%a)", {{"a", "line"}}},
                             {"an epilogue", "max(%a) - min(%a) + 1.5", {{"a", "pair"}}},
                             {"rows", "sum(%a * %a, axis=[1]) * 0.5", {{"a", "pair"}}},
                             {"columns", "sum(%a, axis=[0])[:3]", {{"a", "pair"}}},
                             {"axes", "sum(%a + 1)", {{"a", "image"}}},
                             {"a wider sum", "sum(%a * 0 + 0.0078125)", {{"a", "half"}}}};
  expect_interpreted("long", cases, tensors);
}

}  // namespace
}  // namespace quern::numeric
