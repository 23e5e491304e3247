#include "frontend/print/printer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "tests/dtypes.h"
#include "tests/ir/expr/ir_builder.h"

namespace quern {
namespace {

class PrinterTest : public ::testing::Test {
 protected:
  IrBuilder b;
  Type number = scalar_type(kFloat);
  Dim n = dim_var("n"), i = dim_var("i"), j = dim_var("j");
  Dim four = dim_const(4);
  const Variable* x = b.variable("x", tensor({n, four}));
  const Variable* y = b.variable("y", number);
  ExprPtr yes = b.scalar(Scalar::from_int(DType::boolean(), 1));

  static Type tensor(std::vector<Dim> dims, DType dtype = kFloat) { return tensor_type(dims, dtype); }
  template <class T>
  ExprPtr constant(DType dtype, Shape shape, std::vector<T> elements) {
    return b.constant(HostTensor::from<T>(dtype, std::move(shape), elements));
  }
  ExprPtr number_of(DType dtype, double value) { return b.scalar(Scalar::from_double(dtype, value)); }
  ExprPtr at_ij(ExprPtr otherwise = nullptr) {
    return b.read(b.var(x), {b.dim(i), b.dim(j)}, {false, otherwise != nullptr}, otherwise);
  }
  ExprPtr over_ij(ExprPtr body) { return b.comprehension({i, j}, {n, four}, body); }
  ExprPtr op_call(const std::string& name, const std::vector<ExprPtr>& args,
                  std::vector<std::pair<std::string, StaticValue>> attributes = {}) {
    Type type = args[0]->type;
    auto* instance =
        b.arena->make<OpInstance>(OpInstance{name, name, std::move(attributes), {}, nullptr, 0, nullptr});
    return b.op_call(instance, type, {}, args);
  }
  ExprPtr reduce_sum(Dim var, ExprPtr body) { return b.reduce(ReduceKind::Sum, {var}, {n}, body); }

  /// What is printed, after checking that it is text of the language.
  static std::string parsed(std::string text) {
    for (const SyntaxProblem& problem : parse_declaration(text, false).problems)
      ADD_FAILURE() << problem.message << " in:\n" << text;
    return text;
  }
  static std::string show(ExprPtr expr, const PrintOptions& options = {}) {
    return parsed(print(expr, options));
  }
  /// As an element of a comprehension over i < n, j < 4.
  std::string body(ExprPtr expr) {
    constexpr std::string_view kHead = "[i < n, j < 4] => ";
    std::string text = show(over_ij(expr));
    EXPECT_TRUE(text.starts_with(kHead)) << text;
    return text.substr(kHead.size());
  }
};

// --- constants -------------------------------------------------------------------------------------------

TEST_F(PrinterTest, ScalarConstantsHaveSuffixes) {
  EXPECT_EQ(show(b.f32(2)), "2f");
  EXPECT_EQ(show(b.f32(-2.5)), "-2.5f");
  EXPECT_EQ(show(b.f32(1e20)), "1e+20f");
  EXPECT_EQ(show(b.i32(7)), "7");
  EXPECT_EQ(show(b.scalar(Scalar::from_int(DType::int64(), 1))), "1i64");
  EXPECT_EQ(show(b.scalar(Scalar::from_int(DType::int64(), std::numeric_limits<int64_t>::min()))),
            "-9223372036854775808i64");
  EXPECT_EQ(show(b.scalar(Scalar::from_int(DType::uint8(), 255))), "255u8");
  EXPECT_EQ(show(yes), "True");
  EXPECT_EQ(show(number_of(DType::float64(), 0.1)), "0.1f64");
  EXPECT_EQ(show(number_of(DType::float16(), 0.5)), "0.5f16");
}

TEST_F(PrinterTest, SpecialFloats) {
  EXPECT_EQ(show(b.f32(HUGE_VAL)), "inff");
  EXPECT_EQ(show(b.f32(-HUGE_VAL)), "-inff");
  EXPECT_EQ(show(number_of(DType::float64(), std::nan(""))), "nanf64");
}

TEST_F(PrinterTest, Bfloat16HasNoSuffix) {
  EXPECT_EQ(show(number_of(DType::bfloat16(), 2)), "2.0");
  EXPECT_EQ(show(number_of(DType::bfloat16(), -0.5)), "-0.5");
  EXPECT_EQ(show(number_of(DType::bfloat16(), HUGE_VAL)), "inf");
}

TEST_F(PrinterTest, SmallTensorsAreLists) {
  EXPECT_EQ(show(constant<float>(kFloat, {2, 2}, {1, 2, 3.5, -4})), "[[1f, 2f], [3.5f, -4f]]");
  EXPECT_EQ(show(constant<int64_t>(DType::int64(), {1}, {3})), "[3i64]");
  EXPECT_EQ(show(constant<float>(kFloat, {2, 0}, {})), "[[], []]");
}

TEST_F(PrinterTest, LargeAndEmptyTensorsAreCounted) {
  std::vector<float> many(33, 1);
  ExprPtr first = constant<float>(kFloat, {33}, many), second = constant<float>(kFloat, {33}, many);
  EXPECT_EQ(show(b.tuple({first, second, first})),
            "(meta[relay.Constant][0], meta[relay.Constant][1], meta[relay.Constant][0])");
  EXPECT_EQ(show(constant<int32_t>(DType::int32(), {0}, {})), "meta[relay.Constant][0]");
  EXPECT_EQ(show(constant<float>(kFloat, {0, 0}, {})), "meta[relay.Constant][0]");
}

// --- calls, tuples, fields -------------------------------------------------------------------------------

TEST_F(PrinterTest, OperatorCallsWithAttributes) {
  StaticValue strides = StaticValue::list({StaticValue::integer(2), StaticValue::integer(2)});
  ExprPtr call = op_call("nn.conv2d", {b.var(x), b.var(y)},
                         {{"strides", strides}, {"data_layout", std::string("NHWC")}, {"out_dtype", kFloat}});
  EXPECT_EQ(show(call), "nn.conv2d(%x, %y, strides=[2, 2], data_layout=\"NHWC\", out_dtype=\"float32\")");
}

TEST_F(PrinterTest, DimsOfAttributesAreThoseOfTheCall) {
  Dim m = dim_var("m");
  StaticValue shape = StaticValue::list({StaticValue(m), StaticValue::integer(4)});
  auto* instance =
      b.arena->make<OpInstance>(OpInstance{"zeros", "zeros", {{"shape", shape}}, {m}, nullptr, 0, nullptr});
  EXPECT_EQ(show(b.op_call(instance, number, {dim_add(n, four)}, {})), "zeros(shape=[n + 4, 4])");
}

TEST_F(PrinterTest, CallsOfFunctions) {
  Type function = function_type(std::vector<Type>{number}, number);
  ExprPtr callee = b.global("f", function);
  EXPECT_EQ(show(b.call(callee, {b.var(y)})), "@f(%y)");
  const Variable* z = b.variable("z", number);
  EXPECT_EQ(show(b.call(b.fn({z}, b.var(z)), {b.f32(1)})), "(fn (%z: float32) -> float32 { %z })(1f)");
  EXPECT_EQ(show(b.call(b.branch(yes, callee, callee), {b.f32(1)})), "(if (True) { @f } else { @f })(1f)");
}

TEST_F(PrinterTest, TuplesAndFields) {
  ExprPtr pair = b.tuple({b.var(x), b.var(y)});
  EXPECT_EQ(show(pair), "(%x, %y)");
  EXPECT_EQ(show(b.tuple({b.var(y)})), "(%y,)");
  EXPECT_EQ(show(b.tuple({})), "()");
  EXPECT_EQ(show(b.field(b.tuple({pair}), 0)), "((%x, %y),).0");
  Type record = data_type("Net", 1, {});
  auto constructors = data_constructors("Net", 1, {{"Net", {"conv1"}}, {"Pair", {"", ""}}, {"Nil", {}}});
  ExprPtr net = b.construct(record, constructors[0], {b.var(x)});
  EXPECT_EQ(show(net), "Net(conv1=%x)");
  EXPECT_EQ(show(b.construct(record, constructors[1], {b.var(x), b.var(y)})), "Pair(%x, %y)");
  EXPECT_EQ(show(b.construct(record, constructors[2], {})), "Nil");
  EXPECT_EQ(show(b.arena->make<FieldExpr>(b.base(ExprKind::Field, number), net, 0u, "conv1")),
            "Net(conv1=%x).conv1");
  EXPECT_EQ(show(b.arena->make<FieldExpr>(b.base(ExprKind::Field, number), b.global("g", record), 0u, "w")),
            "(@g).w");
}

TEST_F(PrinterTest, Intrinsics) {
  EXPECT_EQ(show(b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, b.var(y)}, {"a \"b\"", ""})),
            "print(\"a \\\"b\\\"\", %y)");
  EXPECT_EQ(show(b.intrinsic(IntrinsicKind::Load, number, {nullptr, nullptr}, {"x.npz", "w"})),
            "load(\"x.npz\", \"w\")");
  EXPECT_EQ(show(b.intrinsic(IntrinsicKind::Load, number, {nullptr, nullptr}, {"x.npy", ""})),
            "load(\"x.npy\")");
  EXPECT_EQ(show(b.intrinsic(IntrinsicKind::Save, unit_type(), {nullptr, b.var(y)}, {"y.npy", ""})),
            "save(\"y.npy\", %y)");
  EXPECT_EQ(show(b.intrinsic(IntrinsicKind::Load, number, {nullptr, b.i32(3), nullptr, nullptr},
                             {"{x}", ":3", ".npz", "{w}"})),
            "load(\"{{x}}{3:3}.npz\", \"{{w}}\")");
}

TEST_F(PrinterTest, ErrorsAreMarked) {
  EXPECT_EQ(print(b.tuple({b.error(), b.f32(1)})), "(<error>, 1f)");
  EXPECT_EQ(print(Definition{"f", {}, nullptr, nullptr}), "<error>");
}

// --- blocks, functions, names ----------------------------------------------------------------------------

TEST_F(PrinterTest, BlocksBindInOrder) {
  const Variable* z = b.variable("z", number);
  ExprPtr print_y = b.intrinsic(IntrinsicKind::Print, unit_type(), {b.var(y)}, {""});
  EXPECT_EQ(show(b.block({{z, b.f32(1)}, {nullptr, print_y}}, b.var(z))),
            "{\n  let %z: float32 = 1f;\n  print(%y);\n  %z\n}");
}

TEST_F(PrinterTest, GraphVariablesAreNumbered) {
  const Variable* zero = make_variable(*b.arena, "0", number, true);
  const Variable* other = make_variable(*b.arena, "0", number, true);
  ExprPtr block = b.block({{zero, b.f32(1)}, {other, b.var(zero)}}, b.var(other));
  EXPECT_EQ(show(block), "{\n  %0 = 1f;\n  %1 = %0;\n  %1\n}");
  EXPECT_EQ(show(block, {.types = true}), "{\n  %0 /* float32 */ = 1f;\n  %1 /* float32 */ = %0;\n  %1\n}");
}

TEST_F(PrinterTest, GraphVariablesMayHaveManyDigits) {
  const std::string name(25, '9');
  const Variable* first = make_variable(*b.arena, name, number, true);
  const Variable* second = make_variable(*b.arena, name, number, true);
  ExprPtr block = b.block({{first, b.f32(1)}, {second, b.var(first)}}, b.var(second));
  EXPECT_EQ(show(block), fmt::format("{{\n  %{0} = 1f;\n  %{0}1 = %{0};\n  %{0}1\n}}", name));
}

TEST_F(PrinterTest, ShadowingNamesAreToldApart) {
  const Variable* first = b.variable("x", number);
  const Variable* second = b.variable("x", number);
  ExprPtr inner = b.block({{first, b.f32(1)}, {second, b.var(first)}}, b.tuple({b.var(second), b.var(x)}));
  EXPECT_EQ(show(inner), "{\n  let %x_1: float32 = 1f;\n  let %x_2: float32 = %x_1;\n  (%x_2, %x)\n}");
}

TEST_F(PrinterTest, NamesAreFreeAgainAfterTheirScope) {
  const Variable* a = b.variable("a", number);
  const Variable* c = b.variable("a", number);
  EXPECT_EQ(show(b.tuple({b.fn({a}, b.var(a)), b.fn({c}, b.var(c))})),
            "(fn (%a: float32) -> float32 { %a }, fn (%a: float32) -> float32 { %a })");
}

TEST_F(PrinterTest, NamesThatTheGrammarCannotSpell) {
  const Variable* slash = b.variable("base/x.1", number);
  const Variable* digits = b.variable("7", number);
  const Variable* nothing = b.variable("", number);
  EXPECT_EQ(show(b.tuple({b.var(slash), b.var(digits), b.var(nothing)})), "(%base_x_1, %v7, %v)");
  Dim opened = dim_var("x.0"), word = dim_var("if");
  const Variable* open = b.variable("open", tensor({opened, word}));
  EXPECT_EQ(show(b.fn({open}, b.f32(1), {opened, word})),
            "fn [x_0, if_](%open: Tensor[(x_0, if_), float32]) -> float32 { 1f }");
}

TEST_F(PrinterTest, ClashingDimsAreToldApart) {
  Dim other = dim_var("n");
  const Variable* z = b.variable("z", tensor({n, dim_mul(other, dim_const(2))}));
  EXPECT_EQ(show(b.fn({z}, b.f32(1), {n, other})),
            "fn [n, n_1](%z: Tensor[(n, 2*n_1), float32]) -> float32 { 1f }");
}

TEST_F(PrinterTest, FunctionsSeeTheirOwnName) {
  Type function = function_type(std::vector<Type>{number}, number);
  const Variable* f = b.variable("f", function);
  const Variable* outer = b.variable("f", function);
  ExprPtr literal = b.fn({y}, b.call(b.var(f), {b.call(b.var(outer), {b.var(y)})}));
  EXPECT_EQ(show(b.block({{f, literal}}, b.var(f))),
            "{\n  let %f_1 = fn (%y: float32) -> float32 { %f_1(%f(%y)) };\n  %f_1\n}");
}

TEST_F(PrinterTest, KernelsAreMarked) {
  const FnExpr* fn = b.fn({y}, b.var(y));
  ExprPtr kernel =
      b.arena->make<FnExpr>(b.base(ExprKind::Fn, fn->type), fn->params, fn->dim_vars, fn->body, true);
  EXPECT_EQ(show(kernel), "/* kernel */ fn (%y: float32) -> float32 { %y }");
}

TEST_F(PrinterTest, Definitions) {
  ExprPtr body = op_call("nn.relu", {b.var(x)});
  const FnExpr* fn = b.fn({x}, body, {n});
  EXPECT_EQ(parsed(print(Definition{"f", {{n}, {}, fn->type}, fn, b.arena})),
            "def @f[n](%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {\n  nn.relu(%x)\n}");
  EXPECT_EQ(parsed(print(Definition{"k", {{}, {}, number}, b.f32(1), b.arena})), "let %k: float32 = 1f");
  EXPECT_EQ(parsed(print(Definition{"0", {{}, {}, number}, b.f32(1), b.arena})), "%0 = 1f");
  EXPECT_EQ(parsed(print(Definition{"", {{}, {}, number}, b.f32(1), b.arena})), "1f");
}

TEST_F(PrinterTest, DefinitionsOverTypes) {
  Type a = type_var("a"), clash = type_var("a");
  const Variable* p = b.variable("p", a);
  const Variable* q = b.variable("q", data_type("List", 1, std::vector<Type>{clash}));
  const FnExpr* fn = b.fn({p, q}, b.var(p));
  EXPECT_EQ(parsed(print(Definition{"first", {{}, {a, clash}, fn->type}, fn, b.arena})),
            "def @first[a, a_1](%p: a, %q: List[a_1]) -> a {\n  %p\n}");
}

TEST_F(PrinterTest, IfAndElseIf) {
  ExprPtr inner = b.branch(yes, b.f32(1), b.f32(2));
  EXPECT_EQ(show(b.branch(yes, inner, inner)),
            "if (True) { if (True) { 1f } else { 2f } } else if (True) { 1f } else { 2f }");
  ExprPtr block = b.block({{y, b.f32(1)}}, b.var(y));
  EXPECT_EQ(show(b.branch(yes, block, b.f32(2))),
            "if (True) {\n  let %y: float32 = 1f;\n  %y\n} else {\n  2f\n}");
}

TEST_F(PrinterTest, LongChainsOfLets) {
  constexpr size_t kLets = 100'000;
  std::vector<Binding> bindings;
  ExprPtr last = b.f32(0);
  for (size_t k = 0; k < kLets; ++k) {
    bindings.push_back({b.variable("x", number), last});
    last = b.var(bindings.back().variable);
  }
  std::string text = print(b.block(bindings, last));
  EXPECT_TRUE(text.ends_with("let %x_99999: float32 = %x_99998;\n  %x_99999\n}"))
      << text.substr(text.size() - 100);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(text, '\n')), kLets + 2);
}

TEST_F(PrinterTest, DeepExpressions) {
  constexpr size_t kDepth = 10'000;
  ExprPtr sum = at_ij(), call = b.var(x), nested = b.f32(0);
  for (size_t k = 0; k < kDepth; ++k) {
    sum = b.op(ScalarOp::Add, {sum, b.f32(1)});
    call = op_call("nn.relu", {call});
    nested = b.branch(yes, b.block({{b.variable("v", number), b.f32(1)}}, nested), b.f32(2));
  }
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(print(over_ij(sum)), '+')), kDepth);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(print(call), '(')), kDepth);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(print(nested), '{')), 2 * kDepth);
}

// --- layout ----------------------------------------------------------------------------------------------

TEST_F(PrinterTest, LongCallsHaveOneArgumentPerLine) {
  ExprPtr call = op_call("nn.dense", {b.var(x), b.var(y)}, {{"units", StaticValue::integer(10)}});
  EXPECT_EQ(show(call, {.width = 28}), "nn.dense(%x, %y, units=10)");
  EXPECT_EQ(show(call, {.width = 25}), "nn.dense(\n  %x,\n  %y,\n  units=10\n)");
  // The outer call breaks first.
  EXPECT_EQ(show(op_call("nn.relu", {call}), {.width = 30}), "nn.relu(\n  nn.dense(%x, %y, units=10)\n)");
  // What follows on the line counts.
  ExprPtr block = b.block({{nullptr, call}}, b.f32(1));
  EXPECT_EQ(show(block, {.width = 29}), "{\n  nn.dense(%x, %y, units=10);\n  1f\n}");
  EXPECT_EQ(show(block, {.width = 28}), "{\n  nn.dense(\n    %x,\n    %y,\n    units=10\n  );\n  1f\n}");
}

TEST_F(PrinterTest, LongIndexExpressions) {
  ExprPtr sum = b.op(ScalarOp::Add, {at_ij(), b.op(ScalarOp::Mul, {at_ij(), b.f32(2)})});
  EXPECT_EQ(show(over_ij(sum), {.width = 32}), "[i < n, j < 4] =>\n  %x[i, j] + %x[i, j] * 2f");
  EXPECT_EQ(show(over_ij(sum), {.width = 20}), "[i < n, j < 4] =>\n  %x[i, j]\n    + %x[i, j] * 2f");
}

// --- index expressions -----------------------------------------------------------------------------------

TEST_F(PrinterTest, ReadsAndOtherwise) {
  EXPECT_EQ(body(at_ij()), "%x[i, j]");
  ExprPtr shifted = b.read(b.var(x), {b.dim(i), b.dim(dim_add(j, dim_const(1)))}, {false, true}, b.f32(0));
  EXPECT_EQ(body(shifted), "(%x[i, j + 1] else 0f)");
  EXPECT_EQ(body(at_ij(shifted)), "(%x[i, j] else (%x[i, j + 1] else 0f))");
  EXPECT_EQ(body(at_ij(b.op(ScalarOp::Add, {b.f32(1), b.f32(2)}))), "(%x[i, j] else (1f + 2f))");
  EXPECT_EQ(body(b.read(b.var(y), {})), "%y");
  EXPECT_EQ(body(b.read(constant<float>(kFloat, {2}, {1, 2}), {b.dim(i)})), "([1f, 2f])[i]");
}

TEST_F(PrinterTest, InfixOperatorsHaveFewParentheses) {
  ExprPtr a = at_ij(), c = b.f32(2);
  auto infix = [&](ScalarOp op, ExprPtr left, ExprPtr right) { return b.op(op, {left, right}); };
  ExprPtr sum = infix(ScalarOp::Add, a, c), product = infix(ScalarOp::Mul, a, c);
  EXPECT_EQ(body(infix(ScalarOp::Add, product, product)), "%x[i, j] * 2f + %x[i, j] * 2f");
  EXPECT_EQ(body(infix(ScalarOp::Mul, sum, sum)), "(%x[i, j] + 2f) * (%x[i, j] + 2f)");
  EXPECT_EQ(body(infix(ScalarOp::Sub, infix(ScalarOp::Sub, c, c), c)), "2f - 2f - 2f");
  EXPECT_EQ(body(infix(ScalarOp::Sub, c, infix(ScalarOp::Sub, c, c))), "2f - (2f - 2f)");
  EXPECT_EQ(body(infix(ScalarOp::Mod, c, c)), "2f % 2f");
  EXPECT_EQ(body(infix(ScalarOp::Max, sum, b.f32(-1))), "max(%x[i, j] + 2f, -1f)");
  ExprPtr less = infix(ScalarOp::Lt, b.dim(i), b.dim(j));
  ExprPtr logic = infix(ScalarOp::Or, infix(ScalarOp::And, less, b.op(ScalarOp::Not, {less})), less);
  EXPECT_EQ(body(logic), "i < j and not i < j or i < j");
  EXPECT_EQ(body(infix(ScalarOp::BitAnd, less, less)), "bitwise_and((i < j), (i < j))");
}

TEST_F(PrinterTest, MinusBeforeALiteralIsNotPartOfIt) {
  EXPECT_EQ(body(b.op(ScalarOp::Neg, {at_ij()})), "-%x[i, j]");
  EXPECT_EQ(body(b.op(ScalarOp::Neg, {b.f32(1)})), "-(1f)");
  EXPECT_EQ(body(b.op(ScalarOp::Neg, {b.op(ScalarOp::Add, {at_ij(), b.f32(1)})})), "-(%x[i, j] + 1f)");
}

TEST_F(PrinterTest, CastsAndDims) {
  EXPECT_EQ(body(b.cast(b.dim(dim_add(i, j)), kFloat)), "cast<float32>(i + j)");
  ExprPtr index = b.cast(b.read(b.var(b.variable("p", scalar_type(DType::int32()))), {}), DType::index());
  EXPECT_EQ(body(b.read(b.var(x), {index, b.dim(j)}, {true, false})), "%x[index(%p), j]");
  ExprPtr twice = b.op(ScalarOp::Mul, {b.dim(dim_add(i, four)), index});
  EXPECT_EQ(body(b.read(b.var(x), {twice, b.dim(j)}, {true, false})), "%x[(i + 4) * index(%p), j]");
}

TEST_F(PrinterTest, Reductions) {
  Dim k = dim_var("k");
  ExprPtr read = b.read(b.var(x), {b.dim(k), b.dim(j)});
  EXPECT_EQ(body(reduce_sum(k, b.op(ScalarOp::Mul, {read, b.f32(2)}))), "sum[k < n] %x[k, j] * 2f");
  EXPECT_EQ(body(reduce_sum(k, b.op(ScalarOp::Add, {read, b.f32(2)}))), "sum[k < n] (%x[k, j] + 2f)");
  EXPECT_EQ(body(b.op(ScalarOp::Add, {reduce_sum(k, read), b.f32(2)})), "sum[k < n] %x[k, j] + 2f");
  EXPECT_EQ(body(b.op(ScalarOp::Mul, {reduce_sum(k, read), b.f32(2)})), "(sum[k < n] %x[k, j]) * 2f");
  EXPECT_EQ(body(b.op(ScalarOp::Exp, {reduce_sum(k, read)})), "exp(sum[k < n] %x[k, j])");
}

TEST_F(PrinterTest, IndexNamesAreUniqueInsideEachOther) {
  Dim inner = dim_var("i"), innermost = dim_var("i");
  ExprPtr read = b.read(b.var(x), {b.dim(dim_add(i, inner)), b.dim(innermost)});
  EXPECT_EQ(body(reduce_sum(inner, reduce_sum(innermost, read))),
            "sum[i_1 < n] sum[i_2 < n] %x[i + i_1, i_2]");
  ExprPtr one = reduce_sum(inner, b.read(b.var(x), {b.dim(inner), b.dim(j)}));
  ExprPtr two = reduce_sum(innermost, b.read(b.var(x), {b.dim(innermost), b.dim(j)}));
  EXPECT_EQ(body(b.op(ScalarOp::Add, {one, two})), "sum[i_1 < n] %x[i_1, j] + sum[i_1 < n] %x[i_1, j]");
}

TEST_F(PrinterTest, RankZeroViewsAndConditions) {
  EXPECT_EQ(show(b.comprehension({}, {}, b.f32(1))), "[.._ < ()] => 1f");
  EXPECT_EQ(show(b.read(b.view(over_ij(at_ij()), {dim_mul(n, four)}), {b.dim(i)})),
            "view([i < n, j < 4] => %x[i, j])[i]");
  ExprPtr chosen = b.branch(b.op(ScalarOp::Lt, {b.dim(i), b.dim(four)}), at_ij(), b.f32(0));
  EXPECT_EQ(body(b.op(ScalarOp::Add, {chosen, chosen})),
            "if (i < 4) { %x[i, j] } else { 0f } + if (i < 4) { %x[i, j] } else { 0f }");
}

// --- round trips -----------------------------------------------------------------------------------------

/// Which operand belongs to which function, without parentheses and names.
std::string structure(ExprPtr expr) {
  std::string out;
  auto list = [&](std::string head, const std::vector<ExprPtr>& parts) {
    out = "(" + std::move(head);
    for (ExprPtr part : parts) out += " " + structure(part);
    return out + ")";
  };
  if (auto* e = as<ScalarExpr>(expr)) {
    std::string name = e->is_cast ? "cast" : e->op == ScalarOp::Neg ? "-" : std::string(info(e->op).name);
    return list(std::move(name), {e->args.begin(), e->args.end()});
  }
  if (auto* e = as<ReduceExpr>(expr)) return list(std::string(to_string(e->reduce)), {e->body});
  if (auto* e = as<IfExpr>(expr)) return list("if", {e->condition, e->then_arm, e->else_arm});
  if (auto* e = as<ReadExpr>(expr)) return e->otherwise ? list("else", {e->otherwise}) : "x";
  return "1";
}

std::string structure(SyntaxPtr s) {
  auto list = [&](std::string_view head, std::span<const SyntaxPtr> parts) {
    std::string out = "(" + std::string(head);
    for (SyntaxPtr part : parts) out += " " + structure(part);
    return out + ")";
  };
  switch (s->kind) {
    case SyntaxKind::Paren:
    case SyntaxKind::Block: return structure(s->child(0));
    case SyntaxKind::Unary:
    case SyntaxKind::Binary: return list(s->text, s->children);
    case SyntaxKind::Call: return list(s->child(0)->text, s->children.subspan(1));
    case SyntaxKind::Reduce: return list(s->text, s->children.subspan(1));
    case SyntaxKind::If: return list("if", s->children);
    case SyntaxKind::ReadElse: return list("else", s->children.subspan(1));
    case SyntaxKind::Index: return "x";
    default: return "1";
  }
}

TEST_F(PrinterTest, WhatBelongsTogetherIsReadBackTogether) {
  std::mt19937 random(7);
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  auto make = [&](auto&& self, int depth) -> ExprPtr {
    constexpr ScalarOp kOps[] = {ScalarOp::Add, ScalarOp::Sub, ScalarOp::Mul, ScalarOp::Mod, ScalarOp::Lt,
                                 ScalarOp::Gt,  ScalarOp::Ge,  ScalarOp::Eq,  ScalarOp::And, ScalarOp::Or,
                                 ScalarOp::Max, ScalarOp::Neg, ScalarOp::Not, ScalarOp::Exp};
    if (depth == 0) return below(2) ? at_ij() : below(2) ? b.dim(i) : b.f32(below(2) ? 1 : -1);
    switch (below(8)) {
      case 0: return reduce_sum(dim_var("k"), self(self, depth - 1));
      case 1: return at_ij(self(self, depth - 1));
      case 2: return b.branch(self(self, depth - 1), self(self, depth - 1), self(self, depth - 1));
      case 3: return b.cast(self(self, depth - 1), kFloat);
      default: break;
    }
    ScalarOp op = kOps[below(std::size(kOps))];
    std::vector<ExprPtr> args{self(self, depth - 1)};
    if (info(op).arity == 2) args.push_back(self(self, depth - 1));
    return b.op(op, args);
  };
  for (int round = 0; round < 300; ++round) {
    ExprPtr element = make(make, 1 + round % 5);
    std::string text = print(over_ij(element), {.width = 20 + round % 90});
    ParseOutcome outcome = parse_declaration(text, false);
    ASSERT_TRUE(outcome.problems.empty()) << outcome.problems[0].message << " in:\n" << text;
    ASSERT_TRUE(outcome.tree.root->is(SyntaxKind::Comprehension)) << text;
    ASSERT_EQ(structure(outcome.tree.root->child(1)), structure(element)) << text;
  }
}

}  // namespace
}  // namespace quern
