#include "passes/partial_eval/specialize.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/gradient/local_functions.h"
#include "passes/partial_eval/partial_eval.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

bool is_specialize(ExprPtr expr) {
  auto* own = as<IntrinsicExpr>(expr);
  return own && own->intrinsic == IntrinsicKind::Specialize;
}

bool has_specialize(ExprPtr expr) {
  bool found = is_specialize(expr);
  for_each_child(expr, [&](ExprPtr child) { found = found || (child && has_specialize(child)); });
  return found;
}

/// Whether its value is known where its parts are, and making it again costs nothing that matters.
bool is_known(ExprPtr value) {
  if (as<ConstExpr>(value) || as<VarExpr>(value) || as<FnExpr>(value)) return true;
  bool all = as<TupleExpr>(value) || as<ConstructExpr>(value);
  for_each_child(value, [&](ExprPtr part) { all = all && is_known(part); });
  return all;
}

class Specialize {
 public:
  explicit Specialize(const PassContext& context) : context_(context) {}

  ExprPtr run(ExprPtr expr) {
    auto inside = [this](ExprPtr child) { return child ? run(child) : child; };
    if (auto* block = as<BlockExpr>(expr))
      return map_block(context_.arena, *block, inside, [this](const Variable* variable, ExprPtr value) {
        if (is_known(value)) known_.emplace(variable, value);
      });
    ExprPtr result = map_children(context_.arena, expr, inside);
    return is_specialize(result) ? specialized(*static_cast<const IntrinsicExpr*>(result)) : result;
  }

 private:
  ExprPtr specialized(const IntrinsicExpr& e) {
    auto* fn = as<FnExpr>(e.args[0]);
    if (!fn) return e.args[0];
    std::vector<Binding> captured;
    std::unordered_set<const Variable*> seen;
    capture(fn, captured, seen);
    Expr head = *fn;
    ExprPtr closed = context_.arena.make<FnExpr>(head, fn->params, fn->dim_vars,
                                                 block_of(context_.arena, captured, fn->body, fn->origin),
                                                 false, fn->attributes);
    closed = substitute(context_.arena, closed, {});
    return partial_eval(context_, to_anf(context_, local_functions(context_, closed)));
  }

  // What is known of the variables that an expression reads, what it is made of first.
  void capture(ExprPtr expr, std::vector<Binding>& out, std::unordered_set<const Variable*>& seen) {
    for (const Variable* v : free_variables(expr)) {
      auto found = known_.find(v);
      if (found == known_.end() || !seen.insert(v).second) continue;
      capture(found->second, out, seen);
      out.push_back({v, found->second});
    }
  }

  const PassContext& context_;
  std::unordered_map<const Variable*, ExprPtr> known_;
};

}  // namespace

ExprPtr specialize(const PassContext& context, ExprPtr expr) {
  return has_specialize(expr) ? Specialize(context).run(expr) : expr;
}

}  // namespace quern
