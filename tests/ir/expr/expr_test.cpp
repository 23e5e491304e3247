#include "ir/expr/expr.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/dtypes.h"
#include "tests/ir/expr/ir_builder.h"

namespace quern {
namespace {

std::vector<ExprPtr> children(ExprPtr expr) {
  std::vector<ExprPtr> found;
  for_each_child(expr, [&](ExprPtr child) { found.push_back(child); });
  return found;
}

class ExprTest : public ::testing::Test {
 protected:
  using Exprs = std::vector<ExprPtr>;
  IrBuilder b;
  Type number = scalar_type(kFloat);
  ExprPtr one = b.f32(1), two = b.f32(2), three = b.f32(3);
  ExprPtr yes = b.scalar(Scalar::from_int(DType::boolean(), 1));
  Dim n = dim_var("n"), i = dim_var("i");

  Type vector_type(Dim extent) { return tensor_type(std::span<const Dim>(&extent, 1), kFloat); }
};

TEST_F(ExprTest, KindsHaveNames) {
  EXPECT_EQ(to_string(ExprKind::Const), "Const");
  EXPECT_EQ(to_string(ExprKind::OpCall), "OpCall");
  EXPECT_EQ(to_string(ExprKind::Error), "Error");
}

TEST_F(ExprTest, ChildrenInEvaluationOrder) {
  const Variable* x = b.variable("x", number);
  EXPECT_EQ(children(one), Exprs());
  EXPECT_EQ(children(b.var(x)), Exprs());
  EXPECT_EQ(children(b.dim(n)), Exprs());
  EXPECT_EQ(children(b.error()), Exprs());
  EXPECT_EQ(children(b.global("f", number)), Exprs());
  EXPECT_EQ(children(b.tuple({one, two})), Exprs({one, two}));
  EXPECT_EQ(children(b.branch(yes, one, two)), Exprs({yes, one, two}));
  EXPECT_EQ(children(b.block({{x, one}, {nullptr, two}}, three)), Exprs({one, two, three}));
  ExprPtr fn = b.fn({x}, one);
  EXPECT_EQ(children(fn), Exprs({one}));
  EXPECT_EQ(children(b.call(fn, {two, three})), Exprs({fn, two, three}));
  EXPECT_EQ(children(b.op_call(b.instance("o", {}, nullptr), number, {}, {one, two})), Exprs({one, two}));
  EXPECT_EQ(children(b.construct(number, data_constructors("T", 1, {{"C", {""}}})[0], {one})), Exprs({one}));
  EXPECT_EQ(children(b.op(ScalarOp::Add, {one, two})), Exprs({one, two}));
  ExprPtr pair = b.tuple({one, two});
  EXPECT_EQ(children(b.field(pair, 1)), Exprs({pair}));
  ExprPtr tensor = b.comprehension({i}, {n}, one);
  EXPECT_EQ(children(tensor), Exprs({one}));
  EXPECT_EQ(children(b.reduce(ReduceKind::Sum, {i}, {n}, two)), Exprs({two}));
  EXPECT_EQ(children(b.scan(ReduceKind::Sum, i, n, two)), Exprs({two}));
  ExprPtr place = b.dim(i);
  EXPECT_EQ(children(b.scatter(ScatterKind::Add, {i}, {n}, one, {place}, two)), Exprs({one, place, two}));
  EXPECT_EQ(children(b.view(tensor, {n})), Exprs({tensor}));
  ExprPtr index = b.dim(i);
  EXPECT_EQ(children(b.read(tensor, {index})), Exprs({tensor, index}));
  EXPECT_EQ(children(b.read(tensor, {index}, {true}, two)), Exprs({tensor, index, two}));
  EXPECT_EQ(children(b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, one}, {"label", ""})),
            Exprs({one}));
}

TEST_F(ExprTest, MapChildrenKeepsWhatDoesNotChange) {
  ExprPtr expr = b.block({{nullptr, one}}, b.tuple({one, two}));
  EXPECT_EQ(map_children(*b.arena, expr, [](ExprPtr child) { return child; }), expr);
}

TEST_F(ExprTest, MapChildrenReplaces) {
  ExprPtr print = b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, one, two}, {"label", "", ""});
  auto* image =
      as<IntrinsicExpr>(map_children(*b.arena, print, [&](ExprPtr e) { return e == two ? three : e; }));
  ASSERT_NE(image, nullptr);
  EXPECT_NE(image, print);
  EXPECT_EQ(Exprs(image->args.begin(), image->args.end()), Exprs({nullptr, one, three}));
  EXPECT_EQ(image->texts[0], "label");
  EXPECT_EQ(image->origin, print->origin);
  EXPECT_EQ(children(print), Exprs({one, two}));

  const Variable* x = b.variable("x", number);
  auto* block = as<BlockExpr>(map_children(*b.arena, b.block({{x, one}, {nullptr, two}}, one),
                                           [&](ExprPtr e) { return e == one ? three : e; }));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->bindings[0].variable, x);
  EXPECT_EQ(children(block), Exprs({three, two, three}));
}

TEST_F(ExprTest, FreeVariables) {
  const Variable* x = b.variable("x", number);
  const Variable* y = b.variable("y", number);
  const Variable* f = b.variable("f", function_type({}, number));
  using Variables = std::vector<const Variable*>;
  EXPECT_EQ(free_variables(b.tuple({b.var(y), b.var(x), b.var(y)})), Variables({y, x}));
  EXPECT_EQ(free_variables(b.fn({x}, b.tuple({b.var(x), b.var(y)}))), Variables({y}));
  EXPECT_EQ(free_variables(b.block({{x, b.var(y)}}, b.var(x))), Variables({y}));
  // A function literal sees its own name; another expression sees the outer variable of that name.
  EXPECT_EQ(free_variables(b.block({{f, b.fn({}, b.call(b.var(f), {}))}}, b.var(f))), Variables());
  // Leaving a scope forgets what it bound.
  EXPECT_EQ(free_variables(b.tuple({b.block({{x, one}}, b.var(x)), b.var(x)})), Variables({x}));
}

TEST_F(ExprTest, SubstitutionReplacesVariablesAndKeepsTheRest) {
  const Variable* x = b.variable("x", number);
  const Variable* y = b.variable("y", number);
  ExprPtr untouched = b.tuple({b.var(y), one});
  ExprPtr expr = b.tuple({b.var(x), untouched});
  auto* image = as<TupleExpr>(substitute(*b.arena, expr, {{{x, two}}, {}}));
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->fields[0], two);
  EXPECT_EQ(image->fields[1], untouched);
  EXPECT_EQ(image->origin, expr->origin);
  EXPECT_EQ(substitute(*b.arena, expr, {}), expr);
}

TEST_F(ExprTest, SubstitutionReachesTypesAndDims) {
  Dim m = dim_var("m");
  Type a = type_var("a");
  const Variable* x = b.variable("x", vector_type(n));
  Substitution types{{{n, dim_const(3)}}, {{a, unit_type()}}};
  auto apply = [&](ExprPtr expr) { return substitute(*b.arena, expr, {{}, types}); };

  EXPECT_EQ(apply(b.var(x))->type, vector_type(dim_const(3)));
  EXPECT_EQ(as<DimValueExpr>(apply(b.dim(dim_add(n, m))))->dim, dim_add(m, dim_const(3)));
  auto* call = as<OpCallExpr>(apply(b.op_call(b.instance("o", {m}, nullptr), a, {n}, {b.var(x)})));
  EXPECT_EQ(call->dims[0], dim_const(3));
  EXPECT_EQ(call->type, unit_type());
  EXPECT_EQ(call->args[0]->type, vector_type(dim_const(3)));
  std::vector<Type> type_args = {a};
  ExprPtr global = b.arena->make<GlobalExpr>(b.base(ExprKind::Global, a), "f", b.list(std::vector<Dim>{n}),
                                             b.list(type_args));
  EXPECT_EQ(as<GlobalExpr>(apply(global))->dims[0], dim_const(3));
  EXPECT_EQ(as<GlobalExpr>(apply(global))->types[0], unit_type());
  EXPECT_EQ(apply(b.view(b.var(x), {n, m}))->type->dims[0], dim_const(3));
}

TEST_F(ExprTest, SubstitutionRenewsIndexVariables) {
  Dim j = dim_var("j");
  const Variable* x = b.variable("x", vector_type(n));
  ExprPtr sum = b.reduce(ReduceKind::Sum, {j}, {dim_add(i, n)}, b.read(b.var(x), {b.dim(dim_add(i, j))}));
  auto* before = as<ComprehensionExpr>(b.comprehension({i}, {n}, sum));
  // The image of n mentions the very i that is bound inside: it is not captured.
  auto* after = as<ComprehensionExpr>(substitute(*b.arena, before, {{}, {{{n, i}}, {}}}));
  ASSERT_NE(after, nullptr);
  Dim fresh_i = after->vars[0];
  EXPECT_NE(fresh_i, i);
  EXPECT_EQ(fresh_i->name, "i");
  EXPECT_EQ(after->extents[0], i);
  auto* inner = as<ReduceExpr>(after->body);
  EXPECT_NE(inner->vars[0], j);
  EXPECT_EQ(inner->extents[0], dim_add(fresh_i, i));
  auto* index = as<DimValueExpr>(as<ReadExpr>(inner->body)->indices[0]);
  EXPECT_EQ(index->dim, dim_add(fresh_i, inner->vars[0]));
  EXPECT_EQ(after->type, vector_type(i));
}

TEST_F(ExprTest, SubstitutionRenewsFunctionsAndLets) {
  const Variable* x = b.variable("x", vector_type(n));
  const FnExpr* fn = b.fn({x}, b.var(x), {n});
  const Variable* f = b.variable("f", fn->type);
  ExprPtr before = b.block({{f, fn}, {nullptr, b.var(f)}}, b.var(f));
  auto* after = as<BlockExpr>(substitute(*b.arena, before, {}));
  ASSERT_NE(after, nullptr);
  auto* copy = as<FnExpr>(after->bindings[0].value);
  Dim fresh_n = copy->dim_vars[0];
  EXPECT_NE(fresh_n, n);
  EXPECT_NE(copy->params[0], x);
  EXPECT_EQ(copy->params[0]->name, "x");
  EXPECT_NE(copy->params[0]->id, x->id);
  EXPECT_EQ(copy->params[0]->type, vector_type(fresh_n));
  EXPECT_EQ(as<VarExpr>(copy->body)->variable, copy->params[0]);
  const Variable* fresh_f = after->bindings[0].variable;
  EXPECT_NE(fresh_f, f);
  EXPECT_EQ(fresh_f->type, copy->type);
  EXPECT_EQ(as<VarExpr>(after->bindings[1].value)->variable, fresh_f);
  EXPECT_EQ(as<VarExpr>(after->result)->variable, fresh_f);
}

TEST_F(ExprTest, SubstitutionOfAFunctionsOwnDimsInstantiatesIt) {
  Dim m = dim_var("m");
  Dim dims[] = {n, m};
  const Variable* x = b.variable("x", tensor_type(dims, kFloat));
  const FnExpr* fn = b.fn({x}, b.var(x), {n, m});
  auto* image = as<FnExpr>(substitute(*b.arena, fn, {{}, {{{n, dim_const(3)}}, {}}}));
  ASSERT_EQ(image->dim_vars.size(), 1u);
  EXPECT_EQ(image->params[0]->type->dims[0], dim_const(3));
  EXPECT_EQ(image->params[0]->type->dims[1], image->dim_vars[0]);
}

TEST_F(ExprTest, SubstitutionSeesRecursion) {
  Type type = function_type({}, number);
  const Variable* f = b.variable("f", type);
  ExprPtr before = b.block({{f, b.fn({}, b.call(b.var(f), {}))}}, b.var(f));
  auto* after = as<BlockExpr>(substitute(*b.arena, before, {}));
  auto* call = as<CallExpr>(as<FnExpr>(after->bindings[0].value)->body);
  EXPECT_EQ(as<VarExpr>(call->callee)->variable, after->bindings[0].variable);
  EXPECT_TRUE(free_variables(after).empty());
}

TEST_F(ExprTest, LongBlocks) {
  const int count = 100'000;
  std::vector<Binding> bindings;
  ExprPtr last = b.var(b.variable("x", number));
  for (int k = 0; k < count; ++k) {
    const Variable* variable = b.variable("y", number);
    bindings.push_back({variable, b.op(ScalarOp::Add, {last, one})});
    last = b.var(variable);
  }
  ExprPtr block = b.block(bindings, last);
  EXPECT_EQ(free_variables(block).size(), 1u);
  auto* copy = as<BlockExpr>(substitute(*b.arena, block, {}));
  ASSERT_EQ(copy->bindings.size(), static_cast<size_t>(count));
  EXPECT_EQ(as<VarExpr>(copy->result)->variable, copy->bindings.back().variable);
  EXPECT_EQ(free_variables(copy), free_variables(block));
  std::set<uint32_t> ids;
  for (const Binding& binding : copy->bindings) ids.insert(binding.variable->id);
  EXPECT_EQ(ids.size(), static_cast<size_t>(count));
}

}  // namespace
}  // namespace quern
