// Random schedules of random index expressions, over known and unknown dims: what a kernel computes is what
// the interpreter says. Elements are small integers, so that every order of a sum gives the same.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "jit/compute/residues.h"
#include "jit/rules/sequence.h"
#include "session/run/compiler.h"
#include "tests/ir/interpret/recording_host.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/nest/matrix_model.h"
#include "tests/random/schedules.h"
#include "tests/support/evaluate.h"

namespace quern {
namespace {

using loops::LoopId;
using loops::LoopIds;
using loops::Nest;
using loops::Primitive;

/// Whether there is an intrinsic for the lanes of a result's loop, and a loop of a reduction that it now does.
bool tensorizes(Random& random, Nest& nest, DotIntrinsics dots) {
  LoopIds loops = nest.loops();
  std::erase_if(dots, [](const DotIntrinsicPtr& dot) { return dot->is_of_matrices(); });
  if (dots.empty() || loops.size() < 3) return false;
  const DotIntrinsic& dot = *random.of(dots);
  StepRow step(nest);
  const LoopIds k = step({Primitive::Split, {{loops.back()}}, {dot.group}});
  const LoopIds lanes = step({Primitive::Split, {{loops[loops.size() - 2]}}, {dot.lanes * random.in(1, 3)}});
  LoopIds order{lanes[0], k[0], k[1]};
  if (random.chance(50)) {
    const LoopIds rows = step({Primitive::Split, {{loops[0]}}, {random.in(1, 5)}});
    step({Primitive::Unroll, {{rows[1]}}});
    order.insert(order.begin(), rows[0]);
    order.push_back(rows[1]);
  }
  if (random.chance(50)) step({Primitive::Unroll, {{k[0]}}, {random.in(1, 4)}});
  order.push_back(lanes[1]);
  step({Primitive::Reorder, {order}});
  step({Primitive::Vectorize, {{lanes[1]}}, {dot.lanes}});
  step({Primitive::Tensorize, {{lanes[1], k[1]}, {}}, {}, {dot.name}});
  return step.is_done();
}

/// Whether an intrinsic of matrices now does the tiles of a product of a row of %a and a column of %b.
bool multiplies(Random& random, Nest& nest, const DotIntrinsics& dots) {
  const LoopIds loops = nest.loops();
  const loops::Computation& c = nest.computation();
  const auto dot = std::ranges::find_if(dots, [&](const DotIntrinsicPtr& d) {
    return d->is_of_matrices() && c.buffers.size() == 3 && d->a == c.buffers[0].dtype &&
           d->b == c.buffers[1].dtype;
  });
  const auto depth = loops.size() == 3 ? as_const(nest.extent_of(loops[2])) : std::nullopt;
  if (dot == dots.end() || !depth || *depth % (*dot)->group != 0) return false;
  std::vector<int64_t> terms;
  for (int64_t groups = 1; groups <= (*dot)->steps; ++groups)
    if (*depth % (groups * (*dot)->group) == 0) terms.push_back(groups * (*dot)->group);
  if (terms.empty()) return false;
  StepRow step(nest);
  const LoopIds i = step({Primitive::Split, {{loops[0]}}, {random.in(1, 36)}});
  const LoopIds j = step({Primitive::Split, {{loops[1]}}, {16 * random.in(1, 3)}});
  const LoopIds k = step({Primitive::Split, {{loops[2]}}, {random.of(terms)}});
  LoopIds order{i[0], j[0], k[0], k[1], i[1], j[1]};
  if (random.chance(50)) std::swap(order[0], order[1]);
  step({Primitive::Reorder, {order}});
  step({Primitive::Unroll, {{i[1]}}});
  step({Primitive::Vectorize, {{j[1]}}, {16}});
  step({Primitive::Tensorize, {{i[1], j[1], k[1]}, {}}, {}, {(*dot)->name}});
  if (random.chance(50)) step({Primitive::Unroll, {{k[0]}}, {random.in(1, 4)}});
  if (random.chance(30)) step({Primitive::TurnWrite, {{i[1], j[1]}}});
  return step.is_done();
}

/// Whether squares of what is read of %a are now turned.
bool turns(Random& random, Nest& nest) {
  LoopIds order = nest.loops();
  const LoopId v = random.of(order), u = random.of(order);
  const int64_t width = random.of(std::vector<int64_t>{2, 4, 8, 16});
  if (u == v) return false;
  StepRow step(nest);
  const LoopIds rows = step({Primitive::Split, {{v}}, {width}});
  const LoopIds lanes = step({Primitive::Split, {{u}}, {width}});
  std::ranges::replace(order, v, rows[0]);
  std::ranges::replace(order, u, lanes[0]);
  order.insert(order.end(), {rows[1], lanes[1]});
  step({Primitive::Reorder, {order}});
  step({Primitive::Turn, {{}, {rows[1], lanes[1]}}, {}, {"a"}});
  return step.is_done();
}

/// Whether the lanes of a tile are now turned in registers, and stored along another of its loops.
bool turns_writes(Random& random, Nest& nest) {
  LoopIds results = nest.loops_of(nest.computation().vars), reduced = nest.loops();
  for (const LoopId loop : results) std::erase(reduced, loop);
  const bool as_they_stand = results.size() > 2 && random.chance(40);
  if (as_they_stand) {
    std::swap(results[0], results[1]);
  } else {
    std::shuffle(results.begin(), results.end(), random.engine());
  }
  StepRow step(nest);
  const auto in_order = [&](std::initializer_list<LoopIds> parts) {
    LoopIds order;
    for (const LoopIds& part : parts) order.insert(order.end(), part.begin(), part.end());
    step({Primitive::Reorder, {order}});
  };
  if (results.size() > 2 && (as_they_stand || random.chance(50))) {
    in_order({results, reduced});
    const LoopIds fused = step({Primitive::Fuse, {{results[results.size() - 2], results.back()}}});
    results.resize(results.size() - 2);
    results.push_back(fused[0]);
  }
  if (results.size() < 2 || reduced.empty()) return false;
  const int64_t width = random.of(std::vector<int64_t>{2, 4, 8, 16});
  LoopIds outer, tile;
  for (const LoopId loop : results) {
    const int64_t steps = loop == results.back() ? width * random.in(1, 3) : random.in(1, 9);
    const LoopIds parts = step({Primitive::Split, {{loop}}, {steps}});
    outer.push_back(parts[0]);
    tile.push_back(parts[1]);
  }
  in_order({outer, reduced, tile});
  step({Primitive::Vectorize, {{tile.back()}}, {width}});
  step({Primitive::TurnWrite, {{tile[tile.size() - 2], tile.back()}}});
  return step.is_done();
}

/// Gives kernels with a random schedule of as many steps as there is code for.
class RandomKernels final : public KernelSource {
 public:
  RandomKernels(Random& random, bool checks_bounds, const DotIntrinsics& declared)
      : random_(random), checks_bounds_(checks_bounds) {
    std::ranges::copy_if(declared, std::back_inserter(dots_), [](const DotIntrinsicPtr& dot) {
      return dot->is_of_matrices() || checking_generator().has(*dot);
    });
  }

  Result<KernelCode> kernel(const FnExpr& primitive) override {
    const loops::Computation whole = loops::computation_of(primitive);
    // A schedule that a program states is for the loops as they are.
    const bool as_written = random_.chance(30);
    const std::vector<loops::Computation> parts =
        as_written ? std::vector{whole} : loops::residue_classes(loops::with_simple_loops(whole));
    std::vector<loops::Kernel> kernels;
    kernels.reserve(parts.size());
    for (loops::Computation part : parts) {
      if (!kernels.empty()) part.buffers = kernels.back().buffers;
      kernels.push_back(scheduled(part).kernel());
    }
    loops::Kernel kernel = loops::in_sequence(kernels);
    text += loops::print_kernel(kernel);
    kernel.name = "random";
    const bool has_matrices = loops::print_kernel(kernel).find("in matrices") != std::string::npos;
    auto checked = has_matrices     ? modelling_generator().compile(kernel)
                   : checks_bounds_ ? checking_generator().compile(kernel)
                                    : compile(kernel);
    if (!checked) return checked.error();
    return KernelCode{*checked, kernel.dims, kernel.range, kernel.range ? dim_const(1 << 20) : nullptr};
  }
  PrepackedForms& forms() override { return forms_; }
  const MachineOptions& options() const override { return options_; }

  bool has_dots() const {
    return std::ranges::any_of(dots_, [](const DotIntrinsicPtr& dot) { return !dot->is_of_matrices(); });
  }

  std::string text;
  Uses uses;
  size_t tensorized = 0, multiplied = 0;

 private:
  /// Of machines with registers for matrices.
  static CodeGenerator& modelling_generator() {
    static auto generator = CodeGenerator::create(matrix_model::machine(Tiers::First));
    if (!generator) std::abort();
    return **generator;
  }

  Nest scheduled(const loops::Computation& computation) {
    Nest best(computation, {}, dots_);
    const auto is_taken = [&](const Nest& nest, bool applied) {
      if (!applied || !nest.is_complete()) return false;
      text += loops::to_string(nest.schedule());
      return true;
    };
    if (Nest nest = best; random_.chance(50) && is_taken(nest, multiplies(random_, nest, dots_))) {
      ++multiplied;
      return nest;
    }
    if (Nest nest = best; random_.chance(50) && is_taken(nest, tensorizes(random_, nest, dots_))) {
      ++tensorized;
      return nest;
    }
    if (best.loops().empty()) return best;
    Nest turned = best;
    const bool turns_now =
        random_.chance(40) &&
        (computation.reductions.empty() ? turns(random_, turned) : turns_writes(random_, turned));
    if (turns_now && turned.is_complete())
      best = turned;
    else
      apply_random_steps(random_, best);
    const loops::Schedule applied = best.schedule();
    for (const loops::ScheduleStep& step : applied.steps) ++uses[step.primitive];
    text += loops::to_string(applied);
    return best;
  }

  Random& random_;
  bool checks_bounds_;
  DotIntrinsics dots_;
  PrepackedForms forms_;
  const MachineOptions options_{.poisons_memory = true};
};

struct ScheduledProgram {
  std::string text;
  std::vector<Shape> shapes;
  std::vector<DType> dtypes{DType::float32(), DType::float32()};
};

/// Programs of random extents, all known or all unknown.
class ScheduledPrograms {
 public:
  explicit ScheduledPrograms(Random& random) : random_(random) {}

  /// A reduction, or none, of one or two reads, some of them padded.
  ScheduledProgram any() {
    switch (random_.in(0, 9)) {
      case 0:
        return program(
            "[m, n, k]", "%a: " + type({m, k}, {"m", "k"}) + ", %b: " + type({k, n}, {"k", "n"}),
            fmt::format("[i < {}, j < {}] => max({}[r < {}] (%a[i, r] * %b[r, j]), 1)", M, N, kind, K),
            {{m, k}, {k, n}});
      case 1:
        return program(
            "[m, n]", "%a: " + type({m, n}, {"m", "n"}) + ", %b: " + type({n}, {"n"}),
            fmt::format("[i < {}, j < {}] => %a[i, j] * %b[j] - (%a[i, j + {}] else 2)", M, N, pad),
            {{m, n}, {n}});
      case 2: return window();
      case 3:
        return program("[m, n]", "%a: " + type({m, n}, {"m", "n"}),
                       fmt::format("[j < {}] => {}[i < {}] %a[i, j]", N, kind, M), {{m, n}});
      case 4:
        return program("[m, n]", "%a: " + type({m, n}, {"m", "n"}) + ", %b: " + type({n, m}, {"n", "m"}),
                       fmt::format("[j < {}, i < {}] => (%a[i + {}, j - {}] else 2) - 2 * %b[j, i]", N, M,
                                   pad, random_.in(0, pad)),
                       {{m, n}, {n, m}});
      case 5: return strided_window();
      case 7: return products_of_bytes();
      case 8: return poses();
      case 9: return grouped_bytes();
      default:
        return program("[m, n]", "%a: " + type({m, n}, {"m", "n"}),
                       fmt::format("[j < {}, i < {}] => %a[i, j] + {}[r < {}] %a[i, r]", N, M, kind, N),
                       {{m, n}});
    }
  }

 private:
  ScheduledProgram window() {
    return program(
        "[m, n]", "%a: " + type({m, n}, {"m", "n"}) + fmt::format(", %b: Tensor[({}, {}), float32]", w, w),
        fmt::format(
            "[i < {}, j < {}] => {}[r < {}, s < {}] (%a[i * {} + r - {}, j + s - {}] else 0) * %b[r, s]", M,
            N, kind, w, w, step, pad, pad),
        {{m, n}, {w, w}});
  }
  /// As the gradient of a window with a stride reads.
  ScheduledProgram strided_window() {
    const int64_t stride = random_.in(1, 3), taps = (w + stride - 1) / stride;
    return program(
        "[m, n]", "%a: " + type({m, n}, {"m", "n"}) + fmt::format(", %b: Tensor[({}, {}), float32]", w, w),
        fmt::format(
            "[i < 2 * {0}, j < {1} + 3] => {2}[r < {3}, s < {4}] "
            "(%a[(i + {5}) / {6} - r, j - s + {5}] else 0) * (%b[{6} * r + (i + {5}) % {6}, s] else 0)",
            M, N, kind, taps, w, pad, stride),
        {{m, n}, {w, w}});
  }
  ScheduledProgram products_of_bytes() {
    const std::string dims = known ? "" : "[m, n, k]", depth = known ? std::to_string(4 * k) : "k";
    return {fmt::format("def @main{0}(%a: Tensor[({1}, {3}), uint8], %b: Tensor[({2}, {3}), int8]) {{ "
                        "[i < {1}, j < {2}] => sum[r < {3}] cast<int32>(%a[i, r]) * cast<int32>(%b[j, r]) }}",
                        dims, M, N, depth),
            {{m, 4 * k}, {n, 4 * k}},
            {DType::uint8(), DType::int8()}};
  }
  /// Products of small matrices, one for each pair of capsules.
  ScheduledProgram poses() {
    const int64_t extent = random_.of(std::vector<int64_t>{2, 3, 4, 8});
    return program(
        "[m, n, k]",
        fmt::format("%a: {}, %b: Tensor[({}, {}, {}), float32]", type({n, k}, {"n", "k"}), M, K, extent),
        fmt::format("[i < {}, j < {}, p < {}] => {}[r < {}] %a[j, r] * %b[i, r, p]", M, N, extent, kind, K),
        {{n, k}, {m, k, extent}});
  }
  ScheduledProgram grouped_bytes() {
    const int64_t rows = random_.in(1, 40), groups = random_.in(1, 40);
    const std::string left = random_.chance(50) ? "int8" : "uint8",
                      right = random_.chance(50) ? "int8" : "uint8";
    return {fmt::format(
                "def @main{5}(%a: Tensor[({0}, {1}), {3}], %b: Tensor[({6}, {2}, 4), {4}]) {{ [i < {0}, j < "
                "{2}] => sum[r < {1}] cast<int32>(%a[i, r]) * cast<int32>(%b[r / 4, j, r % 4]) }}",
                known ? std::to_string(rows) : "m", 4 * groups, n, left, right, known ? "" : "[m]", groups),
            {{rows, 4 * groups}, {groups, n, 4}},
            {parse_dtype(left).value(), parse_dtype(right).value()}};
  }

  std::string type(const Shape& shape, const std::vector<std::string>& names) const {
    std::string dims;
    for (size_t d = 0; d < shape.size(); ++d) dims += known ? fmt::format("{}, ", shape[d]) : names[d] + ", ";
    return fmt::format("Tensor[({}), float32]", dims);
  }
  ScheduledProgram program(std::string_view names, std::string_view parameters, std::string_view body,
                           std::vector<Shape> shapes) const {
    return {fmt::format("def @main{}({}) {{ {} }}", known ? "" : names, parameters, body), std::move(shapes)};
  }

  Random& random_;
  const int64_t m = random_.in(1, 23), n = random_.in(1, 37), k = random_.in(1, 9), w = random_.in(1, 3);
  const int64_t step = random_.in(1, 2), pad = random_.in(0, 2);
  const bool known = random_.chance(60);
  const std::string M = known ? std::to_string(m) : "m", N = known ? std::to_string(n) : "n";
  const std::string K = known ? std::to_string(k) : "k";
  const std::string kind = random_.of(std::vector<std::string>{"sum", "max", "min", "sum"});
};

TensorPtr random_tensor(Random& random, const Shape& shape, DType dtype) {
  if (dtype == DType::float32()) return random_tensor(random, shape);
  TensorPtr tensor = HostTensor::make(dtype, shape);
  for (int64_t i = 0; i < tensor->size(); ++i) tensor->data()[i] = static_cast<std::byte>(random.in(0, 255));
  return tensor;
}

/// What the kernels of a run were made with.
struct Tried {
  Uses uses;
  size_t tensorized = 0, multiplied = 0;
  bool can_tensorize = false;
};

void check_program(uint64_t seed, Tried& tried) {
  Random random(seed);
  const ScheduledProgram program = ScheduledPrograms(random).any();
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "random.relay", program.text);
  const auto code = session.program(module, "main");
  ASSERT_TRUE(code) << program.text;
  std::vector<Value> arguments;
  for (size_t i = 0; i < program.shapes.size(); ++i)
    arguments.push_back(Value::tensor(random_tensor(random, program.shapes[i], program.dtypes[i])));
  RandomKernels kernels(random, seed % 2 == 1, session.dot_intrinsics());
  SessionPrograms programs(session);
  RecordingHost host;
  const EvaluationResult result = execute(code, arguments, programs, kernels, host);
  ASSERT_TRUE(result) << program.text << result.error().message;
  for (const auto& [primitive, count] : kernels.uses) tried.uses[primitive] += count;
  tried.tensorized += kernels.tensorized;
  tried.multiplied += kernels.multiplied;
  tried.can_tensorize = kernels.has_dots();

  const Definition* definition = session.definition(module, "main");
  const TensorPtr a = result.value().as_tensor();
  const TensorPtr b = numeric::called(*as<FnExpr>(definition->body), arguments).as_tensor();
  ASSERT_TRUE(b) << program.text;
  expect_equal(*a, *b, fmt::format("seed {}\n{}\n{}", seed, program.text, kernels.text));
}

/// QUERN_RANDOM_SCHEDULES=n takes n seeds.
TEST(RandomSchedules, ComputeWhatTheInterpreterDoes) {
  const char* wanted = std::getenv("QUERN_RANDOM_SCHEDULES");
  const int count = wanted ? std::atoi(wanted) : 300;
  Tried tried;
  for (int seed = 0; seed < count; ++seed) {
    check_program(static_cast<uint64_t>(seed), tried);
    if (HasFatalFailure()) return;
  }
  if (count < 300) return;
  for (const Primitive primitive :
       {Primitive::Split, Primitive::Fuse, Primitive::Reorder, Primitive::Unroll, Primitive::Vectorize,
        Primitive::Parallel, Primitive::Peel, Primitive::Turn, Primitive::CacheRead, Primitive::CacheWrite,
        Primitive::Vthread, Primitive::TurnWrite, Primitive::Prefetch})
    EXPECT_GT(tried.uses[primitive], 0U) << loops::to_string(primitive);
  EXPECT_GT(tried.multiplied, static_cast<size_t>(count) / 100);
  if (tried.can_tensorize) {
    EXPECT_GT(tried.tensorized, static_cast<size_t>(count) / 100);
  }
}

}  // namespace
}  // namespace quern
