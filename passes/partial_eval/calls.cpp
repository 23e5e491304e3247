// Calls: unfolded where that ends.

#include <algorithm>
#include <unordered_map>

#include "passes/instantiation.h"
#include "passes/partial_eval/specialiser.h"

namespace quern::partial {

Value* Specialiser::call(const CallExpr& e, Frame& frame, std::string_view name) {
  Value* callee = evaluate(e.callee, frame);
  std::vector<Value*> args;
  std::vector<Type> types;
  for (ExprPtr arg : e.args) {
    args.push_back(evaluate(arg, frame));
    types.push_back(args.back()->type);
  }
  const bool is_known =
      callee->kind == Value::Kind::Closure && !callee->fn->primitive && !callee->is_open && !is_spent();
  if (!is_known) return residual_call(named(callee), args, e, frame, name);
  ++steps_;
  // Under a condition that has come since, the calls may not end.
  for (size_t i = unfoldings_.size(); i-- > 0;)
    if (unfoldings_[i].fn == callee->fn && unfoldings_[i].conditions < conditions_) throw GiveUp{i};
  if (auto enough = to_give_up(callee->fn)) {
    if (*enough < unfoldings_.size()) throw GiveUp{*enough};
    return residual_call(named(callee), args, e, frame, name);
  }
  auto own = instantiation(*callee->fn, type(e.callee->type, frame), types);
  if (!own) return residual_call(named(callee), args, e, frame, name);
  Substitution at = callee->frame->at;
  for (const auto& [from, to] : own->dims) at.dims.insert_or_assign(from, to);
  for (const auto& [from, to] : own->types) at.types.insert_or_assign(from, to);
  for (const auto& [from, to] : own->dtypes) at.dtypes.insert_or_assign(from, to);
  return unfold(callee, args, std::move(at), e, frame, name);
}

Value* Specialiser::unfold(Value* callee, const std::vector<Value*>& args, Substitution at, const CallExpr& e,
                           Frame& frame, std::string_view name) {
  const size_t self = unfoldings_.size(), before = out_->size();
  const Store::Mark mark = store_.mark();
  unfoldings_.push_back({callee->fn, conditions_, steps_});
  try {
    Frame* inside = store_.frame(callee->frame, std::move(at), origin(e, frame));
    for (size_t i = 0; i < args.size(); ++i) inside->values.emplace(callee->fn->params[i], args[i]);
    Value* result = evaluate(callee->fn->body, *inside, name);
    unfoldings_.resize(self);
    return result;
  } catch (const GiveUp& given_up) {
    unfoldings_.resize(self);
    if (given_up.unfolding != self) throw;
    out_->resize(before);
    store_.undo(mark);
  }
  return residual_call(named(callee, name), args, e, frame, name);
}

std::optional<size_t> Specialiser::to_give_up(const FnExpr* fn) const {
  const size_t depth = unfoldings_.size();
  const bool is_enough =
      depth > 0 && (depth >= limits_.depth || steps_ - unfoldings_.front().steps > limits_.unfolding);
  if (!is_enough) return std::nullopt;
  // The first call of the function of which there are most.
  std::unordered_map<const FnExpr*, size_t> calls{{fn, 1}};
  for (const Unfolding& unfolding : unfoldings_) ++calls[unfolding.fn];
  const FnExpr* most = fn;
  for (const Unfolding& unfolding : unfoldings_)
    if (calls[unfolding.fn] > calls[most]) most = unfolding.fn;
  return static_cast<size_t>(std::ranges::find(unfoldings_, most, &Unfolding::fn) - unfoldings_.begin());
}

Value* Specialiser::residual_call(ExprPtr callee, const std::vector<Value*>& args, const CallExpr& e,
                                  Frame& frame, std::string_view name) {
  // A polymorphic function is used at other dims and types.
  if (auto* var = as<VarExpr>(callee)) {
    const Expr at_call{ExprKind::Var, type(e.callee->type, frame), origin(*e.callee, frame)};
    callee = arena_.make<VarExpr>(at_call, var->variable);
  }
  std::span<const ExprPtr> atoms = arena_.copy(named(args));
  store_.forget();
  return emit(arena_.make<CallExpr>(head(e, frame), callee, atoms), name);
}

}  // namespace quern::partial
