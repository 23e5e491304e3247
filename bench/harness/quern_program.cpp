#include "bench/harness/quern_program.h"

#include <fmt/format.h>

#include <optional>

#include "frontend/text/render.h"
#include "jit/runtime/threads.h"
#include "session/run/compiler.h"
#include "session/run/entry_arguments.h"
#include "session/session.h"

namespace quern::bench {

namespace {

/// Rows neither print nor use files.
struct NoHost final : Host {
  void print(std::string_view) override {}
  Result<Value> load(std::string_view, std::string_view, Type) override {
    return Failure{"a row of the bench loads nothing"};
  }
  Result<Done> save(std::string_view, std::string_view, const Value&, Type) override {
    return Failure{"a row of the bench saves nothing"};
  }
  Result<std::optional<Value>> restore(std::string_view, Type) override {
    return Failure{"a row of the bench loads nothing"};
  }
};

}  // namespace

struct QuernProgram::Impl {
  Session session;
  ModuleId module;
  std::string entry_name;
  std::optional<Compiler> compiler;
  Compiler::Call call;
  std::vector<Value> arguments;
  NoHost host;

  const FnExpr* entry() { return as<FnExpr>(session.definition(module, entry_name)->body); }

  Result<Done> take_from(const ArgumentSources& sources) {
    const FnExpr* function = entry();
    if (!function) return Failure{"the types of the parameters are open"};
    const auto lookup = [&](Type type) { return session.data(module, type); };
    EntryArguments found = entry_arguments(function->params, sources, lookup);
    found.problems.insert(found.problems.end(), found.missing.begin(), found.missing.end());
    if (!found.problems.empty()) return Failure{fmt::format("{}", fmt::join(found.problems, "\n"))};
    arguments = std::move(found.values);
    return Done{};
  }
};

QuernProgram::QuernProgram() : impl_(std::make_unique<Impl>()) {}
QuernProgram::~QuernProgram() = default;

Result<Done> QuernProgram::compile(const std::string& name, const std::string& text,
                                   const CompilerOptions& options, const std::string& entry) {
  impl_->entry_name = entry;
  impl_->module = impl_->session.make_module();
  SourceId source = impl_->session.add_source(impl_->module, name + ".relay", text);
  std::vector<LocatedDiagnostic> problems = impl_->session.check(source);
  if (has_errors(problems)) return Failure{render_terminal(problems.front(), false)};
  impl_->call = nullptr;
  impl_->compiler.emplace(impl_->session, options);
  impl_->call = impl_->compiler->function(impl_->module, entry);
  if (!impl_->call) return Failure{fmt::format("the program has no function @{}", entry)};
  return Done{};
}

void QuernProgram::take(std::vector<Value> arguments) { impl_->arguments = std::move(arguments); }

Result<Done> QuernProgram::load(const std::string& file) { return impl_->take_from({{}, {}, file, {}}); }

Result<Done> QuernProgram::draw(uint64_t seed) { return impl_->take_from({{}, {}, "", seed}); }

const std::vector<Value>& QuernProgram::arguments() const { return impl_->arguments; }

Result<std::vector<std::pair<std::string, std::string>>> QuernProgram::save(const std::string& prefix) const {
  std::vector<std::pair<std::string, std::string>> files;
  const std::span<const Variable* const> parameters = impl_->entry()->params;
  for (size_t i = 0; i < impl_->arguments.size(); ++i) {
    const std::string name(parameters[i]->name);
    files.emplace_back(name, prefix + name + ".safetensors");
    auto saved = save_value(files.back().second, impl_->arguments[i], parameters[i]->type, {});
    if (!saved) return saved.error();
  }
  return files;
}

Result<Value> QuernProgram::call() {
  EvaluationResult result = impl_->call(impl_->arguments, impl_->host);
  if (!result) return Failure{result.error().message};
  return result.value();
}

Result<TensorPtr> QuernProgram::tensor() {
  auto value = call();
  if (!value) return value.error();
  if (const TensorPtr tensor = value->as_tensor()) return tensor;
  return Failure{"the result is not a tensor"};
}

Result<Sample> QuernProgram::run(int64_t count, bool warm) {
  if (warm)
    if (auto result = call(); !result) return result.error();
  Stopwatch watch(thread_count());
  for (int64_t i = 0; i < count; ++i)
    if (auto result = call(); !result) return result.error();
  return watch.sample();
}

}  // namespace quern::bench
