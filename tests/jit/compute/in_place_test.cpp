// Which parameter's memory the result of a kernel may take.

#include "jit/compute/in_place.h"

#include <gtest/gtest.h>

#include "ir/expr/expr.h"
#include "session/run/compiler.h"
#include "session/session.h"

namespace quern {
namespace {

/// `@f` at a stage.
std::string stage_of(const std::string& text, const std::string& name) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "in_place.relay", text);
  const Definition* definition = session.definition(module, "f");
  if (!definition) return "no definition";
  const auto stage = Compiler(session).stage_text(*definition, name);
  return stage ? *stage : stage.error().message;
}

/// Whether a kernel names, in the bytecode, the register of an operand whose memory it takes.
bool takes(const std::string& body, const std::string& reg) {
  const std::string text = stage_of(
      "def @f(%a: Tensor[(4, 6), float32], %b: Tensor[(4, 6), float32], %s: Tensor[(6, 4), float32], "
      "%t: Tensor[(3,), int32]) { " +
          body + " }",
      "bytecode");
  EXPECT_NE(text.find("kernel #0"), std::string::npos) << text;
  return text.find(" in " + reg) != std::string::npos;
}
bool takes_any(const std::string& body) { return takes(body, "r"); }

TEST(InPlace, AnOperandThatIsReadAtItsOwnPlace) {
  EXPECT_TRUE(takes("%a * 2f", "r0"));
  EXPECT_TRUE(takes("[i < 4, j < 6] => %s[j, i] + %b[i, j] * %b[i, j]", "r1"));
  EXPECT_TRUE(takes("[i < 4, j < 6] => %a[i, j] - (sum[k < 4] %s[j, k])", "r0"));
  EXPECT_TRUE(takes("[i < 4, j < 6] => if (%s[j, i] > 0f) { %a[i, j] } else { 0f }", "r0"));
}

TEST(InPlace, NoOperandThatIsReadElsewhere) {
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => %a[3 - i, j]"));
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => %a[i, j] + %a[i, 0]"));
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => %a[i, j] - (max[k < 6] %a[i, k])"));
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => sum[k < 2] %a[i, j] * cast<float32>(k)"));
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => %s[index(%a[i, j]), 0] else 0f"));
}

TEST(InPlace, NoOperandOfAnotherType) {
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => cast<int32>(%a[i, j])"));
  EXPECT_FALSE(takes_any("[i < 4, j < 5] => %a[i, j]"));
  EXPECT_FALSE(takes_any("[i < 6, j < 4] => %a[j, i]"));
}

TEST(InPlace, WhatAScatterAddsTo) {
  const std::string at = " at (max(0, min(index(%t[k]), 3)), 0) += ";
  EXPECT_TRUE(takes("[i < 4, j < 6] => scatter[k < 3] %a[i, j]" + at + "%s[k, 0]", "r0"));
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => scatter[k < 3] %a[i, j]" + at + "%a[k, 0]"));
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => scatter[k < 3] %a[3 - i, j]" + at + "%s[k, 0]"));
}

// What it adds to is copied only where the result has memory of its own.
TEST(InPlace, AScatterCopiesNothingOntoItself) {
  const auto loops = [](const std::string& init) {
    return stage_of(
        "def @f(%a: Tensor[(4,), float32]) { [i < 4] => scatter[k < 2] " + init + " at (2 * k) += 1f }",
        "loops");
  };
  EXPECT_NE(loops("%a[i]").find("if a is not out {"), std::string::npos) << loops("%a[i]");
  EXPECT_EQ(loops("(%a[i] + 1f)").find("is not"), std::string::npos);
  EXPECT_EQ(loops("%a[3 - i]").find("is not"), std::string::npos);
}

TEST(InPlace, NotUnderAStatedSchedule) {
  EXPECT_FALSE(takes_any("[i < 4, j < 6] => %a[i, j] * 2f schedule { vectorize(j, 4) }"));
}

}  // namespace
}  // namespace quern
