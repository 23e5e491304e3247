#include "repl/report/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/dim/dim.h"
#include "repl/report/command_text.h"

namespace quern {

namespace {

Dim elements_of(Type type) {
  Dim elements = dim_const(type->dtype.lanes);
  for (Dim dim : type->dims) elements = dim_mul(elements, dim);
  return elements;
}

bool has_fixed_shape(Type type) {
  return type->is_tensor() &&
         std::ranges::all_of(type->dims, [](Dim dim) { return as_const(dim).has_value(); });
}

/// What a value is, that is not computed here: where it comes from, and which part of that.
struct ValuePlace {
  enum class Of : unsigned char {
    Parameter,
    Field,
    Other
  } of;  ///< Other: a constant, a variable of the session
  const void* root;
  std::vector<uint32_t> path{};
  Type type = nullptr;  ///< as declared

  auto key() const { return std::pair(root, path); }
};
using Key = decltype(std::declval<ValuePlace>().key());

/// A weight that a layer may read.
struct Read {
  size_t layer;
  ValuePlace place;
  Dim elements;
};

/// The walk over a function's body, and over those of the functions that it calls.
class Layers {
 public:
  explicit Layers(FunctionSource& functions) : functions_(functions), arena_(std::make_shared<Arena>()) {}

  LayerTable run(const Definition& definition, const Substitution& dims) {
    calling_.insert(definition.name);
    arena_->keep(definition.arena);
    auto* fn = as<FnExpr>(definition.body);
    // As declared: a shape that a call alone fixes is that of what flows through.
    std::vector<ValuePlace> params;
    for (const Variable* param : fn->params)
      params.push_back({ValuePlace::Of::Parameter, param, {}, param->type});
    enter(*fn, dims, params);
    note_parameters();
    note_open_dims();
    return std::move(table_);
  }

 private:
  using Scope = std::unordered_map<const Variable*, ValuePlace>;

  /// Walks a function's body, of variables of its own; `places` are of its parameters, null for what is computed.
  void enter(const FnExpr& fn, const Substitution& dims, const std::vector<ValuePlace>& places) {
    ExprSubstitution at{{}, dims, nullptr};
    for (size_t i = 0; i < fn.params.size(); ++i) {
      const Variable* param = fn.params[i];
      const Variable* own = make_variable(*arena_, param->name, substitute(param->type, dims));
      at.variables[param] = arena_->make<VarExpr>(Expr{ExprKind::Var, own->type, fn.origin}, own);
      bound_.insert(own);
      if (i < places.size() && places[i].root) places_[own] = places[i];
    }
    walk(substitute(*arena_, fn.body, at));
  }

  // --- where values come from

  std::optional<ValuePlace> place_of(ExprPtr expr) {
    if (auto* e = as<VarExpr>(expr)) {
      if (auto known = places_.find(e->variable); known != places_.end()) return known->second;
      if (bound_.contains(e->variable)) return std::nullopt;
      return ValuePlace{ValuePlace::Of::Other, e->variable, {}, e->type};
    }
    if (auto* e = as<ConstExpr>(expr); e && !e->type->is_scalar())
      return ValuePlace{ValuePlace::Of::Other, e->value.get(), {}, e->type};
    if (auto* e = as<ViewExpr>(expr)) return place_of(e->tensor);
    if (auto* e = as<CheckDimsExpr>(expr)) return e->value ? place_of(e->value) : std::nullopt;
    auto* e = as<FieldExpr>(expr);
    auto place = e ? place_of(e->tuple) : std::nullopt;
    if (!place) return std::nullopt;
    if (place->of == ValuePlace::Of::Parameter) place->of = ValuePlace::Of::Field;
    place->path.push_back(e->index);
    place->type = e->type;
    return place;
  }

  void bind(const Variable* variable, ExprPtr value) {
    if (!variable) return;
    bound_.insert(variable);
    if (auto place = place_of(value)) places_[variable] = *place;
  }
  void bind(const Pattern& pattern, const std::optional<ValuePlace>& scrutinee) {
    if (pattern.variable) {
      bound_.insert(pattern.variable);
      if (scrutinee) places_[pattern.variable] = *scrutinee;
    }
    for (size_t i = 0; i < pattern.parts.size(); ++i) {
      auto part = scrutinee;
      if (part) {
        if (part->of == ValuePlace::Of::Parameter) part->of = ValuePlace::Of::Field;
        part->path.push_back(static_cast<uint32_t>(i));
        part->type = pattern.parts[i]->type;
      }
      bind(*pattern.parts[i], part);
    }
  }

  /// Notes what a layer reads; its first operand is what flows through it, where that is a parameter.
  void read(ExprPtr expr, bool is_first) {
    const auto place = place_of(expr);
    if (!place || !expr->type->is_tensor() || layer_ == kNone) return;
    if (is_first && place->of == ValuePlace::Of::Parameter) flowing_.insert(place->key());
    reads_.push_back({layer_, *place, elements_of(expr->type)});
  }

  // --- layers

  /// Calls of functions are layers as a whole: what stands inside has no lines of its own.
  size_t add(std::string name, ExprPtr expr, std::span<const ExprPtr> operands) {
    if (layer_ != kNone) return layer_;
    table_.layers.push_back({std::move(name), expr->type, dim_const(0), cost_alone(expr, operands)});
    return table_.layers.size() - 1;
  }

  /// The cost of a call by itself.
  KernelCost cost_alone(ExprPtr expr, std::span<const ExprPtr> operands) {
    const Optimised optimised = optimised_alone(expr, operands, arena_, functions_);
    if (!optimised.expr) return {nullptr, nullptr};
    const KernelCalls calls = kernel_calls(optimised.expr);
    KernelCost cost;
    for (const FnExpr* kernel : calls.kernels) cost += cost_of(*kernel);
    return calls.has_functions ? KernelCost{nullptr, nullptr} : cost;
  }

  void walk(ExprPtr expr) {
    visit(expr, [this](const auto& e) { look(e); });
  }
  void walk_children(const Expr& expr) {
    for_each_child(&expr, [this](ExprPtr child) { walk(child); });
  }
  /// Walks what makes up one layer.
  template <class Inside>
  void within(size_t layer, const Inside& inside) {
    const size_t before = std::exchange(layer_, layer);
    inside();
    layer_ = before;
  }

  void look(const OpCallExpr& e) {
    walk_children(e);
    within(add(e.instance->name, &e, e.args), [&] {
      for (size_t i = 0; i < e.args.size(); ++i) read(e.args[i], i == 0);
    });
  }

  void look(const CallExpr& e) {
    for (ExprPtr arg : e.args) walk(arg);
    if (auto* global = as<GlobalExpr>(e.callee)) return call(e, *global);
    auto* fn = as<FnExpr>(e.callee);
    if (!fn) walk(e.callee);
    if (auto* derivative = as<IntrinsicExpr>(e.callee))
      within(add(std::string(to_string(derivative->intrinsic)), &e, e.args), [&] { read_all(e.args); });
    else if (fn)
      enter(*fn, {}, places_of(e.args));
    else
      within(add(name_of(e.callee), &e, e.args), [&] { read_all(e.args); });
  }

  void call(const CallExpr& e, const GlobalExpr& global) {
    const std::string name(global.name);
    within(add("@" + name, &e, e.args), [&] {
      const Definition* callee = functions_.function(global.module, global.name);
      auto* fn = callee ? as<FnExpr>(callee->body) : nullptr;
      if (!fn || !calling_.insert(name).second) {
        if (std::ranges::find(table_.repeated, "@" + name) == table_.repeated.end())
          table_.repeated.push_back("@" + name);
        return read_all(e.args);
      }
      arena_->keep(callee->arena);
      Substitution given;
      for (size_t i = 0; i < global.dims.size(); ++i) given.dims[callee->scheme.dim_vars[i]] = global.dims[i];
      for (size_t i = 0; i < global.types.size(); ++i)
        given.types[callee->scheme.type_vars[i]] = global.types[i];
      enter(*fn, given, places_of(e.args));
      calling_.erase(name);
    });
  }

  void read_all(std::span<const ExprPtr> args) {
    for (ExprPtr arg : args) read(arg, true);
  }
  std::vector<ValuePlace> places_of(std::span<const ExprPtr> args) {
    std::vector<ValuePlace> places;
    for (ExprPtr arg : args)
      places.push_back(place_of(arg).value_or(ValuePlace{ValuePlace::Of::Other, nullptr}));
    return places;
  }
  static std::string name_of(ExprPtr callee) {
    auto* variable = as<VarExpr>(callee);
    return variable ? "%" + std::string(variable->variable->name) : "call";
  }

  // Index expressions read their tensors inside; all flow through.
  void look(const ComprehensionExpr& e) {
    std::vector<ExprPtr> tensors;
    tensors_in(&e, tensors);
    for (ExprPtr tensor : tensors) walk(tensor);
    within(add("[…] => …", &e, {}), [&] { read_all(tensors); });
  }
  static void tensors_in(ExprPtr expr, std::vector<ExprPtr>& tensors) {
    for_each_child(expr, [&](ExprPtr child) {
      const bool is_read = expr->kind == ExprKind::Read && child == as<ReadExpr>(expr)->tensor;
      is_read ? tensors.push_back(child) : tensors_in(child, tensors);
    });
  }

  void look(const BlockExpr& e) {
    for (const Binding& binding : e.bindings) {
      walk(binding.value);
      bind(binding.variable, binding.value);
    }
    walk(e.result);
  }
  void look(const IfExpr& e) {
    table_.has_arms = true;
    walk_children(e);
  }
  void look(const MatchExpr& e) {
    walk(e.scrutinee);
    table_.has_arms = table_.has_arms || e.arms.size() > 1;
    const auto scrutinee = place_of(e.scrutinee);
    for (const MatchArm& arm : e.arms) {
      bind(*arm.pattern, scrutinee);
      walk(arm.body);
    }
  }
  /// What a function that is no more than a value does is not done here.
  void look(const FnExpr&) {}
  template <class E>
  void look(const E& e) {
    walk_children(e);
  }

  // --- what is known at the end

  bool is_weight(const ValuePlace& place) const {
    return place.of != ValuePlace::Of::Parameter ||
           (has_fixed_shape(place.type) && !flowing_.contains(place.key()));
  }

  void note_parameters() {
    std::map<Key, Dim> all;
    std::set<std::pair<size_t, Key>> counted;
    for (const Read& read : reads_) {
      if (!is_weight(read.place)) continue;
      all[read.place.key()] = read.elements;
      if (!counted.insert({read.layer, read.place.key()}).second) continue;
      Layer& layer = table_.layers[read.layer];
      layer.parameters = dim_add(layer.parameters, read.elements);
    }
    for (const auto& [key, elements] : all) table_.parameters = dim_add(table_.parameters, elements);
  }

  void note_open_dims() {
    const auto note = [&](Dim variable) {
      const std::string name(variable->name);
      if (std::ranges::find(table_.open_dims, name) == table_.open_dims.end())
        table_.open_dims.push_back(name);
    };
    for (const Layer& layer : table_.layers) {
      for_each_dim_var(layer.type, note);
      if (layer.cost.operations) for_each_var(layer.cost.operations, note);
    }
  }

  static constexpr size_t kNone = SIZE_MAX;

  FunctionSource& functions_;
  std::shared_ptr<Arena> arena_;
  Scope places_;
  std::set<const Variable*> bound_;  ///< by the functions: the others are the session's
  std::set<std::string> calling_;
  std::vector<Read> reads_;
  std::set<Key> flowing_;
  size_t layer_ = kNone;  ///< that is walked
  LayerTable table_;
};

/// 1234567 as "1,234,567"; a formula where it is no number.
std::string exact_text(Dim dim) {
  const auto number = as_const(dim);
  if (!number) return to_string(dim);
  std::string text = std::to_string(*number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

}  // namespace

LayerTable layers_of(const Definition& definition, const Substitution& dims, FunctionSource& functions) {
  return Layers(functions).run(definition, dims);
}

std::string to_text(const LayerTable& table) {
  std::vector<std::vector<std::string>> rows{{"layer", "result", "parameters", "FLOPs", "bytes"}};
  KernelCost all;
  for (const Layer& layer : table.layers) {
    all += layer.cost;
    rows.push_back({layer.name, shape_text(layer.type), exact_text(layer.parameters),
                    dim_text(layer.cost.operations), dim_text(layer.cost.bytes)});
  }
  rows.push_back({"all", "", exact_text(table.parameters), dim_text(all.operations), dim_text(all.bytes)});
  std::string text = columns_text(rows, "llrrr");
  if (table.has_arms) text += "all arms of `if` and `match` are counted, of which one is evaluated\n";
  if (!table.repeated.empty())
    text += fmt::format("{} call{} itself: what that does is not counted\n", fmt::join(table.repeated, ", "),
                        table.repeated.size() == 1 ? "s" : "");
  return text;
}

}  // namespace quern
