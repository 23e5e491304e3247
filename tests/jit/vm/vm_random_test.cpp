// Programs by chance, in the virtual machine and in the interpreter.

#include "tests/jit/vm/vm_fixture.h"

namespace quern {
namespace {

/// Well-typed expressions over ints, pairs (counted objects) and functions from pairs to pairs.
class RandomPrograms {
 public:
  RandomPrograms(IrBuilder& builder, std::function<ExprPtr(ExprPtr, ExprPtr)> add, uint32_t seed)
      : b_(builder), add_(std::move(add)), random_(seed) {}

  ExprPtr make(Type type, int depth) {
    std::vector<const Variable*> fitting;
    for (const Variable* v : scope_)
      if (v->type == type) fitting.push_back(v);
    if (!fitting.empty() && chance(depth > 0 ? 3 : 1)) return b_.var(fitting[random_() % fitting.size()]);
    if (depth > 0 && chance(3)) return block(type, depth);
    if (depth > 0 && chance(3)) {
      ExprPtr condition = b_.scalar(Scalar::from_int(DType::boolean(), random_() % 2));
      ExprPtr then_arm = make(type, depth - 1);
      return b_.branch(condition, then_arm, make(type, depth - 1));
    }
    if (type == kFunction) return function(depth);
    if (depth <= 0 && type == kPair) return b_.tuple({b_.i32(random_() % 10), b_.i32(random_() % 10)});
    if (depth <= 0) return b_.i32(random_() % 10);
    if (type == kPair && chance(2)) return b_.call(make(kFunction, depth - 1), {make(type, depth - 1)});
    if (type == kPair) return b_.tuple({make(kNumber, depth - 1), make(kNumber, depth - 1)});
    if (chance(2)) return b_.field(make(kPair, depth - 1), random_() % 2);
    return add_(make(kNumber, depth - 1), make(kNumber, depth - 1));
  }

  const Type kNumber = scalar_type(DType::int32());
  const Type kPair = tuple_type(std::vector<Type>{kNumber, kNumber});
  const Type kFunction = function_type(std::vector<Type>{kPair}, kPair);

 private:
  bool chance(uint32_t one_in) { return random_() % one_in == 0; }

  ExprPtr block(Type type, int depth) {
    const size_t outer = scope_.size();
    std::vector<Binding> bindings;
    for (uint32_t count = random_() % 4; count > 0; --count) {
      const Type types[] = {kNumber, kPair, kFunction};
      const Variable* v = b_.variable("v", types[random_() % 3]);
      ExprPtr value = make(v->type, depth - 1);
      bool named = !chance(5);
      bindings.push_back({named ? v : nullptr, value});
      if (named) scope_.push_back(v);
    }
    if (chance(4))
      bindings.push_back(
          {nullptr, b_.intrinsic(IntrinsicKind::Print, unit_type(), {make(type, depth - 1)}, {""})});
    ExprPtr result = make(type, depth - 1);
    scope_.resize(outer);
    return b_.block(bindings, result);
  }

  ExprPtr function(int depth) {
    const Variable* p = b_.variable("p", kPair);
    scope_.push_back(p);
    ExprPtr body = make(kPair, depth - 1);
    std::erase(scope_, p);
    return b_.fn({p}, body);
  }

  IrBuilder& b_;
  std::function<ExprPtr(ExprPtr, ExprPtr)> add_;
  std::mt19937 random_;
  std::vector<const Variable*> scope_;
};

TEST_F(VmTest, RandomProgramsRunAsTheInterpreterRunsThem) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    RandomPrograms programs(
        b, [this](ExprPtr x, ExprPtr y) { return add(x, y); }, seed);
    ExprPtr expr = b.block({}, programs.make(programs.kPair, 7));
    host.log.clear();
    std::string wanted = interpreted(expr), wanted_log = std::exchange(host.log, "");
    ASSERT_EQ(text(expr), wanted) << seed << "\n" << to_string(*compile(expr));
    ASSERT_EQ(host.log, wanted_log) << seed;
  }
}

}  // namespace
}  // namespace quern
