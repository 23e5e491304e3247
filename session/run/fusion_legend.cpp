#include "session/run/fusion_legend.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "passes/fusion_class.h"

namespace quern {

std::string fusion_legend(FunctionSource& functions, std::span<const ExprPtr> exprs) {
  std::map<FusionClass, std::set<std::string>> classes;
  std::set<const OpInstance*> seen;
  std::function<void(ExprPtr)> walk = [&](ExprPtr expr) {
    auto* call = as<OpCallExpr>(expr);
    if (call && seen.insert(call->instance).second) {
      auto instance = functions.instance(*call->instance);
      if (instance->function)
        classes[fusion_class(functions, instance->function->body)].insert(instance->name);
    }
    for_each_child(expr, walk);
  };
  for (ExprPtr expr : exprs)
    if (expr) walk(expr);
  std::string text;
  for (const auto& [fusion, names] : classes)
    text += fmt::format("// {}: {}\n", to_string(fusion), fmt::join(names, ", "));
  return text;
}

}  // namespace quern
