// Walks over values and statements: what they reach, and what they leave as it is.

#include "jit/loops/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dtypes.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;
using testing::ElementsAre;

/// a[i + ids[i]*n] where 0 <= ids[i] < n, and elsewhere b[i] + 1
struct Gather {
  Dim n = dim_var("n"), i = dim_var("i");
  ValuePtr place = cast(kIndex, load(1, kInt, i));
  ValuePtr padding = apply(ScalarOp::Add, {load(2, kFloat, i), constant(kFloat, 1)});
  ValuePtr value = load_or(gather_value(0, kFloat, i, place, n), {{nullptr, place, n}}, padding);
};

std::vector<int> buffers_in(const ValuePtr& value) {
  std::vector<int> buffers;
  for_each<LoadValue>(value, [&](const LoadValue& load) { buffers.push_back(load.buffer); });
  return buffers;
}

std::vector<ValueKind> kinds_of(const std::function<void(const ValueVisitor&)>& walk) {
  std::vector<ValueKind> kinds;
  walk([&](const Value& v) { kinds.push_back(v.kind); });
  return kinds;
}

TEST(Walk, ReachesPlacesChecksAndPadding) {
  const Gather g;
  EXPECT_THAT(buffers_in(g.value), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(kinds_of([&](const auto& visit) { for_each_child(*g.value, visit); }),
              ElementsAre(ValueKind::Cast, ValueKind::Cast, ValueKind::Apply));
  EXPECT_THAT(kinds_of([&](const auto& visit) { for_each_operand(*g.value, visit); }), ElementsAre());
  EXPECT_THAT(kinds_of([&](const auto& visit) { for_each_operand(*g.padding, visit); }),
              ElementsAre(ValueKind::Load, ValueKind::Const));
}

TEST(Walk, ReplacesOutermostFirst) {
  const Gather g;
  const auto renamed = replace<LoadValue>(g.value, [&](const LoadValue& v) -> ValuePtr {
    return v.buffer == 1 ? load(3, kInt, v.offset) : nullptr;
  });
  EXPECT_THAT(buffers_in(renamed), ElementsAre(0, 3, 3, 2));
  EXPECT_THAT(buffers_in(g.value), ElementsAre(0, 1, 1, 2)) << "values do not change";
  const auto gone = replace<LoadValue>(g.value, [](const LoadValue&) { return constant(kFloat, 0); });
  EXPECT_TRUE(as<ConstValue>(gone));
}

TEST(Walk, SubstitutionReachesEveryDim) {
  const Gather g;
  const Dim j = dim_var("j"), m = dim_var("m");
  for_each_dim(substitute(g.value, {{g.i, j}, {g.n, m}}),
               [&](Dim dim) { EXPECT_TRUE(dim == j || dim == m) << to_string(dim); });
}

TEST(Walk, OfStatementsLeavesLoopsTheirVariables) {
  const Gather g;
  const Dim r = dim_var("r"), m = dim_var("m");
  const Serial part{.before = g.n};
  const Block inside{only_if({{r, nullptr, g.n}}, {store(3, dim_add(g.i, r), g.value)})};
  const Block body{make(For{.var = r, .extent = g.n, .execution = part, .body = inside})};
  const Block mapped = map_dims(body, [&](Dim d) { return quern::substitute(d, {{g.n, m}, {r, num(0)}}); });
  auto* loop = as<For>(mapped[0]);
  EXPECT_EQ(loop->var, r);
  EXPECT_EQ(loop->extent, m);
  EXPECT_EQ(loop->serial()->before, m);
  auto* condition = as<If>(loop->body[0]);
  EXPECT_TRUE(is_const(condition->checks[0].index, 0));
  EXPECT_EQ(condition->checks[0].extent, m);
  EXPECT_EQ(as<Store>(condition->body[0])->offset, g.i);
}

TEST(Walk, OfLoopsReachesThoseInside) {
  const Dim i = dim_var("i"), j = dim_var("j");
  const Block body{loop(i, num(2), {only_if({{i, nullptr, num(1)}}, {loop(j, num(3), {})})})};
  const Block longer = map_loops(body, [](For& loop) { loop.extent = dim_add(loop.extent, num(1)); });
  std::vector<int64_t> extents;
  for_each_stmt(longer, [&](const Stmt& s) {
    if (auto* loop = as<For>(s)) extents.push_back(*as_const(loop->extent));
  });
  EXPECT_THAT(extents, ElementsAre(3, 4));
}

TEST(Walk, OfFieldsChangesTheRolesThatItTakes) {
  const Gather g;
  const FieldMap next([](role::Buffer, int& buffer) { ++buffer; });
  EXPECT_THAT(buffers_in(next(g.value)), ElementsAre(1, 2, 2, 3));
}

}  // namespace
}  // namespace quern::loops
