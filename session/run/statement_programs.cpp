#include "session/run/statement_programs.h"

#include <algorithm>
#include <functional>

#include "ir/expr/equality.h"

namespace quern {

namespace {

/// When there are more programs, all are dropped.
constexpr size_t kMostKept = 128;

std::optional<Definition> copy_of(const Definition* definition) {
  return definition ? std::optional(*definition) : std::nullopt;
}

bool is_same(const Definition* found, const std::optional<Definition>& recorded) {
  return found ? recorded && found->body == recorded->body : !recorded;
}

bool makes_functions(ExprPtr expr) {
  bool found = false;
  const std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    auto* fn = as<FnExpr>(e);
    if (fn && fn->primitive) return;
    found |= fn != nullptr;
    if (!found) for_each_child(e, walk);
  };
  walk(expr);
  return found;
}

}  // namespace

const Definition* RecordedFunctions::function(uint32_t module, std::string_view name) {
  const Definition* found = functions_->function(module, name);
  named_.push_back({module, std::string(name), copy_of(found)});
  return found;
}

const Definition* RecordedFunctions::bound(const Variable* variable) {
  const Definition* found = functions_->bound(variable);
  bound_.push_back({variable, copy_of(found)});
  return found;
}

std::vector<TypedConstructor> RecordedFunctions::constructors(Origin user, Type data) {
  std::vector<TypedConstructor> found = functions_->constructors(user, data);
  constructors_.push_back({user, data, found});
  return found;
}

std::shared_ptr<const OpInstance> RecordedFunctions::instance(const OpInstance& called) {
  std::shared_ptr<const OpInstance> found = functions_->instance(called);
  if (called.late) instances_.push_back({&called, found});
  return found;
}

bool RecordedFunctions::still_hold() const {
  return std::ranges::all_of(
             named_,
             [&](const Named& n) { return is_same(functions_->function(n.module, n.name), n.found); }) &&
         std::ranges::all_of(
             bound_, [&](const Bound& b) { return is_same(functions_->bound(b.variable), b.found); }) &&
         std::ranges::all_of(constructors_,
                             [&](const Constructors& c) {
                               return std::ranges::equal(functions_->constructors(c.user, c.data), c.found,
                                                         {}, &TypedConstructor::constructor,
                                                         &TypedConstructor::constructor);
                             }) &&
         std::ranges::all_of(instances_, [&](const Instance& i) {
           return functions_->instance(*i.called)->function == i.found->function;
         });
}

std::optional<Prepared> StatementPrograms::find(std::string_view text, const Definition& statement) const {
  const auto found = kept_.find(std::string(text));
  if (found == kept_.end()) return std::nullopt;
  const Kept& kept = found->second;
  if (!same(kept.statement.body, statement.body) || !kept.functions.still_hold()) return std::nullopt;
  Prepared prepared = kept.prepared;
  const std::vector<const Variable*> before = free_variables(kept.statement.body),
                                     now = free_variables(statement.body);
  for (const Variable*& input : prepared.inputs) {
    // A variable that only an inlined function reads is that function's still.
    if (!std::ranges::count(before, input)) continue;
    const auto at = std::ranges::find(now, input->name, &Variable::name);
    if (at == now.end()) return std::nullopt;
    input = *at;
  }
  return prepared;
}

void StatementPrograms::keep(std::string_view text, const Definition& statement, ExprPtr optimised,
                             const Prepared& prepared, RecordedFunctions functions) {
  const Scheme& scheme = statement.scheme;
  if (!scheme.dim_vars.empty() || !scheme.type_vars.empty() || makes_functions(optimised)) return;
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_.insert_or_assign(std::string(text), Kept{statement, prepared, std::move(functions)});
}

}  // namespace quern
