// Sums of products by intrinsics: each that the library declares against the interpreter, and contractions of
// all dtypes, sizes and borders against it.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "frontend/index/schedule_clause.h"
#include "jit/compute/computation.h"
#include "jit/nest/nest.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"
#include "tests/jit/nest/dots_in_programs.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

bool has_some(std::string_view accumulator) {
  Session session;
  return std::ranges::any_of(session.dot_intrinsics(), [&](const DotIntrinsicPtr& dot) {
    return to_string(dot->accumulator) == accumulator && code_generator().has(*dot) &&
           dot->lanes * 4 == code_generator().target().machine.vector_bytes;
  });
}

// --- intrinsics --------------------------------------------------------------------------------------

/// acc[i] + sum over r < group of a[i, r] * b[i, r], as the op says it.
loops::Computation computation_of(const DotIntrinsic& dot) {
  using namespace loops::build;
  const Dim i = dim_var("i"), r = dim_var("r"), lanes = num(dot.lanes), group = num(dot.group);
  const Dim place = dim_add(dim_mul(i, group), r);
  const auto factor = [&](int buffer, DType dtype) {
    return cast(dot.accumulator, load(buffer, dtype, place));
  };
  loops::Computation c;
  c.buffers = {{"acc", dot.accumulator, {lanes}},
               {"a", dot.a, {lanes, group}},
               {"b", dot.b, {lanes, group}},
               {"out", dot.accumulator, {lanes}, true}};
  c.vars = {i};
  c.extents = {lanes};
  loops::Reduction sum{ReduceKind::Sum, {r}, {group}};
  sum.accumulator = dot.accumulator;
  sum.value = apply(ScalarOp::Mul, {factor(1, dot.a), factor(2, dot.b)});
  c.reductions = {sum};
  c.locals = 1;
  c.value = apply(ScalarOp::Add, {local(0, dot.accumulator), load(0, dot.accumulator, i)});
  c.store_offset = i;
  return c;
}

std::shared_ptr<CompiledKernel> kernel_of(const DotIntrinsic& dot) {
  loops::Nest nest(computation_of(dot), {}, {std::make_shared<const DotIntrinsic>(dot)});
  const auto schedule = parse_schedule(
      fmt::format("ro, ri = split(r, {}); reorder(ro, ri, i); vectorize(i, {}); tensorize(i, ri; {})",
                  dot.group, dot.lanes, dot.name));
  const auto applied = nest.apply(*schedule);
  EXPECT_TRUE(applied) << applied.error().message;
  const auto complete = nest.is_complete();
  EXPECT_TRUE(complete) << complete.error().message;
  const loops::Kernel kernel = nest.kernel();
  EXPECT_NE(loops::print_kernel(kernel).find(dot.name + "(a["), std::string::npos);
  return compile(kernel);
}

GuardedArray guarded(const TensorPtr& tensor) {
  GuardedArray array(tensor->dtype(), static_cast<size_t>(tensor->size()));
  std::memcpy(array.data(), tensor->data(), tensor->bytes());
  return array;
}

TEST(Dots, DoWhatTheirOpsSay) {
  std::mt19937 engine(5);
  Session session;
  EXPECT_GE(session.dot_intrinsics().size(), 6u);
  for (const DotIntrinsicPtr& dot : session.dot_intrinsics()) {
    EXPECT_TRUE(can_call(*dot)) << dot->llvm;
    if (dot->is_of_matrices() || !code_generator().has(*dot)) continue;
    const auto tensor = [&](DType dtype, bool grouped) {
      return grouped ? fmt::format("Tensor[({}, {}), {}]", dot->lanes, dot->group, to_string(dtype))
                     : fmt::format("Tensor[({},), {}]", dot->lanes, to_string(dtype));
    };
    Main main(fmt::format("def @main(%acc: {}, %a: {}, %b: {}) {{ {}(%acc, %a, %b) }}",
                          tensor(dot->accumulator, false), tensor(dot->a, true), tensor(dot->b, true),
                          dot->name));
    const auto kernel = kernel_of(*dot);
    for (int turn = 0; turn < 200; ++turn) {
      const std::vector<Value> arguments = main.random_arguments(engine);
      const TensorPtr wanted = main.interpreted(arguments);
      GuardedArray acc = guarded(arguments[0].as_tensor()), a = guarded(arguments[1].as_tensor()),
                   b = guarded(arguments[2].as_tensor());
      GuardedArray out(dot->accumulator, static_cast<size_t>(dot->lanes));
      ASSERT_EQ(run(*kernel, {&acc, &a, &b, &out}), 0);
      for (size_t i = 0; i < out.size(); ++i) {
        double terms = std::abs(acc[i].as_double());
        for (size_t r = 0; r < static_cast<size_t>(dot->group); ++r) {
          const size_t at = i * static_cast<size_t>(dot->group) + r;
          terms += std::abs(a[at].as_double() * b[at].as_double());
        }
        // What flushed subnormals leave out are operands below 2^-126, here times at most 1e4.
        const double error = dot->accumulator.is_float() ? std::ldexp(terms, -22) + 4e-34 : 0;
        ASSERT_NEAR(out[i].as_double(), element(wanted, i).as_double(), error) << dot->name << " at " << i;
      }
    }
  }
}

// --- contractions ------------------------------------------------------------------------------------

class DotContractions : public testing::TestWithParam<size_t> {};

TEST_P(DotContractions, AreWhatTheInterpreterSays) {
  const std::string& text = contractions()[GetParam()];
  Main main(text);
  std::mt19937 engine(11);
  for (const int64_t unknown : {37, 6}) {
    const std::vector<Value> arguments = main.random_arguments(engine, unknown);
    const TensorPtr wanted = main.interpreted(arguments);
    for (const Tiers tiers : {Tiers::First, Tiers::Best})
      expect_same(main.compiled(arguments, {.tiers = tiers}), wanted, text);
    expect_same(main.compiled(arguments, {.tiers = Tiers::First, .checks_bounds = true}), wanted, text);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, DotContractions, testing::Range(size_t{0}, contractions().size()));

TEST(Dots, AreTakenByContractionsOfTheirDTypes) {
  const auto loops = [](const std::string& left, const std::string& right, const std::string& call) {
    return Main(fmt::format("def @main(%a: Tensor[{}], %b: Tensor[{}]) {{ {} }}", left, right, call)).loops();
  };
  // Where the machine has registers of matrices they are taken for what is large enough.
  const auto multiplies = [](const std::string& text, char group) {
    return text.find(fmt::format("x86.dot{}", group)) != std::string::npos ||
           text.find(fmt::format("x86.matrix{}", group)) != std::string::npos;
  };
  if (has_some("int32")) {
    const auto takes = [&](const std::string& text) { return multiplies(Main(text).loops(), '4'); };
    // The five of 7 by 16 by 5 are too small for a tile.
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(contractions(), takes)), contractions().size() - 5);
    EXPECT_TRUE(
        multiplies(loops("(64, 64), int8", "(64, 64), int8", "nn.dense(%a, %b, out_dtype=\"int32\")"), '4'));
    // The channels of one pixel are far apart.
    EXPECT_FALSE(multiplies(loops("(1, 8, 9, 9), int8", "(16, 8, 3, 3), int8",
                                  "nn.conv2d(%a, %b, padding=[1, 1], out_dtype=\"int32\")"),
                            '4'));
  }
  if (has_some("float32")) {
    EXPECT_TRUE(multiplies(loops("(64, 64), bfloat16", "(64, 64), bfloat16", "nn.dense(%a, %b)"), '2'));
  }
  EXPECT_EQ(loops("(64, 64), float32", "(64, 64), float32", "nn.dense(%a, %b)").find("x86."),
            std::string::npos);
}

TEST(Dots, AreAsWideAsTheVectorsOfTheMachine) {
  Session session;
  DotIntrinsics dots = session.dot_intrinsics();
  std::erase_if(dots, [](const DotIntrinsicPtr& dot) { return dot->is_of_matrices(); });
  const PrimitivesOfMain program(
      "def @main(%a: Tensor[(64, 64), int8], %b: Tensor[(64, 64), int8]) { nn.dense(%a, %b, "
      "out_dtype=\"int32\") }");
  for (const auto& [bytes, name] :
       {std::pair(64, "x86.dot4_512"), {32, "x86.dot4_256"}, {16, "x86.dot4_128"}}) {
    loops::MachineModel machine;
    machine.vector_bytes = bytes;
    machine.dots = dots;
    const std::string text = loops::print_kernel(loops::lower(*program.primitives.at(0), machine)->kernel);
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

TEST(Dots, HaveTheSameBitsOnTwoThreads) {
  for (const std::string dtype : {"int8", "bfloat16"}) expect_same_bits_on_two_threads(90, 150, 130, dtype);
}

TEST(Dots, OfSixteenBitsAreAsNearAsIsSaid) {
  for (const std::string dtype : {"bfloat16", "float16"}) expect_near_sums(9, 40, 300, dtype);
}

/// The gradient of a sum that is rounded once is rounded once.
TEST(Dots, AreInGradientsOfSixteenBits) {
  const std::string types =
      "(%a: Tensor[(9, 30), bfloat16], %b: Tensor[(40, 30), bfloat16], %g: Tensor[(9, 40), bfloat16])";
  Main main(
      fmt::format("def @loss{0} {{ sum(cast(nn.dense(%a, %b) * %g, dtype=\"float32\")) }}\n"
                  "def @main{0} {{ grad(@loss)(%a, %b, %g).0 }}",
                  types));
  std::mt19937 engine(8);
  const std::vector<Value> arguments = main.random_arguments(engine);
  const TensorPtr b = arguments[1].as_tensor(), g = arguments[2].as_tensor();
  const TensorPtr got = main.compiled(arguments, {.tiers = Tiers::First});
  for (size_t i = 0; i < 9; ++i)
    for (size_t k = 0; k < 30; ++k) {
      double sum = 0, terms = 0;
      for (size_t j = 0; j < 40; ++j) {
        const double term = element(g, i * 40 + j).as_double() * element(b, j * 30 + k).as_double();
        sum += term;
        terms += std::abs(term);
      }
      const double error = std::ldexp(std::abs(sum), -8) + std::ldexp(40 * terms, -24);
      ASSERT_NEAR(element(got, i * 30 + k).as_double(), sum, error) << i << ", " << k;
    }
}

}  // namespace
}  // namespace quern
