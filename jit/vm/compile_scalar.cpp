// Calls of primitive functions: kernels, and index expressions over unboxed scalars.

#include <string>
#include <utility>

#include "ir/expr/fields.h"
#include "jit/compute/in_place.h"
#include "jit/vm/compile.h"
#include "jit/vm/scalar.h"

namespace quern::vm {

namespace {

/// Whether the machine can run the index expression itself.
bool is_scalar_code(ExprPtr expr) {
  if (expr->type->is_tensor() && expr->type->dtype.is_vector()) return false;
  // A loop, or a check that opens dims.
  if (binds_dims(expr)) return false;
  bool all = true;
  for_each_child(expr, [&](ExprPtr child) { all = all && is_scalar_code(child); });
  return all;
}

/// Calls `f` with every dim of the index expression; index variables are among their variables.
void for_each_dim(ExprPtr expr, const std::function<void(Dim)>& f) {
  for (Dim dim : expr->type->dims) f(dim);
  if (auto* value = as<DimValueExpr>(expr)) f(value->dim);
  if (auto* reduce = as<ReduceExpr>(expr))
    for (Dim extent : reduce->extents) f(extent);
  if (auto* scan = as<ScanExpr>(expr))
    for (Dim extent : scan->extents) f(extent);
  if (auto* scatter = as<ScatterExpr>(expr))
    for (Dim extent : scatter->extents) f(extent);
  for_each_child(expr, [&](ExprPtr child) { for_each_dim(child, f); });
}

/// Calls `f` with the range of each reduction and scatter: the product of its extents.
void for_each_range(ExprPtr expr, const std::function<void(Dim)>& f) {
  if (auto* reduce = as<ReduceExpr>(expr)) f(dim_product(reduce->extents));
  if (auto* scatter = as<ScatterExpr>(expr)) f(dim_product(scatter->extents));
  for_each_child(expr, [&](ExprPtr child) { for_each_range(child, f); });
}

void collect_index_variables(ExprPtr expr, std::unordered_set<Dim>& found) {
  if (auto* reduce = as<ReduceExpr>(expr)) found.insert(reduce->vars.begin(), reduce->vars.end());
  if (auto* scan = as<ScanExpr>(expr)) found.insert(scan->vars.begin(), scan->vars.end());
  if (auto* scatter = as<ScatterExpr>(expr)) found.insert(scatter->vars.begin(), scatter->vars.end());
  if (auto* inner = as<ComprehensionExpr>(expr)) found.insert(inner->vars.begin(), inner->vars.end());
  for_each_child(expr, [&](ExprPtr child) { collect_index_variables(child, found); });
}

}  // namespace

Register FunctionCompiler::primitive(const CallExpr& e, const FnExpr& fn, Register wanted) {
  auto* comprehension = as<ComprehensionExpr>(fn.body);
  ExprPtr body = comprehension ? comprehension->body : fn.body;
  bool one_element =
      e.type->is_scalar() && (!comprehension || (comprehension->vars.empty() && !comprehension->schedule));
  return one_element && is_scalar_code(body) ? scalar_code(e, fn, body, wanted) : kernel(e, fn, wanted);
}

/// Compiles the body with the arguments substituted for the parameters.
Register FunctionCompiler::scalar_code(const CallExpr& e, const FnExpr& fn, ExprPtr body, Register wanted) {
  std::vector<Register> args = values(e.args);
  for (size_t i = 0; i < args.size() && i < fn.params.size(); ++i) registers_[fn.params[i]] = args[i];
  const Expr* outer = std::exchange(inlined_, inlined_ ? inlined_ : &e);
  const Register result = value(body, wanted);
  inlined_ = outer;
  return result;
}

Register FunctionCompiler::kernel(const CallExpr& e, const FnExpr& fn, Register wanted) {
  std::vector<Register> operands = values(e.args);
  uint32_t index = 0;
  auto& site = add_site<KernelSite>(index);
  site.operands = std::move(operands);
  site.primitive = &fn;
  site.dtype = e.type->dtype;
  if (const size_t device = devices_ ? devices_->of_computation(&e) : DeviceDomains::kHost;
      device != DeviceDomains::kHost)
    site.device = devices_->name_of(device);
  site.shape = codes(e.type->dims);
  site.under_result = loops::param_under_result(fn);
  // The kernel's dims are known only when it is compiled, so every dim it mentions gets a slot.
  std::unordered_set<Dim> index_variables;
  collect_index_variables(fn.body, index_variables);
  auto need = [&](Dim var) {
    if (!index_variables.contains(var)) slot_of(var);
  };
  for (const Variable* param : fn.params) for_each_dim_var(param->type, need);
  for_each_dim(fn.body, [&](Dim dim) { for_each_var(dim, need); });
  for_each_range(fn.body, [&](Dim range) {
    bool depends = false;
    for_each_var(range, [&](Dim var) { depends = depends || index_variables.contains(var); });
    if (!depends && range->kind != DimKind::Var && range->kind != DimKind::Const)
      site.extents.push_back(code(range));
  });
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Kernel, .result = result, .a = index});
  return result;
}

// --- elements ----------------------------------------------------------------------------------------------

Register FunctionCompiler::make(const DimValueExpr& e, Register wanted) {
  function_.dims.push_back(code(e.dim));
  const Register result = or_new(wanted, e);
  emit(e,
       {.opcode = Opcode::DimValue, .result = result, .a = static_cast<uint32_t>(function_.dims.size() - 1)});
  return result;
}

Register FunctionCompiler::make(const ScalarExpr& e, Register wanted) {
  const DType operand = e.args[0]->type->dtype;
  const Register a = value(e.args[0]), b = e.args.size() > 1 ? value(e.args[1]) : a;
  const Register result = or_new(wanted, e);
  if (!e.is_cast) {
    Instruction in{.opcode = Opcode::Scalar,
                   .function = scalar_function(e.op, operand),
                   .result = result,
                   .a = a,
                   .b = b};
    auto constant = constants_.find(b);
    if (constant != constants_.end()) {
      in.flag = true;
      in.b = constant->second;
    }
    emit(e, in);
    return result;
  }
  function_.dtypes.push_back(e.type->dtype);
  emit(e, {.opcode = Opcode::Cast,
           .function = cast_function(operand, e.type->dtype),
           .result = result,
           .a = a,
           .b = static_cast<uint32_t>(function_.dtypes.size() - 1)});
  return result;
}

Register FunctionCompiler::make(const ReadExpr& e, Register wanted) {
  if (e.indices.empty()) return value(e.tensor, wanted);
  std::vector<Register> operands = {value(e.tensor)};
  std::vector<ElementSite::Index> indices;
  bool has_otherwise = false;
  for (size_t axis = 0; axis < e.indices.size(); ++axis) {
    auto* dim = as<DimValueExpr>(e.indices[axis]);
    const bool checked = axis < e.checked.size() && e.checked[axis];
    has_otherwise |= checked && e.otherwise;
    indices.push_back({!dim, checked, dim ? code(dim->dim) : DimCode()});
    if (!dim) operands.push_back(value(e.indices[axis]));
  }
  uint32_t index = 0;
  auto& site = add_site<ElementSite>(index);
  site.operands = std::move(operands);
  site.indices = std::move(indices);
  const Register result = or_new(wanted, e);
  const uint32_t otherwise = has_otherwise ? new_label() : 0, end = has_otherwise ? new_label() : 0;
  emit(e, {.opcode = Opcode::Element, .flag = has_otherwise, .result = result, .a = index, .b = otherwise});
  if (!has_otherwise) return result;
  emit(e, {.opcode = Opcode::Jump, .a = end});
  set_label(otherwise);
  value(e.otherwise, result);
  set_label(end);
  return result;
}

}  // namespace quern::vm
