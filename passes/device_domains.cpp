#include "passes/device_domains.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "ir/expr/fields.h"
#include "ir/value/device.h"

namespace quern {

bool has_domain(Type type) {
  if (type->is_tensor()) return !type->dims.empty();
  return type->kind == TypeKind::Tuple && std::ranges::any_of(type->args, has_domain);
}

namespace {

bool has_loops(ExprPtr expr) {
  bool found = binds_dims(expr);
  for_each_child(expr, [&](ExprPtr child) { found = found || has_loops(child); });
  return found;
}

/// Whether the virtual machine, which is the host's, may compute it itself.
bool is_element_code(ExprPtr computation) {
  if (has_domain(computation->type)) return false;
  if (auto* call = as<CallExpr>(computation)) return is_element_code(as<FnExpr>(call->callee)->body);
  auto* element = as<ComprehensionExpr>(computation);
  return !has_loops(element ? element->body : computation);
}

}  // namespace

const IntrinsicExpr* as_mark(ExprPtr expr) {
  auto* own = as<IntrinsicExpr>(expr);
  return own && own->intrinsic == IntrinsicKind::ToDevice ? own : nullptr;
}

std::vector<std::string> devices_of(ExprPtr expr) {
  std::vector<std::string> names;
  const std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    if (const IntrinsicExpr* mark = as_mark(e))
      for (const std::string_view text : mark->texts)
        if (text != kHostDevice && std::ranges::find(names, text) == names.end()) names.emplace_back(text);
    for_each_child(e, walk);
  };
  walk(expr);
  return names;
}

// --- domains

DeviceDomains::Domain DeviceDomains::root(Domain domain) const {
  while (parents_[domain] != domain) domain = parents_[domain] = parents_[parents_[domain]];
  return domain;
}

bool DeviceDomains::unify(Domain a, Domain b) {
  a = root(a), b = root(b);
  if (a < b) std::swap(a, b);  // a device stays a root
  if (a <= names_.size()) return a == b;
  parents_[a] = b;
  return true;
}

DeviceDomains::Domain DeviceDomains::fresh() {
  parents_.push_back(parents_.size());
  return parents_.back();
}

size_t DeviceDomains::device(Domain domain) const {
  domain = root(domain);
  return domain <= names_.size() ? domain : kHost;
}

size_t DeviceDomains::of(const Variable* variable) const {
  const auto found = of_variable_.find(variable);
  return found == of_variable_.end() ? kHost : device(found->second);
}

size_t DeviceDomains::of_result(const Variable* function) const {
  const auto found = of_result_.find(function);
  return found == of_result_.end() ? kHost : device(found->second);
}

size_t DeviceDomains::of_computation(ExprPtr expr) const {
  const auto found = of_computation_.find(expr);
  return found == of_computation_.end() ? kHost : device(found->second);
}

std::optional<size_t> DeviceDomains::number_of(std::string_view name) const {
  if (name == kHostDevice) return kHost;
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? std::nullopt
                               : std::optional(static_cast<size_t>(found - names_.begin()) + 1);
}

std::string_view DeviceDomains::name_of(size_t device) const {
  return device == kHost ? kHostDevice : std::string_view(names_[device - 1]);
}

const FnExpr* DeviceDomains::function(const Variable* variable) const {
  const auto found = functions_.find(variable);
  return found == functions_.end() ? nullptr : found->second;
}

// --- inference

/// Walks from the results to the operands: what a mark asks for reaches back to what it is computed from, and a copy stands as
/// early as it can.
class DomainInference {
 public:
  explicit DomainInference(DeviceDomains& domains) : domains_(domains) {}

  void run(ExprPtr expr) {
    declare(expr);
    fix(expr);
    value(expr, DeviceDomains::kHost);
  }

 private:
  using Domain = DeviceDomains::Domain;

  /// Variables bound by blocks have domains, and so have the parameters of functions that are bound to one.
  void declare(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr))
      for (const Binding& binding : block->bindings) {
        if (!binding.variable) continue;
        domains_.of_variable_.emplace(binding.variable, domains_.fresh());
        auto* function = as<FnExpr>(binding.value);
        if (!function) continue;
        domains_.functions_.emplace(binding.variable, function);
        domains_.of_result_.emplace(binding.variable, domains_.fresh());
        for (const Variable* param : function->params) domains_.of_variable_.emplace(param, domains_.fresh());
      }
    for_each_child(expr, [this](ExprPtr child) { declare(child); });
  }

  /// What is marked has its device before anything around it has one.
  void fix(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr))
      for (const Binding& binding : block->bindings)
        if (const IntrinsicExpr* mark = as_mark(binding.value); mark && binding.variable)
          if (const auto to = domains_.number_of(mark->texts[1])) join(*to, of(binding.variable));
    if (const IntrinsicExpr* mark = as_mark(expr))
      if (auto* marked = as<VarExpr>(mark->args[0]))
        if (const auto from = domains_.number_of(mark->texts[0])) join(*from, of(marked->variable));
    for_each_child(expr, [this](ExprPtr child) { fix(child); });
  }

  Domain of(const Variable* variable) const {
    const auto found = domains_.of_variable_.find(variable);
    return found == domains_.of_variable_.end() ? DeviceDomains::kHost : found->second;
  }
  /// Where two devices meet, the value is copied.
  void join(Domain a, Domain b) { domains_.unify(a, b); }

  void value(ExprPtr expr, Domain wanted) {
    visit(expr, overloaded{[&](const VarExpr& e) { variable(e.variable, wanted); },
                           [&](const BlockExpr& e) { block(e, wanted); },
                           [&](const IfExpr& e) {
                             value(e.then_arm, wanted);
                             value(e.else_arm, wanted);
                           },
                           [&](const MatchExpr& e) {
                             for (const MatchArm& arm : e.arms) value(arm.body, wanted);
                             value(e.scrutinee, DeviceDomains::kHost);
                           },
                           [&](const FnExpr& e) {
                             if (!e.primitive) value(e.body, DeviceDomains::kHost);
                           },
                           [&](const CallExpr& e) { call(e, wanted); },
                           [&](const TupleExpr&) { parts(expr, wanted); },
                           [&](const FieldExpr&) { parts(expr, wanted); },
                           [&](const CheckDimsExpr&) { parts(expr, wanted); },
                           [&](const ViewExpr&) { parts(expr, wanted); },
                           [&](const OpCallExpr&) { computation(expr, wanted); },
                           [&](const ComprehensionExpr&) { computation(expr, wanted); },
                           [&](const IntrinsicExpr&) {
                             // `fix` has taken what a mark asks for.
                             if (!as_mark(expr)) of_host(expr, wanted);
                           },
                           [&](const auto&) { of_host(expr, wanted); }});
  }

  void parts(ExprPtr expr, Domain wanted) {
    for_each_child(expr, [&](ExprPtr child) { value(child, wanted); });
  }
  void of_host(ExprPtr expr, Domain wanted) {
    if (has_domain(expr->type)) join(wanted, DeviceDomains::kHost);
    parts(expr, DeviceDomains::kHost);
  }

  void variable(const Variable* variable, Domain wanted) {
    if (const FnExpr* function = domains_.function(variable)) {
      // It goes where its calls are not seen.
      for (const Variable* param : function->params) join(of(param), DeviceDomains::kHost);
      join(domains_.of_result_.at(variable), DeviceDomains::kHost);
    } else if (has_domain(variable->type)) {
      join(of(variable), wanted);
    }
  }

  void block(const BlockExpr& block, Domain wanted) {
    value(block.result, wanted);
    for (size_t k = block.bindings.size(); k-- > 0;) {
      const auto& [variable, bound] = block.bindings[k];
      const FnExpr* function = variable ? domains_.function(variable) : nullptr;
      if (function)
        this->function(variable, *function);
      else
        value(bound, variable ? of(variable) : domains_.fresh());
    }
  }

  /// What it does with its parameters decides where they are, before what it is given does.
  void function(const Variable* variable, const FnExpr& function) {
    value(function.body, domains_.of_result_.at(variable));
    for (const auto& [argument, param] : arguments_[variable]) value(argument, of(param));
  }

  void call(const CallExpr& call, Domain wanted) {
    auto* primitive = as<FnExpr>(call.callee);
    if (primitive && primitive->primitive) return computation(&call, wanted);
    auto* callee = as<VarExpr>(call.callee);
    const FnExpr* function = callee ? domains_.function(callee->variable) : nullptr;
    if (!function) return of_host(&call, wanted);
    join(domains_.of_result_.at(callee->variable), wanted);
    for (size_t i = 0; i < call.args.size(); ++i)
      arguments_[callee->variable].emplace_back(call.args[i], function->params[i]);
  }

  /// On tensors, whose memory its device has.
  void computation(ExprPtr expr, Domain wanted) {
    Domain at = has_domain(expr->type) ? wanted : domains_.fresh();
    if (is_element_code(expr)) at = DeviceDomains::kHost;
    domains_.of_computation_.emplace(expr, at);
    for (const Variable* operand : free_variables(expr)) variable(operand, at);
  }

  DeviceDomains& domains_;
  /// Of the calls of a function so far, which all stand behind it or inside, each with its parameter.
  std::unordered_map<const Variable*, std::vector<std::pair<ExprPtr, const Variable*>>> arguments_;
};

DeviceDomains::DeviceDomains(ExprPtr expr, const std::vector<std::string>& names) : names_(names) {
  for (size_t device = 0; device <= names_.size(); ++device) parents_.push_back(device);
  DomainInference(*this).run(expr);
}

}  // namespace quern
