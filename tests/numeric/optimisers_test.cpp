// The optimisers of stdlib/optim.relay, five steps each on a record of tensors, against their papers' formulas in
// double, number by number.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "frontend/text/render.h"
#include "session/run/execution.h"
#include "tests/support/compare.h"

namespace quern::numeric {
namespace {

/// One number of a model: what an optimiser remembers of it, and its step.
struct Number {
  double p, first = 0, second = 0;
};
using Step = std::function<void(Number&, double gradient, int step)>;

struct OptimiserCase {
  const char* name;
  const char* begin;  ///< the state before the first step
  const char* step;   ///< the model and the state after one, of `%p`, `%g` and `%state`
  Step formula;
};

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
// Rates are numbers of 32 bits.
constexpr double kRate = 0.1F, kMomentum = 0.9F, kDecay = 0.01F, kBeta1 = 0.9F, kBeta2 = 0.999F;

void adamw(Number& n, double g, int step, double decay) {
  n.first = kBeta1 * n.first + (1 - kBeta1) * g;
  n.second = kBeta2 * n.second + (1 - kBeta2) * g * g;
  const double mean = n.first / (1 - std::pow(kBeta1, step)),
               square = n.second / (1 - std::pow(kBeta2, step));
  n.p = (1 - kRate * decay) * n.p - kRate * mean / (std::sqrt(square) + 1e-8);
}

const std::vector<OptimiserCase> kCases = {
    {"sgd", "()", "(@optim.sgd(%p, %g, 0.1), ())", [](Number& n, double g, int) { n.p -= kRate * g; }},
    {"momentum", "@optim.zeros(%begin)", "@optim.momentum(%p, %g, %state, 0.1, 0.9)",
     [](Number& n, double g, int) {
       n.first = kMomentum * n.first + g;
       n.p -= kRate * n.first;
     }},
    {"nesterov", "@optim.zeros(%begin)", "@optim.nesterov(%p, %g, %state, 0.1, 0.9)",
     [](Number& n, double g, int) {
       n.first = kMomentum * n.first + g;
       n.p -= kRate * (g + kMomentum * n.first);
     }},
    {"rmsprop", "@optim.zeros(%begin)", "@optim.rmsprop(%p, %g, %state, 0.1, 0.9)",
     [](Number& n, double g, int) {
       n.first = kMomentum * n.first + (1 - kMomentum) * g * g;
       n.p -= kRate * g / (std::sqrt(n.first) + 1e-8);
     }},
    {"adam", "@optim.adam_begin(%begin)", "@optim.adam(%p, %g, %state, 0.1)",
     [](Number& n, double g, int step) { adamw(n, g, step, 0); }},
    {"adamw", "@optim.adam_begin(%begin)", "@optim.adamw(%p, %g, %state, 0.1, 0.01)",
     [](Number& n, double g, int step) { adamw(n, g, step, kDecay); }},
    {"lion", "@optim.zeros(%begin)", "@optim.lion(%p, %g, %state, 0.1, 0.01)",
     [](Number& n, double g, int) {
       n.p -= kRate * (sign(0.9 * n.first + 0.1 * g) + kDecay * n.p);
       n.first = 0.99 * n.first + 0.01 * g;
     }},
};

/// The loss is the sum of (p - at)^2 / 2 * weight over these numbers, in this order in the record.
constexpr double kBegin[] = {1, -2, 0.5, 3, 7}, kAt[] = {0, 1, 2, -1, 3}, kWeight[] = {1, 3, 0.5, 2, 0.25};

std::string program(const OptimiserCase& c) {
  std::string text = fmt::format(
      "type Model {{ Model(w: Tensor[(2, 2), float64], rest: List[float64], n: int32) }}\n"
      "let %begin = Model([[1, -2], [0.5, 3]], Cons(7, Nil), 5);\n"
      "def @loss(%m: Model) -> float64 {{\n"
      "  let %d = map_leaves(fn (%p, %at, %weight) {{ (%p - %at) * (%p - %at) / 2 * %weight }}, %m,\n"
      "    Model([[0, 1], [2, -1]], Cons(3, Nil), 5), Model([[1, 3], [0.5, 2]], Cons(0.25, Nil), 5));\n"
      "  fold_leaves(fn (%sum, %x) {{ %sum + sum(%x) }}, 0f64, %d)\n}}\n"
      "let %m0 = %begin; let %s0 = {};\n",
      c.begin);
  for (int k = 0; k < 5; ++k)
    text += fmt::format(
        "let (%m{1}, %s{1}) = {{ let %p = %m{0}; let %g = grad(@loss)(%p).0; let %state = %s{0}; {2} }};\n",
        k, k + 1, c.step);
  return text + "(%m5, %s5);\n";
}

class Optimisers : public testing::TestWithParam<OptimiserCase> {};

TEST_P(Optimisers, StepByTheirFormulas) {
  std::vector<double> expected, first, second;
  for (size_t k = 0; k < std::size(kBegin); ++k) {
    Number n{kBegin[k]};
    for (int step = 1; step <= 5; ++step) GetParam().formula(n, (n.p - kAt[k]) * kWeight[k], step);
    expected.push_back(n.p);
    // What is remembered of each number, where there is something.
    if (n.first != 0) first.push_back(n.first);
    if (n.second != 0) second.push_back(n.second);
  }
  for (const auto* remembered : {&first, &second})
    expected.insert(expected.end(), remembered->begin(), remembered->end());
  for (bool interpret : {true, false}) {
    Session session;
    const ModuleId module = session.make_module();
    const SourceId source = session.add_source(module, "optimiser.relay", program(GetParam()));
    for (const LocatedDiagnostic& d : session.check(source))
      if (severity_of(d.kind) == Severity::Error) FAIL() << render_terminal(d, false);
    ExecutionOptions options;
    options.interpret = interpret;
    Execution execution(session, module, options, [](std::string_view) {});
    std::vector<double> found;
    for (DeclarationId statement : session.statements(source)) {
      StatementResult result = execution.run(statement);
      ASSERT_FALSE(result.failure) << render_terminal(*result.failure, false);
      found = result.value ? float64_numbers(*result.value) : std::vector<double>();
    }
    ASSERT_EQ(found.size(), expected.size());
    for (size_t k = 0; k < found.size(); ++k)
      EXPECT_NEAR(found[k], expected[k], 2e-6 * (1 + std::fabs(expected[k])))
          << k << (interpret ? ", interpreted" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Numeric, Optimisers, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace quern::numeric
