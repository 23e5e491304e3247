#include "tests/support/evaluate.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/ir/interpret/recording_host.h"

namespace quern::numeric {

namespace {

struct NoFunctions final : FunctionSource {
  const Definition* function(uint32_t, std::string_view) override { return nullptr; }
};

}  // namespace

Value evaluated(ExprPtr expr, const Environment& environment) {
  RecordingHost host;
  NoFunctions none;
  EvaluationResult result = interpret(expr, environment, none, host);
  if (result) return result.value();
  ADD_FAILURE() << result.error().message;
  return Value::unit();
}

Value called(const FnExpr& function, const std::vector<Value>& args) {
  Arena arena;
  Environment environment;
  std::vector<ExprPtr> variables;
  for (size_t i = 0; i < args.size(); ++i) {
    const Variable* v = make_variable(arena, "arg", function.params[i]->type);
    environment.emplace(v, args[i]);
    variables.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, v->type, {}}, v));
  }
  return evaluated(
      arena.make<CallExpr>(Expr{ExprKind::Call, function.body->type, {}}, &function, arena.copy(variables)),
      environment);
}

bool same_bits(const HostTensor& a, const HostTensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace quern::numeric
