#include "passes/order_axes.h"

#include <fmt/format.h>

#include "passes/layout/choose_orders.h"
#include "passes/scalar_builder.h"

namespace quern {

namespace {

template <class T>
std::vector<T> permuted(std::span<const T> items, const AxisOrder& order) {
  std::vector<T> out;
  out.reserve(order.size());
  for (size_t axis : order) out.push_back(items[axis]);
  return out;
}

class Reorderer {
 public:
  Reorderer(Arena& arena, Orders orders) : arena_(arena), orders_(std::move(orders)) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* read = as<ReadExpr>(expr)) return reordered(*read);
    auto* block = as<BlockExpr>(expr);
    if (!block) return map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
    std::vector<Binding> bindings;
    bindings.reserve(block->bindings.size());
    for (const Binding& b : block->bindings) {
      bindings.push_back(reordered(b));
      if (orders_.copied.contains(b.variable))
        bindings.push_back({b.variable, copy_of(b.variable, b.value->origin)});
    }
    return block_of(arena_, bindings, run(block->result), expr->origin);
  }

 private:
  Binding reordered(const Binding& binding) {
    const auto order = orders_.chosen.find(binding.variable);
    ExprPtr value = run(binding.value);
    if (order == orders_.chosen.end()) return {binding.variable, value};
    auto* kernel = as<ComprehensionExpr>(value);
    const std::vector<Dim> extents = permuted(kernel->extents, order->second);
    const Type type = tensor_type(extents, kernel->type->dtype);
    value = arena_.make<ComprehensionExpr>(Expr{ExprKind::Comprehension, type, kernel->origin},
                                           arena_.copy(permuted(kernel->vars, order->second)),
                                           arena_.copy(extents), kernel->body);
    const Variable* variable = make_variable(arena_, binding.variable->name, type, binding.variable->graph);
    variables_.emplace(binding.variable, variable);
    return {variable, value};
  }

  /// The tensor in the order of its shape.
  ExprPtr copy_of(const Variable* tensor, Origin origin) {
    const ScalarBuilder build(arena_, origin);
    std::vector<Dim> vars;
    vars.reserve(tensor->type->dims.size());
    for (size_t k = 0; k < tensor->type->dims.size(); ++k) vars.push_back(dim_var(fmt::format("i{}", k)));
    const ExprPtr ordered = read_of(arena_, variables_.at(tensor), origin);
    return build.comprehension(
        vars, tensor->type->dims,
        build.read(ordered, permuted(std::span<const Dim>(vars), orders_.chosen.at(tensor))));
  }

  ExprPtr reordered(const ReadExpr& read) {
    ExprPtr inside = map_children(arena_, &read, [this](ExprPtr child) { return run(child); });
    auto* var = as<VarExpr>(read.tensor);
    const auto order = var ? orders_.chosen.find(var->variable) : orders_.chosen.end();
    if (order == orders_.chosen.end()) return inside;
    auto* same = as<ReadExpr>(inside);
    ExprPtr tensor = read_of(arena_, variables_.at(var->variable), var->origin);
    return arena_.make<ReadExpr>(Expr{read}, tensor, arena_.copy(permuted(same->indices, order->second)),
                                 arena_.copy(permuted(same->checked, order->second)), same->otherwise);
  }

  Arena& arena_;
  Orders orders_;
  std::unordered_map<const Variable*, const Variable*> variables_;  ///< of reordered tensors
};

}  // namespace

ExprPtr order_axes(const PassContext& context, ExprPtr expr) {
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  Orders orders = choose_orders(expr, effects);
  return orders.chosen.empty() ? expr : Reorderer(context.arena, std::move(orders)).run(expr);
}

}  // namespace quern
