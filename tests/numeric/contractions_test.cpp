// Contractions of random sizes by the schedules that the default rules choose, against the interpreter: sums
// are of small integers, so that every order gives the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

/// An expression of %a and %b.
struct Contraction {
  std::string expression;
  Shape a, b;
  std::string definition = "";
  bool of_known_dims = false;  ///< what it asks of dims is not known of variables
};

constexpr const char* kCapsules =
    "op capsules(%a: Tensor[(c, h, w, i, k), t], %b: Tensor[(o, c, r, s, k, j), t], stride: int = 1) "
    "-> Tensor[(o, (h - r) / stride + 1, (w - s) / stride + 1, i, j), t] "
    "{ [q, y, x, u, v] => sum[d, dr, ds, m] %a[d, y*stride + dr, x*stride + ds, u, m] * %b[q, d, dr, ds, m, "
    "v] }";

constexpr const char* kBent =
    "op bent(%c: Tensor[s, t]) -> Tensor[s, t] { [..i] => { let %v = %c[..i] - 3; let %w = max(%v, 2); %w + "
    "2 * %v } }";

Contraction convolution(Random& random, const std::string& op, int64_t axes) {
  const int64_t in = random.integer(3, 20), out = random.integer(3, 70), groups = random.chance(0.2) ? 2 : 1;
  const bool is_transposed = op.ends_with("transpose");
  Contraction c;
  c.of_known_dims = groups > 1;
  c.a = {1, in * groups};
  c.b = is_transposed ? Shape{in * groups, out} : Shape{out * groups, in};
  std::string strides, padding, dilation;
  for (int64_t axis = 0; axis < axes; ++axis) {
    const int64_t taps = random.integer(1, 4), size = random.integer(axes == 1 ? 20 : 5, axes == 1 ? 70 : 17);
    c.a.push_back(size);
    c.b.push_back(taps);
    strides += fmt::format("{}, ", random.integer(1, 2));
    padding += fmt::format("{}, ", random.integer(0, taps - 1));
    dilation += fmt::format("{}, ", is_transposed ? 1 : random.integer(1, size > 2 * taps ? 2 : 1));
  }
  c.expression = fmt::format("{}(%a, %b, strides=[{}], padding=[{}], dilation=[{}], groups={})", op, strides,
                             padding, dilation, groups);
  return c;
}

/// Several groups share a vector.
Contraction small_groups(Random& random) {
  const int64_t groups = random.integer(2, 9), in = random.integer(1, 8), out = random.integer(1, 8);
  const int64_t taps = random.integer(1, 3), size = random.integer(6, 14);
  return {fmt::format("nn.conv2d(%a, %b, strides=[1, {}], padding=[{}, {}], groups={}, "
                      "data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
                      random.integer(1, 2), taps / 2, taps / 2, groups),
          {1, size, size, groups * in},
          {taps, taps, in, groups * out},
          "",
          true};
}

Contraction contraction(Random& random) {
  const int64_t m = random.integer(5, 60), n = random.integer(3, 70), k = random.integer(8, 60);
  const int64_t batch = random.integer(1, 3);
  switch (random.integer(0, 12)) {
    // An operand is read again beside the sum.
    case 9: return {"2 * %b - nn.matmul(%a, %b)", {k, k}, {k, n}};
    case 10: return {"nn.relu(%a - nn.matmul(%a, %b))", {m, k}, {k, k}};
    case 8: return small_groups(random);
    // The sum is bound by a `let`, whose variable the element has several times.
    case 11: return {"bent(nn.dense(%a, %b))", {m, k}, {n, k}, kBent};
    case 12: return {"bent(matmul(%a, %b))", {batch, 2, m, k}, {batch, 2, k, n}, kBent};
    case 0: return convolution(random, "nn.conv1d", 1);
    case 1: return convolution(random, "nn.conv2d_transpose", 2);
    case 2: return convolution(random, "nn.conv2d", 2);
    case 3: return {"nn.dense(%a, %b)", {m, k}, {n, k}};
    case 4: return {"nn.batch_matmul(%a, %b, transpose_b=False)", {batch, m, k}, {batch, k, n}};
    case 5: return {"nn.batch_matmul(%a, %b, transpose_b=True)", {batch, m, k}, {batch, n, k}};
    case 6: return {"nn.relu(einsum((%a, %b), equation=\"ik,kj->ji\") - 3)", {m, k}, {k, n}};
    default: {
      const int64_t poses = random.pick(std::vector<int64_t>{2, 4, 8}), size = random.integer(4, 9);
      return {fmt::format("capsules(%a, %b, stride={})", random.integer(1, 2)),
              {2, size, size, random.integer(2, 5), 4},
              {random.integer(2, 20), 2, 3, 3, 4, poses},
              kCapsules};
    }
  }
}

std::string schedule_of(const Contraction& c) {
  const auto type = [](const Shape& shape) {
    return fmt::format("Tensor[({},), float32]", fmt::join(shape, ", "));
  };
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(
      module, "one.relay",
      fmt::format("{}\ndef @f(%a: {}, %b: {}) {{ {} }}", c.definition, type(c.a), type(c.b), c.expression));
  const Definition* definition = session.definition(module, "f");
  if (!definition) return "";
  const auto shown = Compiler(session).stage_text(*definition, "schedule");
  return shown ? *shown : shown.error().message;
}

class Contractions : public testing::TestWithParam<Evaluator> {};

/// QUERN_RANDOM_CONTRACTIONS=n takes n of them.
TEST_P(Contractions, EqualTheInterpreter) {
  const char* wanted = std::getenv("QUERN_RANDOM_CONTRACTIONS");
  const int count = wanted ? std::atoi(wanted) : 60;
  Random random(5);
  Entries<TensorPtr> tensors;
  std::vector<Case> cases;
  for (int number = 0; number < count; ++number) {
    // The first has a large form, with padding.
    const Contraction c =
        number == 0 ? Contraction{"nn.dense(%a, %b)", {40, 260}, {261, 260}} : contraction(random);
    const std::string a = fmt::format("a{}", number), b = fmt::format("b{}", number);
    tensors.emplace_back(a, random.tensor(DType::float32(), c.a, Values::SmallIntegers));
    tensors.emplace_back(b, random.tensor(DType::float32(), c.b, Values::SmallIntegers));
    Case one{std::to_string(number), c.expression, {{"a", a}, {"b", b}}};
    if (random.chance(0.3) && !c.of_known_dims)
      one = over_unknown_dims(one, tensors, static_cast<size_t>(number));
    if (!c.definition.empty() && std::ranges::none_of(cases, [&](const Case& other) {
          return other.definition.starts_with(c.definition);
        }))
      one.definition = c.definition + " " + one.definition;
    cases.push_back(one);
  }
  TemporaryFile file(fmt::format("contractions{}", static_cast<int>(GetParam())));
  const auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), cases, library_texts());
  const std::vector<Outcome> expected = session.run(Evaluator::Interpreter), got = session.run(GetParam());
  for (size_t k = 0; k < cases.size(); ++k) {
    EXPECT_EQ(session.problem(k) + expected[k].problem + got[k].problem, "") << session.text(k);
    if (!expected[k].tensor || !got[k].tensor) continue;
    EXPECT_EQ(difference_in_ulps(*got[k].tensor, *expected[k].tensor, 0, 0), "") << session.text(k);
  }
}

INSTANTIATE_TEST_SUITE_P(Evaluators, Contractions, testing::Values(Evaluator::Compiled, Evaluator::Checked),
                         [](const auto& info) {
                           return info.param == Evaluator::Checked ? "checked" : "compiled";
                         });

TEST(ContractionRule, TurnsWhatLiesApart) {
  const auto turned = [](const Contraction& c) {
    return schedule_of(c).find("turn_write") != std::string::npos;
  };
  EXPECT_TRUE(turned({"nn.conv2d(%a, %b, padding=[1, 1])", {1, 64, 7, 7}, {64, 64, 3, 3}}));
  EXPECT_TRUE(turned(
      {"nn.conv2d_transpose(%a, %b, strides=[2, 2], padding=[1, 1])", {1, 57, 29, 29}, {57, 110, 3, 3}}));
  EXPECT_TRUE(turned({"capsules(%a, %b)", {8, 9, 9, 4, 4}, {64, 8, 3, 3, 4, 4}, kCapsules}));
  EXPECT_FALSE(turned({"nn.dense(%a, %b)", {64, 64}, {64, 64}}));
}

TEST(ContractionRule, LeavesRowsThatAreReadOnceAsTheyStand) {
  const auto packs = [](const Contraction& c) { return schedule_of(c).find("pack(") != std::string::npos; };
  EXPECT_FALSE(packs({"nn.dense(%a, %b)", {1, 256}, {512, 256}}));
  EXPECT_FALSE(packs({"nn.batch_matmul(%a, %b, transpose_b=True)", {4, 1, 256}, {4, 100, 256}}));
  EXPECT_FALSE(packs({"sum(nn.relu(%a + %b))", {1024, 1024}, {1024}}));
  // Of two rows each element is read twice, and short rows fill few lanes.
  EXPECT_TRUE(packs({"nn.dense(%a, %b)", {2, 256}, {512, 256}}));
  EXPECT_TRUE(packs({"nn.dense(%a, %b)", {1, 20}, {512, 20}}));
}

/// Sums and extremes of small integers to few numbers, of tensors whose axes are turned about.
TEST(WholeReductions, EqualTheInterpreter) {
  const std::vector<std::string> expressions{
      "sum(transpose(%a))",
      "max(transpose(%a) - 2)",
      "sum(nn.relu(transpose(%a) + %b))",
      "sum(nn.relu(%a + %c))",
      "min(transpose(reshape(%a, newshape=(900, 40, 20)), axes=[2, 0, 1]))",
      "sum(transpose(reshape(%a, newshape=(5, 180, 800)), axes=[0, 2, 1]), axis=[1, 2])",
      "[k < 2] => sum[i < 800, j < 900] (%a[j, i + k] else 3) * %c[i]",
      "[k < 2] => sum[i < 800, j < 900 - k] %a[j, i]",
  };
  Random random(6);
  const auto tensor = [&](const Shape& shape) {
    return random.tensor(DType::float32(), shape, Values::SmallIntegers);
  };
  const Entries<TensorPtr> tensors{{"a", tensor({900, 800})}, {"b", tensor({900})}, {"c", tensor({800})}};
  std::vector<Case> cases;
  for (const std::string& expression : expressions) {
    cases.push_back({std::to_string(cases.size()), expression, {{"a", "a"}, {"b", "b"}, {"c", "c"}}});
    if (!expression.starts_with("[") && expression.find("reshape") == std::string::npos)
      cases.push_back(over_unknown_dims(cases.back(), tensors, cases.size()));
  }
  TemporaryFile file("whole_reductions");
  const auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), cases, library_texts());
  const std::vector<Outcome> expected = session.run(Evaluator::Interpreter);
  for (const Evaluator evaluator : {Evaluator::Compiled, Evaluator::Checked}) {
    const std::vector<Outcome> got = session.run(evaluator);
    for (size_t k = 0; k < cases.size(); ++k) {
      EXPECT_EQ(session.problem(k) + expected[k].problem + got[k].problem, "") << session.text(k);
      if (!expected[k].tensor || !got[k].tensor) continue;
      EXPECT_EQ(difference_in_ulps(*got[k].tensor, *expected[k].tensor, 0, 0), "") << session.text(k);
    }
  }
}

}  // namespace
}  // namespace quern::numeric
