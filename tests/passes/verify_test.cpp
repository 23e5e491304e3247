// The verifier of the IR: each of its rules with an expression that breaks it and nothing else.

#include "passes/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/ir/expr/ir_builder.h"

namespace quern {
namespace {

/// What a broken expression is made of.
struct Parts : IrBuilder {
  Type real = scalar_type(DType::float32()), integer = scalar_type(DType::int32());
  Dim n = dim_var("n"), i = dim_var("i"), j = dim_var("j"), two = dim_const(2);
  Type vector = tensor_type(std::array{two}, DType::float32());
  const Variable* x = variable("x", vector);
  const Variable* y = variable("y", real);
  Type nodes = data_type("List", 1, {});

  /// A node of a kind with another type than its own.
  template <class Node>
  ExprPtr with_type(ExprPtr expr, Type type) {
    Node copy = *as<Node>(expr);
    copy.type = type;
    return arena->make<Node>(copy);
  }
  ExprPtr at(Dim index) { return read(var(x), {dim(index)}); }
  ExprPtr row(ExprPtr body) { return comprehension({i}, {two}, body); }
  ExprPtr primitive(const std::vector<const Variable*>& params, ExprPtr body) {
    FnExpr copy = *fn(params, body);
    copy.primitive = true;
    return arena->make<FnExpr>(copy);
  }
  ExprPtr check(ExprPtr value, Type type, const std::vector<Dim>& opened) {
    return arena->make<CheckDimsExpr>(base(ExprKind::CheckDims, type), value, list(opened),
                                      std::span<const DimCondition>());
  }
  ExprPtr match(ExprPtr value, const Pattern& pattern, ExprPtr body) {
    std::vector<MatchArm> arms{{arena->make<Pattern>(pattern), body}};
    return arena->make<MatchExpr>(base(ExprKind::Match, body->type), value, list(arms), false);
  }
  ExprPtr reference(ExprPtr content) {
    return arena->make<RefExpr>(base(ExprKind::Ref, ref_type(content->type)), content);
  }
};

struct Rule {
  const char* name;
  std::function<ExprPtr(Parts&)> broken;
  const char* reason;  ///< a part of what is said
};

const Variable* other(Parts& p) { return p.variable("z", p.real); }

const Rule kRules[] = {
    // --- scopes
    {"AVariableBeforeItsBinding",
     [](Parts& p) {
       const Variable* a = p.variable("a", p.real);
       return p.block({{p.variable("b", p.real), p.var(a)}, {a, p.f32(1)}}, p.f32(1));
     },
     "%a is used where it is not bound"},
    {"AVariableAfterItsBlock",
     [](Parts& p) {
       const Variable* a = p.variable("a", p.real);
       return p.tuple({p.block({{a, p.f32(1)}}, p.var(a)), p.var(a)});
     },
     "%a is used where it is not bound"},
    {"AParameterAfterItsFunction",
     [](Parts& p) {
       const Variable* a = p.variable("a", p.real);
       return p.tuple({p.fn({a}, p.var(a)), p.var(a)});
     },
     "%a is used where it is not bound"},
    {"AVariableOfAPatternInAnotherArm",
     [](Parts& p) {
       const Variable* a = p.variable("a", p.real);
       return p.tuple({p.match(p.f32(1), {PatternKind::Variable, p.real, {}, a}, p.var(a)), p.var(a)});
     },
     "%a is used where it is not bound"},
    {"AnIndexAfterItsIndexExpression",
     [](Parts& p) {
       return p.tuple({p.row(p.at(p.i)), p.dim(p.i)});
     },
     "i is used where it is not bound"},
    {"AnIndexOfAReductionAfterIt",
     [](Parts& p) {
       return p.op(ScalarOp::Add, {p.reduce(ReduceKind::Sum, {p.j}, {p.two}, p.at(p.j)), p.at(p.j)});
     },
     "j is used where it is not bound"},
    {"AnIndexOfAScanAfterIt",
     [](Parts& p) {
       return p.op(ScalarOp::Add, {p.scan(ReduceKind::Sum, p.j, p.two, p.at(p.j)), p.at(p.j)});
     },
     "j is used where it is not bound"},
    {"AnIndexOfAScatterInItsInit",
     [](Parts& p) {
       return p.row(p.scatter(ScatterKind::Add, {p.j}, {p.two}, p.at(p.j), {p.dim(p.j)}, p.at(p.j)));
     },
     "j is used where it is not bound"},
    {"AnExtentOverItsOwnIndex",
     [](Parts& p) { return p.reduce(ReduceKind::Sum, {p.j}, {p.j}, p.at(dim_const(0))); },
     "j is used where it is not bound"},
    {"ADimThatNothingBinds", [](Parts& p) { return p.dim(dim_add(p.n, p.two)); },
     "n is used where it is not bound"},
    {"ADimOfATypeThatNothingBinds",
     [](Parts& p) {
       return p.with_type<ViewExpr>(p.view(p.var(p.x), {p.n}),
                                    tensor_type(std::array{p.n}, DType::float32()));
     },
     "n is used where it is not bound"},
    {"ADimAfterItsFunction",
     [](Parts& p) {
       const Variable* a = p.variable("a", tensor_type(std::array{p.n}, DType::float32()));
       return p.tuple({p.fn({a}, p.dim(p.n), {p.n}), p.dim(p.n)});
     },
     "n is used where it is not bound"},
    {"AnOpenedDimBeforeItsCheck",
     [](Parts& p) {
       Type open = tensor_type(std::array{p.n}, DType::float32());
       return p.tuple({p.dim(p.n), p.check(p.var(p.x), open, {p.n})});
     },
     "n is used where it is not bound"},
    {"APrimitiveThatIsNotClosed", [](Parts& p) { return p.primitive({}, p.row(p.at(p.i))); },
     "%x is used where it is not bound"},
    // --- types and numbers of parts
    {"AConstantOfAnotherShape", [](Parts& p) { return p.with_type<ConstExpr>(p.f32(1), p.vector); },
     "another type than its tensor"},
    {"AUseOfAnotherType", [](Parts& p) { return p.with_type<VarExpr>(p.var(p.y), p.integer); },
     "a use of %y has another type"},
    {"AGlobalThatIsNoFunction", [](Parts& p) { return p.global("f", p.real); }, "a global is no function"},
    {"AnOperatorWithTooManyDims",
     [](Parts& p) { return p.op_call(p.instance("op", {}, nullptr), p.real, {p.two}, {}); },
     "more dims than its operator"},
    {"AnOperatorWithTooFewArguments",
     [](Parts& p) { return p.op_call(p.instance("op", {}, p.fn({other(p)}, p.f32(1))), p.real, {}, {}); },
     "another number of arguments than its operator"},
    {"AnOperatorWithAnArgumentOfAnotherRank",
     [](Parts& p) {
       return p.op_call(p.instance("op", {}, p.fn({other(p)}, p.f32(1))), p.real, {}, {p.var(p.x)});
     },
     "argument 0 of a call does not fit its operator"},
    {"ACallWithTooFewArguments", [](Parts& p) { return p.call(p.fn({other(p)}, p.f32(1)), {}); },
     "another number of arguments than its callee"},
    {"AnArgumentOfAnotherType", [](Parts& p) { return p.call(p.fn({other(p)}, p.f32(1)), {p.i32(1)}); },
     "argument 0 of a call does not fit its callee"},
    {"ACallOfAnotherType",
     [](Parts& p) { return p.with_type<CallExpr>(p.call(p.fn({}, p.f32(1)), {}), p.integer); },
     "a call has another type than its callee's result"},
    {"AFunctionWithTooManyParameters",
     [](Parts& p) { return p.with_type<FnExpr>(p.fn({other(p)}, p.f32(1)), function_type({}, p.real)); },
     "another number of parameters than its type"},
    {"AFunctionWithAnotherBody",
     [](Parts& p) { return p.with_type<FnExpr>(p.fn({}, p.f32(1)), function_type({}, p.integer)); },
     "a function's body has another type"},
    {"APrimitiveThatIsNoKernel", [](Parts& p) { return p.primitive({}, p.f32(1)); },
     "is no index expression"},
    {"ABindingOfAnotherType",
     [](Parts& p) {
       return p.block({{other(p), p.i32(1)}}, p.f32(1));
     },
     "a binding has another type than its variable"},
    {"ABlockOfAnotherType", [](Parts& p) { return p.with_type<BlockExpr>(p.block({}, p.f32(1)), p.integer); },
     "a block has another type than its result"},
    {"AConditionThatIsNoBool", [](Parts& p) { return p.branch(p.i32(1), p.f32(1), p.f32(2)); },
     "a condition is no bool"},
    {"AnArmOfAnotherType",
     [](Parts& p) {
       return p.branch(p.op(ScalarOp::Lt, {p.f32(1), p.f32(2)}), p.f32(1), p.i32(2));
     },
     "an arm has another type than its condition"},
    {"APatternOfAnotherType",
     [](Parts& p) {
       return p.match(p.f32(1), {PatternKind::Wildcard, p.integer, {}}, p.f32(1));
     },
     "a pattern has another type than what it is matched with"},
    {"APatternWithTooFewFields",
     [](Parts& p) {
       return p.match(p.tuple({p.f32(1)}), {PatternKind::Tuple, tuple_type(std::array{p.real}), {}},
                      p.f32(1));
     },
     "another number of fields than its tuple"},
    {"AnArmOfAMatchOfAnotherType",
     [](Parts& p) {
       return p.with_type<MatchExpr>(p.match(p.f32(1), {PatternKind::Wildcard, p.real, {}}, p.f32(1)),
                                     p.integer);
     },
     "an arm has another type than its match"},
    {"ATupleWithTooFewFields",
     [](Parts& p) { return p.with_type<TupleExpr>(p.tuple({p.f32(1)}), unit_type()); },
     "another number of fields than its type"},
    {"AFieldThatIsNotThere",
     [](Parts& p) {
       return p.arena->make<FieldExpr>(p.base(ExprKind::Field, p.real), p.tuple({}), 0U, std::string_view());
     },
     "a tuple has no such field"},
    {"AFieldOfAnotherType",
     [](Parts& p) { return p.with_type<FieldExpr>(p.field(p.tuple({p.f32(1)}), 0), p.integer); },
     "a field has another type than in its tuple"},
    {"AConstructorWithTooManyFields",
     [](Parts& p) {
       static const auto kNil = data_constructors("List", 1, {{"Nil", {}}});
       return p.construct(p.nodes, kNil[0], {p.f32(1)});
     },
     "another number of fields than its declaration"},
    {"AReferenceOfAnotherType",
     [](Parts& p) { return p.with_type<RefExpr>(p.reference(p.f32(1)), ref_type(p.integer)); },
     "what a reference holds has another type"},
    {"AReadReferenceOfAnotherType",
     [](Parts& p) {
       return p.arena->make<RefReadExpr>(p.base(ExprKind::RefRead, p.integer), p.reference(p.f32(1)));
     },
     "what a reference holds has another type"},
    {"AWriteOfAnotherType",
     [](Parts& p) {
       return p.arena->make<RefWriteExpr>(p.base(ExprKind::RefWrite, unit_type()), p.reference(p.f32(1)),
                                          p.i32(1));
     },
     "what a reference holds has another type"},
    {"AWriteWithAValue",
     [](Parts& p) {
       return p.arena->make<RefWriteExpr>(p.base(ExprKind::RefWrite, p.real), p.reference(p.f32(1)),
                                          p.f32(1));
     },
     "a write has a value"},
    {"APrintWithoutItsLabels",
     [](Parts& p) { return p.intrinsic(IntrinsicKind::Print, unit_type(), {p.f32(1)}, {}); },
     "`print` has another number of arguments"},
    {"AGradientOfAValue",
     [](Parts& p) { return p.intrinsic(IntrinsicKind::Gradient, p.real, {p.f32(1)}, {}); },
     "`grad` takes or makes what is no function"},
    {"AStopGradientOfAnotherType",
     [](Parts& p) { return p.intrinsic(IntrinsicKind::StopGradient, p.integer, {p.f32(1)}, {}); },
     "`stop_gradient` has another type"},
    {"ACheckOfAnotherRank", [](Parts& p) { return p.check(p.var(p.x), p.real, {}); },
     "a check has another type than its value"},
    {"ACheckThatOpensNoVariable", [](Parts& p) { return p.check(p.var(p.x), p.vector, {p.two}); },
     "what a check opens is no variable"},
    {"AnExternCallOfNothing",
     [](Parts& p) {
       return p.arena->make<ExternExpr>(p.base(ExprKind::Extern, p.real), std::string_view(), nullptr,
                                        std::span<const ExprPtr>());
     },
     "an extern call names no kernel"},
    {"AnIndexExpressionWithoutAnExtent", [](Parts& p) { return p.comprehension({p.i}, {}, p.f32(1)); },
     "variables and extents differ in number"},
    {"AnIndexExpressionOfOtherExtents",
     [](Parts& p) {
       return p.with_type<ComprehensionExpr>(p.row(p.at(p.i)),
                                             tensor_type(std::array{dim_const(3)}, DType::float32()));
     },
     "other extents than its type"},
    {"AnIndexExpressionOfAnotherDtype",
     [](Parts& p) {
       return p.with_type<ComprehensionExpr>(p.row(p.at(p.i)),
                                             tensor_type(std::array{p.two}, DType::int32()));
     },
     "an index expression's body has another dtype"},
    {"AnIndexThatIsNoVariable", [](Parts& p) { return p.comprehension({p.two}, {p.two}, p.f32(1)); },
     "an index variable is no variable"},
    {"AScatterOfAnotherRank",
     [](Parts& p) { return p.row(p.scatter(ScatterKind::Add, {p.j}, {p.two}, p.f32(0), {}, p.f32(1))); },
     "another number of indices than its index expression"},
    {"AViewOfAnotherDtype",
     [](Parts& p) {
       return p.with_type<ViewExpr>(p.view(p.var(p.x), {p.two}),
                                    tensor_type(std::array{p.two}, DType::int32()));
     },
     "a view has another dtype than its tensor"},
    {"AViewOfMoreElements",
     [](Parts& p) {
       return p.view(p.var(p.x), {p.two, p.two});
     },
     "another number of elements than its tensor"},
    {"ADimThatIsNoIndex", [](Parts& p) { return p.with_type<DimValueExpr>(p.dim(p.two), p.real); },
     "a dim's value is no index"},
    {"AScalarFunctionOfOneOperand", [](Parts& p) { return p.op(ScalarOp::Add, {p.f32(1)}); },
     "`+` has another number of operands"},
    {"AScalarFunctionOfTwoDtypes",
     [](Parts& p) {
       return p.op(ScalarOp::Add, {p.f32(1), p.i32(1)});
     },
     "operands of `+` are of several dtypes"},
    {"AScalarFunctionOfAnotherDtype",
     [](Parts& p) {
       return p.with_type<ScalarExpr>(p.op(ScalarOp::Lt, {p.f32(1), p.f32(1)}), p.real);
     },
     "`<` has another dtype than its operands give it"},
    {"AReductionOfAnotherDtype",
     [](Parts& p) {
       return p.with_type<ReduceExpr>(p.reduce(ReduceKind::ArgMax, {p.j}, {p.two}, p.at(p.j)), p.real);
     },
     "a reduction has another dtype than its body"},
    {"AScanOfAnotherDtype",
     [](Parts& p) {
       return p.with_type<ScanExpr>(p.scan(ReduceKind::Sum, p.j, p.two, p.at(p.j)), p.integer);
     },
     "a scan has another dtype than its body"},
    {"AScatterOfAnotherDtype",
     [](Parts& p) {
       return p.row(p.scatter(ScatterKind::Add, {p.j}, {p.two}, p.f32(0), {p.dim(p.j)}, p.i32(1)));
     },
     "a scatter has another dtype than its init or its value"},
    {"AnIndexOfAScatterThatIsNoIndex",
     [](Parts& p) {
       return p.row(p.scatter(ScatterKind::Add, {p.j}, {p.two}, p.f32(0), {p.f32(0)}, p.f32(1)));
     },
     "an index of a scatter is no index"},
    {"AScatterWithoutItsChecks",
     [](Parts& p) {
       ScatterExpr copy =
           *as<ScatterExpr>(p.scatter(ScatterKind::Add, {p.j}, {p.two}, p.f32(0), {p.dim(p.j)}, p.f32(1)));
       copy.checked = {};
       return p.row(p.arena->make<ScatterExpr>(copy));
     },
     "a scatter has another number of checks than indices"},
    {"AReadWithTooManyIndices",
     [](Parts& p) {
       return p.read(p.var(p.x), {p.dim(p.two), p.dim(p.two)});
     },
     "another number of indices than its tensor has dims"},
    {"AReadWithoutItsChecks",
     [](Parts& p) {
       ReadExpr copy = *as<ReadExpr>(p.at(p.two));
       copy.checked = {};
       return p.arena->make<ReadExpr>(copy);
     },
     "a read has another number of checks than indices"},
    {"AnIndexOfAReadThatIsNoIndex", [](Parts& p) { return p.read(p.var(p.x), {p.f32(0)}); },
     "an index of a read is no index"},
    {"AReadOfAnotherDtype", [](Parts& p) { return p.with_type<ReadExpr>(p.at(p.two), p.integer); },
     "a read has another dtype than its tensor"},
    {"AReadWithAnElseOfAnotherDtype",
     [](Parts& p) { return p.read(p.var(p.x), {p.dim(p.two)}, {true}, p.i32(0)); },
     "a read has another dtype than its `else`"},
    {"ANodeWithoutAType", [](Parts& p) { return p.with_type<VarExpr>(p.var(p.y), nullptr); },
     "a node has no type"},
    {"AnError", [](Parts& p) { return p.error(); }, "an error is left"},
};

class VerifierRules : public testing::TestWithParam<Rule> {};

TEST_P(VerifierRules, RefusesWhatBreaksIt) {
  Parts parts;
  ExprPtr broken = GetParam().broken(parts);
  std::optional<Breach> breach = verify(broken, {{parts.x, parts.y}, {}});
  ASSERT_TRUE(breach);
  EXPECT_NE(breach->reason.find(GetParam().reason), std::string::npos) << breach->reason;
}

INSTANTIATE_TEST_SUITE_P(Rules, VerifierRules, testing::ValuesIn(kRules),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Verifier, TakesWhatIsInOrder) {
  Parts p;
  ExprPtr row = p.row(p.op(ScalarOp::Add, {p.at(p.i), p.reduce(ReduceKind::Max, {p.j}, {p.two}, p.at(p.j))}));
  const Variable* a = p.variable("a", row->type);
  ExprPtr whole = p.block(
      {{a, row}}, p.tuple({p.var(a), p.call(p.fn({p.variable("b", p.real)}, p.f32(1)), {p.var(p.y)})}));
  std::optional<Breach> breach = verify(whole, free_names(whole));
  EXPECT_FALSE(breach) << breach->reason;
  EXPECT_EQ(free_names(whole).variables, (std::unordered_set<const Variable*>{p.x, p.y}));
}

}  // namespace
}  // namespace quern
