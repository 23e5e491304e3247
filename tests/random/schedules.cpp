#include "tests/random/schedules.h"

#include "frontend/index/schedule_clause.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

namespace quern {

using loops::Nest;
using loops::Primitive;
using loops::Schedule;
using loops::ScheduleStep;

namespace {

ScheduleStep random_step(Random& random, const Nest& nest, int number) {
  const std::vector<std::string> loops = nest.loops();
  std::vector<std::string> buffers;
  for (const loops::Buffer& buffer : nest.computation().buffers) buffers.push_back(buffer.name);
  const std::vector<Primitive> primitives{Primitive::Split,      Primitive::Fuse,    Primitive::Reorder,
                                          Primitive::Reorder,    Primitive::Unroll,  Primitive::Vectorize,
                                          Primitive::Parallel,   Primitive::Peel,    Primitive::CacheRead,
                                          Primitive::CacheWrite, Primitive::Vthread, Primitive::ComputeAt,
                                          Primitive::Inline};
  ScheduleStep step{random.of(primitives)};
  const auto made = [&](char part) { return fmt::format("l{}{}", number, part); };
  switch (step.primitive) {
    case Primitive::Split:
      step = {step.primitive, {made('o'), made('i')}, {{random.of(loops)}}, {random.in(1, 9)}};
      break;
    case Primitive::Fuse: step = {step.primitive, {made('f')}, {{random.of(loops), random.of(loops)}}}; break;
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
      step = {step.primitive, {}, {{random.of(loops)}}, {random.of(std::vector<int64_t>{2, 4, 8, 16})}};
      break;
    case Primitive::Parallel:
    case Primitive::CacheWrite:
    case Primitive::Vthread:
    case Primitive::Peel: step.loops = {{random.of(loops)}}; break;
    case Primitive::CacheRead: step.loops = {{random.of(buffers), random.of(loops)}}; break;
    case Primitive::ComputeAt: step.loops = {{random.of(buffers), random.of(loops)}}; break;
    case Primitive::TurnWrite: step.loops = {{random.of(loops), loops.back()}}; break;
    case Primitive::Inline: step.loops = {{random.of(buffers)}}; break;
    case Primitive::Turn:
    case Primitive::Pack:
    case Primitive::Tensorize:
    case Primitive::Bind: break;
  }
  return step;
}

/// Accumulators in scratch memory: loops of the reduction among those of the result, in random order.
Schedule random_blocks(Random& random, const Nest& nest) {
  const std::vector<std::string> loops = nest.loops();
  std::string text = fmt::format("cache_write({})", loops[0]);
  std::vector<std::string> inner;
  for (size_t k = 1; k < loops.size(); ++k) {
    const std::string& loop = loops[k];
    if (random.chance(30)) {
      inner.push_back(loop);
      continue;
    }
    text += fmt::format("; {0}o, {0}i = split({0}, {1})", loop, random.in(1, 5));
    inner.insert(inner.end(), {loop + "o", loop + "i"});
  }
  std::shuffle(inner.begin(), inner.end(), random.engine());
  for (const std::string& loop : loops) {
    const auto outer = std::find(inner.begin(), inner.end(), loop + "o");
    const auto part = std::find(inner.begin(), inner.end(), loop + "i");
    if (part < outer) std::iter_swap(outer, part);
  }
  return *parse_schedule(fmt::format("{}; reorder({})", text, fmt::join(inner, ", ")));
}

bool completes(Nest nest, const ScheduleStep& step) { return nest.apply(step) && nest.is_complete(); }

}  // namespace

Schedule apply_random_steps(Random& random, Nest& nest) {
  constexpr int kMost = 12;
  Nest tried = nest;
  Schedule applied, steps;
  if (const std::vector<std::string> loops = nest.loops(); loops.size() > 1 && random.chance(30)) {
    const Schedule blocks = random_blocks(random, nest);
    if (Nest blocked = nest; blocked.apply(blocks) && blocked.is_complete()) {
      nest = tried = blocked;
      applied = steps = blocks;
    }
  }
  for (int number = 0; number < kMost; ++number) {
    ScheduleStep step = random_step(random, tried, number);
    // What a write needs to be turned comes before it.
    if (step.primitive == Primitive::TurnWrite && !completes(tried, step)) continue;
    if (!tried.apply(step)) continue;
    steps.steps.push_back(std::move(step));
    if (!tried.is_complete()) continue;
    nest = tried;
    applied = steps;
  }
  const std::string text = loops::to_string(applied);
  const auto read = parse_schedule(text);
  EXPECT_TRUE(read && *read == applied) << text;
  return applied;
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
