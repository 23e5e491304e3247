#include "session/run/function_sources.h"

#include "passes/gradient/gradient.h"
#include "passes/known_functions.h"

namespace quern {

const Definition* ChangedFunctions::function(uint32_t module, std::string_view name) {
  const Definition* plain = functions_.function(module, name);
  if (!plain || !plain->body || !changes(*plain)) return plain;
  const auto known = changed_.find(plain);
  return known != changed_.end() ? &known->second : &changed_.emplace(plain, changed(*plain)).first->second;
}

bool ExpandedFunctions::changes(const Definition& definition) const {
  return has_gradients(definition.body) || passes_functions(definition.body);
}

Definition ExpandedFunctions::changed(const Definition& definition) {
  auto arena = std::make_shared<Arena>();
  arena->keep(definition.arena);
  Definition expanded = definition;
  expanded.body = expand_gradients({*arena, functions_}, definition.body, RowFunctions::RowByRow);
  expanded.arena = arena;
  return expanded;
}

std::shared_ptr<const OpInstance> ExpandedFunctions::instance(const OpInstance& called) {
  std::shared_ptr<const OpInstance> plain = functions_.instance(called);
  if (!plain->function || !has_gradients(plain->function)) return plain;
  auto [known, added] = instances_.try_emplace(plain.get());
  if (added) {
    auto arena = std::make_shared<Arena>();
    arena->keep(plain->arena);
    auto expanded = std::make_shared<OpInstance>(*plain);
    expanded->function =
        as<FnExpr>(expand_gradients({*arena, functions_}, plain->function, RowFunctions::RowByRow));
    expanded->arena = arena;
    known->second = {plain, expanded};
  }
  return known->second.second;
}

Definition FunctionsAfter::after(Definition definition) {
  if (passes_.empty()) return definition;
  Optimised optimised = run_passes(definition, functions_, passes_);
  definition.body = optimised.expr;
  definition.arena = optimised.arena;
  return definition;
}

}  // namespace quern
