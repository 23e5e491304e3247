#include "ir/expr/effects.h"

#include <gtest/gtest.h>

#include "session/run/execution.h"
#include "session/session.h"

namespace quern {
namespace {

class EffectsTest : public testing::Test {
 protected:
  std::string of_call(std::string_view name) {
    FunctionSource& functions = session.functions();
    const Definition* definition = functions.function(module, name);
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    return fn ? to_string(EffectAnalysis(functions).of_call(*fn)) : "no function";
  }
  void open(std::string text) {
    SourceId source = session.add_source(module, "effects.relay", std::move(text));
    for (const LocatedDiagnostic& d : session.check(source))
      if (severity_of(d.kind) == Severity::Error) ADD_FAILURE() << d.message;
  }
  Session session;
  ModuleId module = session.make_module();
};

TEST_F(EffectsTest, OfFunctions) {
  open(
      "def @pure(%x: int32) -> int32 { %x + 1 }\n"
      "def @say(%x: int32) -> int32 { print(%x); %x }\n"
      "def @loud(%x: int32) -> int32 { @say(@pure(%x)) }\n"
      "def @fresh(%x: int32) -> int32 { let %r = ref(%x); !%r }\n"
      "def @bump(%r: Ref[int32]) { %r := !%r + 1 }\n"
      "def @loop(%x: int32) -> int32 { @loop(%x) }\n"
      "def @even(%n: int32) { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
      "def @odd(%n: int32) { if (%n == 0) { False } else { @even(%n - 1) } }\n"
      "def @first(%l: List[int32]) -> int32 { match? %l { Cons(%x, _) => %x } }\n"
      "def @later(%x: int32) -> fn () -> int32 { fn () -> int32 { @say(%x) } }\n"
      "def @named(%x: int32) -> int32 { let %f = fn (%y: int32) -> int32 { @say(%y) }; %f(%x) }\n"
      "def @unknown(%r: Ref[fn () -> int32]) -> int32 { (!%r)() }\n"
      "def @apply(%f: fn (int32) -> int32) -> int32 { %f(1) }\n"
      "def @twice(%f: fn (int32) -> int32) -> int32 { @apply(fn (%x: int32) -> int32 { %f(%f(%x)) }) }\n"
      "def @quiet() -> int32 { @twice(@pure) }\n"
      "def @noisy() -> int32 { @twice(@say) }\n"
      "def @time(%x: int32) -> float64 { let %t = clock(); print(%x); clock() - %t }\n"
      "def @gather[n](%x: Tensor[(n,), float32], %i: Tensor[(2,), int32]) { [k < 2] => %x[%i[k]] }\n");
  EXPECT_EQ(of_call("pure"), "none");
  EXPECT_EQ(of_call("say"), "prints");
  EXPECT_EQ(of_call("loud"), "prints");
  EXPECT_EQ(of_call("fresh"), "makes references, reads references");
  EXPECT_EQ(of_call("bump"), "reads references, writes references");
  EXPECT_EQ(of_call("loop"), "may fail");
  EXPECT_EQ(of_call("even"), "may fail");
  EXPECT_EQ(of_call("odd"), "may fail");
  EXPECT_EQ(of_call("first"), "may fail");
  EXPECT_EQ(of_call("later"), "none");
  EXPECT_EQ(of_call("named"), "prints");
  EXPECT_EQ(of_call("unknown"), to_string(Effects::all()));
  EXPECT_EQ(of_call("apply"), "does what its parameters do");
  EXPECT_EQ(of_call("twice"), "does what its parameters do");
  EXPECT_EQ(of_call("quiet"), "none");
  EXPECT_EQ(of_call("noisy"), "prints");
  EXPECT_EQ(of_call("time"), "prints, reads the clock");
  EXPECT_EQ(of_call("gather"), "may fail");
  EXPECT_EQ(of_call("map"), "may fail, does what its parameters do");
}

TEST_F(EffectsTest, WhatMayBeLeftOut) {
  EXPECT_TRUE(Effects().removable());
  EXPECT_TRUE(Effects(Effect::NewReference).removable());
  EXPECT_TRUE(Effects(Effect::ReadReference).removable());
  EXPECT_TRUE(Effects(Effect::Clock).removable());
  EXPECT_FALSE(Effects(Effect::WriteReference).removable());
  EXPECT_FALSE(Effects(Effect::Print).removable());
  EXPECT_FALSE(Effects(Effect::Fail).removable());
  EXPECT_FALSE(Effects(Effect::Parameter).removable());
  EXPECT_FALSE(Effects(Effect::Draw).removable());
}

}  // namespace
}  // namespace quern
