#include "passes/lambda_lift.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/verify.h"

namespace quern {

namespace {

using Variables = std::unordered_set<const Variable*>;

// A function that a block binds.
struct Local {
  const FnExpr* fn;
  Variables around;                       ///< functions whose bodies it stands in
  Variables bound;                        ///< inside of it
  std::vector<const Variable*> captured;  ///< values, in order of first use
  std::vector<const Variable*> calls;     ///< local functions
  const Variable* lifted = nullptr;       ///< its variable, with what is captured among the parameters
};

class Lifter {
 public:
  explicit Lifter(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto* root = as<FnExpr>(expr);
    ExprPtr body = root ? root->body : expr;
    FreeNames given = free_names(expr);
    if (root) given.dims.insert(root->dim_vars.begin(), root->dim_vars.end());
    collect(body);
    keep_those_over_other_dims(given);
    keep_those_that_cannot_move();
    if (locals_.empty()) return expr;
    find_captured(given);
    for (auto& [variable, local] : locals_)
      local.lifted = make_variable(arena_, variable->name, with_captured(local, local.fn->type));
    ExprPtr rest = rewritten(body);
    ExprPtr made = block_of(arena_, lifted_, rest, body->origin);
    if (!root) return made;
    Expr head = *root;
    return arena_.make<FnExpr>(head, root->params, root->dim_vars, made, root->primitive, root->attributes);
  }

 private:
  void collect(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr)) {
      for (const Binding& b : block->bindings) {
        if (b.variable) note_bound(b.variable);
        auto* fn = b.variable ? as<FnExpr>(b.value) : nullptr;
        if (!fn || fn->primitive) {
          collect(b.value);
          continue;
        }
        locals_.emplace(b.variable, Local{fn, {around_.begin(), around_.end()}, {}, {}, {}});
        order_.push_back(b.variable);
        around_.push_back(b.variable);
        for (const Variable* param : fn->params) note_bound(param);
        collect(fn->body);
        around_.pop_back();
      }
      return collect(block->result);
    }
    if (auto* var = as<VarExpr>(expr)) values_.insert(var->variable);
    if (auto* fn = as<FnExpr>(expr))
      for (const Variable* param : fn->params) note_bound(param);
    if (auto* match = as<MatchExpr>(expr))
      for (const MatchArm& arm : match->arms)
        for_each_variable(arm.pattern, [&](const Variable* v) { note_bound(v); });
    auto* call = as<CallExpr>(expr);
    for_each_child(expr, [&](ExprPtr child) {
      if (child && !(call && child == call->callee && child->kind == ExprKind::Var)) collect(child);
    });
  }
  void note_bound(const Variable* v) {
    for (const Variable* f : around_) locals_.at(f).bound.insert(v);
  }

  // The dims of the outermost function are in scope where the others go to.
  void keep_those_over_other_dims(const FreeNames& given) {
    std::erase_if(locals_, [&](const auto& entry) {
      return std::ranges::any_of(free_names(entry.second.fn).dims,
                                 [&](Dim d) { return !given.dims.contains(d); });
    });
  }

  void keep_those_that_cannot_move() {
    const auto stays = [&](const auto& entry) {
      const Local& local = entry.second;
      if (values_.contains(entry.first)) return true;
      return std::ranges::any_of(free_variables(local.fn), [&](const Variable* v) {
        if (local.around.contains(v)) return true;
        // A function that stays is no parameter: its calls would not be known any more.
        const bool is_local = std::ranges::count(order_, v) > 0;
        return is_local && v != entry.first && !locals_.contains(v);
      });
    };
    while (std::erase_if(locals_, stays) > 0) {
    }
  }

  void find_captured(const FreeNames& given) {
    for (auto& [variable, local] : locals_)
      for (const Variable* v : free_variables(local.fn)) {
        if (v == variable || given.variables.contains(v)) continue;
        (locals_.contains(v) ? local.calls : local.captured).push_back(v);
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Variable* f : order_) {
        auto found = locals_.find(f);
        if (found == locals_.end()) continue;
        Local& local = found->second;
        for (const Variable* called : inner_calls(local))
          for (const Variable* v : locals_.at(called).captured) {
            if (local.bound.contains(v) || std::ranges::count(local.captured, v) > 0) continue;
            local.captured.push_back(v);
            changed = true;
          }
      }
    }
  }
  // Those that it calls, and those that stand in it, whose calls get what they capture from it.
  std::vector<const Variable*> inner_calls(const Local& local) const {
    std::vector<const Variable*> all = local.calls;
    for (const Variable* v : order_)
      if (local.bound.contains(v) && locals_.contains(v)) all.push_back(v);
    return all;
  }

  ExprPtr rewritten(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr)) {
      std::vector<Binding> rest;
      for (const Binding& b : block->bindings) {
        auto found = b.variable ? locals_.find(b.variable) : locals_.end();
        if (found == locals_.end())
          rest.push_back({b.variable, rewritten(b.value)});
        else
          lift(found->second);
      }
      return block_of(arena_, rest, rewritten(block->result), block->origin);
    }
    auto* call = as<CallExpr>(expr);
    auto* callee = call ? as<VarExpr>(call->callee) : nullptr;
    auto found = callee ? locals_.find(callee->variable) : locals_.end();
    if (found == locals_.end())
      return map_children(arena_, expr, [&](ExprPtr child) { return child ? rewritten(child) : child; });
    std::vector<ExprPtr> args;
    for (const Variable* v : found->second.captured) args.push_back(read_of(arena_, v, call->origin));
    for (ExprPtr arg : call->args) args.push_back(rewritten(arg));
    Expr head = *callee;
    head.type = with_captured(found->second, callee->type);
    return arena_.make<CallExpr>(Expr{*call}, arena_.make<VarExpr>(head, found->second.lifted),
                                 arena_.copy(args));
  }

  void lift(const Local& local) {
    std::vector<const Variable*> params = local.captured;
    params.insert(params.end(), local.fn->params.begin(), local.fn->params.end());
    Expr head = *local.fn;
    head.type = local.lifted->type;
    ExprPtr made = arena_.make<FnExpr>(head, arena_.copy(params), local.fn->dim_vars,
                                       rewritten(local.fn->body), false, local.fn->attributes);
    // What it captured is a parameter of its own now.
    lifted_.push_back({local.lifted, substitute(arena_, made, {})});
  }
  static Type with_captured(const Local& local, Type function) {
    std::vector<Type> params;
    for (const Variable* v : local.captured) params.push_back(v->type);
    params.insert(params.end(), function->params().begin(), function->params().end());
    return function_type(params, function->result());
  }

  Arena& arena_;
  std::unordered_map<const Variable*, Local> locals_;
  std::vector<const Variable*> order_;   ///< all that were found, from the outermost
  std::vector<const Variable*> around_;  ///< of the place that is looked at
  Variables values_;                     ///< that occur other than as callees
  std::vector<Binding> lifted_;
};

}  // namespace

ExprPtr lambda_lift(const PassContext& context, ExprPtr expr) { return Lifter(context.arena).run(expr); }

}  // namespace quern
