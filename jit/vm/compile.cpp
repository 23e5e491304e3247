#include "jit/vm/compile.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace quern::vm {

namespace {

/// Whether every value of the type is an unboxed scalar.
bool is_unboxed(Type type) { return type->is_scalar() && !type->dtype.is_vector(); }

}  // namespace

FunctionCompiler::FunctionCompiler(Program& program, FunctionCompiler* outer, const DeviceDomains* devices)
    : program_(program), outer_(outer), devices_(devices) {
  if (outer) known_ = outer->known_;
}

// --- functions ---------------------------------------------------------------------------------------------

std::unique_ptr<Function> FunctionCompiler::compile(ExprPtr body, std::span<const Variable* const> inputs) {
  enter(inputs, {});
  return leave(body);
}

std::unique_ptr<Function> FunctionCompiler::compile(const FnExpr& fn) {
  enter(fn.params, fn.dim_vars);
  // A dim that no argument's shape determines comes from the function's use.
  for (uint32_t i = 0; i < fn.dim_vars.size(); ++i) {
    if (known_.contains(fn.dim_vars[i])) continue;
    function_.use_dims.push_back(i);
    function_.given_slots.push_back(slot_of(fn.dim_vars[i]));
  }
  return leave(fn.body);
}

std::unique_ptr<Function> FunctionCompiler::compile(const FnExpr& fn,
                                                    std::span<const Variable* const> captures,
                                                    const Variable* self) {
  self_ = self;
  function_.type = fn.type;
  for (const Variable* variable : captures) captures_.emplace(variable, captures_.size());
  enter(fn.params, fn.dim_vars);
  return leave(fn.body);
}

void FunctionCompiler::enter(std::span<const Variable* const> params, std::span<const Dim> dim_vars) {
  own_dims_.insert(dim_vars.begin(), dim_vars.end());
  for (Dim var : dim_vars) known_.erase(var);
  function_.parameters = static_cast<uint32_t>(params.size());
  BindPlanner planner(slots_of_, known_);
  for (const Variable* param : params) {
    const Register r = registers_[param] = new_register(param->type);
    planner.add(r, param->type, nullptr, Trust::Constants, param);
  }
  function_.bind = planner.finish(known_);
}

std::unique_ptr<Function> FunctionCompiler::leave(ExprPtr body) {
  tail(body);
  return finish(std::move(draft_));
}

/// A dim of an enclosing function also gets a slot here, initialised with its value when the closure is made.
uint32_t FunctionCompiler::slot_of(Dim var) {
  auto [entry, added] = slots_.try_emplace(var, static_cast<uint32_t>(slots_.size()));
  if (!added) return entry->second;
  const uint32_t slot = entry->second;
  function_.dim_of_slot.push_back(var);
  if (outer_ && !own_dims_.contains(var)) {
    function_.given_slots.push_back(slot);
    outer_slots_.push_back(outer_->slot_of(var));
  }
  return slot;
}

std::vector<DimCode> FunctionCompiler::codes(std::span<const Dim> dims) {
  std::vector<DimCode> codes;
  for (Dim dim : dims) codes.push_back(code(dim));
  return codes;
}

uint32_t FunctionCompiler::global(const GlobalExpr& e) {
  const GlobalName name{e.module, std::string(e.name)};
  auto found = std::find(program_.globals.begin(), program_.globals.end(), name);
  if (found == program_.globals.end()) found = program_.globals.insert(found, name);
  return static_cast<uint32_t>(found - program_.globals.begin());
}

// --- instructions ------------------------------------------------------------------------------------------

Register FunctionCompiler::new_register(Type type) {
  draft_.boxed.push_back(!is_unboxed(type));
  return static_cast<Register>(draft_.boxed.size() - 1);
}

void FunctionCompiler::emit(const Expr& at, Instruction instruction) {
  function_.code.push_back(instruction);
  // Without an origin of its own, it takes that of the call compiled inline.
  function_.origins.push_back(inlined_ && at.origin == Origin{} ? inlined_->origin : at.origin);
}

uint32_t FunctionCompiler::new_label() {
  draft_.labels.push_back(0);
  return static_cast<uint32_t>(draft_.labels.size() - 1);
}

void FunctionCompiler::set_label(uint32_t label) {
  draft_.labels[label] = static_cast<uint32_t>(function_.code.size());
}

Register FunctionCompiler::fail(const Expr& at, std::string text, Register wanted) {
  const Register result = or_new(wanted, at);
  function_.texts.push_back(std::move(text));
  emit(at,
       {.opcode = Opcode::Fail, .result = result, .a = static_cast<uint32_t>(function_.texts.size() - 1)});
  return result;
}

// --- control -----------------------------------------------------------------------------------------------

void FunctionCompiler::tail(ExprPtr expr) {
  if (auto* block = as<BlockExpr>(expr)) {
    for (const Binding& binding : block->bindings) bind(binding);
    return tail(block->result);
  }
  if (auto* branch = as<IfExpr>(expr)) {
    const uint32_t otherwise = new_label();
    const Register condition = value(branch->condition);
    emit(*branch, {.opcode = Opcode::JumpUnless, .a = condition, .b = otherwise});
    const std::unordered_set<Dim> known = known_;
    tail(branch->then_arm);
    known_ = known;
    set_label(otherwise);
    tail(branch->else_arm);
    known_ = known;
    return;
  }
  if (auto* match_expr = as<MatchExpr>(expr)) {
    match(*match_expr, kNoRegister, true);
    return;
  }
  auto* call_expr = as<CallExpr>(expr);
  auto* callee = call_expr ? as<FnExpr>(call_expr->callee) : nullptr;
  if (call_expr && !(callee && callee->primitive)) {
    call(*call_expr, kNoRegister, true);
    return;
  }
  emit(*expr, {.opcode = Opcode::Return, .a = value(expr)});
}

Register FunctionCompiler::value(ExprPtr expr, Register wanted) {
  return visit(expr, [&](const auto& e) { return make(e, wanted); });
}

std::vector<Register> FunctionCompiler::values(std::span<const ExprPtr> exprs) {
  std::vector<Register> result;
  result.reserve(exprs.size());
  for (ExprPtr expr : exprs) result.push_back(expr ? value(expr) : kNoRegister);
  return result;
}

void FunctionCompiler::bind(const Binding& binding) {
  auto* fn = as<FnExpr>(binding.value);
  const Register r = fn ? closure(*fn, binding.variable, kNoRegister) : value(binding.value);
  if (!binding.variable) return;
  bind_dims(*binding.value, r, binding.variable->type, binding.value->type, Trust::Given);
  registers_[binding.variable] = r;
}

void FunctionCompiler::bind_dims(const Expr& at, Register value, Type type, Type given, Trust trust) {
  BindPlanner planner(slots_of_, known_);
  planner.add(0, type, given, trust, nullptr);
  BindPlan plan = planner.finish(known_);
  if (plan.empty()) return;
  function_.plans.push_back(std::move(plan));
  emit(at, {.opcode = Opcode::Bind, .a = value, .b = static_cast<uint32_t>(function_.plans.size() - 1)});
}

Register FunctionCompiler::make(const BlockExpr& e, Register wanted) {
  for (const Binding& binding : e.bindings) bind(binding);
  return value(e.result, wanted);
}

Register FunctionCompiler::make(const IfExpr& e, Register wanted) {
  const uint32_t otherwise = new_label(), end = new_label();
  const Register condition = value(e.condition), result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::JumpUnless, .a = condition, .b = otherwise});
  const std::unordered_set<Dim> known = known_;
  value(e.then_arm, result);
  known_ = known;
  emit(e, {.opcode = Opcode::Jump, .a = end});
  set_label(otherwise);
  value(e.else_arm, result);
  known_ = known;
  set_label(end);
  return result;
}

// --- calls and functions -----------------------------------------------------------------------------------

Register FunctionCompiler::make(const CallExpr& e, Register wanted) {
  auto* fn = as<FnExpr>(e.callee);
  return fn && fn->primitive ? primitive(e, *fn, wanted) : call(e, wanted, false);
}

Register FunctionCompiler::call(const CallExpr& e, Register wanted, bool in_tail) {
  auto* named = as<GlobalExpr>(e.callee);
  auto* var = as<VarExpr>(e.callee);
  const bool is_self = var && var->variable == self_ && !registers_.contains(self_);
  // The callee is evaluated before the arguments.
  const bool is_value = !named && !is_self;
  const Register callee = is_value ? value(e.callee) : kNoRegister;
  std::vector<Register> operands = values(e.args);
  std::span<const Type> params =
      e.callee->type->kind == TypeKind::Function ? e.callee->type->params() : std::span<const Type>();
  for (size_t i = 0; i < params.size() && i < operands.size(); ++i)
    bind_dims(*e.args[i], operands[i], params[i], e.args[i]->type, Trust::Callee);

  uint32_t index = 0;
  auto& site = add_site<CallSite>(index);
  site.callee = named ? CalleeKind::Global : is_self ? CalleeKind::Self : CalleeKind::Closure;
  site.arguments = static_cast<uint32_t>(operands.size());
  site.operands = std::move(operands);
  if (is_value) site.operands.push_back(callee);
  if (named) site.global = global(*named);
  if (named) site.dims = codes(named->dims);
  const Register result = in_tail ? kNoRegister : or_new(wanted, e);
  emit(e, {.opcode = in_tail ? Opcode::TailInvoke : Opcode::Invoke, .result = result, .a = index});
  return result;
}

Register FunctionCompiler::make(const FnExpr& e, Register wanted) { return closure(e, nullptr, wanted); }

Register FunctionCompiler::closure(const FnExpr& fn, const Variable* self, Register wanted) {
  std::vector<const Variable*> captures = free_variables(&fn);
  // A closure that captured itself would never die; it is found in the frame instead.
  std::erase(captures, self);
  std::vector<Register> operands;
  operands.reserve(captures.size());
  for (const Variable* captured : captures) operands.push_back(variable(fn, captured, kNoRegister));

  const auto number = static_cast<uint32_t>(program_.functions.size());
  program_.functions.emplace_back();
  FunctionCompiler inner(program_, this, devices_);
  inner.function_.name = self ? fmt::format("%{}", self->name) : "fn";
  program_.functions[number] = inner.compile(fn, captures, self);

  uint32_t index = 0;
  auto& site = add_site<ClosureSite>(index);
  site.operands = std::move(operands);
  site.function = number;
  site.slots = std::move(inner.outer_slots_);
  const Register result = or_new(wanted, fn);
  emit(fn, {.opcode = Opcode::Closure, .result = result, .a = index});
  return result;
}

Register FunctionCompiler::make(const GlobalExpr& e, Register wanted) {
  uint32_t index = 0;
  auto& site = add_site<GlobalSite>(index);
  site.global = global(e);
  site.type = e.type;
  site.dims = codes(e.dims);
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Global, .result = result, .a = index});
  return result;
}

Register FunctionCompiler::make(const VarExpr& e, Register wanted) { return variable(e, e.variable, wanted); }

Register FunctionCompiler::variable(const Expr& at, const Variable* variable, Register wanted) {
  if (auto found = registers_.find(variable); found != registers_.end()) {
    if (wanted == kNoRegister) return found->second;
    emit(at, {.opcode = Opcode::Move, .result = wanted, .a = found->second});
    return wanted;
  }
  const Register result = wanted == kNoRegister ? new_register(variable->type) : wanted;
  if (variable == self_) {
    emit(at, {.opcode = Opcode::Self, .result = result});
    return result;
  }
  auto captured = captures_.find(variable);
  if (captured == captures_.end())
    return fail(at, fmt::format("internal: %{} has no value", variable->name), result);
  emit(at, {.opcode = Opcode::Capture, .result = result, .a = captured->second});
  return result;
}

// --- values ------------------------------------------------------------------------------------------------

Register FunctionCompiler::make(const ConstExpr& e, Register wanted) {
  // The value is not modified here.
  function_.constants.push_back(Value::tensor(std::const_pointer_cast<HostTensor>(e.value)));
  const auto number = static_cast<uint32_t>(function_.constants.size() - 1);
  const Register result = or_new(wanted, e);
  if (wanted == kNoRegister && is_unboxed(e.type)) constants_[result] = number;
  emit(e, {.opcode = Opcode::Const, .result = result, .a = number});
  return result;
}

Register FunctionCompiler::make(const TupleExpr& e, Register wanted) {
  std::vector<Register> operands = values(e.fields);
  uint32_t index = 0;
  add_site<Site>(index).operands = std::move(operands);
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Tuple, .result = result, .a = index});
  return result;
}

Register FunctionCompiler::make(const ConstructExpr& e, Register wanted) {
  std::vector<Register> operands = values(e.fields);
  uint32_t index = 0;
  auto& site = add_site<ConstructSite>(index);
  site.operands = std::move(operands);
  site.constructor = e.constructor;
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Construct, .result = result, .a = index});
  return result;
}

Register FunctionCompiler::make(const RefExpr& e, Register wanted) {
  const Register content = value(e.content), result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Ref, .result = result, .a = content});
  return result;
}

Register FunctionCompiler::make(const RefReadExpr& e, Register wanted) {
  const Register reference = value(e.reference), result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::RefRead, .result = result, .a = reference});
  return result;
}

Register FunctionCompiler::make(const RefWriteExpr& e, Register wanted) {
  const Register reference = value(e.reference);
  const Register content = value(e.content), result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::RefWrite, .result = result, .a = reference, .b = content});
  return result;
}

Register FunctionCompiler::make(const FieldExpr& e, Register wanted) {
  const Register tuple = value(e.tuple), result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Field, .result = result, .a = tuple, .b = e.index});
  return result;
}

Register FunctionCompiler::make(const IntrinsicExpr& e, Register wanted) {
  std::vector<Register> operands = values(e.args);
  uint32_t index = 0;
  auto& site = add_site<IntrinsicSite>(index);
  site.operands = std::move(operands);
  site.node = &e;
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Intrinsic, .result = result, .a = index});
  if (e.intrinsic == IntrinsicKind::Load || e.intrinsic == IntrinsicKind::Restore)
    bind_dims(e, result, e.type, nullptr, Trust::Nothing);
  return result;
}

Register FunctionCompiler::make(const CheckDimsExpr& e, Register wanted) {
  Register result = kNoRegister;
  if (e.value) {
    // Uses of parameters and earlier bindings have their own types, so inspect the value itself.
    result = value(e.value, wanted);
    if (!e.opened.empty()) bind_dims(e, result, e.type, e.value->type, Trust::Given);
  }
  if (e.conditions.empty()) return result;
  uint32_t index = 0;
  auto& site = add_site<CheckSite>(index);
  for (const DimCondition& condition : e.conditions)
    site.checks.push_back({code(condition.left), code(condition.right), condition});
  emit(e, {.opcode = Opcode::CheckDims, .a = index});
  return result;
}

Register FunctionCompiler::make(const ExternExpr& e, Register wanted) {
  std::vector<Register> operands = values(e.args);
  uint32_t index = 0;
  auto& site = add_site<ExternSite>(index);
  site.operands = std::move(operands);
  site.node = &e;
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::Extern, .result = result, .a = index});
  bind_dims(e, result, e.type, nullptr, Trust::Nothing);
  return result;
}

Register FunctionCompiler::make(const ViewExpr& e, Register wanted) {
  const Register tensor = value(e.tensor);
  Type from = e.tensor->type;
  auto is_open = [](Dim dim) { return dim->has_any; };
  bool open = std::any_of(from->dims.begin(), from->dims.end(), is_open);
  uint32_t index = 0;
  auto& site = add_site<ViewSite>(index);
  site.operands = {tensor};
  site.shape = codes(e.type->dims);
  site.same_count = from->is_tensor() && !open && dim_product(from->dims) == dim_product(e.type->dims);
  const Register result = or_new(wanted, e);
  emit(e, {.opcode = Opcode::View, .result = result, .a = index});
  return result;
}

// --- nodes that the machine does not run
// ------------------------------------------------------------------------

Register FunctionCompiler::make(const ErrorExpr& e, Register wanted) {
  return fail(e, "this expression has errors", wanted);
}
Register FunctionCompiler::make(const OpCallExpr& e, Register wanted) {
  return fail(e, "internal: an operator was not lowered", wanted);
}
Register FunctionCompiler::make(const ComprehensionExpr& e, Register wanted) {
  return fail(e, "internal: a comprehension stands outside of a primitive function", wanted);
}
Register FunctionCompiler::make(const ReduceExpr& e, Register wanted) {
  return fail(e, "internal: a reduction stands outside of a primitive function", wanted);
}
Register FunctionCompiler::make(const ScanExpr& e, Register wanted) {
  return fail(e, "internal: a scan stands outside of a primitive function", wanted);
}
Register FunctionCompiler::make(const ScatterExpr& e, Register wanted) {
  return fail(e, "internal: a scatter stands outside of a primitive function", wanted);
}

}  // namespace quern::vm

namespace quern {

std::shared_ptr<Program> compile_program(ExprPtr body, const std::vector<const Variable*>& inputs,
                                         std::shared_ptr<const Arena> owner) {
  auto program = std::make_shared<Program>();
  program->owner = std::move(owner);
  program->functions.emplace_back();  // the entry comes first, before functions it creates
  const std::vector<std::string> names = devices_of(body);
  const auto devices =
      names.empty() ? std::nullopt : std::optional<DeviceDomains>(std::in_place, body, names);
  vm::FunctionCompiler compiler(*program, nullptr, devices ? &*devices : nullptr);
  auto* fn = inputs.empty() ? as<FnExpr>(body) : nullptr;
  program->functions[0] = fn ? compiler.compile(*fn) : compiler.compile(body, inputs);
  return program;
}

}  // namespace quern
