// Gradients of programs that are more than index expressions: recursion, closures, data types, references.
// Each defines a function of one number, whose derivative is that of central differences.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/numeric/last_value.h"
#include "tests/ways.h"

namespace quern {
namespace {

struct Differentiated {
  std::string name;
  std::string text;  ///< declares `@f`, of a float64
  double at = 0.7;
};
std::ostream& operator<<(std::ostream& out, const Differentiated& d) { return out << d.name; }

const std::vector<Differentiated> kTaped = {
    {"recursion",
     "def @power(%x: float64, %n: int32) -> float64 { if (%n == 0) { 1.0f64 } else { %x * @power(%x, %n - 1) "
     "} }\n"
     "def @f(%x: float64) -> float64 { @power(%x, 5) }"},
    {"tail_recursion",
     "def @loop(%x: float64, %y: float64, %n: int32) -> float64 {\n"
     "  if (%n == 0) { %y } else { @loop(%x, sin(%y) * %x, %n - 1) }\n}\n"
     "def @f(%x: float64) -> float64 { @loop(%x, 1.0f64, 7) }"},
    {"mutual_recursion",
     "def @even(%x: float64, %n: int32) -> float64 { if (%n == 0) { %x } else { %x * @odd(%x, %n - 1) } }\n"
     "def @odd(%x: float64, %n: int32) -> float64 { if (%n == 0) { 1.0f64 } else { %x + @even(%x, %n - 1) } "
     "}\n"
     "def @f(%x: float64) -> float64 { @even(%x, 4) * @odd(%x * %x, 3) }"},
    {"local_recursion",
     "def @f(%x: float64) -> float64 {\n"
     "  let %go = fn (%n: int32, %y: float64) -> float64 { if (%n == 0) { %y } else { %go(%n - 1, %y * %x + "
     "%y) } };\n"
     "  %go(4, %x)\n}"},
    {"recursion_over_growing_shapes",
     "def @rec[n](%x: Tensor[(n, 2), float64], %k: int32) -> float64 {\n"
     "  if (%k == 0) { sum(%x) } else { @rec(concatenate((%x, %x * %x), axis=0), %k - 1) }\n}\n"
     "def @f(%x: float64) -> float64 { @rec([[%x, 2f64 * %x]], 3) }"},
    {"lists",
     "def @f(%x: float64) -> float64 {\n"
     "  let %l = Cons(%x, Cons(%x * 2f64, Cons(sin(%x), Nil)));\n"
     "  @foldl(fn (%a, %e) { %a + %e * %e }, 0f64, @map(fn (%e) { %e * %x }, %l))\n}"},
    {"a_match_inside_of_a_match",
     "def @f(%x: float64) -> float64 {\n"
     "  let %o = Some(Some(%x * %x));\n"
     "  match %o { Some(%i) => match %i { Some(%v) => %v * %x, None => 0f64 }, None => %x }\n}"},
    {"records",
     "type Layer { Layer(w: Tensor[(2, 2), float64], b: Tensor[(2,), float64], n: int32) }\n"
     "def @apply(%l: Layer, %v: Tensor[(1, 2), float64]) { tanh(nn.dense(%v, %l.w) + %l.b) }\n"
     "def @f(%x: float64) -> float64 {\n"
     "  let %l = Layer([[%x, 1f64], [2f64, %x * %x]], [%x, 0.5f64], 3);\n"
     "  sum(@apply(%l, @apply(%l, [[0.1f64, 0.2f64]])))\n}"},
    {"references",
     "def @f(%x: float64) -> float64 {\n"
     "  let %c = ref(%x);\n  ref_write(%c, ref_read(%c) * %x);\n  ref_write(%c, sin(ref_read(%c)) * %x);\n"
     "  ref_read(%c)\n}"},
    {"a_reference_with_two_names",
     "def @f(%x: float64) -> float64 {\n"
     "  let %a = ref(%x); let %b = %a;\n  ref_write(%b, ref_read(%a) * %x * 2f64);\n"
     "  ref_read(%a) + ref_read(%b)\n}"},
    {"a_reference_that_a_closure_writes",
     "def @f(%x: float64) -> float64 {\n"
     "  let %c = ref(1f64);\n  let %step = fn (%k: float64) { ref_write(%c, ref_read(%c) * %k + %x) };\n"
     "  %step(%x); %step(2f64 * %x); %step(3f64);\n  ref_read(%c)\n}"},
    {"a_write_that_nobody_reads",
     "def @f(%x: float64) -> float64 {\n"
     "  let %c = ref(%x);\n  let %y = ref_read(%c) * %x;\n  ref_write(%c, 100f64 * %x);\n  %y\n}"},
    {"closures_as_arguments",
     "def @f(%x: float64) -> float64 {\n"
     "  let %m = fn (%y: float64) { %y * %x };\n"
     "  let %twice = fn (%k: fn (float64) -> float64, %z: float64) { %k(%k(%z)) };\n  %twice(%m, "
     "sin(%x))\n}"},
    {"closures_in_a_list",
     "def @f(%x: float64) -> float64 {\n"
     "  let %fs = Cons(fn (%y: float64) { %y * %x }, Cons(fn (%y: float64) { sin(%y) + %x }, Nil));\n"
     "  @foldl(fn (%a, %g) { %g(%a) }, %x, %fs)\n}"},
    {"arms_that_do_not_read_it",
     "def @f(%x: float64) -> float64 {\n"
     "  let %o = Some(%x);\n  if (%x > 0.5f64) { match %o { Some(%v) => %v * %v, None => 1f64 } } else { "
     "3f64 }\n}"},
    {"an_empty_list",
     "def @f(%x: float64) -> float64 { let %l = @tl(Cons(%x, Nil)); @foldl(fn (%a, %e) { %a + %e }, %x, %l) "
     "}"},
    {"a_second_derivative",
     "def @loop(%x: float64, %y: float64, %n: int32) -> float64 {\n"
     "  if (%n == 0) { %y } else { @loop(%x, sin(%y) * %x, %n - 1) }\n}\n"
     "def @g(%x: float64) -> float64 { @loop(%x, 1.0f64, 4) }\n"
     "def @f(%x: float64) -> float64 { grad(@g)(%x).0 }"},
    {"a_gradient_inside_of_recursion",
     "def @g(%x: float64) -> float64 { %x * %x * %x }\n"
     "def @descend(%x: float64, %n: int32) -> float64 {\n"
     "  if (%n == 0) { %x } else { @descend(%x - 0.01f64 * grad(@g)(%x).0, %n - 1) }\n}\n"
     "def @f(%x: float64) -> float64 { @descend(%x, 5) }"},
    {"integers_beside_floats",
     "def @count(%l: List[int32], %x: float64) -> float64 {\n"
     "  match %l { Cons(%h, %t) => cast(%h, dtype=\"float64\") * %x * @count(%t, %x), Nil => 1f64 }\n}\n"
     "def @f(%x: float64) -> float64 { @count(Cons(2, Cons(3, Nil)), %x) }"},
    {"a_stopped_gradient",
     "def @loop(%x: float64, %n: int32) -> float64 { if (%n == 0) { %x } else { @loop(%x * 2f64, %n - 1) } "
     "}\n"
     "def @f(%x: float64) -> float64 { @loop(%x, 2) + stop_gradient(@loop(0.25f64, 3)) }"},
    {"values_from_outside",
     "type Pair { Pair(a: float64, b: float64) }\n"
     "def @twice(%p: Pair, %x: float64, %n: int32) -> float64 {\n"
     "  if (%n == 0) { %x } else { @twice(%p, %x * %p.a + %p.b, %n - 1) }\n}\n"
     "def @outer(%p: Pair, %k: float64, %x: float64) -> float64 {\n"
     "  grad(fn (%y: float64) { @twice(%p, %y, 2) * %k * %y })(%x).0\n}\n"
     "def @f(%x: float64) -> float64 { @outer(Pair(2f64, 3f64), 5f64, %x) }"},
    {"what_is_loaded",
     "def @power(%x: float64, %n: int32) -> float64 { if (%n == 0) { 1.0f64 } else { %x * @power(%x, %n - 1) "
     "} }\n"
     "def @f(%x: float64) -> float64 {\n"
     "  let %i: Tensor[(1500, 1, 8, 8), float32] = load(\"" QUERN_SOURCE_DIR
     "/examples/data/digits.npz\", \"train_images\");\n"
     "  @power(%x, 3) * cast(mean(%i), dtype=\"float64\")\n}"},
    {"a_second_derivative_over_a_list",
     "def @sum_of(%l: List[float64]) -> float64 { match %l { Cons(%h, %t) => %h * %h * %h + @sum_of(%t), Nil "
     "=> 0f64 } }\n"
     "def @g(%x: float64) -> float64 { @sum_of(Cons(%x, Cons(%x * %x, Nil))) }\n"
     "def @h(%x: float64) -> float64 { grad(@g)(%x).0 }\n"
     "def @f(%x: float64) -> float64 { grad(@h)(%x).0 }"},
    {"a_part_of_a_list_that_is_a_parameter",
     "def @total(%l: List[float64]) -> float64 { match %l { Cons(%h, %t) => %h * %h + @total(%t), Nil => "
     "0f64 } }\n"
     "def @f(%x: float64) -> float64 {\n"
     "  match (grad(@total)(Cons(%x, Cons(%x * %x, Nil))).0) { Cons(%a, Cons(%b, Nil)) => %a * %b, _ => 0f64 "
     "}\n}"},
};

class Taped : public testing::TestWithParam<Differentiated> {};

TEST_P(Taped, IsTheDifference) {
  const Differentiated& d = GetParam();
  const std::string text =
      d.text +
      fmt::format("\n(grad(@f)({0}f64).0, (@f({0}f64 + 1e-6f64) - @f({0}f64 - 1e-6f64)) / 2e-6f64);", d.at);
  const auto compare = [&](const std::string& last, std::string_view way) {
    const auto both = nlohmann::json::parse(last, nullptr, false);
    ASSERT_TRUE(both.is_array() && both.size() == 2) << way << " of\n" << text << "\n" << last;
    EXPECT_NEAR(both[0].get<double>(), both[1].get<double>(), 1e-6 * (1 + std::abs(both[1].get<double>())))
        << way << " of\n"
        << text;
  };
  compare(last_value(text, {.interpret = true}), "interpreted");
  for (const Way& way : compiled_ways())
    if (!way.on_disk) compare(last_value(text, execution_in(way)), way.name);
}

// What is left of a recursion that is too long to be unfolded runs in constant stack, forwards and backwards:
// y = y * 1 + x, 100,000 times.
TEST(TapedLoop, Of100000StepsTakesConstantStack) {
  const std::string text =
      "def @loop(%x: float64, %y: float64, %n: int32) -> float64 {\n"
      "  if (%n == 0) { %y } else { @loop(%x, %y * 1f64 + %x, %n - 1) }\n}\n"
      "grad(fn (%x: float64) { @loop(%x, 1f64, 100000) })(0.5f64).0;";
  EXPECT_EQ(last_value(text, {}), "100000.0");
}

INSTANTIATE_TEST_SUITE_P(Gradients, Taped, testing::ValuesIn(kTaped),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace quern
