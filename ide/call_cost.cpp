#include "ide/call_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "ide/name_places.h"
#include "ide/typed_syntax.h"
#include "ir/base/units.h"

namespace quern::ide {

namespace {

using Answer = std::variant<std::monostate, CallCost, CostToCome>;

/// Bytes of text that take less than a millisecond to optimise, or a few milliseconds with derivatives.
constexpr size_t kQuickText = 1024;

/// Whether a dim consists of numbers and of dims that have names in the text.
bool is_named(Dim dim) { return !dim->has_any && !contains_opened(dim); }

Answer cost_of_kernels(const Optimised& optimised, const Substitution& at) {
  if (!optimised.expr) return {};
  const KernelCalls calls = kernel_calls(optimised.expr);
  if (!calls.is_all || calls.kernels.empty()) return {};
  CallCost cost;
  for (const FnExpr* kernel : calls.kernels) {
    const KernelCost one = cost_of(*kernel);
    if (!one.operations || !one.bytes) return {};
    const KernelCost here{substitute(one.operations, at.dims), substitute(one.bytes, at.dims)};
    if (!is_named(here.operations) || !is_named(here.bytes)) return {};
    cost.kernels.push_back(here);
  }
  return cost;
}

/// Whether a function and those that it calls have no errors. Adds the size of their text to `size`.
bool is_sound(Session& session, DeclarationId function, size_t& size) {
  std::vector<DeclarationId> needed = session.reached_definitions(function);
  needed.push_back(function);
  for (DeclarationId id : needed) size += session.text_of(id).size();
  return std::ranges::none_of(needed,
                              [&](DeclarationId id) { return has_errors(session.check_declaration(id)); });
}

Answer cost_of_function(Session& session, DeclarationId function, const GlobalExpr* use) {
  size_t size = 0;
  if (!is_sound(session, function, size)) return {};
  const DeclarationInfo& info = session.info(function);
  const CostToCome named{use ? use->module : info.module, use ? std::string(use->name) : info.name.substr(1)};
  const Definition* definition = session.functions().function(named.module, named.function);
  if (!definition) return {};
  if (size > kQuickText && !session.is_optimised(named.module, named.function)) return named;
  Substitution at;
  if (use)
    for (size_t i = 0; i < std::min(use->dims.size(), definition->scheme.dim_vars.size()); ++i)
      at.dims[definition->scheme.dim_vars[i]] = use->dims[i];
  return cost_of_kernels(session.optimised(named.module, named.function), at);
}

/// The typed expression at an offset: for a function, its name; for an operator, the call.
ExprPtr expr_at(Session& session, SourceId source, uint32_t offset) {
  const auto at = session.syntax_at(source, offset);
  const Inferred* inferred = at ? session.inferred(at->whole) : nullptr;
  if (!inferred || !inferred->definition.body || at->nodes.empty()) return nullptr;
  SyntaxPtr node = at->nodes.back();
  if (node->is(SyntaxKind::Name) && at->nodes.size() > 1) node = at->nodes[at->nodes.size() - 2];
  return expr_of(inferred->definition.body, at->declaration, node);
}

bool has_definition(FunctionSource& functions, const OpInstance& called) {
  const std::shared_ptr<const OpInstance> instance = functions.instance(called);
  bool has = instance->function != nullptr;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    if (auto* call = as<OpCallExpr>(e)) has = has && has_definition(functions, *call->instance);
    if (has) for_each_child(e, walk);
  };
  if (has) walk(instance->function->body);
  return has;
}

Answer cost_of_operator(Session& session, DeclarationId whole, const OpCallExpr& call) {
  const auto is_open = [](ExprPtr arg) { return contains_error(arg->type); };
  if (contains_error(call.type) || std::ranges::any_of(call.args, is_open)) return {};
  if (!has_definition(session.functions(), *call.instance)) return {};
  return cost_of_kernels(
      optimised_alone(&call, call.args, session.inferred(whole)->definition.arena, session.functions()), {});
}

/// An estimate from the machine's peaks, if all is known: each kernel is limited by arithmetic or by memory.
std::optional<std::chrono::nanoseconds> time_at(const CallCost& cost, const Peaks& peaks) {
  if (peaks.gflops <= 0 || peaks.bandwidth <= 0) return std::nullopt;
  double nanoseconds = 0;
  for (const KernelCost& kernel : cost.kernels) {
    const auto operations = as_const(kernel.operations), bytes = as_const(kernel.bytes);
    if (!operations || !bytes) return std::nullopt;
    nanoseconds += std::max(static_cast<double>(*operations) / peaks.gflops,
                            static_cast<double>(*bytes) / peaks.bandwidth);
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
}

}  // namespace

std::variant<std::monostate, CallCost, CostToCome> call_cost(Session& session, SourceId source,
                                                             uint32_t offset) {
  const auto name = name_at(session, source, offset);
  if (!name) return {};
  const bool is_function = name->target.kind == NameKind::Definition;
  if (!is_function && name->target.kind != NameKind::Operator) return {};
  const DeclarationId declared = name->target.declared.declaration;
  if (name->declares) return is_function ? cost_of_function(session, declared, nullptr) : Answer();
  const ExprPtr expr = expr_at(session, source, offset);
  if (is_function) return cost_of_function(session, declared, as<GlobalExpr>(expr));
  auto* call = as<OpCallExpr>(expr);
  return call ? cost_of_operator(session, whole_of(session, name->declaration), *call) : Answer();
}

std::optional<std::string> to_text(const CallCost& cost, const Peaks& peaks) {
  constexpr size_t kLongest = 60;
  KernelCost all;
  for (const KernelCost& kernel : cost.kernels) all += kernel;
  const auto operations = as_const(all.operations), bytes = as_const(all.bytes);
  const std::string arithmetic = flops_text(all.operations), memory = bytes_text(all.bytes);
  if (std::max(arithmetic.size(), memory.size()) > kLongest) return std::nullopt;
  std::string text = arithmetic + ", " + memory;
  if (operations && bytes && *bytes > 0)
    text += fmt::format(", {:.2f} FLOP/byte", static_cast<double>(*operations) / static_cast<double>(*bytes));
  if (const auto time = time_at(cost, peaks))
    text += fmt::format(", about {} at the machine's peaks", time_text(*time));
  return text;
}

}  // namespace quern::ide
