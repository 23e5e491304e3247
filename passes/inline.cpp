#include "passes/inline.h"

#include <map>
#include <set>

namespace quern {

namespace {

class Inliner {
 public:
  explicit Inliner(const PassContext& context) : context_(context) {}

  ExprPtr run(ExprPtr expr) {
    ExprPtr result = map_children(context_.arena, expr, [&](ExprPtr child) { return run(child); });
    auto* call = as<CallExpr>(result);
    auto* global = call ? as<GlobalExpr>(call->callee) : nullptr;
    const Definition* definition =
        global ? context_.functions.function(global->module, global->name) : nullptr;
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn || is_recursive(definition)) return result;
    size_t size = count_nodes(fn->body);
    if (spent_ + size > kInlineBudget) return result;
    spent_ += size;
    context_.arena.keep(definition->arena);
    return run(body_at(context_.arena, *fn, call->args, at_call(*call, *global, *definition)));
  }

 private:
  // The dims and types of a definition at a use.
  static ExprSubstitution at_call(const CallExpr& call, const GlobalExpr& global,
                                  const Definition& definition) {
    ExprSubstitution at;
    at.call = &call.origin;
    at.types = at_use(definition, global);
    return at;
  }

  bool is_recursive(const Definition* definition) {
    auto known = recursive_.find(definition);
    if (known != recursive_.end()) return known->second;
    std::set<const Definition*> seen;
    bool result = reaches(definition, definition, seen);
    recursive_.emplace(definition, result);
    return result;
  }
  bool reaches(const Definition* from, const Definition* target, std::set<const Definition*>& seen) {
    if (!from) return true;
    bool found = false;
    std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
      if (auto* g = as<GlobalExpr>(e)) {
        const Definition* callee = context_.functions.function(g->module, g->name);
        if (callee == target)
          found = true;
        else if (seen.insert(callee).second)
          found = found || reaches(callee, target, seen);
      }
      if (!found) for_each_child(e, walk);
    };
    walk(from->body);
    return found;
  }

  const PassContext& context_;
  std::map<const Definition*, bool> recursive_;
  size_t spent_ = 0;
};

}  // namespace

ExprPtr inline_calls(const PassContext& context, ExprPtr expr) { return Inliner(context).run(expr); }

}  // namespace quern
