// What caches of code go by: equal for equal primitives, different for different ones.

#include "ir/expr/canonical_text.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/ir/dim/random_dims.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

/// The texts of the primitives of @main, joined.
std::string text_of(const std::string& program) {
  std::string text;
  for (const FnExpr* primitive : PrimitivesOfMain(program).primitives)
    text += canonical_text(*primitive).text + "\n";
  return text;
}

TEST(CanonicalText, IsTheSameUnderOtherNames) {
  EXPECT_EQ(text_of("def @main[n, m](%a: Tensor[(n, m), float32]) { nn.softmax(%a * 2f) }"),
            text_of("def @main[k, n](%xyz: Tensor[(k, n), float32]) { nn.softmax(%xyz * 2f) }"));
  EXPECT_EQ(text_of("def @main[n](%a: Tensor[(n, n + 1), float32]) { [i < n] => sum[j < i] %a[i, j] }"),
            text_of("def @main[w](%b: Tensor[(w, w + 1), float32]) { [x < w] => sum[y < x] %b[x, y] }"));
}

TEST(CanonicalText, IsAnotherForAnotherPrimitive) {
  const auto scatter = [](const std::string& op) {
    return "def @main(%a: Tensor[(8,), float32], %k: Tensor[(3,), int32]) { [i < 8] => scatter[m < 3] %a[i] "
           "at (%k[m]) " +
           op + " 1f }";
  };
  const auto scheduled = [](const std::string& loops, const std::string& indices, const std::string& loop) {
    return "def @main(%a: Tensor[(4, 5), float32]) { ([" + loops + "] => %a[" + indices +
           "] * 2f) schedule { unroll(" + loop + ", 2) } }";
  };
  const std::vector<std::string> programs = {
      "def @main(%a: Tensor[(4, 5), float32], %b: Tensor[(4, 5), float32]) { %a - %b }",
      "def @main(%a: Tensor[(4, 5), float32], %b: Tensor[(4, 5), float32]) { %a + %b }",
      "def @main(%a: Tensor[(5, 4), float32], %b: Tensor[(5, 4), float32]) { %a - %b }",
      "def @main(%a: Tensor[(4, 5), float64], %b: Tensor[(4, 5), float64]) { %a - %b }",
      "def @main(%a: Tensor[(4, 5), float32], %b: Tensor[(5,), float32]) { %a - %b }",
      "def @main[n](%a: Tensor[(n, 5), float32], %b: Tensor[(n, 5), float32]) { %a - %b }",
      "def @main[n](%a: Tensor[(5, n), float32], %b: Tensor[(5, n), float32]) { %a - %b }",
      "def @main[n, m](%a: Tensor[(n, m), float32]) { [i < n, j < m] => %a[i, j] * 2f }",
      "def @main[n, m](%a: Tensor[(m, n), float32]) { [i < n, j < m] => %a[j, i] * 2f }",
      "def @main(%a: Tensor[(4, 5), float32]) { %a - 1f }",
      "def @main(%a: Tensor[(4, 5), float32]) { %a - 1.0000001f }",
      "def @main(%a: Tensor[(4, 5), float32]) { cast(%a, \"int32\") }",
      "def @main(%a: Tensor[(4, 5), float32]) { cast(%a, \"int64\") }",
      "def @main(%a: Tensor[(4, 5), float32]) { cast(cast(%a, \"int32\"), \"float32\") }",
      "def @main(%a: Tensor[(4, 5), float32]) { cast(cast(%a, \"int8\"), \"float32\") }",
      "def @main(%a: Tensor[(4, 5), float32]) { [i < 4, j < 3] => %a[i, j] * 2f }",
      "def @main(%a: Tensor[(4, 6), float32]) { [i < 4, j < 3] => %a[i, j] * 2f }",
      "def @main(%a: Tensor[(4, 5), float32]) { sum(%a, axis=[0]) }",
      "def @main(%a: Tensor[(4, 5), float32]) { sum(%a, axis=[1]) }",
      "def @main(%a: Tensor[(4, 5), float32]) { max(%a, axis=[1]) }",
      "def @main(%a: Tensor[(4, 5), float32]) { cumsum(%a, axis=1) }",
      "def @main(%a: Tensor[(4, 5), float32]) { cumsum(%a, axis=0) }",
      "def @main(%a: Tensor[(4, 5), float32]) { [i < 4] => %a[i, 3] }",
      "def @main(%a: Tensor[(4, 5), float32]) { [i < 4] => %a[i + 1, 3] else 0f }",
      "def @main(%a: Tensor[(4, 5), float32]) { [i < 4] => %a[i + 1, 3] else 1f }",
      "def @main(%a: Tensor[(4, 5), float32]) { [i < 4] => if (%a[i, 0] > 0f) { %a[i, 1] } else { 0f } }",
      "def @main(%a: Tensor[(4, 5), float32]) { [i < 4] => if (%a[i, 1] > 0f) { %a[i, 0] } else { 0f } }",
      scheduled("i < 4, j < 5", "i, j", "i"),
      scheduled("i < 4, j < 5", "i, j", "j"),
      scheduled("j < 4, i < 5", "j, i", "i"),
      scatter("="),
      scatter("+="),
  };
  std::set<std::string> texts;
  for (const std::string& program : programs) {
    const std::string text = text_of(program);
    EXPECT_FALSE(text.empty()) << program;
    EXPECT_TRUE(texts.insert(text).second) << program << "\n" << text;
  }
}

TEST(CanonicalText, DoesNotGoByWhatWasMadeBefore) {
  const Dim late = dim_var("late"), early = dim_var("early");
  const std::vector<Dim> one = {early, late}, other = {late, early};
  EXPECT_EQ(dim_to_text(dim_add(early, late), one), dim_to_text(dim_add(early, late), other));
  EXPECT_EQ(dim_to_text(dim_min(early, dim_mul(late, early)), one),
            dim_to_text(dim_min(late, dim_mul(late, early)), other));
}

TEST(CanonicalText, OfDimsReadsBack) {
  RandomDims random(3);
  std::vector<Dim> variables;
  for (size_t k = 0; k < 4; ++k) variables.push_back(random.var(k));
  for (int times = 0; times < 2000; ++times) {
    const Dim dim = dim_of(random.tree(4));
    const auto text = dim_to_text(dim, variables);
    ASSERT_TRUE(text) << to_string(dim);
    const auto read = dim_from_text(*text, variables);
    ASSERT_TRUE(read) << *text;
    const auto values = random.values(0, 9);
    const auto expected = random.evaluate_at(dim, values);
    if (expected) {
      ASSERT_EQ(random.evaluate_at(*read, values), expected) << to_string(dim) << "; " << *text;
    }
  }
}

TEST(CanonicalText, OfDimsKnowsWhatIsNone) {
  const std::vector<Dim> variables = {dim_var("a")};
  EXPECT_FALSE(dim_to_text(dim_var("other"), variables));
  for (const char* text : {"", " ", "#", "#x ", "#1", "$1 ", "$-1 ", "+2 #1 ", "+0 ", "+2 #1 #2 #3 ", "/ #1 ",
                           "% ", "*2 y1 $0 ", "z1 ", "#99999999999999999999 ", "+9000000000 #1 "})
    EXPECT_FALSE(dim_from_text(text, variables)) << text;
  std::string deep;
  for (int nested = 0; nested < 100'000; ++nested) deep += "+1 ";
  EXPECT_FALSE(dim_from_text(deep + "#1 ", variables));
}

}  // namespace
}  // namespace quern
