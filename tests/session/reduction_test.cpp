// Programs made smaller: what is left still fails, and nothing of it can go.

#include "session/run/reduction.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

const char* const kProgram = R"(
// What a model may look like.
type Pair { Pair(first: Tensor[(4, 8), float32], second: Tensor[(8,), float32]) }

def @scaled[n](%x: Tensor[(n, 8), float32], %k: float32) -> Tensor[(n, 8), float32] {
  let %y = %x * %k;
  if (%k > 1f) { nn.relu(%y) } else { tanh(%y + 3f) }
}

def @layer(%p: Pair) {
  let %a = @scaled(%p.first, 2f);
  let %b = nn.softmax(%a, axis=1);
  print("layer", 7);
  sum(%b * exp(%p.second), axis=[1])
}

let %pair = Pair(ones((4, 8)), zeros((8,)));
let %unused = [1f, 2f, 3f];
@layer(%pair) + sum(%unused)
)";

struct Planted {
  const char* name;
  std::function<bool(const std::string&)> fails;
  const char* left;
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Planted kPlanted[] = {
    {"AFunction", [](const std::string& text) { return has(text, "exp("); }, "exp(1f)"},
    {"AnAttribute", [](const std::string& text) { return has(text, "nn.softmax(") && has(text, "axis="); },
     "axis=0)"},
    {"AStatement", [](const std::string& text) { return has(text, "print("); }, "print("},
    {"AnArmAndACall", [](const std::string& text) { return has(text, "else") && has(text, "tanh("); },
     nullptr},
    {"TwoDeclarations",
     [](const std::string& text) { return has(text, "type Pair") && has(text, "def @scaled"); }, nullptr},
};

class Reduction : public testing::TestWithParam<Planted> {};

TEST_P(Reduction, LeavesWhatFails) {
  int asked = 0;
  const std::string result = reduced(kProgram, [&](const std::string& text) {
    ++asked;
    return GetParam().fails(text);
  });
  EXPECT_TRUE(GetParam().fails(result));
  EXPECT_LT(result.size(), std::string(kProgram).size() / 3) << result;
  EXPECT_LT(asked, 300);
  EXPECT_TRUE(!GetParam().left || has(result, GetParam().left)) << result;
}

INSTANTIATE_TEST_SUITE_P(Failures, Reduction, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ReducedText, MakesATextThatDoesNotParseSmallerToo) {
  const std::string result = reduced(std::string(kProgram) + "let %z = (1 + ;\n",
                                     [](const std::string& text) { return has(text, "(1 + "); });
  EXPECT_LT(result.size(), 20u) << result;
}

}  // namespace
}  // namespace quern
