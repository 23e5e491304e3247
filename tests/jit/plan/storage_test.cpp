// Which results share the block of their call, and where they lie while a program runs.

#include "jit/plan/storage.h"

#include "tests/jit/vm/vm_fixture.h"

namespace quern {
namespace {

/// Where the kernels of the last execution wrote, in their order. An entry is a plain function.
std::vector<const void*> written;

class StorageTest : public VmTest {
 protected:
  StorageTest() {
    kernels.entry = [](void* const* buffers, const int64_t*) -> int32_t {
      written.push_back(buffers[1]);
      return 0;
    };
    written.clear();
  }

  /// A kernel whose result cannot lie in its operand's memory.
  ExprPtr reversed(ExprPtr x) {
    const Variable* p = b.variable("p", x->type);
    const Dim at = dim_var("at"), extent = x->type->dims[0];
    const Dim from = dim_sub(dim_sub(extent, c(1)), at);
    ExprPtr body = b.read(b.var(p), {b.dim(from)}, {true});
    return b.call(primitive({p}, b.comprehension({at}, {extent}, body)), {x});
  }
  ExprPtr vector(int64_t extent = 3) {
    return given("t", tensor_of({c(extent)}), Value::tensor(HostTensor::zeros(kFloat, {extent})));
  }
  /// The kernels of the entry whose results are stored, in the order of the code.
  std::vector<size_t> stored(ExprPtr expr) {
    const auto program = compile(expr);
    std::vector<size_t> numbers;
    size_t number = 0;
    for (const vm::Instruction& in : program->functions.front()->code) {
      if (in.opcode != vm::Opcode::Kernel) continue;
      if (program->functions.front()->site<vm::KernelSite>(in).stored) numbers.push_back(number);
      ++number;
    }
    return numbers;
  }
};

using Numbers = std::vector<size_t>;

TEST_F(StorageTest, AResultIsStoredWhereNothingThatOutlivesTheCallHasIt) {
  ExprPtr t = vector();
  EXPECT_EQ(stored(reversed(reversed(reversed(t)))), (Numbers{0, 1}));
  EXPECT_EQ(stored(b.view(reversed(reversed(t)), {c(3), c(1)})), (Numbers{0}));
  EXPECT_EQ(stored(b.tuple({reversed(reversed(t)), reversed(t)})), (Numbers{0}));
  EXPECT_EQ(stored(b.field(b.tuple({total(reversed(t)), t}), 0)), (Numbers{0}));
}

TEST_F(StorageTest, AResultIsNotStoredThatACalleeHasOrThatWaitsForOne) {
  ExprPtr t = vector();
  const Variable* x = b.variable("x", t->type);
  ExprPtr f = b.fn({x}, total(b.var(x)));
  const Variable* called = b.variable("f", f->type);
  const Variable* kept = b.variable("kept", t->type);
  const Variable* sum = b.variable("sum", number);
  ExprPtr call = b.call(b.var(called), {reversed(t)});
  EXPECT_EQ(stored(b.block({{called, f}, {sum, call}}, add(total(reversed(t)), b.var(sum)))), (Numbers{1}));
  EXPECT_EQ(
      stored(b.block({{called, f}, {kept, reversed(t)}, {sum, call}}, add(total(b.var(kept)), b.var(sum)))),
      (Numbers{}));
}

TEST_F(StorageTest, TensorsLieWhereThoseThatAreGoneLay) {
  ExprPtr t = vector();
  EXPECT_TRUE(run(total(reversed(reversed(reversed(reversed(t)))))));
  ASSERT_EQ(written.size(), 5U);
  EXPECT_EQ(written[2], written[0]);
  EXPECT_EQ(written[3], written[1]);
  EXPECT_NE(written[1], written[0]);
}

TEST_F(StorageTest, AResultInTheMemoryOfItsOperandKeepsItsPlace) {
  ExprPtr t = vector();
  const Variable* first = b.variable("first", t->type);
  const Variable* changed = b.variable("changed", t->type);
  const Variable* other = b.variable("other", t->type);
  // `other` is made while `changed` is needed, which lies where `first` did.
  ExprPtr program = b.block({{first, reversed(t)}, {changed, increment(b.var(first))}, {other, reversed(t)}},
                            add(total(b.var(other)), total(b.var(changed))));
  EXPECT_EQ(stored(program), (Numbers{0, 2}));
  EXPECT_TRUE(run(program));
  ASSERT_EQ(written.size(), 5U);
  EXPECT_EQ(written[1], written[0]);
  EXPECT_NE(written[2], written[0]);
  kernels.machine_options.writes_in_place = false;
  written.clear();
  EXPECT_TRUE(run(program));
  EXPECT_NE(written[1], written[0]);
  EXPECT_NE(written[2], written[0]);
}

TEST_F(StorageTest, ACallWaitsWithoutItsBlock) {
#ifndef __SANITIZE_ADDRESS__           // there no memory is used again
  constexpr int64_t kLarge = 1 << 17;  // of these elements, the memory of the dead is kept
  const Variable *k = b.variable("k", integer), *t = b.variable("t", tensor_of({c(kLarge)}));
  const Variable* own = b.variable("own", number);
  ExprPtr f = b.global("f", fn_type({integer, t->type}, number));
  ExprPtr deeper = b.call(f, {sub(b.var(k), b.i32(1)), b.var(t)});
  ExprPtr turn = b.block({{own, total(reversed(b.var(t)))}}, add(deeper, b.var(own)));
  define("f", b.fn({k, t}, b.branch(scalar(ScalarOp::Gt, {b.var(k), b.i32(0)}), turn, b.f32(0))));
  EXPECT_TRUE(run(b.call(f, {b.i32(5), vector(kLarge)})));
  ASSERT_EQ(written.size(), 10U);
  for (size_t call = 0; call < written.size(); call += 2) EXPECT_EQ(written[call], written[0]) << call;
#endif
}

TEST_F(StorageTest, APathThatIsNotTakenCostsNothing) {
  // A tensor that no machine has memory for, in a branch.
  constexpr int64_t kTooLarge = int64_t{1} << 56;
  ExprPtr t = vector(), huge = given("huge", tensor_of({n}), floats({0}, {}));
  (void)huge;
  const Variable* p = b.variable("p", t->type);
  const Dim at = dim_var("at");
  ExprPtr larger = b.call(
      primitive({p}, b.comprehension({at}, {c(kTooLarge)}, b.read(b.var(p), {index(0)}, {true}))), {t});
  ExprPtr program =
      b.branch(given("c", scalar_type(kBool), Scalar::from_int(kBool, 0)), total(larger), total(reversed(t)));
  EXPECT_EQ(stored(program), (Numbers{0, 2}));
  EXPECT_TRUE(run(program));
}

}  // namespace
}  // namespace quern
