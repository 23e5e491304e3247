#include "passes/gradient/reverse.h"

#include <algorithm>

#include "frontend/infer/infer.h"
#include "ir/expr/effects.h"
#include "passes/gradient/element/split_reductions.h"
#include "passes/gradient/scan_gradient.h"
#include "passes/scan_over.h"

namespace quern {

namespace {

// The cotangent of a value: tensors to be summed, or one cotangent per tuple field.
struct Cotangent {
  std::vector<ExprPtr> terms;
  std::vector<Cotangent> fields;
  bool is_zero() const {
    return terms.empty() && std::ranges::all_of(fields, [](const Cotangent& f) { return f.is_zero(); });
  }
};

void add_to(Cotangent& sum, const Cotangent& more) {
  sum.terms.insert(sum.terms.end(), more.terms.begin(), more.terms.end());
  if (sum.fields.size() < more.fields.size()) sum.fields.resize(more.fields.size());
  for (size_t i = 0; i < more.fields.size(); ++i) add_to(sum.fields[i], more.fields[i]);
}

std::string described(ExprPtr expr) {
  if (auto* e = as<ExternExpr>(expr)) return "`" + std::string(e->kernel) + "` has no derivative";
  if (as<CallExpr>(expr))
    return "a call of a function that calls itself, or that is known only when the program runs";
  if (as<MatchExpr>(expr) || as<ConstructExpr>(expr))
    return "values of data types are not differentiated yet";
  const Effects effects = own_effects(expr);
  if (effects.has(Effect::NewReference) || effects.uses_references())
    return "references are not differentiated yet";
  return "this has no derivative";
}

class Reverse {
 public:
  /// With `explained` no adjoint is made: it only finds parts without one and, for the reads that it accepts,
  /// scatters.
  Reverse(Arena& arena, Origin origin, const std::function<bool(Origin)>* explained = nullptr)
      : arena_(arena), build_(arena, origin), explained_(explained) {}

  const std::vector<ScatterFallback>& fallbacks() const { return fallbacks_; }

  std::variant<VectorJacobian, std::vector<Underivable>> run(const FnExpr& function) {
    std::vector<const Variable*> params(function.params.begin(), function.params.end());
    const Variable* cotangent = make_variable(arena_, "cotangent", gradient_type(function.body->type));
    ExprPtr value = with_value(function.body, of_value(read(cotangent)));
    // They were found in reverse order.
    std::ranges::reverse(underivable_);
    if (!underivable_.empty()) return underivable_;
    std::vector<ExprPtr> gradients;
    gradients.reserve(params.size());
    for (const Variable* param : params) gradients.push_back(total(cotangents_[param], param->type));
    ExprPtr result = tuple({value, tuple(gradients)});
    params.push_back(cotangent);
    ExprPtr body = block_of(arena_, bindings_, result, function.origin);
    return VectorJacobian{function_literal(arena_, params, function.dim_vars, body, function.origin),
                          fallbacks_};
  }

 private:
  ExprPtr read(const Variable* variable) { return read_of(arena_, variable, build_.origin()); }
  ExprPtr bind(std::string_view name, ExprPtr value) {
    const Variable* variable = make_variable(arena_, arena_.copy(name), value->type);
    bindings_.push_back({variable, value});
    return read(variable);
  }
  ExprPtr tuple(const std::vector<ExprPtr>& fields) { return build_.tuple(fields); }

  // A cotangent from a value: a tensor, or a tuple of them.
  Cotangent of_value(ExprPtr value) {
    if (value->type->is_tensor()) return {{value}, {}};
    Cotangent out;
    for (uint32_t i = 0; i < value->type->args.size(); ++i) {
      ExprPtr field = arena_.make<FieldExpr>(Expr{ExprKind::Field, value->type->args[i], build_.origin()},
                                             value, i, std::string_view());
      out.fields.push_back(of_value(bind("part", field)));
    }
    return out;
  }

  ExprPtr total(const Cotangent& cotangent, Type type) {
    if (type->is_tensor()) {
      if (!type->dtype.is_float()) return tuple({});
      return sum(cotangent.terms, type);
    }
    if (type->kind != TypeKind::Tuple) return tuple({});
    std::vector<ExprPtr> fields;
    for (size_t i = 0; i < type->args.size(); ++i)
      fields.push_back(total(i < cotangent.fields.size() ? cotangent.fields[i] : Cotangent(), type->args[i]));
    return tuple(fields);
  }

  static Type open_any(Type type, std::vector<Dim>& opened) {
    std::vector<Type> fields;
    if (type->kind == TypeKind::Tuple) {
      for (Type field : type->args) fields.push_back(open_any(field, opened));
      return tuple_type(fields);
    }
    if (!type->is_tensor()) return type;
    std::vector<Dim> dims;
    for (Dim d : type->dims) {
      if (d->kind == DimKind::Any) opened.push_back(d = dim_opened("d"));
      dims.push_back(d);
    }
    return tensor_type(dims, type->dtype);
  }

  // The sum of tensors of one shape; zeros if there are none.
  ExprPtr sum(const std::vector<ExprPtr>& terms, Type type) {
    if (terms.size() == 1 || (explained_ && !terms.empty())) return terms[0];
    // If a dim is `?`, the tensor's readers have opened it.
    if (!terms.empty()) type = terms[0]->type;
    std::vector<Dim> vars;
    for (size_t k = 0; k < type->dims.size(); ++k) vars.push_back(dim_var("i"));
    ExprPtr element = nullptr;
    for (ExprPtr term : terms) {
      ExprPtr one = build_.read(term, vars);
      element = element ? build_.add(element, one) : one;
    }
    if (!element) element = build_.constant(0, type->dtype);
    return bind("total", build_.comprehension(vars, type->dims, element));
  }

  // --- backwards

  // The function's result is computed on the way.
  ExprPtr with_value(ExprPtr body, const Cotangent& cotangent) {
    auto* block = as<BlockExpr>(body);
    std::vector<Binding> bindings;
    if (block) bindings.assign(block->bindings.begin(), block->bindings.end());
    ExprPtr last = block ? block->result : body;
    const Variable* variable = make_variable(arena_, "value", last->type);
    bindings.push_back({variable, last});
    backward_of(block_of(arena_, bindings, read(variable), body->origin), cotangent);
    return read(variable);
  }

  // First the forward values, then their cotangents in reverse.
  void backward_of(ExprPtr expr, Cotangent cotangent) {
    if (auto* block = as<BlockExpr>(expr)) {
      std::vector<Binding> forward;
      ExprSubstitution known;
      auto renamed = [&](ExprPtr e) -> ExprPtr {
        if (known.variables.empty()) return e;
        auto* check = as<CheckDimsExpr>(e);
        if (!check || !check->value) return substitute(arena_, e, known);
        // A copy would open dims of its own, and later bindings name these.
        Expr head = *check;
        return arena_.make<CheckDimsExpr>(head, substitute(arena_, check->value, known), check->opened,
                                          check->conditions);
      };
      for (const Binding& b : block->bindings) {
        split({b.variable, renamed(b.value)}, forward);
        if (b.variable) open_dims(b.variable, known, forward);
      }
      bindings_.insert(bindings_.end(), forward.begin(), forward.end());
      backward_of(renamed(block->result), std::move(cotangent));
      for (size_t i = forward.size(); i-- > 0;) {
        const Variable* variable = forward[i].variable;
        if (!variable || !cotangents_.contains(variable)) continue;
        value(forward[i].value, cotangents_.at(variable));
      }
      return;
    }
    value(expr, cotangent);
  }

  // Later code sees the open dims of a shape as dims, and a gradient has the same shape.
  void open_dims(const Variable* variable, ExprSubstitution& known, std::vector<Binding>& out) {
    std::vector<Dim> opened;
    Type type = open_any(variable->type, opened);
    if (opened.empty()) return;
    const Variable* exact = make_variable(arena_, variable->name, type);
    ExprPtr value = read(variable);
    out.push_back({exact, arena_.make<CheckDimsExpr>(Expr{ExprKind::CheckDims, type, value->origin}, value,
                                                     arena_.copy(opened), std::span<const DimCondition>())});
    known.variables.emplace(variable, read(exact));
  }

  void split(const Binding& binding, std::vector<Binding>& out) {
    if (auto* scan = as_scan(binding.value)) return split_scan(binding.variable, *scan, out);
    auto* comprehension = as<ComprehensionExpr>(binding.value);
    if (!comprehension || as<ScatterExpr>(comprehension->body)) return out.push_back(binding);
    ExprPtr element = split_reductions(ScalarBuilder(arena_, binding.value->origin), *comprehension, out);
    out.push_back({binding.variable, element});
  }

  // The scan that keeps what the backward one needs, and its two results.
  void split_scan(const Variable* variable, const IntrinsicExpr& scan, std::vector<Binding>& out) {
    auto made = scan_gradient(arena_, scan);
    if (auto* problems = std::get_if<std::vector<Underivable>>(&made)) {
      underivable_.insert(underivable_.end(), problems->rbegin(), problems->rend());
      return out.push_back({variable, &scan});
    }
    auto& gradient = std::get<ScanGradient>(made);
    for (const ScatterFallback& f : gradient.fallbacks)
      if (!explained_ || (*explained_)(f.origin)) fallbacks_.push_back(f);
    auto named = [&](std::string_view name, ExprPtr value) {
      out.push_back({make_variable(arena_, name, value->type), value});
      return read(out.back().variable);
    };
    ExprPtr whole = named("kept", gradient.forward), rows = named("rows", field_of(whole, 1));
    ExprPtr carry = named("carry", field_of(whole, 0)), result = named("rows", field_of(rows, 0));
    const IntrinsicExpr* forward = gradient.forward;
    scans_.emplace(forward, Scanned{std::move(gradient), field_of(rows, 1)});
    if (variable) out.push_back({variable, tuple({carry, result})});
  }

  // The scan backwards: from the cotangents of the last carry and of the rows.
  void scan(const IntrinsicExpr& e, const Cotangent& cotangent) {
    if (!scans_.contains(&e)) {
      std::vector<Binding> forward;
      const Variable* whole = make_variable(arena_, "scan", e.type);
      split_scan(whole, e, forward);
      if (forward.back().value == &e) return;
      bindings_.insert(bindings_.end(), forward.begin(), forward.end());
      add_to(cotangents_[whole], cotangent);
      for (size_t i = forward.size(); i-- > 0;)
        if (auto known = cotangents_.find(forward[i].variable); known != cotangents_.end())
          value(forward[i].value, Cotangent(known->second));
      return;
    }
    const auto& [gradient, kept] = scans_.at(&e);
    auto part = [](const Cotangent& of, size_t i) {
      return i < of.fields.size() ? of.fields[i] : Cotangent();
    };
    const Type carry = e.args[1]->type, rows = e.type->args[1]->args[0];
    std::vector<ExprPtr> begin{total(part(cotangent, 0), carry)};
    for (const Variable* v : gradient.captured) begin.push_back(total(Cotangent(), v->type));
    ExprPtr over = tuple({e.args[2], kept, total(part(part(cotangent, 1), 0), rows)});
    ExprPtr made =
        bind("backward", scan_over(arena_, e.origin, gradient.backward, tuple(begin), over, !is_reverse(e)));
    ExprPtr gradients = bind("gradients", field_of(made, 0));
    value(e.args[1], of_value(bind("carry", field_of(gradients, 0))));
    value(e.args[2], of_value(bind("rows", field_of(made, 1))));
    for (uint32_t i = 0; i < gradient.captured.size(); ++i)
      add_to(cotangents_[gradient.captured[i]], of_value(bind("part", field_of(gradients, i + 1))));
  }

  ExprPtr field_of(ExprPtr of, uint32_t index) {
    return arena_.make<FieldExpr>(Expr{ExprKind::Field, of->type->args[index], build_.origin()}, of, index,
                                  std::string_view());
  }

  void value(ExprPtr expr, const Cotangent& cotangent) {
    if (cotangent.is_zero() || !has_floats(expr->type)) return;
    visit(expr, overloaded{[&](const VarExpr& e) { add_to(cotangents_[e.variable], cotangent); },
                           [&](const TupleExpr& e) {
                             for (size_t i = 0; i < e.fields.size() && i < cotangent.fields.size(); ++i)
                               value(e.fields[i], cotangent.fields[i]);
                           },
                           [&](const FieldExpr& e) { field(e, cotangent); },
                           [&](const ComprehensionExpr& e) { element(e, sum(cotangent.terms, e.type)); },
                           [&](const ViewExpr& e) {
                             ExprPtr whole = sum(cotangent.terms, e.type);
                             Expr head{ExprKind::View, e.tensor->type, e.origin};
                             value(e.tensor, {{bind("view", arena_.make<ViewExpr>(head, whole))}, {}});
                           },
                           [&](const CheckDimsExpr& e) { value(e.value, cotangent); },
                           [&](const BlockExpr&) { backward_of(expr, cotangent); },
                           [&](const IfExpr& e) { branch(e, cotangent); }, [](const ConstExpr&) {},
                           [&](const IntrinsicExpr& e) { intrinsic(e, cotangent); },
                           [&](const ExternExpr&) { refuse(expr); },
                           [&](const NodeWithout<KindFacts::Derivative::Tensors> auto&) { refuse(expr); }});
  }

  // The cotangents of an arm are computed in an arm: a tuple with one per variable that either arm uses.
  void branch(const IfExpr& e, const Cotangent& cotangent) {
    struct Arm {
      ExprPtr body;
      std::vector<Binding> bindings;
      std::unordered_map<const Variable*, Cotangent> cotangents;
    };
    Arm arms[] = {{e.then_arm, {}, {}}, {e.else_arm, {}, {}}};
    std::vector<const Variable*> used;
    for (Arm& arm : arms) {
      inside(arm, [&] { backward_of(arm.body, cotangent); });
      for (const Variable* v : free_variables(arm.body))
        if (arm.cotangents.contains(v) && !std::ranges::count(used, v)) used.push_back(v);
    }
    std::vector<ExprPtr> results;
    for (Arm& arm : arms) {
      ExprPtr all = nullptr;
      inside(arm, [&] {
        std::vector<ExprPtr> parts;
        parts.reserve(used.size());
        for (const Variable* v : used) parts.push_back(total(cotangents_[v], v->type));
        all = tuple(parts);
      });
      results.push_back(
          arena_.make<BlockExpr>(Expr{ExprKind::Block, all->type, e.origin}, arena_.copy(arm.bindings), all));
    }
    ExprPtr both = bind("arms", arena_.make<IfExpr>(Expr{ExprKind::If, results[0]->type, e.origin},
                                                    e.condition, results[0], results[1]));
    Cotangent parts = of_value(both);
    for (size_t i = 0; i < used.size(); ++i) add_to(cotangents_[used[i]], parts.fields[i]);
  }

  // Runs with an arm's bindings and cotangents instead of the enclosing ones.
  template <class Arm, class F>
  void inside(Arm& arm, F&& run) {
    std::swap(arm.bindings, bindings_);
    std::swap(arm.cotangents, cotangents_);
    run();
    std::swap(arm.bindings, bindings_);
    std::swap(arm.cotangents, cotangents_);
  }

  void intrinsic(const IntrinsicExpr& e, const Cotangent& cotangent) {
    if (e.intrinsic == IntrinsicKind::StopGradient || e.intrinsic == IntrinsicKind::Clock ||
        e.intrinsic == IntrinsicKind::NextKey)
      return;
    if (e.intrinsic == IntrinsicKind::ScanOver) return scan(e, cotangent);
    if (e.intrinsic == IntrinsicKind::ToDevice) return to_device(e, cotangent);
    if (e.intrinsic != IntrinsicKind::WithGradient) return refuse(&e);
    Type clause = e.args[1]->type;
    std::vector<ExprPtr> args{total(cotangent, gradient_type(e.args[0]->type)), e.args[0]};
    args.resize(clause->params().size());
    Expr head{ExprKind::Call, clause->result(), e.origin};
    ExprPtr gradients = bind("own", arena_.make<CallExpr>(head, e.args[1], arena_.copy(args)));
    Cotangent parts = of_value(gradients);
    std::span<const ExprPtr> operands = e.args.subspan(2);
    for (size_t k = 0; k < operands.size(); ++k)
      value(operands[k], operands.size() == 1 ? parts : parts.fields[k]);
  }

  /// The cotangent goes back the way that the value came.
  void to_device(const IntrinsicExpr& e, const Cotangent& cotangent) {
    ExprPtr whole = total(cotangent, gradient_type(e.type));
    const std::vector<std::string_view> back{e.texts[1], e.texts[0]};
    ExprPtr gone = arena_.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, whole->type, e.origin}, e.intrinsic,
                                              arena_.copy(std::vector{whole}), arena_.copy(back));
    value(e.args[0], of_value(bind("cotangent", gone)));
  }

  void field(const FieldExpr& e, const Cotangent& cotangent) {
    if (e.tuple->type->kind != TypeKind::Tuple) return refuse(&e);
    Cotangent whole;
    whole.fields.resize(e.tuple->type->args.size());
    whole.fields[e.index] = cotangent;
    value(e.tuple, whole);
  }

  void element(const ComprehensionExpr& e, ExprPtr cotangent) {
    if (explained_) return look_at(e, cotangent);
    Adjoint made = adjoint(arena_, e, cotangent);
    bindings_.insert(bindings_.end(), made.bindings.begin(), made.bindings.end());
    fallbacks_.insert(fallbacks_.end(), made.fallbacks.begin(), made.fallbacks.end());
    for (const auto& [variable, gradient] : made.gradients) add_to(cotangents_[variable], {{gradient}, {}});
  }

  void look_at(const ComprehensionExpr& e, ExprPtr cotangent) {
    for (const auto& [variable, of] : contributions(build_, e, cotangent).of) {
      add_to(cotangents_[variable], {{read(variable)}, {}});
      for (const Contribution& c : of) {
        if (!(*explained_)(c.read->origin)) continue;
        if (auto reason = scatter_reason(c, variable->type->dims))
          fallbacks_.push_back({c.read->origin, *reason});
      }
    }
  }

  void refuse(ExprPtr expr) {
    auto same = [&](const Underivable& p) { return p.origin == expr->origin; };
    if (std::ranges::none_of(underivable_, same)) underivable_.push_back(no_derivative(expr));
  }

  Arena& arena_;
  ScalarBuilder build_;
  const std::function<bool(Origin)>* explained_;
  struct Scanned {
    ScanGradient gradient;
    ExprPtr kept;  ///< rows
  };
  std::unordered_map<const IntrinsicExpr*, Scanned> scans_;  ///< by their forward scans
  std::unordered_map<const Variable*, Cotangent> cotangents_;
  std::vector<Binding> bindings_;
  std::vector<ScatterFallback> fallbacks_;
  std::vector<Underivable> underivable_;
};

}  // namespace

Underivable no_derivative(ExprPtr expr) { return {expr->origin, described(expr)}; }

GradientOutlook gradient_outlook(const FnExpr& function, const std::function<bool(Origin)>& explained) {
  Arena arena;
  Reverse reverse(arena, function.origin, &explained);
  auto result = reverse.run(function);
  auto* parts = std::get_if<std::vector<Underivable>>(&result);
  return {parts ? std::move(*parts) : std::vector<Underivable>(), reverse.fallbacks()};
}

std::variant<VectorJacobian, std::vector<Underivable>> vector_jacobian(Arena& arena, const FnExpr& function) {
  return Reverse(arena, function.origin).run(function);
}

}  // namespace quern
