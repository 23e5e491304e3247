// What is said of the cost of functions and operators at their names.

#include "ide/call_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "tests/ide/marked_text.h"

namespace quern::ide {
namespace {

/// "later" for one that is put off, "" for nothing.
std::string cost_at(Session& session, SourceId source, uint32_t offset) {
  const auto found = call_cost(session, source, offset);
  if (std::holds_alternative<CostToCome>(found)) return "later";
  auto* cost = std::get_if<CallCost>(&found);
  return cost ? to_text(*cost, Peaks{0, 0, 1}).value_or("") : "";
}

std::string cost_in(const std::string& with_mark) {
  const auto [text, offset] = marked(with_mark);
  Session session;
  return cost_at(session, session.add_source(session.make_module(), "text.relay", text), offset);
}

const std::string kDense =
    "def @dense[n](%x: Tensor[(n, 3), float32], %w: Tensor[(4, 3), float32]) { nn.dense(%x, %w) }\n";

struct CostRow {
  std::string text, cost;
};

const CostRow kCosts[] = {
    // Where a function is declared, and where it is used at other dims.
    {"def @$0f(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) { nn.dense(%x, %w) }",
     "48 FLOP, 104 bytes, 0.46 FLOP/byte"},
    {"def @$0f[n](%x: Tensor[(n,), float32]) { %x * 2.0 + 1.0 }", "2*n FLOP, 8*n bytes"},
    {"def @$0f[n](%x: Tensor[(n, 3), float32], %w: Tensor[(4, 3), float32]) { nn.dense(%x, %w) }",
     "24*n FLOP, (28*n + 48) bytes"},
    {kDense + "@$0dense(ones((2, 3)), ones((4, 3)))", "48 FLOP, 104 bytes, 0.46 FLOP/byte"},
    {kDense + "def @g[m](%x: Tensor[(m, 3), float32]) { @$0dense(%x, ones((4, 3))) }",
     "24*m FLOP, (28*m + 48) bytes"},
    {kDense + "def @$0g(%x: Tensor[(10, 3), float32]) { nn.relu(@dense(%x, ones((4, 3)))) }",
     "160 FLOP, 280 bytes, 0.57 FLOP/byte"},
    {"def @$0f(%x: Tensor[(3,), float32]) { let %g = fn (%y: Tensor[(3,), float32]) { exp(%y) }; (%g(%x), "
     "%g(%x)) }",
     "6 FLOP, 48 bytes, 0.12 FLOP/byte"},
    {"def @double(%v) { %v + %v }\n@$0double([1.0, 2.0])", "2 FLOP, 16 bytes, 0.12 FLOP/byte"},
    {"def @double(%v) { %v + %v }\n@$0double([[1.0], [2.0], [3.0]])", "3 FLOP, 24 bytes, 0.12 FLOP/byte"},
    {"def @$0double(%v) { %v + %v }", ""},
    // A call of an operator, with its operands at hand.
    {"def @f(%x: Tensor[(2, 3), float32]) { nn.$0dense(exp(%x), ones((4, 3))) }",
     "48 FLOP, 104 bytes, 0.46 FLOP/byte"},
    {"def @f[n](%x: Tensor[(n, 3), float32]) { nn.$0relu(%x) }", "3*n FLOP, 24*n bytes"},
    {"let %x = ones((10, 100));\nnn.$0softmax(%x)", "5.01 kFLOP, 7.8 KiB, 0.63 FLOP/byte"},
    {"op twice(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] * 2 }\n$0twice(ones((3,)))",
     "3 FLOP, 24 bytes, 0.12 FLOP/byte"},
    {"def @f(%x: Tensor[(2000, 1000), float32]) { %x $0+ %x }", "2.00 MFLOP, 15.3 MiB, 0.12 FLOP/byte"},
    {"def @f(%x: int32) { nn.$0relu([1.0, 2.0] }", "2 FLOP, 16 bytes, 0.12 FLOP/byte"},
    // What is not decided by dims.
    {"def @$0f(%n: int32) -> int32 { if (%n == 0) { 1 } else { %n * @f(%n - 1) } }", ""},
    {"def @$0f(%b: bool, %x: Tensor[(3,), float32]) { if (%b) { exp(%x) } else { %x } }", ""},
    {"def @$0f(%b: bool, %x: Tensor[(3,), float32]) { let %g = if (%b) { fn (%y) { exp(%y) } } else { fn "
     "(%y) { %y } }; "
     "%g(%x) }",
     ""},
    {"def @$0f(%l: List[Tensor[(3,), float32]]) { @map(fn (%y: Tensor[(3,), float32]) { exp(%y) }, %l) }",
     ""},
    {"def @$0f(%x: Tensor[(3,), float32]) { sort(%x) }", ""},
    {"def @$0f(%x: Tensor[(?,), float32]) { %x + %x }", ""},
    // No kernel.
    {"def @$0f(%x: Tensor[(3, 2), float32]) { reshape(%x, newshape=(2, 3)) }", ""},
    {"def @f(%$0x: Tensor[(3, 2), float32]) { %x }", ""},
    // Mistakes: here, in what it calls, and beside it.
    {"def @$0f(%x: Tensor[(3,), float32]) { %x + %y }", ""},
    {"def @g(%x: Tensor[(3,), float32]) -> Tensor[(3,), float32] { %x + %y }\n"
     "def @$0f(%x: Tensor[(3,), float32]) { @g(%x) }",
     ""},
    {kDense + "def @g(%x: int32) { %y + @$0dense(%x, ", "24*n FLOP, (28*n + 48) bytes"},
    {"def @f(%x: Tensor[(3,), float32]) -> float32 { let %r = ref(%x); sum(!%r) }\n"
     "def @h(%x: Tensor[(3,), float32]) { grad(@f)(%x) }\ndef @$0g(%x: Tensor[(3,), float32]) { @h(%x) }",
     "0 FLOP, 12 bytes, 0.00 FLOP/byte"},
    {"def @h(%x: Tensor[(8, 8), float32]) { ([i < 8, j < 8] => %x[i, j] + 1.0) schedule { split(i, 4) } }\n"
     "def @$0g(%x: Tensor[(8, 8), float32]) { @h(%x) }",
     ""},
    {"def @f(%x: Tensor[(3,), int32]) { sum(%x) }\ndef @$0g(%x: Tensor[(3,), int32]) { grad(@f)(%x) }", ""},
};

TEST(CallCost, IsThatOfTheKernels) {
  for (const CostRow& row : kCosts) EXPECT_EQ(cost_in(row.text), row.cost) << row.text;
}

std::string long_function() {
  std::string text = "def @f[n](%x: Tensor[(n,), float32]) {\n";
  for (int i = 0; i < 200; ++i) text += "  let %x = exp(%x);\n";
  return text + "  %x\n}\n";
}

TEST(CallCost, OfALongFunctionComesLater) {
  const std::string text = long_function() + "@f([1.0, 2.0])\n";
  Session session;
  const SourceId source = session.add_source(session.make_module(), "text.relay", text);
  const auto use = static_cast<uint32_t>(text.rfind("@f"));
  const auto found = call_cost(session, source, use);
  auto* later = std::get_if<CostToCome>(&found);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->function, "f");
  session.optimised(later->module, later->function);
  EXPECT_EQ(cost_at(session, source, use), "400 FLOP, 16 bytes, 25.00 FLOP/byte");
  EXPECT_EQ(cost_at(session, source, 4), "200*n FLOP, 8*n bytes");
  const uint64_t times = session.times_computed("optimise");
  // Another statement changes nothing, and another body does.
  session.set_text(source, "let %a = 1;\n" + text);
  EXPECT_EQ(cost_at(session, source, use + 12), "400 FLOP, 16 bytes, 25.00 FLOP/byte");
  EXPECT_EQ(session.times_computed("optimise"), times);
  std::string other = text;
  other.replace(other.find("exp"), 3, "tanh");
  session.set_text(source, other);
  EXPECT_EQ(cost_at(session, source, use + 1), "later");
}

TEST(CallCost, IsEstimatedByThePeaks) {
  // 100 GFLOP/s and 10 GB/s: a kernel of 2000 operations and 100 bytes takes 20 ns, one of 10 and 1000 takes 100 ns.
  const CallCost cost{{{dim_const(2000), dim_const(100)}, {dim_const(10), dim_const(1000)}}};
  EXPECT_EQ(to_text(cost, {100, 10, 1}),
            "2.01 kFLOP, 1.1 KiB, 1.83 FLOP/byte, about 120 ns at the machine's peaks");
  EXPECT_EQ(to_text(cost, {0, 10, 1}), "2.01 kFLOP, 1.1 KiB, 1.83 FLOP/byte");
  const CallCost open{{{dim_var("n"), dim_const(100)}}};
  EXPECT_EQ(to_text(open, {100, 10, 1}), "n FLOP, 100 bytes");
  Dim formula = dim_const(1);
  for (int i = 0; i < 20; ++i) formula = dim_mul(formula, dim_var("extent"));
  EXPECT_EQ(to_text({{{formula, dim_const(100)}}}, {}), std::nullopt);
}

}  // namespace
}  // namespace quern::ide
