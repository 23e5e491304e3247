// Column: gradient. Of every operator of the library, derived from its definition: against differences in
// float64, and compiled code against the interpreter. (gradient_references_test.cpp has those that PyTorch
// computed.)

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "frontend/text/render.h"
#include "passes/pipeline.h"
#include "tests/operators/drawn.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/evaluate.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

constexpr uint64_t kGradientDraws = 10;

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
         problem.find("a function whose result is one tensor of floating-point numbers") !=
             std::string::npos ||
         problem.find("adds numbers: of bool") != std::string::npos;
}

// The draw with floats of 64 bits, none of them huge.
Drawn in_float64(const Row& row, uint64_t number) {
  Drawn draw = drawn(row, number);
  Random random(number);
  for (TensorPtr& tensor : draw.arguments.tensors)
    if (tensor->dtype().is_float())
      tensor = random.tensor(DType::float64(), tensor->shape(), Values::Positive);
  return draw;
}

double scalar_of(const Value& value) { return element_as_double(*value.as_tensor(), 0); }

// x + by * direction, element by element.
Value moved(const Value& x, const HostTensor& direction, double by) {
  auto out = HostTensor::make(DType::float64(), x.as_tensor()->shape());
  for (int64_t i = 0; i < out->size(); ++i)
    out->elements<double>()[static_cast<size_t>(i)] =
        element_as_double(*x.as_tensor(), i) + by * element_as_double(direction, i);
  return Value::tensor(out);
}

// The slope of the loss along a direction of one argument; nothing beside a kink, where it has none.
std::optional<double> slope_of(const FnExpr& loss, const std::vector<Value>& args, size_t k,
                               const HostTensor& direction) {
  constexpr double kStep = 1e-4;
  auto at = [&](double by) {
    std::vector<Value> there = args;
    there[k] = moved(args[k], direction, by);
    return scalar_of(called(loss, there));
  };
  double here = at(0), up = at(kStep), down = at(-kStep), slope = (up - down) / (2 * kStep);
  double half = (at(kStep / 2) - at(-kStep / 2)) / kStep, scale = 1 + std::fabs(slope);
  bool smooth =
      std::fabs(half - slope) < 1e-5 * scale && std::fabs(up + down - 2 * here) < 0.2 * kStep * scale;
  return smooth ? std::optional(slope) : std::nullopt;
}

class GradientColumn : public testing::TestWithParam<Row> {};

TEST_P(GradientColumn, OfCompiledCode) {
  const Row& row = GetParam();
  std::vector<Case> cases;
  Entries<TensorPtr> tensors;
  Random random(std::hash<std::string>()(row.name) % 1000);
  for (uint64_t k = 0; k < kGradientDraws; ++k)
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

TEST_P(GradientColumn, IsThatOfDifferences) {
  const Row& row = GetParam();
  size_t compared = 0, refused = 0;
  Session session(library_texts());
  for (uint64_t number = 0; number < kGradientDraws && !HasFailure(); ++number) {
    Drawn draw = in_float64(row, number);
    std::string args;
    for (size_t k = 0; k < draw.arguments.tensors.size(); ++k)
      args += fmt::format("{}%{}", k == 0 ? "" : ", ", static_cast<char>('a' + k));
    std::string square = fmt::format("let %value = {}; sum(%value * %value)", draw.arguments.expression);
    std::string text = draw.definition_of("loss", square) +
                       draw.definition_of("slope", fmt::format("grad(@loss)({})", args));
    ModuleId module = session.make_module();
    SourceId source = session.add_source(module, "drawn.relay", text);
    const auto found = session.check(source);
    const bool typed = !has_errors(found);
    // A type error would hide that there is nothing to compare.
    for (const LocatedDiagnostic& d : found) {
      const std::string problem = severity_of(d.kind) == Severity::Error ? render_terminal(d, false) : "";
      // An instruction takes one dtype alone.
      const bool is_fixed = problem.find("has to be float32, not float64") != std::string::npos;
      EXPECT_TRUE(problem.empty() || is_fixed || has_no_gradient(problem)) << problem << text;
    }
    Type type = typed ? session.definition(module, "loss")->scheme.type->result() : nullptr;
    refused += !typed;
    if (!typed || type->dtype != DType::float64()) continue;
    SCOPED_TRACE(text);
    FunctionSource& functions = session.functions();
    Optimised loss = optimise(*session.definition(module, "loss"), functions, "simplify_index");
    Optimised slope = optimise(*session.definition(module, "slope"), functions, "simplify_index");
    std::vector<Value> values = draw.values();
    Value gradients = called(*as<FnExpr>(slope.expr), values);
    ASSERT_TRUE(gradients.fields());
    Random random(number);
    for (size_t k = 0; k < values.size(); ++k) {
      if (!values[k].as_tensor()->dtype().is_float()) continue;
      TensorPtr direction = random.tensor(DType::float64(), values[k].as_tensor()->shape(), Values::Moderate);
      auto wanted = slope_of(*as<FnExpr>(loss.expr), values, k, *direction);
      if (!wanted) continue;
      TensorPtr gradient = (*gradients.fields())[k].as_tensor();
      double got = 0;
      for (int64_t i = 0; i < gradient->size(); ++i)
        got += element_as_double(*gradient, i) * element_as_double(*direction, i);
      EXPECT_NEAR(got, *wanted, 1e-4 * (1 + std::fabs(*wanted))) << "of %" << static_cast<char>('a' + k);
      ++compared;
    }
  }
  if (refused == kGradientDraws) GTEST_SKIP() << "no gradient";
  if (compared == 0) GTEST_SKIP() << "no floats";
}

INSTANTIATE_TEST_SUITE_P(Operators, GradientColumn, testing::ValuesIn(operator_rows()),
                         [](const auto& info) { return test_name(info.param.name); });

}  // namespace
}  // namespace quern::numeric
