// Compiler::function: a program's function as something to call.

#include <gtest/gtest.h>

#include <span>

#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {
namespace {

class CompiledFunctions : public ::testing::Test {
 protected:
  SourceId add(const std::string& text) { return session.add_source(module, "test.relay", text); }
  static Value vector(const std::vector<float>& elements) {
    Shape shape{static_cast<int64_t>(elements.size())};
    return Value::tensor(HostTensor::from<float>(DType::float32(), shape, std::span<const float>(elements)));
  }
  std::string called(const Compiler::Call& call, const Value& argument) {
    EvaluationResult result = call({argument}, host);
    return result ? to_string(result.value()) : result.error().message;
  }

  Session session;
  ModuleId module = session.make_module();
  Compiler compiler{session};
  RecordingHost host;
};

TEST_F(CompiledFunctions, RunAsOftenAsCalled) {
  add("def @main(%x: Tensor[(2,), float32]) { %x + %x * %x }");
  Compiler::Call call = compiler.function(module, "main");
  ASSERT_TRUE(call);
  EXPECT_EQ(called(call, vector({1, 2})), "Tensor[(2,), float32] [2, 6]");
  EXPECT_EQ(called(call, vector({3, 4})), "Tensor[(2,), float32] [12, 20]");
}

TEST_F(CompiledFunctions, StayWhatTheyWere) {
  SourceId source = add("def @main(%x: Tensor[(1,), float32]) { %x + %x }");
  Compiler::Call before = compiler.function(module, "main");
  session.set_text(source, "def @main(%x: Tensor[(1,), float32]) { %x * %x }");
  EXPECT_EQ(called(before, vector({3})), "Tensor[(1,), float32] [6]");
  EXPECT_EQ(called(compiler.function(module, "main"), vector({3})), "Tensor[(1,), float32] [9]");
}

TEST_F(CompiledFunctions, AreNullWhereThereIsNoSuchFunction) {
  add("def @wrong(%x: Tensor[(1,), float32]) { %x + %y }");
  EXPECT_FALSE(compiler.function(module, "main"));
  EXPECT_FALSE(compiler.function(module, "wrong"));
}

}  // namespace
}  // namespace quern
