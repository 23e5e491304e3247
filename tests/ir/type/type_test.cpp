#include "ir/type/type.h"
#include "ir/type/scheme.h"

#include <gtest/gtest.h>

#include <thread>

#include "ir/type/static_value.h"
#include "tests/dtypes.h"

namespace quern {
namespace {

Type tensor(std::vector<Dim> dims, DType dtype = kFloat) { return tensor_type(dims, dtype); }
Type tuple(std::vector<Type> fields) { return tuple_type(fields); }
Type function(std::vector<Type> params, Type result) { return function_type(params, result); }
Type data(std::string_view name, uint64_t id, std::vector<Type> args = {}) {
  return data_type(name, id, args);
}

TEST(Type, EqualTypesAreOnePointer) {
  Dim n = dim_var("n");
  EXPECT_EQ(tensor({n, dim_const(3)}), tensor({n, dim_const(3)}));
  EXPECT_EQ(tensor({dim_mul(n, dim_const(2))}), tensor({dim_add(n, n)}));
  EXPECT_EQ(scalar_type(kFloat), tensor({}));
  EXPECT_EQ(tuple({}), unit_type());
  EXPECT_EQ(function({unit_type()}, scalar_type(kFloat)), function({unit_type()}, scalar_type(kFloat)));
  EXPECT_EQ(ref_type(unit_type()), ref_type(unit_type()));
  EXPECT_EQ(data("List", 7, {unit_type()}), data(std::string("List"), 7, {unit_type()}));
}

TEST(Type, DifferentTypesAreDifferent) {
  EXPECT_NE(tensor({dim_var("n")}), tensor({dim_var("n")}));
  EXPECT_NE(scalar_type(kFloat), scalar_type(DType::float64()));
  EXPECT_NE(type_var("a"), type_var("a"));
  EXPECT_NE(data("List", 7), data("List", 8));
  EXPECT_NE(tuple({scalar_type(kFloat)}), scalar_type(kFloat));
  EXPECT_NE(function({}, unit_type()), ref_type(unit_type()));
}

TEST(Type, InterningIsSafeAcrossThreads) {
  std::vector<Type> made(4);
  std::vector<std::thread> threads;
  for (Type& slot : made)
    threads.emplace_back([&slot] {
      for (int64_t i = 0; i < 2000; ++i) slot = tuple({tensor({dim_const(i)}), unit_type()});
    });
  for (std::thread& thread : threads) thread.join();
  for (Type type : made) EXPECT_EQ(type, made[0]);
}

TEST(Type, Text) {
  Dim n = dim_var("n");
  Type a = type_var("a");
  EXPECT_EQ(to_string(scalar_type(kFloat)), "float32");
  EXPECT_EQ(to_string(tensor({n})), "Tensor[(n,), float32]");
  EXPECT_EQ(to_string(tensor({n, dim_const(64)}, DType::int8())), "Tensor[(n, 64), int8]");
  EXPECT_EQ(to_string(tensor({dim_any(), n})), "Tensor[(?, n), float32]");
  EXPECT_EQ(to_string(unit_type()), "()");
  EXPECT_EQ(to_string(tuple({a})), "(a,)");
  EXPECT_EQ(to_string(tuple({a, unit_type()})), "(a, ())");
  EXPECT_EQ(to_string(function({}, unit_type())), "fn () -> ()");
  EXPECT_EQ(to_string(function({a, a}, tuple({a}))), "fn (a, a) -> (a,)");
  EXPECT_EQ(to_string(data("Net", 1)), "Net");
  EXPECT_EQ(to_string(data("List", 2, {scalar_type(DType::boolean())})), "List[bool]");
  EXPECT_EQ(to_string(ref_type(a)), "Ref[a]");
  EXPECT_EQ(to_string(error_type()), "<error>");
}

TEST(Type, TextOfSchemes) {
  Dim n = dim_var("n");
  Type a = type_var("a");
  EXPECT_EQ(to_string(Scheme{{}, {}, unit_type()}), "()");
  EXPECT_EQ(to_string(Scheme{{n}, {a}, function({tensor({n}), a}, a)}),
            "fn [n, a](Tensor[(n,), float32], a) -> a");
  EXPECT_EQ(to_string(Scheme{{n}, {}, tensor({n})}), "[n] Tensor[(n,), float32]");
}

TEST(Type, Substitution) {
  Dim n = dim_var("n"), m = dim_var("m");
  Type a = type_var("a"), b = type_var("b");
  Type before =
      function({tensor({dim_mul(n, dim_const(2)), m}), ref_type(a)}, data("List", 3, {tuple({a, b})}));
  Substitution substitution{{{n, dim_const(4)}, {m, n}}, {{a, b}}};
  Type after = function({tensor({dim_const(8), n}), ref_type(b)}, data("List", 3, {tuple({b, b})}));
  EXPECT_EQ(substitute(before, substitution), after);
  EXPECT_EQ(substitute(before, {}), before);
  EXPECT_EQ(substitute(error_type(), substitution), error_type());
}

TEST(Type, SharedPartsAreDoneOnce) {
  Dim n = dim_var("n");
  Type type = tensor({n});
  for (int i = 0; i < 200; ++i) type = tuple({type, type});
  Type other = tensor({dim_const(1)});
  for (int i = 0; i < 200; ++i) other = tuple({other, other});
  EXPECT_EQ(substitute(type, {{{n, dim_const(1)}}, {}}), other);
  int vars = 0;
  for_each_dim_var(type, [&](Dim var) { vars += var == n; });
  EXPECT_EQ(vars, 1);
  EXPECT_FALSE(contains_error(type));
}

TEST(Type, ContainsError) {
  EXPECT_TRUE(contains_error(error_type()));
  EXPECT_TRUE(contains_error(function({tuple({ref_type(error_type())})}, unit_type())));
  EXPECT_FALSE(contains_error(function({}, unit_type())));
}

TEST(Type, UnknownsBelongToTheirInference) {
  Dim n = dim_var("n");
  Type a = type_var("a");
  DimScratch dims;
  TypeScratch outer;
  EXPECT_EQ(TypeScratch::current(), &outer);
  {
    TypeScratch inner;
    EXPECT_EQ(TypeScratch::current(), &inner);
  }
  EXPECT_EQ(TypeScratch::current(), &outer);

  Type unknown = outer.fresh();
  EXPECT_NE(unknown, outer.fresh());
  EXPECT_EQ(to_string(unknown), "_");
  EXPECT_TRUE(tuple({unknown})->has_infer);
  EXPECT_TRUE(tensor({dims.fresh()})->has_infer);
  EXPECT_TRUE(scalar_type(DType::infer(3))->has_infer);
  EXPECT_TRUE(ref_type(tuple({tensor({dims.fresh()})}))->has_infer);
  EXPECT_FALSE(ref_type(a)->has_infer);
  EXPECT_NE(tuple({unknown}), tuple({unknown}));

  // Instantiation: the variables of a scheme become unknowns.
  Type instance = substitute(function({tensor({n})}, a), {{{n, dims.fresh()}}, {{a, unknown}}});
  EXPECT_TRUE(instance->has_infer);
  EXPECT_EQ(instance->result(), unknown);
}

TEST(StaticValue, Equality) {
  auto list = [](StaticList items) { return StaticValue::list(std::move(items)); };
  EXPECT_EQ(StaticValue(), StaticValue());
  EXPECT_EQ(list({1.5, std::string("a")}), list({1.5, std::string("a")}));
  EXPECT_NE(list({1.5}), list({1.5, 1.5}));
  EXPECT_NE(StaticValue(true), StaticValue::integer(1));
  EXPECT_EQ(StaticValue(std::numeric_limits<double>::quiet_NaN()),
            StaticValue(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_NE(StaticValue(0.0), StaticValue(-0.0));
  Dim n = dim_var("n");
  EXPECT_EQ(StaticValue(dim_add(n, n)), StaticValue(dim_mul(n, dim_const(2))));
}

TEST(StaticValue, Text) {
  EXPECT_EQ(to_string(StaticValue()), "None");
  EXPECT_EQ(to_string(StaticValue(false)), "False");
  EXPECT_EQ(to_string(StaticValue::integer(-3)), "-3");
  EXPECT_EQ(to_string(StaticValue(2.0)), "2.0");
  EXPECT_EQ(to_string(StaticValue(1e-5)), "1e-05");
  EXPECT_EQ(to_string(StaticValue(-std::numeric_limits<double>::infinity())), "-inf");
  EXPECT_EQ(to_string(StaticValue(std::string("a\"b\\c\n"))), R"("a\"b\\c\n")");
  EXPECT_EQ(to_string(StaticValue(DType::float32())), "\"float32\"");
  EXPECT_EQ(to_string(StaticValue::list({StaticValue::integer(1), dim_var("n"), StaticValue::list({})})),
            "[1, n, []]");
}

}  // namespace
}  // namespace quern
