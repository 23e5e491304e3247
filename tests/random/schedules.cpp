#include "tests/random/schedules.h"

#include "frontend/index/schedule_clause.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace quern {

using loops::LoopId;
using loops::LoopIds;
using loops::LoopStep;
using loops::Nest;
using loops::Primitive;
using loops::Schedule;

namespace {

LoopStep random_step(Random& random, const Nest& nest) {
  const LoopIds& loops = nest.loops();
  std::vector<std::string> buffers;
  for (const loops::Buffer& buffer : nest.computation().buffers) buffers.push_back(buffer.name);
  const std::vector<Primitive> primitives{Primitive::Split,     Primitive::Fuse,       Primitive::Reorder,
                                          Primitive::Reorder,   Primitive::Unroll,     Primitive::Vectorize,
                                          Primitive::Parallel,  Primitive::Peel,       Primitive::CacheRead,
                                          Primitive::Prefetch,  Primitive::CacheWrite, Primitive::Vthread,
                                          Primitive::ComputeAt, Primitive::Inline};
  LoopStep step{random.of(primitives)};
  switch (step.primitive) {
    case Primitive::Split:
      step.loops = {{random.of(loops)}};
      step.numbers = {random.in(1, 9)};
      break;
    case Primitive::Fuse: step.loops = {{random.of(loops), random.of(loops)}}; break;
    case Primitive::Reorder:
      step.loops = {loops};
      for (size_t k = loops.size(); k > 1; --k)
        std::swap(step.loops[0][k - 1],
                  step.loops[0][static_cast<size_t>(random.in(0, static_cast<int64_t>(k) - 1))]);
      if (random.chance(50)) step.loops[0].resize(std::min<size_t>(2, loops.size()));
      break;
    case Primitive::Unroll:
      step.loops = {{random.of(loops)}};
      if (random.chance(50)) step.numbers = {random.in(1, 5)};
      break;
    case Primitive::Vectorize:
      step.loops = {{random.of(loops)}};
      step.numbers = {random.of(std::vector<int64_t>{2, 4, 8, 16})};
      break;
    case Primitive::Parallel:
    case Primitive::CacheWrite:
    case Primitive::Vthread:
    case Primitive::Peel: step.loops = {{random.of(loops)}}; break;
    case Primitive::CacheRead:
    case Primitive::Prefetch:
    case Primitive::ComputeAt:
      step.words = {random.of(buffers)};
      step.loops = {{random.of(loops)}};
      break;
    case Primitive::TurnWrite: step.loops = {{random.of(loops), loops.back()}}; break;
    case Primitive::Inline:
      step.words = {random.of(buffers)};
      step.loops = {{}};
      break;
    case Primitive::Turn:
    case Primitive::Pack:
    case Primitive::Tensorize:
    case Primitive::Bind: break;
  }
  return step;
}

/// Accumulators in scratch memory: loops of the reduction among those of the result, in random order.
bool apply_random_blocks(Random& random, Nest& nest) {
  const LoopIds loops = nest.loops();
  StepRow step(nest);
  step({Primitive::CacheWrite, {{loops[0]}}});
  LoopIds inner;
  std::vector<LoopIds> splits;
  for (size_t k = 1; k < loops.size(); ++k) {
    if (random.chance(30)) {
      inner.push_back(loops[k]);
      continue;
    }
    splits.push_back(step({Primitive::Split, {{loops[k]}}, {random.in(1, 5)}}));
    inner.insert(inner.end(), splits.back().begin(), splits.back().end());
  }
  std::shuffle(inner.begin(), inner.end(), random.engine());
  for (const LoopIds& parts : splits) {
    const auto outer = std::ranges::find(inner, parts[0]), part = std::ranges::find(inner, parts[1]);
    if (part < outer) std::iter_swap(outer, part);
  }
  step({Primitive::Reorder, {inner}});
  return step.is_done();
}

bool completes(Nest nest, const LoopStep& step) { return nest.apply(step) && nest.is_complete(); }

/// That the text of the steps which made `made` of `start` makes it again.
void expect_text_makes_it(Nest start, const Nest& made) {
  const Schedule all = made.schedule();
  const auto done = static_cast<std::ptrdiff_t>(start.schedule().steps.size());
  const Schedule rest{{all.steps.begin() + done, all.steps.end()}};
  const std::string text = to_string(rest);
  const auto read = parse_schedule(text);
  EXPECT_TRUE(read && *read == rest) << text;
  EXPECT_TRUE(start.apply(rest)) << text;
  EXPECT_EQ(start.loops(), made.loops()) << text;
}

}  // namespace

LoopIds StepRow::operator()(const LoopStep& step) {
  const Result<LoopIds> made = is_done_ ? nest_.apply(step) : Failure();
  is_done_ = static_cast<bool>(made);
  return made ? *made : LoopIds{loops::kNoLoop, loops::kNoLoop};
}

void apply_random_steps(Random& random, Nest& nest) {
  constexpr int kMost = 12;
  const Nest start = nest;
  Nest tried = nest;
  if (nest.loops().size() > 1 && random.chance(30)) {
    if (Nest blocked = nest; apply_random_blocks(random, blocked) && blocked.is_complete())
      nest = tried = blocked;
  }
  for (int number = 0; number < kMost; ++number) {
    const LoopStep step = random_step(random, tried);
    // What a write needs to be turned comes before it.
    if (step.primitive == Primitive::TurnWrite && !completes(tried, step)) continue;
    if (tried.apply(step) && tried.is_complete()) nest = tried;
  }
  expect_text_makes_it(start, nest);
}

TensorPtr random_tensor(Random& random, const Shape& shape) {
  TensorPtr tensor = HostTensor::make(DType::float32(), shape);
  for (float& x : tensor->elements<float>()) x = static_cast<float>(random.in(-3, 3));
  return tensor;
}

CodeGenerator& checking_generator() {
  static auto generator = CodeGenerator::create({.tiers = Tiers::First, .checks_bounds = true});
  if (!generator) std::abort();
  return **generator;
}

void expect_equal(const HostTensor& actual, const HostTensor& expected, const std::string& message) {
  ASSERT_EQ(actual.shape(), expected.shape()) << message;
  for (int64_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(element_as_double(actual, i), element_as_double(expected, i)) << "element " << i << "\n"
                                                                            << message;
}

}  // namespace quern
