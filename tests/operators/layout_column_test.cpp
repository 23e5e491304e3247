// Column: layout. Every layout primitive applied to each tensor that an operator takes and gives, over random
// shapes and attributes: the same results, to the bit.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "passes/layout/stored.h"
#include "passes/pipeline.h"
#include "tests/operators/drawn.h"
#include "tests/operators/random_layouts.h"
#include "tests/support/evaluate.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

constexpr uint64_t kDraws = 4;

// A drawn call as index expressions over known dims, and its arguments.
struct Lowered {
  Arena& arena;
  PassContext context;
  const FnExpr& function;
  std::vector<Value> args;
  ScalarBuilder build() const { return ScalarBuilder(arena, {}); }
};

Shape shape_of_type(Type type) {
  Shape shape;
  for (Dim d : type->dims) shape.push_back(as_const(d).value_or(-1));
  return shape;
}

ExprPtr variable_read(Arena& arena, const Variable* v) {
  return arena.make<VarExpr>(Expr{ExprKind::Var, v->type, {}}, v);
}

Value in_layout(const Lowered& l, const Value& tensor, Type type, const Layout& layout) {
  const Variable* v = make_variable(l.arena, "t", type);
  return evaluated(stored(l.build(), variable_read(l.arena, v), layout), {{v, tensor}});
}

void expect_same(const Value& got, const Value& wanted, const std::string& what) {
  if (auto* fields = wanted.fields()) {
    ASSERT_TRUE(got.fields()) << what;
    for (size_t k = 0; k < fields->size(); ++k) expect_same((*got.fields())[k], (*fields)[k], what);
    return;
  }
  ASSERT_TRUE(got.as_tensor()) << what;
  EXPECT_TRUE(same_bits(*got.as_tensor(), *wanted.as_tensor())) << what;
}

void try_parameter(const Lowered& l, size_t k, const Layout& layout, const Value& wanted) {
  std::string what = fmt::format("%{} as {}", l.function.params[k]->name, to_string(layout));
  auto changed = with_param_stored(l.context, l.function, k, layout);
  ASSERT_TRUE(changed) << what << ": " << changed.error().message;
  std::vector<Value> args = l.args;
  args[k] = in_layout(l, args[k], l.function.params[k]->type, layout);
  expect_same(called(**changed, args), wanted, what);
}

void try_result(const Lowered& l, size_t k, const Layout& layout, const Value& wanted) {
  std::string what = fmt::format("result {} as {}", k, to_string(layout));
  auto changed = with_result_stored(l.context, l.function, k, layout);
  ASSERT_TRUE(changed) << what << ": " << changed.error().message;
  Type type = l.function.body->type;
  if (auto* fields = wanted.fields()) {
    std::vector<Value> expected(fields->begin(), fields->end());
    expected[k] = in_layout(l, expected[k], type->args[k], layout);
    expect_same(called(**changed, l.args), Value::tuple(expected), what);
  } else {
    expect_same(called(**changed, l.args), in_layout(l, wanted, type, layout), what);
  }
}

// The tensor as the host of one more parameter, and as its guest.
void try_store_at(const Lowered& l, size_t k, Random& random, const Value& wanted) {
  Type type = l.function.params[k]->type;
  Shape own = shape_of_type(type);
  for (bool host : {true, false}) {
    if (host && own.empty()) continue;
    auto rank = static_cast<int64_t>(own.size());
    auto axis = static_cast<size_t>(random.integer(0, host ? rank - 1 : rank));
    Shape other = own;
    if (host)
      other.erase(other.begin() + static_cast<std::ptrdiff_t>(axis));
    else
      other.insert(other.begin() + static_cast<std::ptrdiff_t>(axis), random.integer(0, 2));
    std::string what =
        fmt::format("%{} as {}, axis {}", l.function.params[k]->name, host ? "host" : "guest", axis);
    const Variable* more = make_variable(l.arena, "more", tensor_type(dims_of(other), type->dtype));
    std::vector<const Variable*> params(l.function.params.begin(), l.function.params.end());
    params.push_back(more);
    std::vector<Type> types;
    types.reserve(params.size());
    for (const Variable* p : params) types.push_back(p->type);
    FnExpr wider = l.function;
    wider.type = function_type(types, l.function.body->type);
    wider.params = params;
    size_t last = params.size() - 1;
    auto changed = host ? with_param_stored_at(l.context, wider, last, k, axis)
                        : with_param_stored_at(l.context, wider, k, last, axis);
    ASSERT_TRUE(changed) << what << ": " << changed.error().message;
    Value filler = Value::tensor(random.tensor(type->dtype, other, Values::Moderate));
    const Variable* own_tensor = make_variable(l.arena, "own", type);
    ExprPtr a = variable_read(l.arena, own_tensor), b = variable_read(l.arena, more);
    ExprPtr memory = host ? stored_at(l.build(), a, b, axis) : stored_at(l.build(), b, a, axis);
    Value together = evaluated(memory, {{own_tensor, l.args[k]}, {more, filler}});
    std::vector<Value> args = l.args;
    if (host) {
      args[k] = together;
    } else {
      args.erase(args.begin() + static_cast<std::ptrdiff_t>(k));
      args.push_back(together);
    }
    expect_same(called(**changed, args), wanted, what);
  }
}

class LayoutColumn : public testing::TestWithParam<Row> {};

TEST_P(LayoutColumn, ResultsAreThoseOfThePlainLayout) {
  Session session(library_texts());
  for (uint64_t number = 0; number < kDraws && !HasFatalFailure(); ++number) {
    Drawn draw = drawn(GetParam(), number);
    SCOPED_TRACE(draw.definition("f"));
    ModuleId module = session.make_module();
    SourceId source = session.add_source(module, "drawn.relay", draw.definition("f"));
    ASSERT_FALSE(has_errors(session.check(source)));
    FunctionSource& functions = session.functions();
    Optimised plain = optimise(*session.definition(module, "f"), functions, "simplify_index");
    auto* function = as<FnExpr>(plain.expr);
    ASSERT_TRUE(function);
    Arena arena;
    Lowered l{arena, {arena, functions}, *function, draw.values()};
    Value wanted = called(*function, l.args);
    Random random(number);
    for (LayoutPrimitive primitive : kLayoutPrimitives) {
      for (size_t k = 0; k < function->params.size(); ++k)
        if (auto layout = random_layout(random, primitive, shape_of_type(function->params[k]->type)))
          try_parameter(l, k, *layout, wanted);
      size_t results = wanted.fields() ? wanted.fields()->size() : 1;
      for (size_t k = 0; k < results; ++k) {
        Value result = wanted.fields() ? (*wanted.fields())[k] : wanted;
        Type type = wanted.fields() ? function->body->type->args[k] : function->body->type;
        bool known = std::ranges::all_of(type->dims, [](Dim d) { return as_const(d).has_value(); });
        if (!known) continue;  // a shape that the values decide takes its layout when they have
        if (auto layout = random_layout(random, primitive, result.as_tensor()->shape()))
          try_result(l, k, *layout, wanted);
      }
    }
    for (size_t k = 0; k < function->params.size(); ++k) try_store_at(l, k, random, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, LayoutColumn, testing::ValuesIn(operator_rows()),
                         [](const auto& info) { return test_name(info.param.name); });

}  // namespace
}  // namespace quern::numeric
