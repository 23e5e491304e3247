#include "export/lower/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "export/lower/element_ops.h"
#include "export/lower/index.h"
#include "export/operators/table.h"
#include "import/text/refusal.h"
#include "passes/pass.h"

namespace quern::onnx {

using import_text::Refusal;

void for_each_tensor(const GraphValue& value, const std::function<void(const Name&)>& visit) {
  if (!value.tensor.empty()) visit(value.tensor);
  for (const GraphValue& field : value.fields) for_each_tensor(field, visit);
}

Port port_of(const Name& name, Type type) {
  Port port{name, type->dtype, std::vector<Extent>(), ""};
  for (Dim dim : type->dims) {
    const auto known = as_const(dim);
    port.shape->push_back(known                       ? Extent(*known)
                          : dim->kind == DimKind::Var ? Extent(std::string(dim->name))
                                                      : Extent(std::string()));
  }
  return port;
}

void Lowering::bind_extents(Type type, const GraphValue& value) {
  if (type->kind == TypeKind::Tuple)
    for (size_t i = 0; i < value.fields.size(); ++i) bind_extents(type->args[i], value.fields[i]);
  if (!type->is_tensor() || value.tensor.empty()) return;
  for (size_t axis = 0; axis < type->dims.size(); ++axis)
    if (type->dims[axis]->kind == DimKind::Var) extents_.bind(type->dims[axis], value.tensor, axis);
}

GraphValue Lowering::unknown(Type type, Origin origin, const std::string& why) {
  // Once for each reason: what a loop of a model repeats is one problem.
  if (reported_.insert(fmt::format("{}:{}:{}", origin.declaration, origin.node, why)).second)
    problems_.push_back({origin, why});
  GraphValue value;
  if (type->kind == TypeKind::Tuple) {
    for (Type field : type->args) value.fields.push_back(unknown(field, origin, why));
  } else {
    value.tensor = graph().names().fresh("unknown");
  }
  return value;
}

GraphValue Lowering::lower(ExprPtr expr) {
  const size_t graphs = writers_.size(), functions = unfolded_.size();
  try {
    return lower_kind(expr);
  } catch (const Refusal& refusal) {
    if (definitions_ > 0) throw;
    while (writers_.size() > graphs) writers_.pop_back();
    unfolded_.resize(functions);
    return unknown(expr->type, expr->origin, refusal.what());
  }
}

GraphValue Lowering::lower_kind(ExprPtr expr) {
  switch (expr->kind) {
    case ExprKind::Var: return variable(*as<VarExpr>(expr));
    case ExprKind::Const: {
      const auto& constant = as<ConstExpr>(expr)->value;
      return {graph().tensor(std::const_pointer_cast<HostTensor>(constant), "constant"), {}};
    }
    case ExprKind::Block: return block(*as<BlockExpr>(expr));
    case ExprKind::OpCall: return call(*as<OpCallExpr>(expr));
    case ExprKind::Fn: return {"", {}, as<FnExpr>(expr)};
    case ExprKind::Call: return call(*as<CallExpr>(expr));
    case ExprKind::Field: return lower(as<FieldExpr>(expr)->tuple).fields.at(as<FieldExpr>(expr)->index);
    case ExprKind::If: return conditional(*as<IfExpr>(expr));
    case ExprKind::Match: return match(*as<MatchExpr>(expr));
    case ExprKind::Intrinsic: return intrinsic(*as<IntrinsicExpr>(expr));
    case ExprKind::Comprehension: return {lower_index(*this, *as<ComprehensionExpr>(expr)), {}};
    case ExprKind::View:
      return {extents_.reshaped(tensor(as<ViewExpr>(expr)->tensor), expr->type->dims, graph()), {}};
    case ExprKind::CheckDims: return checked(*as<CheckDimsExpr>(expr));
    case ExprKind::Tuple: return structure(as<TupleExpr>(expr)->fields);
    case ExprKind::Construct:
      if (as<ConstructExpr>(expr)->constructor->siblings.size() == 1)
        return structure(as<ConstructExpr>(expr)->fields);
      throw Refusal(fmt::format("ONNX has no data types such as `{}`", to_string(expr->type)));
    case ExprKind::Ref:
    case ExprKind::RefRead:
    case ExprKind::RefWrite: throw Refusal("ONNX has no references");
    case ExprKind::DimValue: return {extents_.value(as<DimValueExpr>(expr)->dim, graph()), {}};
    case ExprKind::Extern: return kernel(*as<ExternExpr>(expr));
    // Calls of functions are unfolded, and elements are parts of index expressions.
    case ExprKind::Global:
    case ExprKind::Scalar:
    case ExprKind::Reduce:
    case ExprKind::Scan:
    case ExprKind::Scatter:
    case ExprKind::Read:
    case ExprKind::Error: break;
  }
  throw Refusal(fmt::format("ONNX has no counterpart of this ({})", to_string(expr->kind)));
}

GraphValue Lowering::variable(const VarExpr& var) const {
  const auto known = values_.find(var.variable);
  if (known == values_.end()) throw Refusal(fmt::format("`%{}` has no value", var.variable->name));
  return known->second;
}

GraphValue Lowering::checked(const CheckDimsExpr& check) {
  if (!check.value) return {};
  GraphValue value = lower(check.value);
  bind_extents(check.type, value);
  return value;
}

GraphValue Lowering::structure(std::span<const ExprPtr> fields) {
  GraphValue value;
  for (ExprPtr field : fields) value.fields.push_back(lower(field));
  return value;
}

GraphValue Lowering::block(const BlockExpr& block) {
  for (const Binding& binding : block.bindings) {
    GraphValue value = lower(binding.value);
    if (!binding.variable) continue;
    bind_extents(binding.value->type, value);
    bind(binding.variable, std::move(value));
  }
  return lower(block.result);
}

GraphValue Lowering::call(const OpCallExpr& call) {
  const std::shared_ptr<const OpInstance> instance = functions_.instance(*call.instance);
  if (!instance || !instance->function) throw Refusal(fmt::format("`{}` has errors", call.instance->name));
  if (const Row* row = find_row(instance->name)) {
    OperatorCall at(*this, call, *instance);
    if (auto made = row->convert(*row, at)) return *made;
  }
  return by_definition(call, *instance);
}

namespace {

/// Counts a definition that is being lowered, however it ends.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

}  // namespace

GraphValue Lowering::by_definition(const OpCallExpr& call, const OpInstance& instance) {
  ExprSubstitution at;
  at.call = &call.origin;
  for (size_t i = 0; i < call.dims.size(); ++i) at.types.dims.emplace(instance.dim_vars[i], call.dims[i]);
  const Deeper in_definition(definitions_);
  try {
    return lower(body_at(arena_, *instance.function, call.args, std::move(at)));
  } catch (const Refusal& refusal) {
    throw definitions_ > 1 ? refusal : Refusal(fmt::format("`{}`: {}", instance.name, refusal.what()));
  }
}

namespace {

/// What a function's own dims are at a call: each stands alone somewhere in its parameters.
void match_dims(Type parameter, Type argument, DimMap& dims) {
  for (size_t k = 0; k < parameter->dims.size() && k < argument->dims.size(); ++k)
    if (parameter->dims[k]->kind == DimKind::Var) dims.try_emplace(parameter->dims[k], argument->dims[k]);
  for (size_t k = 0; k < parameter->args.size() && k < argument->args.size(); ++k)
    match_dims(parameter->args[k], argument->args[k], dims);
}

}  // namespace

GraphValue Lowering::call(const CallExpr& call) {
  const FnExpr* function = lower(call.callee).function;
  if (!function) throw Refusal("ONNX has no calls of functions that are not known");
  if (std::ranges::find(unfolded_, function) != unfolded_.end())
    throw Refusal("a function that calls itself has no graph where how often is not known");
  DimMap all;
  for (size_t i = 0; i < call.args.size(); ++i)
    match_dims(function->params[i]->type, call.args[i]->type, all);
  ExprSubstitution at;
  at.call = &call.origin;
  for (Dim dim : function->dim_vars)
    if (const auto known = all.find(dim); known != all.end()) at.types.dims.emplace(dim, known->second);
  unfolded_.push_back(function);
  GraphValue value = lower(body_at(arena_, *function, call.args, std::move(at)));
  unfolded_.pop_back();
  return value;
}

void Lowering::bind_pattern(PatternPtr pattern, const GraphValue& value) {
  if (pattern->kind == PatternKind::Variable) bind(pattern->variable, value);
  for (size_t i = 0; i < pattern->parts.size(); ++i) bind_pattern(pattern->parts[i], value.fields.at(i));
}

GraphValue Lowering::match(const MatchExpr& match) {
  if (match.arms.size() != 1 || match.partial)
    throw Refusal("ONNX has no data types, over which `match` decides");
  bind_pattern(match.arms[0].pattern, lower(match.scrutinee));
  return lower(match.arms[0].body);
}

// Those that the language itself calls; the others are operators.
GraphValue Lowering::kernel(const ExternExpr& kernel) {
  const auto arg = [&](size_t i) { return tensor(kernel.args[i]); };
  if (kernel.kernel == "extent") {
    // A tensor of that extent, which says no more than its shape.
    const Name count = cast_to(graph(), arg(0), kernel.args[0]->type->dtype, DType::int64());
    return {graph().node("ConstantOfShape", {graph().node("Reshape", {count, graph().ints({1})})}), {}};
  }
  if (kernel.kernel == "argwhere" && !kernel.args[0]->type->dims.empty()) {
    const Name places = graph().node("NonZero", {arg(0)});
    const Name rows = graph().node("Transpose", {places}, {{"perm", std::vector<int64_t>{1, 0}}});
    return {cast_to(graph(), rows, DType::int64(), kernel.type->dtype), {}};
  }
  throw Refusal(fmt::format("ONNX has no `{}`", kernel.kernel));
}

GraphValue Lowering::intrinsic(const IntrinsicExpr& intrinsic) {
  switch (intrinsic.intrinsic) {
    case IntrinsicKind::WithGradient:
    case IntrinsicKind::ToDevice:
    case IntrinsicKind::StopGradient: return lower(intrinsic.args[0]);
    // What a program prints or checks on its way is not of the graph.
    case IntrinsicKind::Print:
    case IntrinsicKind::Progress:
    case IntrinsicKind::Assert: return {};
    case IntrinsicKind::ScanOver: return scan(intrinsic);
    default: throw Refusal(fmt::format("ONNX has no `{}`", to_string(intrinsic.intrinsic)));
  }
}

}  // namespace quern::onnx
