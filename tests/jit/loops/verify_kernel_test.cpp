// The verifier of the loop IR: each of its rules with a kernel that breaks it and nothing else.

#include "jit/loops/verify_kernel.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/dtypes.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;

/// An input `a`, an output `out` of the same extent, and what names its parts.
struct Parts {
  Dim n = dim_var("n"), i = dim_var("i"), j = dim_var("j");
  ValuePtr zero = constant(kFloat, 0), element = load(0, kFloat, i);

  Kernel of(Block body, int locals = 0) const {
    return kernel("k", {{"a", kFloat, {n}}, {"out", kFloat, {n}, true}}, {n}, std::move(body), locals);
  }
  /// A statement in a loop over the elements.
  Kernel in_loop(StmtPtr statement, int locals = 0) const {
    return of({loop(i, n, {std::move(statement)})}, locals);
  }
  Kernel stored(ValuePtr value) const { return in_loop(store(1, i, std::move(value))); }
};

struct Rule {
  const char* name;
  std::function<Kernel(const Parts&)> broken;
  const char* reason;
};

const Rule kRules[] = {
    {"AnIndexOutsideOfItsLoop", [](const Parts& p) { return p.of({store(1, p.i, p.zero)}); },
     "an offset is over i, which no loop around binds"},
    {"AnIndexAfterItsLoop",
     [](const Parts& p) {
       return p.of({loop(p.i, p.n, {store(1, p.i, p.zero)}), store(1, p.i, p.zero)});
     },
     "an offset is over i, which no loop around binds"},
    {"AnExtentOverItsOwnIndex", [](const Parts& p) { return p.of({loop(p.i, p.i, {})}); },
     "an extent is over i, which no loop around binds"},
    {"ACheckOfAnUnknownDim",
     [](const Parts& p) {
       return p.stored(load_or(load_value(0, kFloat, p.i), {{.index = p.j, .extent = p.n}}, p.zero));
     },
     "a check is over j, which no loop around binds"},
    {"ABufferOverAnIndex",
     [](const Parts& p) {
       Kernel k = p.of({});
       k.buffers[0].shape = {p.i};
       return k;
     },
     "an extent of a buffer is over i"},
    {"TwoBuffersOfOneName",
     [](const Parts& p) {
       Kernel k = p.of({});
       k.buffers[1].name = "a";
       return k;
     },
     "two buffers are called a"},
    {"OneIndexForTwoLoops", [](const Parts& p) { return p.in_loop(loop(p.i, p.n, {})); },
     "two loops around each other are over i"},
    {"ALoopWithoutAVariable", [](const Parts& p) { return p.of({loop(num(3), p.n, {})}); },
     "a loop has no variable"},
    {"ALoopOfWidthZero", [](const Parts& p) { return p.of({vectorize(p.i, p.n, 0, {})}); },
     "a loop has a width below 1"},
    {"ANegativeExtent", [](const Parts& p) { return p.of({loop(p.i, num(-1), {})}); },
     "a loop has a negative extent"},
    {"ALocalThatIsNotDeclared",
     [](const Parts& p) {
       Kernel k = p.stored(local(0, kFloat));
       k.locals = 1;
       return k;
     },
     "the local 0 is used where it is not declared"},
    {"ALocalAfterItsBlock",
     [](const Parts& p) {
       return p.of({loop(p.i, p.n, {declare(0, kFloat, p.zero)}), reduce(ReduceKind::Sum, 0, p.zero)}, 1);
     },
     "the local 0 is used where it is not declared"},
    {"ALocalThatIsNotCounted", [](const Parts& p) { return p.of({declare(0, kFloat, p.zero)}); },
     "a local that the kernel does not count"},
    {"ATileWithoutItsIndices",
     [](const Parts& p) {
       const StmtPtr tile = make(Declare{.local = 0, .dtype = kFloat, .value = p.zero, .shape = {4}});
       return p.of({tile, reduce(ReduceKind::Sum, 0, p.zero)}, 1);
     },
     "the tile 0 has another number of axes"},
    {"APositionWithoutALocal",
     [](const Parts& p) {
       return p.of({declare(0, kFloat, p.zero), reduce(ReduceKind::ArgMax, 0, p.zero)}, 1);
     },
     "a reduction of positions has a local for them"},
    {"ABufferThatThereIsNot", [](const Parts& p) { return p.stored(load(2, kFloat, p.i)); },
     "a buffer that there is not"},
    {"AWriteToAnInput", [](const Parts& p) { return p.in_loop(store(0, p.i, p.zero)); },
     "a is an input, and is written"},
    {"AWriteOfAnotherDtype", [](const Parts& p) { return p.stored(constant(kInt, 0)); },
     "what is written to out is of another dtype"},
    {"ALoadOfAnotherDtype", [](const Parts& p) { return p.stored(cast(kFloat, load(0, kInt, p.i))); },
     "a load of a is of another dtype"},
    {"ALoadOfAnotherRank",
     [](const Parts& p) {
       LoadValue v = load_value(0, kFloat, p.i);
       v.indices = {p.i, p.i};
       return p.stored(make(v));
     },
     "a load of a has another number of indices"},
    {"ATrapWithoutAText",
     [](const Parts& p) {
       return p.stored(load_trap(load_value(0, kFloat, p.i), {{.index = p.i, .extent = p.n}}, 1));
     },
     "the trap 1 has no text"},
    {"ACheckOfNothing",
     [](const Parts& p) { return p.stored(load_or(load_value(0, kFloat, p.i), {{.extent = p.n}}, p.zero)); },
     "a check of nothing"},
    {"AFunctionOfOneOperand", [](const Parts& p) { return p.stored(apply(ScalarOp::Add, {p.element})); },
     "+ has 1 operands"},
    {"ACastOfNothing", [](const Parts& p) { return p.stored(cast(kFloat, nullptr)); }, "a cast of nothing"},
    {"ASelectWithoutAnArm",
     [](const Parts& p) {
       return p.stored(make(SelectValue{kFloat, p.zero, p.zero}));
     },
     "a select without a condition or an arm"},
    {"AProductWithoutAFactor", [](const Parts& p) { return p.stored(make(DotValue{kFloat})); },
     "a product without a factor"},
};

class KernelRules : public testing::TestWithParam<Rule> {};

TEST_P(KernelRules, RefuseWhatBreaksThem) {
  const std::string reason = verify(GetParam().broken(Parts()));
  EXPECT_NE(reason.find(GetParam().reason), std::string::npos) << reason;
}

INSTANTIATE_TEST_SUITE_P(Rules, KernelRules, testing::ValuesIn(kRules),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(KernelVerifier, TakesWhatIsInOrder) {
  Parts p;
  EXPECT_EQ(verify(p.stored(p.element)), "");
  Kernel sums = p.of(
      {loop(p.i, p.n,
            {declare(0, kFloat, p.zero), loop(p.j, p.n, {reduce(ReduceKind::Sum, 0, load(0, kFloat, p.j))}),
             store(1, p.i, local(0, kFloat))})},
      1);
  EXPECT_EQ(verify(sums), "");
}

}  // namespace
}  // namespace quern::loops
