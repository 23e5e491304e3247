// Random schedules of computations with stages: what their kernels compute is what the interpreter says.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "session/session.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/random/schedules.h"
#include "tests/support/evaluate.h"

namespace quern {
namespace {

using loops::Nest;
using loops::Primitive;

struct StagedProgram {
  std::string text;
  std::vector<Shape> shapes;
};

/// Stages that are read at neighbours, beyond their borders, in reductions, and at several places.
StagedProgram random_stages(Random& random) {
  const int64_t m = random.in(1, 23), n = random.in(1, 37), w = random.in(1, 3), pad = random.in(0, 2);
  const bool known = random.chance(70);
  const std::string M = known ? std::to_string(m) : "m", N = known ? std::to_string(n) : "n";
  const std::string kind = random.of(std::vector<std::string>{"sum", "max", "min"});
  const auto program = [&](const std::string& body) {
    return StagedProgram{
        fmt::format("def @main{}(%a: Tensor[({}, {}), float32], %b: Tensor[({}, {}), float32]) {{ {} }}",
                    known ? "" : "[m, n]", M, N, w, w, body),
        {{m, n}, {w, w}}};
  };
  const std::string doubled = fmt::format("let %t = [i < {}, j < {}] => %a[i, j] * 2 + 1; ", M, N);
  switch (random.in(0, 4)) {
    case 0:
      return program(doubled + fmt::format("[i < {}, j < {}] => {}[r < {}, s < {}] "
                                           "(%t[i + r - {}, j + s - {}] else 0) * %b[r, s]",
                                           M, N, kind, w, w, pad, pad));
    case 1:
      return program(
          fmt::format("let %t = [i < {0}] => {2}[r < {1}] %a[i, r]; "
                      "[i < {0}, j < {1}] => %a[i, j] - %t[i]",
                      M, N, kind));
    case 2:
      return program(
          fmt::format("let %t = [i < {0}, q < {2}] => sum[r < {1}] %a[i, r] * (%b[q, r] else 1); "
                      "[i < {0}, j < {0}] => sum[q < {2}] %t[i, q] * %t[j, q]",
                      M, N, w));
    case 3:
      return program(doubled + fmt::format("let %u = [i < {0}, j < {1}] => %t[i, j] + (%t[i, j + 1] else 2); "
                                           "[j < {1}, i < {0}] => {2}[r < {3}] (%u[i + r - {4}, j] else {4})",
                                           M, N, kind, w, pad));
    default:
      return program(
          doubled +
          fmt::format("[i < ({} + 1) / 2, j < {}] => {}[r < 2] (%t[2 * i + r, j] else %a[i, j]) + %t[i, j]",
                      M, N, kind));
  }
}

/// With random steps; its stages are inline where there is no other code.
Nest scheduled(Random& random, const FnExpr& function, Uses& uses, std::string& text) {
  Nest nest(loops::staged_computation_of(function));
  const auto inline_some = [&](int percent) {
    if (nest.is_complete()) return;
    for (const char* stage : {"u", "t"})
      if (random.chance(percent)) (void)nest.apply({Primitive::Inline, {{}}, {}, {stage}});
  };
  inline_some(30);
  for (const char* stage : {"u", "t"})
    if (random.chance(50)) (void)nest.apply({Primitive::ComputeAt, {{random.of(nest.loops())}}, {}, {stage}});
  apply_random_steps(random, nest);
  inline_some(100);
  const loops::Schedule applied = nest.schedule();
  for (const loops::ScheduleStep& step : applied.steps) ++uses[step.primitive];
  text = loops::to_string(applied);
  return nest;
}

TensorPtr computed(const loops::Kernel& kernel, const FnExpr& function, std::span<const TensorPtr> arguments,
                   bool checks_bounds) {
  std::unordered_map<Dim, int64_t> dims;
  std::vector<void*> buffers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = arguments[i]->shape();
    for (size_t a = 0; a < shape.size(); ++a) dims.emplace(function.params[i]->type->dims[a], shape[a]);
    buffers.push_back(arguments[i]->data());
  }
  const auto value = [&](Dim dim) {
    return *evaluate(dim, [&](Dim var) { return std::optional<int64_t>(dims.at(var)); });
  };
  Shape shape;
  for (const Dim dim : function.body->type->dims) shape.push_back(value(dim));
  TensorPtr result = HostTensor::make(DType::float32(), shape);
  buffers.push_back(result->data());
  std::vector<int64_t> numbers;
  for (const Dim dim : kernel.dims) numbers.push_back(value(dim));
  const auto compiled = checks_bounds ? *checking_generator().compile(kernel) : compile(kernel);
  const int64_t range = kernel.range ? value(kernel.range) : 1;
  for (int64_t part = 0; part < range; ++part) {
    std::vector<int64_t> call = numbers;
    call.insert(call.end(), {part, part + 1});
    EXPECT_EQ(compiled->entry.load()(buffers.data(), call.data()), 0);
  }
  return result;
}

void check_program(uint64_t seed, Uses& uses) {
  Random random(seed);
  const StagedProgram program = random_stages(random);
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "random.relay", program.text);
  const Definition* definition = session.definition(module, "main");
  ASSERT_TRUE(definition) << program.text;
  const auto& function = *as<FnExpr>(definition->body);
  std::vector<TensorPtr> tensors;
  std::vector<Value> arguments;
  for (const Shape& shape : program.shapes) {
    tensors.push_back(random_tensor(random, shape));
    arguments.push_back(Value::tensor(tensors.back()));
  }
  std::string schedule;
  const Nest nest = scheduled(random, function, uses, schedule);
  ASSERT_TRUE(nest.is_complete()) << nest.is_complete().error().message << "\n" << program.text;
  loops::Kernel kernel = nest.kernel();
  kernel.name = "random";
  const TensorPtr expected = numeric::called(function, arguments).as_tensor();
  ASSERT_TRUE(expected) << program.text;
  const std::string text =
      fmt::format("seed {}\n{}\n{}\n{}", seed, program.text, schedule, loops::print_kernel(kernel));
  SCOPED_TRACE(text);
  expect_equal(*computed(kernel, function, tensors, seed % 2 == 1), *expected, text);
}

/// QUERN_RANDOM_SCHEDULES=n takes n seeds.
TEST(RandomStages, ComputeWhatTheInterpreterDoes) {
  const char* wanted = std::getenv("QUERN_RANDOM_SCHEDULES");
  const int count = wanted ? std::atoi(wanted) : 300;
  Uses uses;
  for (int seed = 0; seed < count; ++seed) {
    check_program(static_cast<uint64_t>(seed), uses);
    if (HasFailure()) return;
  }
  if (count < 300) return;
  for (const Primitive primitive :
       {Primitive::ComputeAt, Primitive::Inline, Primitive::CacheRead, Primitive::CacheWrite})
    EXPECT_GT(uses[primitive], 0U) << loops::to_string(primitive);
}

}  // namespace
}  // namespace quern
