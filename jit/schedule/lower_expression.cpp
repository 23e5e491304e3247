// From index expressions to what a primitive computes for one element.

#include "jit/schedule/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/result.h"
#include "jit/schedule/statements.h"
#include "passes/dim_conditions.h"
#include "passes/row_group.h"

namespace quern::loops {

namespace {

constexpr std::string_view kDivisionByZero = "index arithmetic divides by zero";

ValuePtr make(Value value) { return std::make_shared<const Value>(std::move(value)); }

ValuePtr index_value(Dim dim) {
  Value v{ValueKind::Index, DType::index()};
  v.dim = dim;
  return make(std::move(v));
}

// Elements between neighbours along each axis of a dense row-major tensor.
std::vector<Dim> strides_of(std::span<const Dim> shape) {
  std::vector<Dim> strides(shape.size(), nullptr);
  Dim stride = dim_const(1);
  for (size_t k = shape.size(); k-- > 0;) {
    strides[k] = stride;
    stride = dim_mul(stride, shape[k]);
  }
  return strides;
}

// The shape with the lanes of vectors as the last axis.
std::vector<Dim> shape_in_lanes(std::span<const Dim> dims, DType dtype) {
  std::vector<Dim> shape(dims.begin(), dims.end());
  if (dtype.is_vector()) shape.push_back(dim_const(dtype.lanes));
  return shape;
}

using Params = std::span<const Variable* const>;
/// What stages of a row were bound to: a local, or what is in the result's memory.
using StageValues = std::unordered_map<const Variable*, ValuePtr>;

class Lowering {
 public:
  explicit Lowering(Params params, const ComprehensionExpr& body, const StageValues* stages = nullptr,
                    int first_local = 0)
      : body_(body), dtype_(body_.type->dtype), stages_(stages) {
    result_.locals = first_local;
    for (const Variable* param : params) add_buffer(param);
    result_.extents = shape_in_lanes(body_.extents, dtype_);
    output_ = static_cast<int>(result_.buffers.size());
    result_.buffers.push_back({"out", dtype_.lane(), result_.extents, true});
    result_.vars.assign(body_.vars.begin(), body_.vars.end());
    if (dtype_.is_vector()) result_.vars.push_back(lane_ = dim_var("lane"));
    for (size_t k = 0; k < result_.vars.size(); ++k) enter(result_.vars[k], result_.extents[k]);
  }

  /// Tensors that are read beside the parameters.
  void add_scratch(std::span<const RowStage> stages) {
    for (const RowStage& stage : stages) {
      add_buffer(stage.variable);
      result_.buffers.back().is_scratch = true;
    }
  }

  Computation run() {
    auto* scatter = as<ScatterExpr>(body_.body);
    result_.value = value(scatter ? scatter->init : body_.body, result_.reductions);
    if (scatter) result_.scatter = this->scatter(*scatter);
    Dim offset = dim_const(0);
    std::vector<Dim> strides = strides_of(result_.extents);
    for (size_t k = 0; k < strides.size(); ++k)
      offset = dim_add(offset, dim_mul(result_.vars[k], strides[k]));
    result_.store_offset = offset;
    collect_dims();
    return std::move(result_);
  }

 private:
  void add_buffer(const Variable* param) {
    buffer_of_.emplace(param, static_cast<int>(result_.buffers.size()));
    // The same name twice would make the text ambiguous.
    std::string name(param->name);
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
    for (const Buffer& b : result_.buffers)
      if (b.name == name) name += "_" + std::to_string(result_.buffers.size());
    if (name == "out") name = "out_" + std::to_string(result_.buffers.size());
    DType dtype = param->type->dtype;
    result_.buffers.push_back({name, dtype.lane(), shape_in_lanes(param->type->dims, dtype), false});
  }

  // Where the current lane of an element is. A vector with other lanes than the result's is bound by a `let`
  // that the result does not use: of it, any lane will do.
  Dim lane_of(DType dtype) const {
    return dtype.is_vector() && dtype.lanes == dtype_.lanes ? lane_ : dim_const(0);
  }

  ValuePtr value(ExprPtr expr, std::vector<Reduction>& reductions) {
    switch (expr->kind) {
      case ExprKind::Const: return constant(*static_cast<const ConstExpr*>(expr)->value);
      case ExprKind::DimValue: return index_of(static_cast<const DimValueExpr*>(expr)->dim);
      case ExprKind::Scalar: {
        auto* e = static_cast<const ScalarExpr*>(expr);
        DType dtype = expr->type->dtype.lane();
        if (e->is_cast) return cast_to(value(e->args[0], reductions), dtype);
        return apply(*e, dtype, reductions);
      }
      case ExprKind::If: {
        auto* e = static_cast<const IfExpr*>(expr);
        Value v{ValueKind::Select, expr->type->dtype.lane()};
        ValuePtr condition = value(e->condition, reductions);
        v.args = {condition, value_where(condition, true, e->then_arm, reductions),
                  value_where(condition, false, e->else_arm, reductions)};
        return make(std::move(v));
      }
      case ExprKind::Var: {
        auto* var = static_cast<const VarExpr*>(expr);
        auto let = lets_.find(var->variable);
        return let == lets_.end() ? load(*var) : let->second;
      }
      case ExprKind::Block: {
        auto* block = static_cast<const BlockExpr*>(expr);
        for (const Binding& b : block->bindings) bind(b, reductions);
        return value(block->result, reductions);
      }
      case ExprKind::Read: return read(*static_cast<const ReadExpr*>(expr), reductions);
      case ExprKind::Reduce: return reduce(*static_cast<const ReduceExpr*>(expr), reductions);
      case ExprKind::Scan: return scan(*static_cast<const ScanExpr*>(expr), reductions);
      default: break;
    }
    QUERN_CHECK(false && "an index expression holds a node that has no element");
    return nullptr;
  }

  ValuePtr apply(const ScalarExpr& e, DType dtype, std::vector<Reduction>& reductions) {
    Value v{ValueKind::Apply, dtype};
    v.op = e.op;
    const bool is_lazy = e.op == ScalarOp::And || e.op == ScalarOp::Or;
    for (ExprPtr arg : e.args)
      v.args.push_back(is_lazy && !v.args.empty()
                           ? value_where(v.args[0], e.op == ScalarOp::And, arg, reductions)
                           : value(arg, reductions));
    if (divides_index(e)) {
      BoundsCheck not_zero{nullptr, choose(equal_to_zero(v.args[1]), -1, 0), dim_const(1)};
      stop_unless(v, {std::move(not_zero)}, kDivisionByZero);
    }
    return make(std::move(v));
  }

  // --- conditions

  void enter(Dim var, Dim extent) {
    index_vars_.insert(var);
    facts_.add_index(var, extent);
  }

  /// The value of an arm, which is asked for only where the condition is as `wanted`.
  ValuePtr value_where(const ValuePtr& condition, bool wanted, ExprPtr arm,
                       std::vector<Reduction>& reductions) {
    BoundsCheck guard{nullptr, wanted ? choose(condition, 0, -1) : choose(condition, -1, 0), dim_const(1)};
    guard.is_guard = true;
    guards_.push_back(std::move(guard));
    ValuePtr result = value(arm, reductions);
    guards_.pop_back();
    return result;
  }

  static ValuePtr choose(const ValuePtr& condition, int64_t then, int64_t otherwise) {
    Value v{ValueKind::Select, DType::index()};
    v.args = {condition, index_value(dim_const(then)), index_value(dim_const(otherwise))};
    return make(std::move(v));
  }
  static ValuePtr equal_to_zero(const ValuePtr& index) {
    Value v{ValueKind::Apply, DType::boolean()};
    v.op = ScalarOp::Eq;
    v.args = {index, index_value(dim_const(0))};
    return make(std::move(v));
  }

  /// The kernel stops where a check fails and somebody looks at the value.
  void stop_unless(Value& v, std::vector<BoundsCheck> checks, std::string_view message) {
    v.checks.insert(v.checks.end(), std::make_move_iterator(checks.begin()),
                    std::make_move_iterator(checks.end()));
    v.checks.insert(v.checks.end(), guards_.begin(), guards_.end());
    result_.traps.emplace_back(message);
    v.trap = static_cast<int>(result_.traps.size());
  }

  /// That no divisor is 0, of those that may be.
  std::vector<BoundsCheck> divisor_checks(Dim d) const {
    std::vector<BoundsCheck> checks;
    for_each_quotient(d, [&](Dim quotient) {
      const Dim divisor = quotient->args[1], one = dim_const(1);
      if (is_never_zero(divisor)) return;
      const Dim size = prove_nonnegative(divisor, facts_) ? divisor : dim_mul(divisor, divisor);
      const BoundsCheck check{dim_sub(size, one), nullptr, size};
      if (!contains(checks, check)) checks.push_back(check);
    });
    return checks;
  }

  /// Whether it divides an index by what may be 0.
  bool divides_index(const ScalarExpr& e) const {
    if (!is_division(e.op) || !e.args[0]->type->dtype.is_index()) return false;
    auto* divisor = as<DimValueExpr>(e.args[1]);
    return !divisor || !is_never_zero(divisor->dim);
  }

  bool is_never_zero(Dim d) const {
    return prove_less(dim_const(0), d, facts_) || prove_less(d, dim_const(0), facts_);
  }

  ValuePtr index_of(Dim d) {
    Value v{ValueKind::Index, DType::index()};
    v.dim = d;
    if (auto checks = divisor_checks(d); !checks.empty()) stop_unless(v, std::move(checks), kDivisionByZero);
    return make(std::move(v));
  }

  /// An extent that has a value only where the reduction is asked for.
  void require_extents(std::span<const Dim> extents, std::vector<Reduction>& reductions) {
    for (const Dim extent : extents) {
      if (divisor_checks(extent).empty()) continue;
      Reduction let{ReduceKind::Sum, {}, {}};
      let.is_let = true;
      let.value = index_of(extent);
      let.accumulator = DType::index();
      let.local = result_.locals++;
      reductions.push_back(std::move(let));
    }
  }

  bool is_inside(Dim index, Dim extent) const {
    return prove_nonnegative(index, facts_) && prove_less(index, extent, facts_);
  }

  // A vector whose lanes differ is no atom (passes/pass.h), and a parameter.
  static ValuePtr constant(const HostTensor& tensor) {
    QUERN_CHECK(lanes_agree(tensor));
    Value v{ValueKind::Const, tensor.dtype().lane()};
    v.constant.dtype = v.dtype;
    std::copy_n(tensor.data(), v.dtype.bytes(), reinterpret_cast<std::byte*>(&v.constant.bits));
    return make(std::move(v));
  }

  void bind(const Binding& binding, std::vector<Reduction>& reductions) {
    Reduction let{ReduceKind::Sum, {}, {}};
    let.is_let = true;
    let.value = value(binding.value, let.inner);
    let.accumulator = let.value->dtype;
    let.local = result_.locals++;
    lets_[binding.variable] = value_of(let.local, let.accumulator);
    reductions.push_back(std::move(let));
  }

  ValuePtr load(const VarExpr& var) {
    Value v{ValueKind::Load, var.type->dtype.lane()};
    v.buffer = buffer_of_.at(var.variable);
    v.dim = lane_of(var.type->dtype);
    return make(std::move(v));
  }

  ValuePtr read(const ReadExpr& e, std::vector<Reduction>& reductions) {
    Value v{ValueKind::Load, e.type->dtype.lane()};
    const Variable* tensor = as<VarExpr>(e.tensor)->variable;
    const auto buffer = buffer_of_.find(tensor);
    v.buffer = buffer == buffer_of_.end() ? output_ : buffer->second;
    if (stages_)
      if (const auto stage = stages_->find(tensor); stage != stages_->end() && stage->second)
        return stage->second;
    v.dim = lane_of(e.type->dtype);
    std::vector<Dim> strides = strides_of(shape_in_lanes(e.tensor->type->dims, e.type->dtype));
    bool may_fail = false;
    for (size_t k = 0; k < e.indices.size(); ++k) {
      Dim extent = e.tensor->type->dims[k];
      BoundsCheck check{nullptr, nullptr, extent};
      auto* dim = as<DimValueExpr>(e.indices[k]);
      if (dim && divisor_checks(dim->dim).empty()) {
        v.dim = dim_add(v.dim, dim_mul(dim->dim, strides[k]));
        check.index = dim->dim;
      } else {
        check.computed = value(e.indices[k], reductions);
        v.computed.push_back({check.computed, strides[k]});
      }
      check.stride = strides[k];
      if (check.index) v.indices.push_back(check.index);
      may_fail |= e.checked[k];
      // What is proved under a condition may be wrong where that does not hold.
      const bool is_proved = guards_.empty() || (check.index && is_inside(check.index, extent));
      if (e.checked[k] || !is_proved) v.checks.push_back(std::move(check));
    }
    if (!v.computed.empty()) v.indices.clear();
    if (!v.indices.empty() && e.type->dtype.is_vector()) v.indices.push_back(lane_of(e.type->dtype));
    if (e.otherwise) {
      v.otherwise = value(e.otherwise, reductions);
    } else if (may_fail) {
      stop_unless(v, {},
                  fmt::format("an index is out of bounds for a tensor of shape {}",
                              shape_to_string(e.tensor->type->dims)));
    } else if (!v.checks.empty()) {
      v.otherwise = loops::constant(Scalar::from_int(v.dtype, 0));
    }
    return make(std::move(v));
  }

  ValuePtr reduce(const ReduceExpr& e, std::vector<Reduction>& reductions) {
    require_extents(e.extents, reductions);
    Reduction r{e.reduce, {e.vars.begin(), e.vars.end()}, {e.extents.begin(), e.extents.end()}};
    const Facts outer = facts_;
    for (size_t k = 0; k < e.vars.size(); ++k) enter(e.vars[k], e.extents[k]);
    term(e, r);
    facts_ = outer;
    DType element = r.value->dtype;
    r.accumulator = accumulator_dtype(element);
    r.local = result_.locals++;
    if (r.accumulator != element) r.value = cast_to(r.value, r.accumulator);
    if (is_arg(e.reduce)) {
      r.index_local = result_.locals++;
      Dim position = dim_const(0);
      std::vector<Dim> strides = strides_of(r.extents);
      for (size_t k = 0; k < r.vars.size(); ++k) position = dim_add(position, dim_mul(r.vars[k], strides[k]));
      r.index_value = index_value(position);
      auto count = as_const(dim_product(r.extents));
      if (!count || *count == 0) {
        result_.traps.push_back(fmt::format("{} of an empty range", to_string(e.reduce)));
        r.trap = static_cast<int>(result_.traps.size());
      }
    }
    Value v{ValueKind::Local, is_arg(e.reduce) ? DType::index() : r.accumulator};
    v.local = is_arg(e.reduce) ? r.index_local : r.local;
    reductions.push_back(std::move(r));
    ValuePtr result = make(std::move(v));
    return is_arg(e.reduce) ? result : cast_to(result, e.type->dtype.lane());
  }

  /// A term that counts only where dims meet a condition, and is what the reduction starts from elsewhere, is
  /// left out by checks of the reduction, as that of padding is.
  void term(const ReduceExpr& e, Reduction& r) {
    auto* choice = as<IfExpr>(e.body);
    auto* nothing = choice ? as<ConstExpr>(choice->else_arm) : nullptr;
    std::vector<Dim> nonnegative, zero;
    const bool is_conditional =
        !is_arg(e.reduce) && nothing && lanes_agree(*nothing->value) &&
        constant(*nothing->value)->constant == reduce_identity(e.reduce, nothing->type->dtype.lane()) &&
        dim_conditions(choice->condition, nonnegative, zero);
    if (!is_conditional) {
      r.value = value(e.body, r.inner);
      if (!is_arg(r.kind)) collect_absence(*r.value, r.kind, r.checks);
      return;
    }
    r.value = value_where(value(choice->condition, r.inner), true, choice->then_arm, r.inner);
    collect_absence(*r.value, r.kind, r.checks);
    Facts known = facts_;
    for (const BoundsCheck& check : r.checks) {
      if (check.computed) continue;
      known.add_nonnegative(check.index);
      known.add_nonnegative(dim_sub(dim_sub(check.extent, check.index), dim_const(1)));
    }
    for (Dim d : zero) r.checks.push_back({d, nullptr, dim_const(1)});
    std::erase_if(nonnegative, [&](Dim d) { return prove_nonnegative(d, known); });
    add_checks(nonnegative, r.checks);
  }

  /// Tests that dims are not negative: one for two of them whose sum no index moves.
  void add_checks(std::vector<Dim> nonnegative, std::vector<BoundsCheck>& checks) const {
    const auto moves = [&](Dim d) {
      bool any = false;
      for_each_var(d, [&](Dim var) { any |= index_vars_.contains(var); });
      return any;
    };
    while (!nonnegative.empty()) {
      const Dim index = nonnegative.front();
      nonnegative.erase(nonnegative.begin());
      const auto other =
          std::ranges::find_if(nonnegative, [&](Dim d) { return moves(index) && !moves(dim_add(index, d)); });
      const Dim last = other == nonnegative.end() ? index : dim_add(index, *other);
      if (other != nonnegative.end()) nonnegative.erase(other);
      // No extent is negative.
      checks.push_back({index, nullptr, dim_max(dim_add(last, dim_const(1)), dim_const(0))});
    }
  }

  /// What has to hold for a term to count: outside of its tensor, a read gives what the reduction starts
  /// from, or is a factor 0 of a sum's term.
  static void collect_absence(const Value& v, ReduceKind kind, std::vector<BoundsCheck>& checks) {
    const bool is_product = kind == ReduceKind::Sum && v.kind == ValueKind::Apply && v.op == ScalarOp::Mul;
    if (is_product || v.kind == ValueKind::Cast)
      for (const ValuePtr& arg : v.args) collect_absence(*arg, kind, checks);
    if (v.kind != ValueKind::Load || !v.otherwise || v.otherwise->kind != ValueKind::Const) return;
    if (v.otherwise->constant == reduce_identity(kind, v.dtype))
      checks.insert(checks.end(), v.checks.begin(), v.checks.end());
  }

  /// A running result where it can follow a loop of the result; the reduction that it equals elsewhere.
  ValuePtr scan(const ScanExpr& e, std::vector<Reduction>& reductions) {
    Dim var = nullptr;
    bool inclusive = false;
    for (Dim own : result_.vars) {
      if (e.extents[0] != own && e.extents[0] != dim_add(own, dim_const(1))) continue;
      var = own;
      inclusive = e.extents[0] != own;
    }
    // What a `let` binds is computed after the running results.
    bool outermost = &reductions == &result_.reductions;
    for (const Variable* used : free_variables(e.body)) outermost &= !lets_.contains(used);
    if (!var || !outermost || (result_.running && result_.running != var)) {
      ReduceExpr same{Expr{ExprKind::Reduce, e.type, e.origin}, e.reduce, e.vars, e.extents, e.body};
      return reduce(same, reductions);
    }
    result_.running = var;
    RunningResult r{e.reduce, inclusive, nullptr};
    const Facts outer = facts_;
    enter(e.vars[0], e.extents[0]);
    r.value = value(e.body, r.inner);
    facts_ = outer;
    DimMap here{{e.vars[0], var}};
    r.value = substitute(r.value, here);
    for (Reduction& inner : r.inner) substitute(inner, here);
    r.accumulator = accumulator_dtype(r.value->dtype);
    r.value = cast_to(r.value, r.accumulator);
    r.local = result_.locals++;
    ValuePtr running = value_of(r.local, r.accumulator);
    result_.running_results.push_back(std::move(r));
    return cast_to(std::move(running), e.type->dtype.lane());
  }

  Scatter scatter(const ScatterExpr& e) {
    Scatter s{{e.vars.begin(), e.vars.end()}, {e.extents.begin(), e.extents.end()}, dim_const(0)};
    s.op = scatter_op(e.scatter);
    require_extents(e.extents, s.reductions);
    facts_ = Facts();
    for (size_t k = 0; k < e.vars.size(); ++k) enter(e.vars[k], e.extents[k]);
    std::vector<Dim> strides = strides_of(result_.extents);
    for (size_t k = 0; k < e.indices.size(); ++k) {
      BoundsCheck check{nullptr, nullptr, body_.extents[k]};
      auto* dim = as<DimValueExpr>(e.indices[k]);
      if (dim && divisor_checks(dim->dim).empty()) {
        s.offset = dim_add(s.offset, dim_mul(dim->dim, strides[k]));
        check.index = dim->dim;
      } else {
        check.computed = value(e.indices[k], s.reductions);
        s.computed.push_back({check.computed, strides[k]});
      }
      if (e.checked[k]) s.checks.push_back(std::move(check));
    }
    if (!s.checks.empty()) {
      result_.traps.push_back(
          fmt::format("an index is out of bounds for a tensor of shape {}", shape_to_string(body_.extents)));
      s.trap = static_cast<int>(result_.traps.size());
    }
    s.value = value(e.value, s.reductions);
    if (dtype_.is_vector()) add_lanes(s);
    return s;
  }

  // The innermost of a scatter's loops is over the lanes.
  void add_lanes(Scatter& s) {
    Dim lane = dim_var("lane");
    index_vars_.insert(lane);
    s.vars.push_back(lane);
    s.extents.push_back(dim_const(dtype_.lanes));
    s.offset = dim_add(s.offset, lane);
    DimMap here{{lane_, lane}};
    s.value = substitute(s.value, here);
    for (Reduction& r : s.reductions) substitute(r, here);
  }

  static ValuePtr cast_to(ValuePtr inner, DType to) {
    if (inner->dtype == to) return inner;
    Value v{ValueKind::Cast, to};
    v.args.push_back(std::move(inner));
    return make(std::move(v));
  }

  // Dims of the frame: every variable that is not an index variable, in order of first occurrence.
  void collect_dims() {
    std::unordered_set<Dim> seen;
    auto add = [&](Dim d) {
      for_each_var(d, [&](Dim var) {
        if (!index_vars_.contains(var) && seen.insert(var).second) result_.dims.push_back(var);
      });
    };
    for (const Buffer& b : result_.buffers)
      for (Dim d : b.shape) add(d);
    std::function<void(const Value&)> in_value = [&](const Value& v) {
      if (v.dim) add(v.dim);
      for (const ComputedOffset& c : v.computed) add(c.stride);
      for (const BoundsCheck& c : v.checks) {
        if (c.index) add(c.index);
        add(c.extent);
      }
    };
    std::function<void(const Reduction&)> in_reduction = [&](const Reduction& r) {
      for (Dim d : r.extents) add(d);
      for_each_value(r.value, in_value);
      if (r.index_value) for_each_value(r.index_value, in_value);
      for (const Reduction& inner : r.inner) in_reduction(inner);
    };
    for (const Reduction& r : result_.reductions) in_reduction(r);
    for (const RunningResult& r : result_.running_results) {
      for_each_value(r.value, in_value);
      for (const Reduction& inner : r.inner) in_reduction(inner);
    }
    for_each_value(result_.value, in_value);
    if (!result_.scatter) return;
    for (Dim d : result_.scatter->extents) add(d);
    add(result_.scatter->offset);
    for (const ComputedOffset& c : result_.scatter->computed) {
      for_each_value(c.index, in_value);
      add(c.stride);
    }
    for (const Reduction& r : result_.scatter->reductions) in_reduction(r);
    for_each_value(result_.scatter->value, in_value);
  }

  const ComprehensionExpr& body_;
  DType dtype_;  ///< of the result
  const StageValues* stages_;
  int output_ = 0;
  Dim lane_ = nullptr;  ///< which lane of the result is computed, where it is of vectors
  Computation result_;
  std::unordered_map<const Variable*, int> buffer_of_;
  std::unordered_map<const Variable*, ValuePtr> lets_;
  std::unordered_set<Dim> index_vars_;
  Facts facts_;                      ///< of the index variables in scope
  std::vector<BoundsCheck> guards_;  ///< of the arms that the value stands in
};

}  // namespace

Computation computation_of(const FnExpr& primitive) {
  return Lowering(primitive.params, *as<ComprehensionExpr>(primitive.body)).run();
}

namespace {

/// Traps of a stage have numbers after those before.
void number_traps(Computation& c, int before) {
  const auto moved = [&](int trap) { return trap > 0 ? trap + before : trap; };
  const ValueFunction renumber = [&](const Value& v) -> ValuePtr {
    if (v.trap == 0) return nullptr;
    Value own = v;
    own.trap = 0;
    own = *map_values(make(std::move(own)), renumber);
    own.trap = moved(v.trap);
    return make(std::move(own));
  };
  map_values(c, renumber);
  const std::function<void(Reduction&)> in_reduction = [&](Reduction& r) {
    r.trap = moved(r.trap);
    for (Reduction& inner : r.inner) in_reduction(inner);
  };
  for (Reduction& r : c.reductions) in_reduction(r);
}

}  // namespace

StagedComputation staged_computation_of(const FnExpr& primitive) {
  if (primitive.body->kind != ExprKind::Block) return {computation_of(primitive), {}};
  const std::vector<RowStage> stages = stages_of(*as<BlockExpr>(primitive.body));
  StagedComputation result;
  int locals = 0;
  std::vector<std::string> traps;
  std::vector<Dim> dims;
  for (size_t k = 0; k < stages.size(); ++k) {
    Lowering lowering(primitive.params, *stages[k].value, nullptr, locals);
    lowering.add_scratch(std::span(stages).first(k));
    Computation c = lowering.run();
    number_traps(c, static_cast<int>(traps.size()));
    traps.insert(traps.end(), c.traps.begin(), c.traps.end());
    locals = c.locals;
    for (const Dim dim : c.dims)
      if (std::ranges::find(dims, dim) == dims.end()) dims.push_back(dim);
    const int buffer = static_cast<int>(primitive.params.size() + 1 + k);
    if (stages[k].variable)
      result.stages.push_back({buffer, std::move(c)});
    else
      result.result = std::move(c);
  }
  result.result.locals = locals;
  result.result.traps = std::move(traps);
  result.result.dims = std::move(dims);
  return result;
}

RowComputation rows_of(const FnExpr& primitive) {
  const std::vector<RowStage> stages = stages_of(*as<BlockExpr>(primitive.body));
  const ComprehensionExpr& last = *stages.back().value;
  const size_t rows = shared_rows(stages);
  const auto first = static_cast<ptrdiff_t>(rows);
  RowComputation result{{last.vars.begin(), last.vars.begin() + first},
                        {last.extents.begin(), last.extents.begin() + first}};
  StageValues values;
  for (const RowStage& stage : stages) {
    Computation c = Lowering(primitive.params, *stage.value, &values, result.locals).run();
    DimMap same_row;
    for (size_t k = 0; k < rows; ++k) same_row.emplace(c.vars[k], result.rows[k]);
    map_dims(c, [&](Dim d) { return quern::substitute(d, same_row); });
    c.vars.erase(c.vars.begin(), c.vars.begin() + first);
    c.extents.erase(c.extents.begin(), c.extents.begin() + first);
    if (stage.variable && is_one_a_row(*stage.value, rows)) {
      c.takes_value = c.locals++;
      values.emplace(stage.variable, value_of(c.takes_value, c.value->dtype));
    }
    for (const Dim dim : c.dims)
      if (std::ranges::find(result.dims, dim) == result.dims.end()) result.dims.push_back(dim);
    result.locals = c.locals;
    result.stages.push_back(std::move(c));
  }
  return result;
}

}  // namespace quern::loops
