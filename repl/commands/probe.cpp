// Commands that look inside a run: at variables of functions, and for the first NaN or infinity.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ir/interpret/interpreter.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"
#include "session/run/compiler.h"

namespace quern {

namespace {

/// Index expressions reach nothing outside.
class NoHost final : public Host {
 public:
  void print(std::string_view) override {}
  Result<Value> load(std::string_view, std::string_view, Type) override {
    return Failure{"no file is read here"};
  }
  Result<Done> save(std::string_view, std::string_view, const Value&, Type) override {
    return Failure{"no file is written here"};
  }
  Result<std::optional<Value>> restore(std::string_view, Type) override {
    return Failure{"no file is read here"};
  }
};

/// Whether the dims of an expression are all bound by its own index variables and by the types of its variables.
class DimsAreGiven {
 public:
  bool of(ExprPtr expr, const Environment& values) {
    for (const auto& [variable, value] : values)
      for (Dim dim : variable->type->dims) known_.insert(dim);
    walk(expr);
    return std::ranges::all_of(used_, [&](Dim dim) { return known_.contains(dim); });
  }

 private:
  void bind(std::span<const Dim> variables, std::span<const Dim> extents) {
    known_.insert(variables.begin(), variables.end());
    for (Dim extent : extents) use(extent);
  }
  void use(Dim dim) {
    for_each_var(dim, [this](Dim variable) { used_.insert(variable); });
  }
  void walk(ExprPtr expr) {
    if (auto* e = as<ComprehensionExpr>(expr)) bind(e->vars, e->extents);
    if (auto* e = as<ReduceExpr>(expr)) bind(e->vars, e->extents);
    if (auto* e = as<ScanExpr>(expr)) bind(e->vars, e->extents);
    if (auto* e = as<ScatterExpr>(expr)) bind(e->vars, e->extents);
    if (auto* e = as<DimValueExpr>(expr)) use(e->dim);
    for_each_child(expr, [this](ExprPtr child) { walk(child); });
  }

  std::unordered_set<Dim> known_, used_;
};

/// Observes the evaluation, and has large index expressions compiled.
class CompilingObserver : public Observer {
 public:
  explicit CompilingObserver(Compiler& compiler) : compiler_(compiler) {}

  void bound(const Variable&, const Value&, const Expr&) override {}
  std::string computed(const Expr&, std::span<const Value>, const Value&) override { return ""; }
  std::optional<Value> evaluate(ExprPtr expr, const Environment& values) override {
    constexpr int64_t kFewElements = 4096;
    int64_t elements = 0;
    for (const auto& [variable, value] : values)
      if (auto* tensor = value.object_as<TensorObject>()) elements += tensor->tensor->size();
    const bool has_tensors =
        std::ranges::all_of(values, [](const auto& v) { return v.first->type->is_tensor(); });
    if (elements <= kFewElements || !has_tensors || !DimsAreGiven().of(expr, values)) return std::nullopt;
    const Definition definition{"", Scheme{{}, {}, expr->type}, expr, nullptr};
    NoHost host;
    EvaluationResult result = compiler_.evaluate(definition, values, host);
    // The interpreter reports failures, with their calls.
    return result ? std::optional(result.value()) : std::nullopt;
  }

 private:
  Compiler& compiler_;
};

/// Records the values of one variable of one definition.
class VariableProbe final : public CompilingObserver {
 public:
  VariableProbe(Workspace& workspace, DeclarationId in, std::string_view name)
      : CompilingObserver(workspace.execution().compiler()), name_(name) {
    copies_ = std::string(global_name(workspace.session().info(in).name)) + "{";
    parts_ = workspace.session().chunks(in);
    parts_.push_back(in);
    // Parameters are bound at calls, whoever calls.
    if (const Definition* definition = workspace.session().definition(
            workspace.module(), global_name(workspace.session().info(in).name)))
      if (auto* fn = as<FnExpr>(definition->body)) params_.assign(fn->params.begin(), fn->params.end());
  }

  void bound(const Variable& variable, const Value& value, const Expr& at) override {
    if (variable.name != name_) return;
    const bool is_param = std::ranges::find(params_, &variable) != params_.end() || is_call_of_copy(at);
    if (!is_param && std::ranges::find(parts_, at.origin.declaration) == parts_.end()) return;
    ++count;
    if (first.size() < kShown) first.push_back(value);
    last = value;
  }

  static constexpr size_t kShown = 8;
  size_t count = 0;
  std::vector<Value> first;  ///< at most kShown
  Value last;

 private:
  /// Whether it calls the function as it is typed for some arguments: that has parameters of its own.
  bool is_call_of_copy(const Expr& at) const {
    auto* call = as<CallExpr>(&at);
    auto* callee = call ? as<GlobalExpr>(call->callee) : nullptr;
    return callee && callee->name.starts_with(copies_);
  }

  std::string_view name_;
  std::string copies_;  ///< how their names begin
  std::vector<DeclarationId> parts_;
  std::vector<const Variable*> params_;
};

bool show_probed(Workspace& workspace, DeclarationId expression, DeclarationId in, std::string_view name) {
  VariableProbe probe(workspace, in, name);
  const StatementResult result = workspace.execution().observe(expression, probe);
  if (result.failure) workspace.print_problems({*result.failure});
  const auto show = [style = workspace.style()](const std::string& before, const Value& value) {
    print_line(before + to_string(value, style, static_cast<int>(before.size())));
  };
  for (const Value& value : probe.first) show(fmt::format("%{} = ", name), value);
  if (probe.count > probe.first.size()) show(fmt::format("… {} values; the last: ", probe.count), probe.last);
  if (probe.count == 0 && !result.failure)
    return workspace.complain(
        fmt::format("`%{}` of `{}` gets no value in this call", name, workspace.session().info(in).name));
  return !result.failure;
}

/// The last statement that reaches a definition; 0 if there is none. References are restored to their values before
/// its input, as far as these are known.
DeclarationId last_call(Workspace& workspace, DeclarationId definition) {
  Session& session = workspace.session();
  const std::vector<TakenInput>& inputs = workspace.inputs();
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
    input->references.restore();
    const std::vector<DeclarationId> statements = session.statements(input->source);
    for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
      const auto reached = session.reached_definitions(*statement);
      if (std::ranges::find(reached, definition) != reached.end()) return *statement;
    }
  }
  return 0;
}

/// `@f(args) %y`: shows the values of %y of @f in that call; `@f %y`: those in the last input that called @f.
bool probe_variable(Workspace& workspace, const std::string& request) {
  Session& session = workspace.session();
  const size_t blank = request.find_last_of(" \t\n");
  const std::string_view variable = std::string_view(request).substr(blank + 1);
  const std::string_view call =
      blank == std::string::npos ? "" : trimmed(std::string_view(request).substr(0, blank));
  const bool is_call = !called_name(call).empty();
  const std::string_view name = is_call ? called_name(call) : global_name(call);
  if (name.empty() || !variable.starts_with('%') || !is_name(variable.substr(1)))
    return workspace.complain("write `:probe @f(…) %y`, or `:probe @f %y` for the last input that called @f");
  const DeclarationId definition = session.find_definition(workspace.module(), name);
  if (!definition)
    return workspace.complain(fmt::format("there is no definition `@{}`; `:defs` lists them", name));
  if (is_call)
    return workspace.with_expression(std::string(call), "`:probe`", [&](DeclarationId expression) {
      return show_probed(workspace, expression, definition, variable.substr(1));
    });
  const RefSnapshot references = RefSnapshot::take();
  const DeclarationId statement = last_call(workspace, definition);
  const bool fine = statement && show_probed(workspace, statement, definition, variable.substr(1));
  references.restore();
  if (statement) return fine;
  return workspace.complain(
      fmt::format("no input has called `@{0}`; write `:probe @{0}(…) {1}`", name, variable));
}

enum class Oddity : unsigned char { None, Infinite, NaN };

/// The elements of a value that are not finite.
Oddity oddity_of(const Value& value) {
  if (const TensorPtr tensor = value.as_tensor()) {
    if (!tensor->dtype().is_float()) return Oddity::None;
    Oddity found = Oddity::None;
    for (int64_t i = 0; i < tensor->lane_count(); ++i) {
      const double element = element_as_double(*tensor, i);
      if (std::isnan(element)) return Oddity::NaN;
      if (std::isinf(element)) found = Oddity::Infinite;
    }
    return found;
  }
  Oddity found = Oddity::None;
  if (const std::vector<Value>* fields = value.fields())
    for (const Value& field : *fields) found = std::max(found, oddity_of(field));
  return found;
}

std::string place_text(const HostTensor& tensor) {
  int64_t offset = 0;
  while (offset < tensor.size() && std::isfinite(element_as_double(tensor, offset))) ++offset;
  std::string text;
  for (size_t axis = tensor.shape().size(); axis-- > 0;) {
    text.insert(0, fmt::format("{}{}", offset % tensor.shape()[axis], text.empty() ? "" : ", "));
    offset /= tensor.shape()[axis];
  }
  return text.empty() ? "" : fmt::format(" at [{}]", text);
}

class NanSearch final : public CompilingObserver {
 public:
  explicit NanSearch(Workspace& workspace)
      : CompilingObserver(workspace.execution().compiler()), session_(workspace.session()) {}

  std::string computed(const Expr& node, std::span<const Value> operands, const Value& result) override {
    const Oddity oddity = oddity_of(result);
    if (oddity == Oddity::None) return "";
    is_odd = true;
    if (std::ranges::any_of(operands, [](const Value& v) { return oddity_of(v) != Oddity::None; })) return "";
    found = true;
    const TensorPtr tensor = result.as_tensor();
    std::string message =
        fmt::format("{} gives {}{}, and its operands have none", name_of(node),
                    oddity == Oddity::NaN ? "a NaN" : "an infinity", tensor ? place_text(*tensor) : "");
    // The message continues in notes, a line each.
    for (const Value& operand : operands) message += "\nan operand: " + to_string(operand, on_one_line(8));
    return message;
  }

  bool is_odd = false;  ///< some result is
  bool found = false;   ///< and none of its operands

 private:
  /// An index expression in the definition of an operator goes by the name of that operator.
  std::string name_of(const Expr& node) const {
    if (auto* call = as<OpCallExpr>(&node)) return fmt::format("`{}`", call->instance->name);
    const DeclarationInfo& about = session_.info(node.origin.declaration);
    const bool is_operator = about.kind == PieceKind::Op || about.kind == PieceKind::Def;
    return is_operator && !about.name.starts_with('@') ? fmt::format("`{}`", about.name) : "this";
  }

  Session& session_;
};

/// Finds the first operator whose result has a NaN or an infinity although its operands have none.
bool find_nan(Workspace& workspace, const std::string& expression) {
  if (const std::string_view name = global_name(trimmed(expression)); !name.empty())
    return workspace.complain(fmt::format("write a call: `:nan @{}(…)`", name));
  return workspace.with_expression(expression, "`:nan`", [&](DeclarationId statement) {
    NanSearch search(workspace);
    const StatementResult result = workspace.execution().observe(statement, search);
    if (result.failure) workspace.print_problems({*result.failure});
    if (search.found) return true;
    if (!result.failure)
      print_line(search.is_odd
                     ? "NaNs and infinities come from what is given: no operator makes one of finite numbers"
                     : "every operator gives finite numbers");
    return !result.failure;
  });
}

}  // namespace

std::span<const ReplCommand> commands_to_probe() {
  static constexpr ReplCommand kRows[] = {
      {":probe", "@f(ARGS) %y", Takes::Expression, About::Gradients,
       "the values of a variable inside of a call; `@f %y`: of the last call", as_command<probe_variable>},
      {":nan", "EXPR", Takes::Expression, About::Gradients,
       "the first operator that makes a NaN or an infinity", as_command<find_nan>},
  };
  return kRows;
}

}  // namespace quern
