// Types as text, and the names of their dims.

#include <algorithm>

#include "frontend/print/printer_impl.h"
#include "frontend/unify/gradual.h"
#include "ir/type/type.h"

namespace quern::printer_detail {

/// Collects the opened dims that inner index expressions mention, which the text must name.
void Printer::find_named(ExprPtr expr) {
  auto add = [&](Dim dim) {
    for_each_var(dim, [&](Dim var) {
      if (var->opened && !names_.is_computed(var)) named_.insert(var);
    });
  };
  if (auto* block = as<BlockExpr>(expr)) mark_computed(*block);
  if (auto* comprehension = as<ComprehensionExpr>(expr)) {
    if (slice_items(*comprehension)) return find_named(as<ReadExpr>(comprehension->body)->tensor);
    std::ranges::for_each(comprehension->extents, add);
  }
  if (auto* value = as<DimValueExpr>(expr)) add(value->dim);
  for_each_child(expr, [&](ExprPtr child) { find_named(child); });
}

std::vector<std::string> Printer::bind_general(std::span<const Dim> dims, const FnExpr& fn) {
  auto related = [&](Type type) {
    for_each_value_dim(type, [&](Dim dim) {
      auto visit = [&](auto&& self, Dim d) -> void {
        if (d->kind == DimKind::Broadcast && !contains_opened(d))
          for_each_var(d, [&](Dim var) {
            if (std::ranges::find(dims, var) != dims.end()) names_.leave_out(var);
          });
        for (Dim arg : d->args) self(self, arg);
      };
      visit(visit, dim);
    });
  };
  auto search = [&](auto&& self, ExprPtr expr) -> void {
    if (expr->type) related(expr->type);
    for_each_child(expr, [&](ExprPtr child) { self(self, child); });
  };
  if (!dims.empty()) search(search, fn.body);
  // Other dims that occur in only one place of a parameter can be inferred instead.
  std::unordered_map<Dim, int> places;
  for (const Variable* param : fn.params) for_each_dim_var(param->type, [&](Dim var) { ++places[var]; });
  if (std::ranges::any_of(dims, [&](Dim var) { return names_.is_left_out(var); }))
    for (Dim var : dims)
      if (!var->opened && places[var] == 1) names_.leave_out(var);
  std::vector<std::string> general;
  for (Dim var : dims) {
    if ((var->opened && !named_.contains(var)) || names_.is_left_out(var)) continue;
    names_.bind(var);
    general.push_back(names_.of(var));
  }
  return general;
}

/// With `?` for existential dims.
std::string Printer::type_text(Type type) {
  Substitution any;
  for_each_dim_var(type, [&](Dim var) {
    if (var->opened && !named_.contains(var)) any.dims.emplace(var, dim_any());
  });
  return to_string(names_.renamed(substitute(type, any)));
}

bool Printer::forgets_dims(Type type) {
  bool forgets = false;
  for_each_dim_var(
      type, [&](Dim var) { forgets |= (var->opened && !named_.contains(var)) || names_.is_left_out(var); });
  return forgets;
}

/// A `?` in a function's parameter is any extent, so the extent of an outer value cannot be written.
bool Printer::is_from_around(Type type, const FnExpr& fn) {
  bool from_around = false;
  for_each_dim_var(type, [&](Dim var) {
    from_around |=
        var->opened && !named_.contains(var) && std::ranges::find(fn.dim_vars, var) == fn.dim_vars.end();
  });
  return from_around;
}

/// Empty for a type that cannot be written.
std::string Printer::annotation(Type type, std::string_view before) {
  return type && !contains_error(type) && names_.can_spell(type) ? std::string(before) + type_text(type) : "";
}

}  // namespace quern::printer_detail
