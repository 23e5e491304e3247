// Two tiers of code: the same bits from both, whenever the one takes the place of the other.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"
#include "tests/session/compiled_main.h"

namespace quern {
namespace {

/// out[i] = exp(a[i]) over a run-time extent.
loops::Kernel exponentials() {
  using namespace loops::build;
  const Dim n = dim_var("n"), i = dim_var("i");
  const auto body = store(1, i, apply(ScalarOp::Exp, {load(0, DType::float32(), i)}));
  return kernel("exponentials", {{"a", DType::float32(), {n}}, {"out", DType::float32(), {n}, true}}, {n},
                {loop_of(i, n, 8, {body})});
}

std::unique_ptr<CodeGenerator> generator_of(Tiers tiers) {
  auto generator = CodeGenerator::create({tiers});
  if (!generator) std::abort();
  return std::move(*generator);
}

TEST(Tiers, GiveTheSameBits) {
  for (const std::string& text : kernel_programs()) {
    CompiledMain best(text, {Tiers::Best}), first(text, {Tiers::First}), both(text, {Tiers::Both});
    const TensorPtr expected = best.run();
    EXPECT_TRUE(same_bits(first.run(), expected)) << text;
    EXPECT_TRUE(same_bits(both.run(), expected)) << text;
    both.compiler.wait_until_idle();
    EXPECT_TRUE(same_bits(both.run(), expected)) << text;
  }
}

TEST(Tiers, TheSecondTakesThePlaceOfTheFirst) {
  const auto generator = generator_of(Tiers::Both);
  std::latch is_read(1);
  generator->later([&] { is_read.wait(); });
  const auto compiled = *generator->compile(exponentials());
  const KernelEntry first = compiled->entry;
  ASSERT_NE(first, nullptr);
  is_read.count_down();
  generator->wait_until_idle();
  EXPECT_NE(compiled->entry.load(), first);
  EXPECT_FALSE(compiled->object().empty());
  // Whoever is still in the first one's code can go on.
  GuardedArray a(DType::float32(), {0, 0, 0}), out(DType::float32(), 3);
  void* buffers[] = {a.data(), out.data()};
  const int64_t size = 3;
  EXPECT_EQ(first(buffers, &size), 0);
  EXPECT_EQ(out.doubles(), (std::vector<double>{1, 1, 1}));
}

TEST(Tiers, OneAloneStaysWhatItIs) {
  for (const Tiers tiers : {Tiers::First, Tiers::Best}) {
    const auto generator = generator_of(tiers);
    const auto compiled = *generator->compile(exponentials());
    const KernelEntry entry = compiled->entry;
    generator->wait_until_idle();
    EXPECT_EQ(compiled->entry.load(), entry);
    EXPECT_EQ(compiled->object().empty(), tiers == Tiers::First);
  }
}

TEST(Tiers, AnObjectWorksElsewhere) {
  std::string object;
  {
    const auto generator = generator_of(Tiers::Best);
    object = (*generator->compile(exponentials()))->object();
  }
  const auto generator = generator_of(Tiers::Both);
  const auto twice = {*generator->link(object, "one"), *generator->link(object, "two")};
  for (const auto& linked : twice) {
    GuardedArray a(DType::float32(), {0, 0, 0}), out(DType::float32(), 3);
    EXPECT_EQ(run(*linked, {&a, &out}, {3}), 0);
    EXPECT_EQ(out.doubles(), (std::vector<double>{1, 1, 1}));
  }
  EXPECT_FALSE(generator->link("no object at all", "none"));
  EXPECT_FALSE(generator->link(object.substr(0, object.size() / 2), "half"));
}

// The generator's passes are used again for each kernel.
TEST(Tiers, AnObjectIsTheSameWhateverWasCompiledBefore) {
  const auto object = [] { return (*generator_of(Tiers::Best)->compile(exponentials()))->object(); };
  const std::string first = object();
  for (const std::string& text : kernel_programs())
    for (const Tiers tiers : {Tiers::Best, Tiers::First}) CompiledMain(text, {tiers}).run();
  EXPECT_EQ(object(), first);
}

TEST(Tiers, TheEndDropsWhatIsNotBegunButForAWhile) {
  const auto jobs_done = [](std::chrono::milliseconds patience) {
    std::atomic<int> done = 0;
    {
      auto generator = CodeGenerator::create({Tiers::Both, patience});
      for (int i = 0; i < 20; ++i)
        (*generator)->later([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          ++done;
        });
    }
    return done.load();
  };
  EXPECT_LE(jobs_done(std::chrono::milliseconds(0)), 1);
  EXPECT_EQ(jobs_done(std::chrono::seconds(60)), 20);
}

TEST(Tiers, ConcurrentCallsOutlastTheSwap) {
  for (const std::string& text : kernel_programs()) {
    CompiledMain both(text, {Tiers::Both});
    const TensorPtr expected = both.run();
    std::atomic<bool> is_idle = false;
    std::vector<std::thread> callers;
    callers.reserve(3);
    while (callers.size() < 3)
      callers.emplace_back([&] {
        for (int after = 0; after < 2; after += is_idle ? 1 : 0)
          EXPECT_TRUE(same_bits(both.run(), expected)) << text;
      });
    both.compiler.wait_until_idle();
    is_idle = true;
    for (std::thread& caller : callers) caller.join();
  }
}

}  // namespace
}  // namespace quern
