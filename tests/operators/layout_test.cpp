// Layouts: their text form, what does not fit, and that memory holds what the tensor does.

#include "passes/layout/layout.h"

#include <gtest/gtest.h>

#include "frontend/print/printer.h"
#include "passes/layout/stored.h"
#include "passes/pipeline.h"
#include "tests/operators/random_layouts.h"
#include "tests/support/cases.h"
#include "tests/support/evaluate.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

TEST(Layout, PrintsAndParses) {
  const char* text =
      "split(1, 2, 8) reorder(0, 2, 1, 3) pad(0, 1, 0) unpad(0, 1, 0) fuse(2, 2) unfold(0, 4, 2) "
      "fold(0, 4, 2, 9)";
  auto layout = parse_layout(text);
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(to_string(*layout), text);
  EXPECT_EQ(to_string(*parse_layout("  split( 1,2 )fuse(0,2)")), "split(1, 2) fuse(0, 2)");
  EXPECT_TRUE(parse_layout("")->steps.empty());
}

TEST(Layout, TellsWhatIsNone) {
  for (const char* text :
       {"spilt(1, 2)", "split", "split(", "split(1", "split(1, )", "split(1)", "fuse(1)", "pad(0)",
        "pad(0, 1, 2, 3)", "split(a, 2)", "split(1, 99999999999999999999)", "(1, 2)", "fuse(0,2),"})
    EXPECT_FALSE(parse_layout(text)) << text;
}

TEST(Layout, TellsWhatDoesNotFit) {
  auto problem = [](const char* text, const Shape& shape) {
    auto result = stored_shape(*parse_layout(text), dims_of(shape));
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(problem("split(1, 16)", {2, 20}),
            "`split(1, 16)`: the extent 20 is no multiple of 16; `pad` it first");
  EXPECT_EQ(problem("split(2, 2)", {2, 20}), "`split(2, 2)`: there are 2 axes");
  EXPECT_EQ(problem("split(-1, 2)", {2, 20}), "`split(-1, 2)`: there are 2 axes");
  EXPECT_EQ(problem("split(0, 0)", {2, 20}), "`split(0, 0)`: the parts are at least 1 long");
  EXPECT_EQ(problem("fuse(1, 2)", {2, 20}), "`fuse(1, 2)`: there are 2 axes");
  EXPECT_EQ(problem("fuse(0, 0)", {2, 20}), "`fuse(0, 0)`: there are 2 axes");
  EXPECT_EQ(problem("reorder(0, 0)", {2, 20}), "`reorder(0, 0)`: it names each of the 2 axes once");
  EXPECT_EQ(problem("reorder(0)", {2, 20}), "`reorder(0)`: it names each of the 2 axes once");
  EXPECT_EQ(problem("pad(0, -1, 0)", {2, 20}), "`pad(0, -1, 0)`: padding is not negative");
  EXPECT_EQ(problem("unpad(0, 2, 1)", {2, 20}), "`unpad(0, 2, 1)`: an extent of 2 has no such ends");
  EXPECT_EQ(problem("unfold(1, 2, 3)", {2, 20}),
            "`unfold(1, 2, 3)`: the stride is at least 1 and at most the tile");
  EXPECT_EQ(problem("fold(0, 20, 20, 30)", {2, 20}), "");
  EXPECT_EQ(problem("fold(0, 20, 20, 50)", {2, 20}),
            "`fold(0, 20, 20, 50)`: the axes of extents 2 and 20 are not its "
            "tiles");
}

// Channels in blocks of 16, as direct convolutions want them.
TEST(Layout, OfBlockedChannels) {
  Dim n = dim_var("n"), c = dim_var("c");
  std::vector<Dim> shape{n, dim_mul(c, dim_const(16)), dim_const(7), dim_const(7)};
  Layout blocked = *parse_layout("split(1, 16) reorder(0, 1, 3, 4, 2)");
  EXPECT_EQ(*stored_shape(blocked, shape),
            (std::vector<Dim>{n, c, dim_const(7), dim_const(7), dim_const(16)}));
  EXPECT_EQ(to_string(inverse(blocked, shape)), "reorder(0, 1, 4, 2, 3) fuse(1, 2)");
}

// A tensor of the layout in memory and back is itself, element by element and as index expressions.
TEST(Layout, RoundTripIsTheIdentity) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Shape shape = random.shape(1, 3);
    Layout layout;
    Shape now = shape;
    for (int64_t k = random.integer(1, 3); k > 0; --k) {
      LayoutPrimitive primitive = kLayoutPrimitives[static_cast<size_t>(random.integer(0, 6))];
      Layout more = *random_layout(random, primitive, now);
      layout.steps.insert(layout.steps.end(), more.steps.begin(), more.steps.end());
      auto dims = stored_shape(layout, dims_of(shape));
      ASSERT_TRUE(dims) << dims.error().message;
      now.clear();
      for (Dim d : *dims) now.push_back(*as_const(d));
    }
    SCOPED_TRACE(shape_text(shape) + " as " + to_string(layout));
    Arena arena;
    ScalarBuilder build(arena, {});
    TensorPtr tensor = random.tensor(DType::int32(), shape, Values::Moderate);
    const Variable* t = make_variable(arena, "t", tensor_type(dims_of(shape), DType::int32()));
    ExprPtr read = arena.make<VarExpr>(Expr{ExprKind::Var, t->type, {}}, t);
    TensorPtr memory = evaluated(stored(build, read, layout), {{t, Value::tensor(tensor)}}).as_tensor();
    EXPECT_EQ(memory->shape(), now);
    const Variable* m = make_variable(arena, "m", tensor_type(dims_of(now), DType::int32()));
    ExprPtr read_memory = arena.make<VarExpr>(Expr{ExprKind::Var, m->type, {}}, m);
    Environment of_memory{{m, Value::tensor(memory)}};
    EXPECT_TRUE(same_bits(
        *evaluated(restored(build, read_memory, layout, dims_of(shape)), of_memory).as_tensor(), *tensor));
    Layout back = inverse(layout, dims_of(shape));
    EXPECT_EQ(*stored_shape(back, dims_of(now)), dims_of(shape));
    EXPECT_TRUE(same_bits(*evaluated(stored(build, read_memory, back), of_memory).as_tensor(), *tensor))
        << to_string(back);
    EXPECT_EQ(to_string(inverse(back, dims_of(now))), to_string(layout));
  }
}

// nn.conv2d over channels in blocks of 16, data, weights and result: from the definition that knows of no
// blocks. What is made of it prints as a definition in the language, which is typed and compiled as any
// other.
TEST(Layout, BlocksOfChannelsOfAConvolution) {
  Session session;
  ModuleId module = session.make_module();
  std::string text =
      "def @f(%x: Tensor[(1, 32, 6, 5), float32], %w: Tensor[(16, 32, 3, 3), float32]) {\n"
      "  nn.conv2d(%x, %w, strides=[2, 1], padding=[1, 1])\n}\n";
  SourceId source = session.add_source(module, "conv.relay", text);
  ASSERT_TRUE(session.check(source).empty());
  FunctionSource& functions = session.functions();
  Optimised plain = optimise(*session.definition(module, "f"), functions, "simplify_index");
  auto* function = as<FnExpr>(plain.expr);
  Arena arena;
  PassContext context{arena, functions};
  Layout data = *parse_layout("split(1, 16) reorder(0, 1, 3, 4, 2)");
  Layout weights = *parse_layout("split(1, 16) split(0, 16) reorder(0, 2, 4, 5, 3, 1)");
  auto blocked = with_param_stored(context, *function, 0, data);
  ASSERT_TRUE(blocked) << blocked.error().message;
  blocked = with_param_stored(context, **blocked, 1, weights);
  ASSERT_TRUE(blocked) << blocked.error().message;
  blocked = with_result_stored(context, **blocked, 0, data);
  ASSERT_TRUE(blocked) << blocked.error().message;

  Random random(1);
  Value x = Value::tensor(random.tensor(DType::float32(), {1, 32, 6, 5}, Values::SmallIntegers));
  Value w = Value::tensor(random.tensor(DType::float32(), {16, 32, 3, 3}, Values::SmallIntegers));
  auto in_memory = [&](const Value& tensor, Type type, const Layout& layout) {
    const Variable* v = make_variable(arena, "t", type);
    ExprPtr read = arena.make<VarExpr>(Expr{ExprKind::Var, type, {}}, v);
    return evaluated(stored(ScalarBuilder(arena, {}), read, layout), {{v, tensor}});
  };
  Value wanted = in_memory(called(*function, {x, w}), function->body->type, data);
  Value stored_x = in_memory(x, function->params[0]->type, data);
  Value stored_w = in_memory(w, function->params[1]->type, weights);
  EXPECT_EQ(stored_x.as_tensor()->shape(), (Shape{1, 2, 6, 5, 16}));
  EXPECT_EQ(stored_w.as_tensor()->shape(), (Shape{1, 2, 3, 3, 16, 16}));
  EXPECT_TRUE(same_bits(*called(**blocked, {stored_x, stored_w}).as_tensor(), *wanted.as_tensor()));

  Definition definition{"blocked", {{}, {}, (*blocked)->type}, *blocked, nullptr};
  Case one{"blocked", "@blocked(%x, %w)", {{"x", "x"}, {"w", "w"}}, ""};
  std::string printed = print(definition);
  for (char& c : printed)
    if (c == '\n') c = ' ';
  one.definition = printed;
  TemporaryFile file("blocked");
  auto written = write_tensors(file.path(), {{"x", stored_x.as_tensor()}, {"w", stored_w.as_tensor()}});
  ASSERT_TRUE(written) << written.error().message;
  CaseSession compiled(file.path(), {one}, library_texts());
  Outcome outcome = compiled.run(Evaluator::Compiled)[0];
  ASSERT_TRUE(outcome.tensor) << outcome.problem << printed;
  EXPECT_TRUE(same_bits(*outcome.tensor, *wanted.as_tensor()));
}

TEST(Layout, StoreAtHoldsBoth) {
  Random random(3);
  for (size_t axis = 0; axis < 3; ++axis) {
    Arena arena;
    ScalarBuilder build(arena, {});
    Shape large{3, 1, 4}, small = large;
    small.erase(small.begin() + static_cast<std::ptrdiff_t>(axis));
    const Variable* host = make_variable(arena, "host", tensor_type(dims_of(large), DType::int32()));
    const Variable* guest = make_variable(arena, "guest", tensor_type(dims_of(small), DType::int32()));
    auto read = [&](const Variable* v) { return arena.make<VarExpr>(Expr{ExprKind::Var, v->type, {}}, v); };
    TensorPtr of_host = random.tensor(DType::int32(), large, Values::Moderate);
    TensorPtr of_guest = random.tensor(DType::int32(), small, Values::Moderate);
    Environment both{{host, Value::tensor(of_host)}, {guest, Value::tensor(of_guest)}};
    ExprPtr memory = stored_at(build, read(host), read(guest), axis);
    const Variable* m = make_variable(arena, "m", memory->type);
    Environment of_memory{{m, evaluated(memory, both)}};
    EXPECT_TRUE(same_bits(*evaluated(host_of(build, read(m), axis), of_memory).as_tensor(), *of_host));
    EXPECT_TRUE(same_bits(*evaluated(guest_of(build, read(m), axis), of_memory).as_tensor(), *of_guest));
  }
}

}  // namespace
}  // namespace quern::numeric
