#include "bench/ops/quern_side.h"

#include <optional>
#include <string>

#include "bench/ops/tensors.h"
#include "frontend/text/render.h"
#include "jit/runtime/threads.h"
#include "session/run/compiler.h"
#include "session/session.h"

namespace quern::bench {

namespace {

/// Rows neither print nor use files.
struct NoHost final : Host {
  void print(std::string_view) override {}
  Result<Value> load(std::string_view, std::string_view, Type) override {
    return Failure{"a row of the bench loads nothing"};
  }
  Result<Done> save(std::string_view, const Value&, Type) override {
    return Failure{"a row of the bench saves nothing"};
  }
  Result<std::optional<Value>> restore(std::string_view, Type) override {
    return Failure{"a row of the bench loads nothing"};
  }
};

}  // namespace

struct QuernSide::Impl {
  Session session;
  std::optional<Compiler> compiler;
  Compiler::Call call;
  std::vector<Value> arguments;
  NoHost host;

  Result<Value> once() {
    EvaluationResult result = call(arguments, host);
    if (!result) return Failure{result.error().message};
    return result.value();
  }
};

QuernSide::QuernSide() : impl_(std::make_unique<Impl>()) {}
QuernSide::~QuernSide() = default;

Result<TensorPtr> QuernSide::prepare(const Work& work, const std::vector<TensorPtr>& inputs) {
  ModuleId module = impl_->session.make_module();
  SourceId source = impl_->session.add_source(module, work.name + ".relay", work.source);
  std::vector<LocatedDiagnostic> problems = impl_->session.check(source);
  if (has_errors(problems)) return Failure{render_terminal(problems.front(), false)};
  CompilerOptions options{Tiers::Best};
  options.winograd_tile = work.winograd_tile;
  impl_->call = nullptr;
  impl_->compiler.emplace(impl_->session, options);
  impl_->call = impl_->compiler->function(module, "main");
  if (!impl_->call) return Failure{"the program has no function @main"};

  impl_->arguments.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = work.inputs[i];
    const TensorPtr operand = permuted(inputs[i], input.quern_axes);
    impl_->arguments.push_back(
        Value::tensor(input.values == Values::Indices ? operand : with_dtype(operand, input.dtype)));
  }
  auto result = impl_->once();
  if (!result) return result.error();
  TensorPtr tensor = result->as_tensor();
  if (!tensor) return Failure{"the result of @main is not a tensor"};
  return permuted(tensor, work.result_axes);
}

Result<Sample> QuernSide::run(int64_t count, bool warm) {
  if (warm)
    if (auto result = impl_->once(); !result) return result.error();
  Stopwatch watch(thread_count());
  for (int64_t i = 0; i < count; ++i)
    if (auto result = impl_->once(); !result) return result.error();
  return watch.sample();
}

}  // namespace quern::bench
