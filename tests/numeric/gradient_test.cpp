// Derived gradients against differences in float64.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/interpret/interpreter.h"
#include "passes/gradient/reverse.h"
#include "passes/pipeline.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"
#include "tests/support/cases.h"
#include "tests/support/evaluate.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

/// A definition `@f` in the language, and extents for the dims that it leaves open.
struct GradientCase {
  friend void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.definition; }
  std::string name, definition;
  std::vector<Shape> shapes = {};  ///< of the parameters, where their types do not say
  Values values = Values::Moderate;
  std::string fallback = {};  ///< why it is added up by a scatter; none where it is empty
};

double dot(const Value& a, const Value& b) {
  if (auto* fields = a.fields()) {
    double sum = 0;
    for (size_t i = 0; i < fields->size() && i < b.fields()->size(); ++i)
      sum += dot((*fields)[i], (*b.fields())[i]);
    return sum;
  }
  TensorPtr x = a.as_tensor(), y = b.as_tensor();
  EXPECT_EQ(x->shape(), y->shape());
  double sum = 0;
  for (int64_t i = 0; i < x->size(); ++i) sum += element_as_double(*x, i) * element_as_double(*y, i);
  return sum;
}

Value moved(const Value& from, const Value& direction, double by) {
  TensorPtr x = from.as_tensor(), d = direction.as_tensor();
  auto out = HostTensor::make(DType::float64(), x->shape());
  for (int64_t i = 0; i < x->size(); ++i)
    out->elements<double>()[static_cast<size_t>(i)] =
        element_as_double(*x, i) + by * element_as_double(*d, i);
  return Value::tensor(out);
}

Value cotangent_for(const Value& result, Random& random) {
  if (auto* fields = result.fields()) {
    std::vector<Value> parts;
    for (const Value& f : *fields) parts.push_back(cotangent_for(f, random));
    return Value::tuple(parts);
  }
  TensorPtr tensor = result.as_tensor();
  if (!tensor->dtype().is_float()) return Value::unit();
  return Value::tensor(random.tensor(DType::float64(), tensor->shape(), Values::Moderate));
}

/// <cotangent, result>, over what has a gradient.
double pairing(const Value& result, const Value& cotangent) {
  if (auto* fields = result.fields()) {
    double sum = 0;
    for (size_t i = 0; i < fields->size(); ++i) sum += pairing((*fields)[i], (*cotangent.fields())[i]);
    return sum;
  }
  return result.as_tensor()->dtype().is_float() ? dot(result, cotangent) : 0;
}

class Gradients : public testing::TestWithParam<GradientCase> {};

TEST_P(Gradients, AreThoseOfDifferences) {
  const GradientCase& c = GetParam();
  Session session;
  ModuleId module = session.make_module();
  SourceId source = session.add_source(module, "case.relay", c.definition);
  for (const LocatedDiagnostic& d : session.check(source)) FAIL() << d.message;
  FunctionSource& functions = session.functions();
  const Definition* definition = session.definition(module, "f");
  ASSERT_TRUE(definition);
  Optimised typed = optimise(*definition, functions, "simplify_index");
  auto* forward = as<FnExpr>(typed.expr);
  ASSERT_TRUE(forward);
  auto arena = std::make_shared<Arena>();
  auto derived = vector_jacobian(*arena, *forward);
  ASSERT_TRUE(std::holds_alternative<VectorJacobian>(derived));
  const auto& [backward, fallbacks] = std::get<VectorJacobian>(derived);
  if (c.fallback.empty())
    for (const ScatterFallback& f : fallbacks) ADD_FAILURE() << "a scatter: " << f.reason;
  else
    EXPECT_TRUE(!fallbacks.empty() && fallbacks[0].reason.find(c.fallback) != std::string::npos);

  Random random(7);
  std::vector<Value> args;
  for (size_t i = 0; i < forward->params.size(); ++i) {
    Type type = forward->params[i]->type;
    Shape shape;
    for (Dim d : type->dims) shape.push_back(as_const(d).value_or(0));
    if (i < c.shapes.size()) shape = c.shapes[i];
    Values values = type->dtype.is_float() ? c.values : Values::SmallIntegers;
    args.push_back(Value::tensor(random.tensor(type->dtype, shape, values)));
  }
  Value result = called(*forward, args);
  std::vector<Value> more = args;
  Value cotangent = cotangent_for(result, random);
  more.push_back(cotangent);
  Value both = called(*backward, more);
  ASSERT_TRUE(both.fields());
  Value gradients = (*both.fields())[1];
  ASSERT_TRUE(gradients.fields());
  for (size_t i = 0; i < args.size(); ++i) {
    if (!forward->params[i]->type->dtype.is_float()) continue;
    TensorPtr gradient = (*gradients.fields())[i].as_tensor();
    ASSERT_EQ(gradient->shape(), args[i].as_tensor()->shape());
    for (int turn = 0; turn < 6; ++turn) {
      // Sparse directions tell where a gradient is wrong that sums hide.
      TensorPtr along = random.tensor(DType::float64(), gradient->shape(), Values::Moderate);
      if (turn > 1)
        for (int64_t k = 0; k < along->size(); ++k)
          if (!random.chance(0.1))
            std::const_pointer_cast<HostTensor>(along)->elements<double>()[static_cast<size_t>(k)] = 0;
      Value direction = Value::tensor(along);
      constexpr double h = 1e-5;
      std::vector<Value> plus = args, minus = args;
      plus[i] = moved(args[i], direction, h);
      minus[i] = moved(args[i], direction, -h);
      double up = pairing(called(*forward, plus), cotangent);
      double down = pairing(called(*forward, minus), cotangent);
      double expected = (up - down) / (2 * h), found = dot(Value::tensor(gradient), direction);
      EXPECT_NEAR(found, expected, 1e-4 * std::max({1.0, std::fabs(expected), std::fabs(up)}))
          << "parameter " << i << ", direction " << turn;
    }
  }
}

/// The function of a case in the language, its arguments, cotangents and tangents in a file.
class Derivatives {
 public:
  explicit Derivatives(const GradientCase& c) : case_(c), file_("derivatives_" + c.name) {
    Session session;
    ModuleId module = session.make_module();
    session.add_source(module, "case.relay", c.definition);
    const Definition* definition = session.definition(module, "f");
    if (!definition) return;
    auto* function = as<FnExpr>(definition->body);
    Random random(7);
    std::string args, tangents;
    for (size_t i = 0; i < function->params.size(); ++i) {
      Type type = function->params[i]->type;
      Shape shape;
      for (Dim d : type->dims) shape.push_back(as_const(d).value_or(0));
      if (i < c.shapes.size()) shape = c.shapes[i];
      const bool is_float = type->dtype.is_float();
      args += (i ? ", " : "") +
              input(random.tensor(type->dtype, shape, is_float ? c.values : Values::SmallIntegers));
      tangents += ", " + (is_float ? input(random.tensor(type->dtype, shape, Values::Moderate)) : "()");
      if (is_float) moved_.push_back({i, tensors_.back().second});
    }
    arguments_ = args;
    add("f", "@f(" + args + ")");
    add("jvp", "jvp(@f)(" + args + tangents + ").1");
  }

  /// The results of `f`, then of its derivative forwards, then of that backwards.
  std::vector<Outcome> run(Evaluator evaluator, const HostTensor* like) {
    if (like && cases_.size() == 2) {
      cotangent_ = Random(8).tensor(like->dtype(), like->shape(), Values::Moderate);
      tensors_.emplace_back("ct", cotangent_);
      add("vjp", "vjp(@f)(" + arguments_ + ", %ct).1");
    }
    EXPECT_TRUE(write_tensors(file_.path(), tensors_));
    std::vector<Case> cases = cases_;
    for (Case& one : cases)
      for (const auto& [name, tensor] : tensors_)
        if (one.expression.find("%" + name) != std::string::npos) one.inputs.push_back({name, name});
    cases.front().definition = case_.definition;
    std::ranges::replace(cases.front().definition, '\n', ' ');
    CaseSession session(file_.path(), cases, library_texts());
    for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(session.problem(i), "") << session.text(i);
    return session.run(evaluator);
  }

  /// The arguments that move, and how.
  std::span<const std::pair<size_t, TensorPtr>> moved() const { return moved_; }
  const TensorPtr& cotangent() const { return cotangent_; }

 private:
  std::string input(TensorPtr tensor) {
    std::string name = fmt::format("in{}", tensors_.size());
    tensors_.emplace_back(name, std::move(tensor));
    return "%" + name;
  }
  void add(const std::string& name, const std::string& expression) {
    cases_.push_back({name, expression, {}});
  }

  const GradientCase& case_;
  TemporaryFile file_;
  std::string arguments_;
  Entries<TensorPtr> tensors_;
  std::vector<Case> cases_;
  std::vector<std::pair<size_t, TensorPtr>> moved_;
  TensorPtr cotangent_;
};

/// Of both evaluators, in code that tests its accesses: backwards and forwards are each other's transposes.
TEST_P(Gradients, AreTransposes) {
  Derivatives derivatives(GetParam());
  std::vector<Outcome> first = derivatives.run(Evaluator::Interpreter, nullptr);
  ASSERT_EQ(first.size(), 2);
  if (!first[0].tensor) return;  // tuples are held to differences
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Checked}) {
    std::vector<Outcome> all = derivatives.run(evaluator, first[0].tensor.get());
    for (const Outcome& outcome : all) ASSERT_EQ(outcome.problem, "") << to_string(evaluator);
    const double forwards = dot(Value::tensor(all[1].tensor), Value::tensor(derivatives.cotangent()));
    double backwards = 0;
    for (const auto& [parameter, tangent] : derivatives.moved())
      backwards += dot(Value::tensor(all[2].fields.at(parameter)), Value::tensor(tangent));
    EXPECT_NEAR(forwards, backwards, 1e-9 * std::max(1.0, std::fabs(forwards))) << to_string(evaluator);
  }
}

const GradientCase kCases[] = {
    {"add", "def @f(%x: Tensor[(2, 3), float64], %y: Tensor[(3,), float64]) { %x + %y * %x }"},
    {"dense", "def @f(%x: Tensor[(4, 5), float64], %w: Tensor[(3, 5), float64]) { nn.dense(%x, %w) }"},
    {"dense_dims",
     "def @f[n, m, k](%x: Tensor[(n, k), float64], %w: Tensor[(m, k), float64]) { nn.dense(%x, %w) }",
     {{4, 5}, {3, 5}}},
    {"conv2d",
     "def @f(%x: Tensor[(2, 3, 7, 6), float64], %w: Tensor[(4, 3, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "padding=[1, 1]) }"},
    {"conv2d_strided",
     "def @f(%x: Tensor[(1, 2, 7, 8), float64], %w: Tensor[(3, 2, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "strides=[2, 2], padding=[1, 1]) }"},
    {"residual_block",
     "def @f(%x: Tensor[(1, 2, 6, 6), float64], %w: Tensor[(3, 2, 3, 3), float64], %u: Tensor[(3, 3, 3, 3), "
     "float64], %s: Tensor[(3, 2, 1, 1), float64], %d: Tensor[(4, 3), float64]) { let %h = "
     "tanh(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1])); let %y = nn.conv2d(%h, %u, padding=[1, 1]) + "
     "nn.conv2d(%x, %s, strides=[2, 2]); let %z = mean(nn.relu(%y), axis=[2, 3]); "
     "nn.log_softmax(nn.dense(%z, %d)) }"},
    {"conv2d_dilated",
     "def @f(%x: Tensor[(1, 2, 9, 9), float64], %w: Tensor[(2, 2, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "strides=[2, 3], padding=[2, 1], dilation=[2, 2]) }"},
    {"conv2d_grouped",
     "def @f(%x: Tensor[(1, 4, 5, 5), float64], %w: Tensor[(6, 2, 3, 3), float64]) { nn.conv2d(%x, %w, "
     "groups=2) }"},
    {"conv2d_dims",
     "def @f[n, c, h, w, o, k](%x: Tensor[(n, c, h, w), float64], %w: Tensor[(o, c, k, k), float64]) { "
     "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1]) }",
     {{1, 2, 7, 6}, {3, 2, 3, 3}}},
    {"conv2d_nhwc",
     "def @f(%x: Tensor[(1, 6, 5, 2), float64], %w: Tensor[(3, 3, 2, 4), float64]) { nn.conv2d(%x, %w, "
     "data_layout=\"NHWC\", kernel_layout=\"HWIO\", padding=[1, 1]) }"},
    {"conv2d_transpose",
     "def @f(%x: Tensor[(1, 2, 4, 5), float64], %w: Tensor[(2, 3, 3, 3), float64]) { nn.conv2d_transpose(%x, "
     "%w, strides=[2, 2], padding=[1, 1], output_padding=[1, 1]) }"},
    {"max_pool",
     "def @f(%x: Tensor[(1, 2, 6, 7), float64]) { nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
     "padding=[1, 1]) }"},
    {"avg_pool",
     "def @f(%x: Tensor[(1, 2, 6, 7), float64]) { nn.avg_pool2d(%x, pool_size=[3, 2], strides=[2, 2], "
     "padding=[1, 0]) }"},
    {"avg_pool_ceil",
     "def @f(%x: Tensor[(1, 2, 6, 7), float64]) { nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
     "padding=[1, 1], ceil_mode=True, count_include_pad=True) }"},
    {"adaptive_avg_pool",
     "def @f(%x: Tensor[(1, 2, 7, 8), float64]) { nn.adaptive_avg_pool2d(%x, output_size=[3, 4]) }"},
    {"batch_norm",
     "def @f(%x: Tensor[(2, 3, 4), float64], %g: Tensor[(3,), float64], %b: Tensor[(3,), float64], %m: "
     "Tensor[(3,), float64], %v: Tensor[(3,), float64]) { nn.batch_norm(%x, %g, %b, %m, %v) }",
     {},
     Values::Positive},
    {"layer_norm",
     "def @f(%x: Tensor[(3, 5), float64], %g: Tensor[(5,), float64], %b: Tensor[(5,), float64]) { "
     "nn.layer_norm(%x, %g, %b) }"},
    {"softmax", "def @f(%x: Tensor[(3, 5), float64]) { nn.softmax(%x) }"},
    {"log_softmax", "def @f(%x: Tensor[(3, 5), float64]) { nn.log_softmax(%x, axis=0) }"},
    {"depth_to_space", "def @f(%x: Tensor[(1, 8, 2, 3), float64]) { nn.depth_to_space(%x, block_size=2) }"},
    {"space_to_depth", "def @f(%x: Tensor[(1, 2, 4, 6), float64]) { nn.space_to_depth(%x, block_size=2) }"},
    {"strided_slice",
     "def @f(%x: Tensor[(7, 8), float64]) { strided_slice(%x, begin=[6, 1], end=[0, 8], strides=[-2, 3]) }"},
    {"reshape",
     "def @f(%x: Tensor[(2, 6), float64]) { reshape(%x, newshape=[3, 4]) * reshape(%x, newshape=[3, -1]) }"},
    {"transpose", "def @f(%x: Tensor[(2, 3, 4), float64]) { transpose(%x, axes=[2, 0, 1]) }"},
    {"concatenate",
     "def @f(%x: Tensor[(2, 3), float64], %y: Tensor[(2, 4), float64]) { concatenate((%x, %y, %x), axis=1) "
     "}"},
    {"split", "def @f(%x: Tensor[(2, 6), float64]) { split(%x, indices_or_sections=3, axis=1) }"},
    {"take", "def @f(%x: Tensor[(5, 3), float64], %i: Tensor[(4,), int32]) { take(%x, %i, axis=0) }"},
    {"gather_nd",
     "def @f(%x: Tensor[(9, 3), float64], %i: Tensor[(1, 4), int32]) { gather_nd(%x, abs(%i), index_rank=1) "
     "}"},
    {"cumsum", "def @f(%x: Tensor[(3, 5), float64]) { cumsum(%x, axis=1) }"},
    {"cumsum_exclusive", "def @f(%x: Tensor[(4, 3), float64]) { cumsum(%x * %x, axis=0, exclusive=True) }"},
    {"cumprod", "def @f(%x: Tensor[(3, 5), float64]) { cumprod(%x, axis=1) }"},
    {"prod", "def @f(%x: Tensor[(3, 4), float64]) { prod(%x, axis=[1]) }"},
    {"variance",
     "def @f(%x: Tensor[(3, 4), float64]) { variance(%x, mean(%x, axis=[1], keepdims=True), axis=[1]) }"},
    {"max", "def @f(%x: Tensor[(3, 4, 2), float64]) { max(%x, axis=[1, 2]) }"},
    {"pad_edge",
     "def @f(%x: Tensor[(3, 4), float64], %v: float64) { nn.pad(%x, %v, pad_width=[[1, 2], [2, 0]], "
     "pad_mode=\"edge\") }"},
    {"pad_constant",
     "def @f(%x: Tensor[(3, 4), float64], %v: float64) { nn.pad(%x, %v, pad_width=[[1, 2], [2, 0]]) }"},
    {"pad_reflect",
     "def @f(%x: Tensor[(4, 5), float64], %v: float64) { nn.pad(%x, %v, pad_width=[[1, 2], [2, 3]], "
     "pad_mode=\"reflect\") }"},
    {"upsampling",
     "def @f(%x: Tensor[(1, 2, 3, 2), float64]) { nn.upsampling(%x, scale_h=2.0, scale_w=3.0) }"},
    {"lrn", "def @f(%x: Tensor[(1, 7, 2, 2), float64]) { nn.lrn(%x, size=3) }"},
    {"tile", "def @f(%x: Tensor[(2, 3), float64]) { tile(%x, reps=[2, 2]) }"},
    {"repeat", "def @f(%x: Tensor[(2, 3), float64]) { repeat(%x, repeats=3, axis=1) }"},
    {"where",
     "def @f(%c: Tensor[(3, 4), int32], %x: Tensor[(3, 4), float64], %y: Tensor[(4,), float64]) { where(%c > "
     "0, %x, %y) }"},
    {"scalars",
     "def @f(%x: Tensor[(4,), float64]) { exp(sin(%x)) / sqrt(%x) + log(%x) * tanh(%x) + sigmoid(%x) * "
     "erf(%x) + power(%x, %x) }",
     {},
     Values::Positive},
    {"max_plus",
     "op mp(%a: Tensor[(n, k), t], %b: Tensor[(k, m), t]) -> Tensor[(n, m), t] { [i, j] => max[r] (%a[i, r] "
     "+ %b[r, j]) }\n"
     "def @f(%a: Tensor[(3, 4), float64], %b: Tensor[(4, 5), float64]) { mp(%a, %b) }"},
    {"capsule",
     "op caps(%x: Tensor[(n, c, h, w, p, q), t], %k: Tensor[(o, c, r, s, q, z), t]) -> Tensor[(n, o, h - r + "
     "1, w - s + 1, p, z), t] "
     "{ [b, f, y, x, i, j] => sum[d, u, v, e] %x[b, d, y + u, x + v, i, e] * %k[f, d, u, v, e, j] }\n"
     "def @f(%x: Tensor[(1, 2, 4, 4, 2, 2), float64], %k: Tensor[(3, 2, 2, 2, 2, 2), float64]) { caps(%x, "
     "%k) }"},
    {"triangle",
     "op tri(%x: Tensor[(n, n), t]) -> Tensor[(n,), t] { [i] => sum[j < i + 1] %x[i, j] * %x[j, i] }\n"
     "def @f(%x: Tensor[(5, 5), float64]) { tri(%x) }"},
    {"diagonal",
     "op diag(%x: Tensor[(n, n), t]) -> Tensor[(n,), t] { [i] => %x[i, n - 1 - i] }\ndef @f(%x: Tensor[(4, "
     "4), float64]) { diag(%x) }"},
    {"if",
     "def @f(%c: Tensor[(2,), int32], %x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) { let %z = %x * "
     "%y; if (%c[0] > 0) { %z * %x } else { let %w = %z + %y; (%w * %w) } }"},
    {"tuples",
     "def @f(%x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) { let %t = (%x * %y, (%x, %y)); (%t.1.0 * "
     "%t.0, %t.1) }"},
    {"scatter_add",
     "def @f(%x: Tensor[(4, 3), float64], %i: Tensor[(2, 3), int32], %u: Tensor[(2, 3), float64]) { "
     "scatter_elements(%x, abs(%i) % 4, %u * %u, reduction=\"add\") * %x }"},
    {"scatter_set",
     "def @f(%x: Tensor[(5,), float64], %i: Tensor[(7,), int32], %u: Tensor[(7,), float64]) { "
     "scatter_elements(%x * %x, abs(%i), %u * %u) }"},
    {"scatter_mul",
     "def @f(%x: Tensor[(5,), float64], %i: Tensor[(7,), int32], %u: Tensor[(7,), float64]) { "
     "scatter_elements(%x * %x, abs(%i), %u * %u, reduction=\"mul\") }"},
    {"scatter_max",
     "def @f(%x: Tensor[(5,), float64], %i: Tensor[(7,), int32], %u: Tensor[(7,), float64]) { "
     "scatter_elements(%x * %x, abs(%i), %u * %u, reduction=\"max\") }"},
    {"scatter_min",
     "def @f(%x: Tensor[(5, 2), float64], %i: Tensor[(1, 7), int32], %u: Tensor[(7, 2), float64]) { "
     "scatter_nd(%x * %x, abs(%i), %u * %u, mode=\"min\") }"},
    {"let",
     "def @f(%x: Tensor[(4,), float64]) { [i < 4] => { let %t = %x[i] * 2.0; let %s = %t * %t; %s * %t + %s "
     "} }"},
    {"let_in_a_sum",
     "def @f(%x: Tensor[(3, 4), float64], %y: Tensor[(4,), float64]) { [i < 3] => { let %u = %x[i, 0]; sum[k "
     "< 4] { let %t = %x[i, k] * %y[k]; sin(%t) * %t * %u } } }"},
    {"let_of_a_sum",
     "def @f(%x: Tensor[(3, 4), float64]) { [i < 3] => { let %s = sum[k < 4] %x[i, k] * %x[i, k]; exp(%s * "
     "0.1) * %s * %x[i, 1] } }"},
    {"let_of_an_index",
     "def @f(%i: Tensor[(4,), int32], %x: Tensor[(9,), float64]) { [a < 4] => { let %j = abs(%i[a]); let %t "
     "= "
     "%x[%j]; %t * %t } }"},
    {"let_under_a_condition",
     "def @f(%i: Tensor[(9,), int32], %x: Tensor[(3,), float64]) { [a < 9] => if (%i[a] >= 0 and %i[a] < 3) "
     "{ "
     "let %t = %x[%i[a]]; %t * %t * %x[%i[a]] } else { 0.5 } }"},
    {"gather_beside_else",
     "def @f(%y: Tensor[(5, 1), float64], %i: Tensor[(2,), int32], %x: Tensor[(9,), float64]) { [a < 2] => "
     "(%y[a, a] else 1.0) * %x[abs(%i[a])] }"},
    {"sum_under_a_condition",
     "def @f(%i: Tensor[(4,), int32], %x: Tensor[(5, 3), float64]) { [a < 4] => if (%i[a] >= 0 and %i[a] < "
     "5) "
     "{ let %s = sum[k < 3] %x[%i[a], k]; %s * %s } else { 1.0 } }"},
    {"maximum_under_a_condition",
     "def @f(%i: Tensor[(4,), int32], %x: Tensor[(5, 3), float64]) { [a < 4] => select(%i[a] >= 0 and %i[a] "
     "< "
     "5, max[k < 3] %x[%i[a], k] * 2.0, 1.0) }"},
    {"falling_extent",
     "def @f(%i: Tensor[(4,), int32], %x: Tensor[(9,), float64]) { [b < 2] => sum[a < 4] sum[k < 4 - a] "
     "%x[abs(%i[k])] * %x[a + b] }"},
    {"wrapped_and_clamped",
     "def @f(%x: Tensor[(5, 4), float64]) { [a < 4, k < 4] => sin(%x[(k - a) % 5, min(2 * k, 4 - a) % 4]) }",
     {},
     Values::Moderate,
     "too many steps"},
    {"scatter_of_a_sum",
     "def @f(%x: Tensor[(2, 5), float64]) { [a < 2] => scatter[m < 3] 1.0 at (m % 2,) += cos(sum[k < 2] "
     "%x[(0 - "
     "m) % 2, (m + k) % 5]) }"},
    // The `else` is of no use at the point of the scatter, and needed at others.
    {"reduction_of_what_is_proved_under_a_scatter",
     "def @f(%x: Tensor[(4, 4), float64], %v: Tensor[(2,), float64]) { [u < 1, k < 1] => scatter[i < 1] 0.0 "
     "at "
     "(0, 0) += (sum[j < i + 1] (%v[i] else 0.0)) * sin(%x[0, i]) }"},
    {"squares",
     "op sq(%x: Tensor[(n,), t]) -> Tensor[(n / 2,), t] { [i] => %x[i * i] else 0 }\ndef @f(%x: Tensor[(9,), "
     "float64]) { sq(%x) }",
     {},
     Values::Moderate,
     "not linear"},
};

INSTANTIATE_TEST_SUITE_P(Operators, Gradients, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace quern::numeric
