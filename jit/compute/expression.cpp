// Lowers index expressions to the computation of one element.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/base/result.h"
#include "jit/compute/lowering.h"
#include "jit/compute/statements.h"
#include "passes/may_fail.h"

namespace quern::loops {

namespace {

// The strides of a dense row-major tensor, in elements.
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

}  // namespace

Lowering::Lowering(Params params, const ComprehensionExpr& body, const StageValues* stages, int first_local)
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

void Lowering::add_scratch(std::span<const RowStage> stages) {
  for (const RowStage& stage : stages) {
    add_buffer(stage.variable);
    result_.buffers.back().is_scratch = true;
  }
}

Computation Lowering::run() {
  auto* scatter = as<ScatterExpr>(body_.body);
  result_.value = value(scatter ? scatter->init : body_.body, result_.reductions);
  if (scatter) result_.scatter = this->scatter(*scatter);
  Dim offset = dim_const(0);
  std::vector<Dim> strides = strides_of(result_.extents);
  for (size_t k = 0; k < strides.size(); ++k) offset = dim_add(offset, dim_mul(result_.vars[k], strides[k]));
  result_.store_offset = offset;
  collect_dims();
  return std::move(result_);
}

void Lowering::add_buffer(const Variable* param) {
  buffer_of_.emplace(param, static_cast<int>(result_.buffers.size()));
  // The same name twice would make the text ambiguous.
  std::string name(param->name);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  for (const Buffer& b : result_.buffers)
    if (b.name == name) name += "_" + std::to_string(result_.buffers.size());
  if (name == "out") name = "out_" + std::to_string(result_.buffers.size());
  DType dtype = param->type->dtype;
  result_.buffers.push_back(
      {name, dtype.lane(), shape_in_lanes(param->type->dims, dtype), false, false, param->fresh});
}

Dim Lowering::lane_of(DType dtype) const {
  return dtype.is_vector() && dtype.lanes == dtype_.lanes ? lane_ : dim_const(0);
}

ValuePtr Lowering::value(ExprPtr expr, std::vector<Reduction>& reductions) {
  return visit(expr,
               overloaded{[&](const ConstExpr& e) -> ValuePtr { return loops::constant(constant(*e.value)); },
                          [&](const DimValueExpr& e) -> ValuePtr { return index_of(e.dim); },
                          [&](const ScalarExpr& e) -> ValuePtr {
                            const DType dtype = e.type->dtype.lane();
                            return e.is_cast ? cast_to(value(e.args[0], reductions), dtype)
                                             : apply(e, dtype, reductions);
                          },
                          [&](const IfExpr& e) -> ValuePtr {
                            const ValuePtr condition = shared(value(e.condition, reductions), reductions);
                            return make(SelectValue{e.type->dtype.lane(), condition,
                                                    value_where(condition, true, e.then_arm, reductions),
                                                    value_where(condition, false, e.else_arm, reductions)});
                          },
                          [&](const VarExpr& e) -> ValuePtr {
                            auto let = lets_.find(e.variable);
                            return let == lets_.end() ? load(e) : let->second;
                          },
                          [&](const BlockExpr& e) -> ValuePtr {
                            for (const Binding& b : e.bindings) bind(b, reductions);
                            return value(e.result, reductions);
                          },
                          [&](const ReadExpr& e) -> ValuePtr { return read(e, reductions); },
                          [&](const ReduceExpr& e) -> ValuePtr { return reduce(e, reductions); },
                          [&](const ScanExpr& e) -> ValuePtr { return scan(e, reductions); },
                          [](const ScatterExpr&) -> ValuePtr {
                            QUERN_CHECK(false && "a scatter is no element");
                            return nullptr;
                          },
                          [](const GraphNode auto&) -> ValuePtr {
                            QUERN_CHECK(false && "an index expression holds a node that has no element");
                            return nullptr;
                          }});
}

ValuePtr Lowering::apply(const ScalarExpr& e, DType dtype, std::vector<Reduction>& reductions) {
  ApplyValue v{dtype, e.op};
  const bool lazy = is_lazy(e.op);
  for (ExprPtr arg : e.args) {
    if (lazy && !v.args.empty()) v.args[0] = shared(v.args[0], reductions);
    v.args.push_back(lazy && !v.args.empty() ? value_where(v.args[0], e.op == ScalarOp::And, arg, reductions)
                                             : value(arg, reductions));
  }
  if (may_divide_by_zero(e, facts_)) {
    stop_unless(v, {not_zero(v.args[1])}, kDivisionByZero);
  }
  return make(std::move(v));
}

Scalar Lowering::constant(const HostTensor& tensor) {
  QUERN_CHECK(lanes_agree(tensor));
  Scalar constant{};
  constant.dtype = tensor.dtype().lane();
  std::copy_n(tensor.data(), constant.dtype.bytes(), reinterpret_cast<std::byte*>(&constant.bits));
  return constant;
}

void Lowering::bind(const Binding& binding, std::vector<Reduction>& reductions) {
  Reduction let{ReduceKind::Sum, {}, {}};
  let.is_let = true;
  let.value = value(binding.value, let.inner);
  let.accumulator = let.value->dtype;
  let.local = result_.locals++;
  lets_[binding.variable] = value_of(let.local, let.accumulator);
  reductions.push_back(std::move(let));
}

ValuePtr Lowering::load(const VarExpr& var) {
  return load_of(buffer_of_.at(var.variable), var.type->dtype.lane(), lane_of(var.type->dtype));
}

ValuePtr Lowering::read(const ReadExpr& e, std::vector<Reduction>& reductions) {
  LoadValue v{e.type->dtype.lane()};
  const Variable* tensor = as<VarExpr>(e.tensor)->variable;
  const auto buffer = buffer_of_.find(tensor);
  v.buffer = buffer == buffer_of_.end() ? output_ : buffer->second;
  if (stages_)
    if (const auto stage = stages_->find(tensor); stage != stages_->end() && stage->second)
      return stage->second;
  v.offset = lane_of(e.type->dtype);
  std::vector<Dim> strides = strides_of(shape_in_lanes(e.tensor->type->dims, e.type->dtype));
  bool may_fail = false;
  for (size_t k = 0; k < e.indices.size(); ++k) {
    Dim extent = e.tensor->type->dims[k];
    BoundsCheck check{nullptr, nullptr, extent};
    auto* dim = as<DimValueExpr>(e.indices[k]);
    const bool may_stop = dim && !divisor_checks(dim->dim).empty();
    if (dim && !may_stop) {
      v.offset = dim_add(v.offset, dim_mul(dim->dim, strides[k]));
      check.index = dim->dim;
    } else {
      check.computed = shared(value(e.indices[k], reductions), reductions);
      v.computed.push_back({check.computed, strides[k]});
    }
    check.stride = strides[k];
    if (check.index) v.indices.push_back(check.index);
    may_fail |= e.checked[k];
    // A proof under a condition may not hold elsewhere. An index without a value stops the kernel even if
    // another one is out of bounds.
    const bool is_proved =
        !may_stop && (guards_.empty() || (check.index && is_inside(check.index, extent, facts_)));
    if (e.checked[k] || !is_proved) v.checks.push_back(std::move(check));
  }
  if (!v.computed.empty()) v.indices.clear();
  if (!v.indices.empty() && e.type->dtype.is_vector()) v.indices.push_back(lane_of(e.type->dtype));
  if (e.otherwise && !v.checks.empty()) {
    v.otherwise = quern::may_fail(e.otherwise, facts_)
                      ? value_where(truth_of(v.checks), false, e.otherwise, reductions)
                      : value(e.otherwise, reductions);
  } else if (may_fail) {
    stop_unless(v, {},
                fmt::format("an index is out of bounds for a tensor of shape {}",
                            shape_to_string(e.tensor->type->dims)));
  } else if (!v.checks.empty()) {
    v.otherwise = loops::constant(Scalar::from_int(v.dtype, 0));
  }
  return make(std::move(v));
}

ValuePtr Lowering::reduce(const ReduceExpr& e, std::vector<Reduction>& reductions) {
  require_extents(e.extents, reductions);
  Reduction r{e.reduce, {e.vars.begin(), e.vars.end()}, {e.extents.begin(), e.extents.end()}};
  const Facts outer = facts_;
  for (size_t k = 0; k < e.vars.size(); ++k) {
    // Its loops also run where a guard fails, and an extent may be negative there.
    if (!guards_.empty() && !prove_nonnegative(r.extents[k], facts_))
      r.extents[k] = dim_max(r.extents[k], dim_const(0));
    enter(r.vars[k], r.extents[k]);
  }
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
  }
  LocalValue v{is_arg(e.reduce) ? DType::index() : r.accumulator, is_arg(e.reduce) ? r.index_local : r.local};
  const Dim count = dim_product(r.extents);
  if (is_arg(e.reduce) && !prove_less(dim_const(0), count, facts_))
    stop_unless(v, {{dim_const(0), nullptr, dim_max(count, dim_const(0))}},
                fmt::format("{} of an empty range", to_string(e.reduce)));
  reductions.push_back(std::move(r));
  ValuePtr result = make(std::move(v));
  return is_arg(e.reduce) ? result : cast_to(result, e.type->dtype.lane());
}

ValuePtr Lowering::scan(const ScanExpr& e, std::vector<Reduction>& reductions) {
  Dim var = nullptr;
  bool inclusive = false;
  for (Dim own : result_.vars) {
    if (e.extents[0] != own && e.extents[0] != dim_add(own, dim_const(1))) continue;
    var = own;
    inclusive = e.extents[0] != own;
  }
  // Let-bound values are computed after the running results.
  bool outermost = &reductions == &result_.reductions;
  for (const Variable* used : free_variables(e.body)) outermost &= !lets_.contains(used);
  // A running result includes earlier terms than the requested element's, and may fail at each.
  if (!guards_.empty()) {
    Facts inside = facts_;
    inside.add_index(e.vars[0], e.extents[0]);
    outermost &= !may_fail(e.body, inside);
  }
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

Scatter Lowering::scatter(const ScatterExpr& e) {
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
      check.computed = shared(value(e.indices[k], s.reductions), s.reductions);
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

void Lowering::add_lanes(Scatter& s) {
  Dim lane = dim_var("lane");
  index_vars_.insert(lane);
  s.vars.push_back(lane);
  s.extents.push_back(dim_const(dtype_.lanes));
  s.offset = dim_add(s.offset, lane);
  DimMap here{{lane_, lane}};
  s.value = substitute(s.value, here);
  for (Reduction& r : s.reductions) substitute(r, here);
}

void Lowering::collect_dims() {
  std::unordered_set<Dim> seen;
  auto add = [&](Dim d) {
    for_each_var(d, [&](Dim var) {
      if (!index_vars_.contains(var) && seen.insert(var).second) result_.dims.push_back(var);
    });
  };
  for (const Buffer& b : result_.buffers)
    for (Dim d : b.shape) add(d);
  for (const Reduction& r : result_.reductions) for_each_dim(r, add);
  for (const RunningResult& r : result_.running_results) {
    for_each_dim(r.value, add);
    for (const Reduction& inner : r.inner) for_each_dim(inner, add);
  }
  for_each_dim(result_.value, add);
  if (!result_.scatter) return;
  const Scatter& s = *result_.scatter;
  for (Dim d : s.extents) add(d);
  for (const BoundsCheck& c : s.checks) for_each_dim(c, add);
  add(s.offset);
  for (const ComputedOffset& c : s.computed) {
    for_each_dim(c.index, add);
    add(c.stride);
  }
  for (const Reduction& r : s.reductions) for_each_dim(r, add);
  for_each_dim(s.value, add);
}

}  // namespace quern::loops
