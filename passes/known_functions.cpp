#include "passes/known_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace quern {

namespace {

/// Copies inside of copies, as of a function that calls itself with another function each time.
constexpr size_t kMostNested = 8;

bool is_function(Type type) { return type->kind == TypeKind::Function; }

bool takes_function(const CallExpr& call) {
  return call.callee->kind == ExprKind::Global &&
         std::ranges::any_of(call.args, [](ExprPtr arg) { return is_function(arg->type); });
}

/// Which parameters definitions derive.
class DerivedParams {
 public:
  explicit DerivedParams(FunctionSource& functions) : functions_(functions) {}

  const std::set<size_t>& of(const Definition& definition) {
    if (!derived_.contains(&definition)) {
      // What one derives depends on what those that it calls do, and they may call it.
      for (size_t before = SIZE_MAX; before != count_;) {
        before = count_;
        seen_.clear();
        look_at(definition);
      }
    }
    return derived_[&definition];
  }

 private:
  void look_at(const Definition& definition) {
    auto* fn = as<FnExpr>(definition.body);
    if (!fn || !seen_.insert(&definition).second) return;
    std::set<size_t>& found = derived_[&definition];
    std::unordered_map<const Variable*, std::set<size_t>> names;
    for (size_t i = 0; i < fn->params.size(); ++i)
      if (is_function(fn->params[i]->type)) names[fn->params[i]] = {i};
    if (names.empty()) return;
    walk(fn->body, names, found);
  }

  using Names =
      std::unordered_map<const Variable*, std::set<size_t>>;  ///< the parameters in what a name is of

  void walk(ExprPtr expr, Names& names, std::set<size_t>& found) {
    if (!expr) return;
    if (auto* block = as<BlockExpr>(expr))
      for (const Binding& binding : block->bindings)
        if (binding.variable && is_function(binding.variable->type))
          names[binding.variable] = inside(binding.value, names);
    if (auto* e = as<IntrinsicExpr>(expr);
        e && is_derivative(e->intrinsic) && e->intrinsic != IntrinsicKind::Vmap)
      add(inside(e->args[0], names), found);
    if (auto* call = as<CallExpr>(expr); call && takes_function(*call)) {
      auto* global = as<GlobalExpr>(call->callee);
      if (const Definition* callee = functions_.function(global->module, global->name)) {
        look_at(*callee);
        for (const size_t i : derived_[callee])
          if (i < call->args.size()) add(inside(call->args[i], names), found);
      }
    }
    for_each_child(expr, [&](ExprPtr child) { walk(child, names, found); });
  }

  static std::set<size_t> inside(ExprPtr expr, const Names& names) {
    std::set<size_t> all;
    for (const Variable* variable : free_variables(expr))
      if (auto known = names.find(variable); known != names.end())
        all.insert(known->second.begin(), known->second.end());
    return all;
  }

  void add(const std::set<size_t>& params, std::set<size_t>& found) {
    for (const size_t i : params) count_ += found.insert(i).second;
  }

  FunctionSource& functions_;
  std::map<const Definition*, std::set<size_t>> derived_;
  std::set<const Definition*> seen_;
  size_t count_ = 0;
};

class FunctionBinder {
 public:
  FunctionBinder(const PassContext& context, std::vector<UnknownFunction>* unknown)
      : context_(context), arena_(context.arena), unknown_(unknown), derived_(context.functions) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr))
      return map_block(
          arena_, *block, [this](ExprPtr child) { return run(child); },
          [this](const Variable* variable, ExprPtr value) {
            if (variable && is_function(variable->type)) known_.emplace(variable, value);
          });
    ExprPtr result = map_children(arena_, expr, [this](ExprPtr child) { return child ? run(child) : child; });
    auto* call = as<CallExpr>(result);
    return call && takes_function(*call) ? bound(*call) : result;
  }

 private:
  /// A copy that is being made: a call inside of it with the same functions is its own.
  struct Copy {
    const Definition* definition;
    std::span<const Dim> dims;
    std::span<const Type> types;
    std::vector<ExprPtr> functions;
    const Variable* name;
    std::span<const Variable* const> params;
    bool called = false;
  };

  // The function that an expression names: a definition, a literal, or a variable that a literal is bound to; null
  // if only a run knows it.
  ExprPtr function_of(ExprPtr expr) const {
    if (expr->kind == ExprKind::Global || expr->kind == ExprKind::Fn) return expr;
    auto* read = as<VarExpr>(expr);
    if (!read) return nullptr;
    const auto known = known_.find(read->variable);
    const ExprPtr value = known == known_.end() ? bound_to(read->variable) : known->second;
    return !value ? nullptr : value->kind == ExprKind::Fn ? expr : function_of(value);
  }

  // What a statement binds to a variable: its value is a block with that one binding.
  ExprPtr bound_to(const Variable* variable) const {
    const Definition* statement = context_.functions.bound(variable);
    if (!statement || !statement->body) return nullptr;
    auto* block = as<BlockExpr>(statement->body);
    return block && block->bindings.size() == 1 ? block->bindings[0].value : statement->body;
  }

  static bool is_same(ExprPtr a, ExprPtr b) {
    auto *x = as<VarExpr>(a), *y = as<VarExpr>(b);
    if (x && y) return x->variable == y->variable;
    auto *f = as<GlobalExpr>(a), *g = as<GlobalExpr>(b);
    return f && g && f->module == g->module && f->name == g->name && std::ranges::equal(f->dims, g->dims) &&
           std::ranges::equal(f->types, g->types);
  }

  ExprPtr bound(const CallExpr& call) {
    auto& global = *as<GlobalExpr>(call.callee);
    const Definition* definition = context_.functions.function(global.module, global.name);
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn || fn->params.size() != call.args.size()) return &call;
    const std::set<size_t>& derived = derived_.of(*definition);
    if (derived.empty()) return &call;
    std::vector<Binding> literals;
    std::vector<ExprPtr> args(call.args.begin(), call.args.end()), functions;
    for (const size_t i : derived) {
      const ExprPtr function = function_of(args[i]);
      if (!function) {
        if (unknown_) unknown_->push_back({call.origin, args[i]});
        return &call;
      }
      if (function->kind == ExprKind::Fn) {
        const Variable* name = make_variable(arena_, fn->params[i]->name, function->type);
        literals.push_back({name, function});
        known_.emplace(name, function);
        args[i] = read_of(arena_, name, function->origin);
      }
      functions.push_back(function->kind == ExprKind::Fn ? args[i] : function);
    }
    const ExprPtr entered = arena_.make<CallExpr>(Expr{call}, call.callee, arena_.copy(args));
    for (Copy& copy : copies_)
      if (copy.definition == definition && std::ranges::equal(copy.dims, global.dims) &&
          std::ranges::equal(copy.types, global.types) &&
          std::ranges::equal(copy.functions, functions, is_same) &&
          std::ranges::equal(args, copy.params, {}, &Expr::type, &Variable::type)) {
        copy.called = true;
        return block_of(arena_, literals, call_of(copy, args, call), call.origin);
      }
    if (copies_.size() >= kMostNested) return &call;
    return block_of(arena_, literals, copied(*as<CallExpr>(entered), *definition, derived, functions),
                    call.origin);
  }

  ExprPtr call_of(const Copy& copy, const std::vector<ExprPtr>& args, const CallExpr& call) {
    return arena_.make<CallExpr>(Expr{call}, read_of(arena_, copy.name, call.callee->origin),
                                 arena_.copy(args));
  }

  ExprPtr copied(const CallExpr& call, const Definition& definition, const std::set<size_t>& derived,
                 const std::vector<ExprPtr>& functions) {
    arena_.keep(definition.arena);
    auto& global = *as<GlobalExpr>(call.callee);
    auto& fn = *as<FnExpr>(definition.body);
    ExprSubstitution at;
    at.types = at_use(definition, global);
    auto& own = *as<FnExpr>(substitute(
        arena_, function_literal(arena_, {fn.params.begin(), fn.params.end()}, {}, fn.body, fn.origin), at));
    std::vector<Binding> names;
    ExprSubstitution named;
    for (size_t k = 0; const size_t i : derived) {
      const Variable* name = make_variable(arena_, own.params[i]->name, own.params[i]->type);
      names.push_back({name, functions[k]});
      known_.emplace(name, functions[k++]);
      named.variables.emplace(own.params[i], read_of(arena_, name, own.origin));
    }
    const Variable* name = make_variable(arena_, arena_.copy(std::string_view(global.name)), own.type);
    copies_.push_back({&definition, global.dims, global.types, functions, name, own.params});
    ExprPtr body = run(substitute(arena_, own.body, named));
    const bool calls_itself = copies_.back().called;
    copies_.pop_back();
    body = block_of(arena_, names, body, own.origin);
    const FnExpr* copy =
        function_literal(arena_, {own.params.begin(), own.params.end()}, {}, body, own.origin);
    if (!calls_itself) {
      ExprSubstitution inlined;
      inlined.call = &call.origin;
      return body_at(arena_, *copy, call.args, inlined);
    }
    ExprPtr enters = arena_.make<CallExpr>(Expr{call}, read_of(arena_, name, call.callee->origin), call.args);
    return block_of(arena_, {{name, copy}}, enters, call.origin);
  }

  const PassContext& context_;
  Arena& arena_;
  std::vector<UnknownFunction>* unknown_;
  DerivedParams derived_;
  std::unordered_map<const Variable*, ExprPtr> known_;
  std::vector<Copy> copies_;
};

}  // namespace

ExprPtr known_functions(const PassContext& context, ExprPtr expr, std::vector<UnknownFunction>* unknown) {
  return passes_functions(expr) ? FunctionBinder(context, unknown).run(expr) : expr;
}

bool passes_functions(ExprPtr expr) {
  auto* call = as<CallExpr>(expr);
  bool found = call && takes_function(*call);
  for_each_child(expr, [&](ExprPtr child) { found = found || (child && passes_functions(child)); });
  return found;
}

}  // namespace quern
