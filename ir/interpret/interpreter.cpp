#include "ir/interpret/interpreter.h"

#include <fmt/format.h>

#include "ir/base/interrupt.h"
#include "ir/extern/kernels.h"
#include "ir/interpret/index.h"
#include "ir/interpret/match.h"
#include "ir/type/row_types.h"
#include "ir/value/rows.h"

namespace quern {

namespace interpreter {

namespace {

/// The maximal number of pending calls. Deeper recursion counts as infinite.
constexpr size_t kMaxDepth = 10'000;

struct Closure final : ClosureObject {
  using ClosureObject::ClosureObject;
  const FnExpr* fn = nullptr;
  /// The variable that the function is bound to, whose value is this closure. It is not captured, so that a
  /// recursive closure does not keep itself alive.
  const Variable* self = nullptr;
  std::vector<const Variable*> variables;  ///< of the captures
  std::unordered_map<Dim, int64_t> dims;
  std::shared_ptr<const Arena> arena;
};

class Interpreter final : public Evaluator {
 public:
  Interpreter(const Environment& environment, FunctionSource& functions, Host& host, Observer* observer)
      : environment_(environment), functions_(functions), host_(host), observer_(observer) {}

  EvaluationResult interpret(ExprPtr expr) {
    Frame frame;
    // Binds dims of shapes that earlier statements left open.
    for (const Variable* variable : free_variables(expr))
      if (auto found = environment_.find(variable); found != environment_.end())
        bind_dims(variable->type, found->second, frame.dims);
    try {
      calls_.push_back({});
      return run(expr, std::move(frame));
    } catch (Stop& stop) {
      tell_calls(stop.error, calls_);
      return std::move(stop.error);
    }
  }

  Value evaluate(ExprPtr expr, Frame& frame) override {
    expr = settle(expr, frame);
    return visit(expr, [&](const auto& node) { return value_of(node, frame); });
  }

 private:
  // --- control -------------------------------------------------------------------------------------------

  /// Descends to the subexpression that yields the value of `expr`: through results of blocks, evaluating
  /// their bindings, and chosen arms of conditions.
  ExprPtr settle(ExprPtr expr, Frame& frame) {
    while (true) {
      if (auto* block = as<BlockExpr>(expr)) {
        for (const Binding& binding : block->bindings) bind(binding, frame);
        expr = block->result;
      } else if (auto* branch = as<IfExpr>(expr)) {
        Value condition = evaluate(branch->condition, frame);
        if (!condition.is_scalar()) fail(*branch->condition, "internal: the condition is no bool");
        expr = condition.scalar().as_bool() ? branch->then_arm : branch->else_arm;
      } else if (auto* match = as<MatchExpr>(expr)) {
        expr = chosen_arm(*match, frame);
      } else {
        return expr;
      }
    }
  }

  /// The body of the first arm that matches, with the pattern's variables bound.
  ExprPtr chosen_arm(const MatchExpr& match, Frame& frame) {
    Value scrutinee = evaluate(match.scrutinee, frame);
    std::vector<PatternBinding> bindings;
    for (const MatchArm& arm : match.arms) {
      if (!matches(*arm.pattern, scrutinee, bindings)) continue;
      for (PatternBinding& binding : bindings) {
        fit(match, binding.variable->type, binding.value, frame.dims);
        tell_bound(*binding.variable, binding.value, match);
        frame.values[binding.variable] = std::move(binding.value);
      }
      return arm.body;
    }
    fail(match, no_arm_matches(scrutinee));
  }

  void bind(const Binding& binding, Frame& frame) {
    auto* fn = as<FnExpr>(binding.value);
    Value value = fn ? closure(*fn, binding.variable, frame) : evaluate(binding.value, frame);
    if (!binding.variable) return;
    fit(*binding.value, binding.variable->type, value, frame.dims);
    tell_bound(*binding.variable, value, *binding.value);
    frame.values[binding.variable] = std::move(value);
  }

  void tell_bound(const Variable& variable, const Value& value, const Expr& at) {
    if (observer_) observer_->bound(variable, value, at);
  }

  /// The value of a body in a new frame. A tail call reuses the frame.
  Value run(ExprPtr body, Frame frame) {
    while (true) {
      body = settle(body, frame);
      auto* call = as<CallExpr>(body);
      // The observer is told the results of operators, so their calls must return here.
      auto* op_call = observer_ ? nullptr : as<OpCallExpr>(body);
      if (!call && !op_call) return evaluate(body, frame);
      Frame next;
      ExprPtr next_body = call ? enter(*call, frame, next) : enter(*op_call, frame, next);
      take_frame(calls_.back(), body->origin);
      frame = std::move(next);
      body = next_body;
    }
  }

  /// The value of a call that is not in tail position.
  template <class Node>
  Value call(const Node& node, Frame& caller) {
    Frame frame;
    ExprPtr body = enter(node, caller, frame);
    return run_called(node, body, std::move(frame));
  }

  Value run_called(const Expr& call, ExprPtr body, Frame frame) {
    if (calls_.size() > kMaxDepth) fail(call, "the recursion is too deep", FailureKind::TooDeep);
    calls_.push_back({call.origin, {}});
    Value value = run(body, std::move(frame));
    calls_.pop_back();  // not on failure, which reports the calls
    return value;
  }

  // --- calls ---------------------------------------------------------------------------------------------

  /// Makes the frame of a call, and returns the body to run in it.
  ExprPtr enter(const CallExpr& call, Frame& caller, Frame& frame) {
    if (is_interrupted()) fail(call, kInterrupted);
    Value callee = evaluate(call.callee, caller);
    auto* target = dynamic_cast<Closure*>(callee.object());
    if (!target) fail(call, "internal: what is called is no function of the interpreter");
    return enter(call, callee, evaluate_all(call.args, caller), frame);
  }

  ExprPtr enter(const Expr& call, const Value& callee, std::vector<Value> args, Frame& frame) {
    auto* target = static_cast<Closure*>(callee.object());
    frame.arena = target->arena;
    frame.dims = target->dims;
    for (size_t i = 0; i < target->variables.size(); ++i)
      frame.values[target->variables[i]] = target->captures[i];
    if (target->self) frame.values[target->self] = callee;
    const FnExpr& fn = *target->fn;
    for (Dim var : fn.dim_vars) frame.dims.erase(var);
    bind_params(call, fn, std::move(args), frame);
    // A dim that no argument's shape determines comes from the function's use.
    for (Dim var : fn.dim_vars)
      if (auto known = target->dims.find(var); known != target->dims.end()) frame.dims.insert(*known);
    return fn.body;
  }

  ExprPtr enter(const OpCallExpr& call, Frame& caller, Frame& frame) {
    std::shared_ptr<const OpInstance> linked = functions_.instance(*call.instance);
    const OpInstance& instance = *linked;
    if (!instance.function) fail(call, fmt::format("the definition of {} has errors", instance.name));
    std::vector<Value> args = evaluate_all(call.args, caller);
    for (size_t i = 0; i < instance.dim_vars.size() && i < call.dims.size(); ++i)
      if (auto value = dim_value(call.dims[i], caller)) frame.dims[instance.dim_vars[i]] = *value;
    frame.arena = instance.arena;
    bind_params(call, *instance.function, std::move(args), frame);
    return instance.function->body;
  }

  void bind_params(const Expr& call, const FnExpr& fn, std::vector<Value> args, Frame& frame) {
    if (args.size() != fn.params.size()) fail(call, "internal: the call has too few or too many arguments");
    bool again = false;
    for (size_t i = 0; i < args.size(); ++i) {
      fit(call, fn.params[i]->type, args[i], frame.dims, fn.params[i]);
      again |= has_compound_dim(fn.params[i]->type);
    }
    // An extent such as n * m of one argument can be compared once the others have bound n and m.
    for (size_t i = 0; again && i < args.size(); ++i)
      fit(call, fn.params[i]->type, args[i], frame.dims, fn.params[i]);
    for (size_t i = 0; i < args.size(); ++i) {
      tell_bound(*fn.params[i], args[i], call);
      frame.values[fn.params[i]] = std::move(args[i]);
    }
  }

  static bool has_compound_dim(Type type) {
    for (Dim dim : type->dims)
      if (!dim->args.empty()) return true;
    if (type->kind == TypeKind::Tuple)
      for (Type field : type->args)
        if (has_compound_dim(field)) return true;
    return false;
  }

  /// Binds the dims of a value's shape; a mismatch is a failure, of `param` if given.
  static void fit(const Expr& at, Type type, const Value& value, std::unordered_map<Dim, int64_t>& dims,
                  const Variable* param = nullptr) {
    std::string disagreement = bind_dims(type, value, dims);
    if (disagreement.empty()) return;
    std::string what = param ? fmt::format("the argument %{}", param->name) : "the value";
    fail(at, fmt::format("{} does not fit: {}", what, disagreement), FailureKind::Dims);
  }

  /// A function literal as a value; `self` is the variable that it is bound to, or null.
  Value closure(const FnExpr& fn, const Variable* self, Frame& frame) {
    auto* object = new Closure(fn.type);
    Value value(object);
    object->fn = &fn;
    object->self = self;
    object->dims = frame.dims;
    object->arena = frame.arena;
    auto [entry, added] = captures_.try_emplace(&fn);
    if (added) entry->second = free_variables(&fn);
    for (const Variable* variable : entry->second) {
      if (variable == self) continue;
      object->variables.push_back(variable);
      object->captures.push_back(lookup(fn, variable, frame));
    }
    return value;
  }

  // --- parts ---------------------------------------------------------------------------------------------

  const Value& lookup(const Expr& at, const Variable* variable, const Frame& frame) {
    if (auto found = frame.values.find(variable); found != frame.values.end()) return found->second;
    if (auto found = environment_.find(variable); found != environment_.end()) return found->second;
    fail(at, fmt::format("internal: %{} has no value", variable->name));
  }

  std::vector<Value> evaluate_all(std::span<const ExprPtr> exprs, Frame& frame) {
    std::vector<Value> values;
    values.reserve(exprs.size());
    for (ExprPtr expr : exprs) values.push_back(expr ? evaluate(expr, frame) : Value());
    return values;
  }

  static std::optional<int64_t> dim_value(Dim dim, const Frame& frame) {
    return quern::evaluate(dim, [&](Dim var) -> std::optional<int64_t> {
      auto found = frame.dims.find(var);
      return found == frame.dims.end() ? std::nullopt : std::optional(found->second);
    });
  }

  /// An index expression outside any other, or a whole one.
  Value run_index(const Expr& expr, Frame& frame) {
    std::unique_ptr<IndexProgram>& program = programs_[&expr];
    if (!program) program = std::make_unique<IndexProgram>(&expr);
    return program->run(*this, frame);
  }

  // --- values of the kinds -------------------------------------------------------------------------------

  Value value_of(const ConstExpr& node, Frame&) {
    // The value is not modified here.
    return Value::tensor(std::const_pointer_cast<HostTensor>(node.value));
  }

  Value value_of(const VarExpr& node, Frame& frame) { return lookup(node, node.variable, frame); }

  Value value_of(const GlobalExpr& node, Frame& frame) {
    const Definition* definition = functions_.function(node.module, node.name);
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn) fail(node, fmt::format("the definition of @{} has errors", node.name));
    auto* object = new Closure(node.type);
    Value value(object);
    object->fn = fn;
    object->arena = definition->arena;
    for (size_t i = 0; i < fn->dim_vars.size() && i < node.dims.size(); ++i)
      if (auto dim = dim_value(node.dims[i], frame)) object->dims[fn->dim_vars[i]] = *dim;
    return value;
  }

  Value value_of(const OpCallExpr& node, Frame& caller) {
    if (!observer_) return call(node, caller);
    Frame frame;
    ExprPtr body = enter(node, caller, frame);
    std::vector<Value> operands;
    for (const Variable* param : functions_.instance(*node.instance)->function->params)
      operands.push_back(frame.values.at(param));
    Value value = run_called(node, body, std::move(frame));
    tell_computed(node, operands, value);
    return value;
  }

  void tell_computed(const Expr& node, std::span<const Value> operands, const Value& value) {
    std::string problem = observer_->computed(node, operands, value);
    if (!problem.empty()) fail(node, std::move(problem));
  }
  Value value_of(const CallExpr& node, Frame& frame) { return call(node, frame); }
  Value value_of(const FnExpr& node, Frame& frame) { return closure(node, nullptr, frame); }

  Value value_of(const BlockExpr& node, Frame& frame) { return evaluate(&node, frame); }
  Value value_of(const IfExpr& node, Frame& frame) { return evaluate(&node, frame); }
  Value value_of(const MatchExpr& node, Frame& frame) { return evaluate(&node, frame); }

  Value value_of(const TupleExpr& node, Frame& frame) {
    return Value::tuple(evaluate_all(node.fields, frame));
  }

  Value value_of(const FieldExpr& node, Frame& frame) {
    Value tuple = evaluate(node.tuple, frame);
    const std::vector<Value>* fields = tuple.fields();
    if (!fields || node.index >= fields->size()) fail(node, "internal: the value has no such field");
    return (*fields)[node.index];
  }

  Value value_of(const ConstructExpr& node, Frame& frame) {
    return Value::data(*node.constructor, evaluate_all(node.fields, frame));
  }

  Value value_of(const RefExpr& node, Frame& frame) {
    return Value::reference(evaluate(node.content, frame));
  }

  Value value_of(const RefReadExpr& node, Frame& frame) {
    Value reference = evaluate(node.reference, frame);
    return place_of(node, reference).content;
  }

  Value value_of(const RefWriteExpr& node, Frame& frame) {
    Value reference = evaluate(node.reference, frame);
    Value content = evaluate(node.content, frame);
    place_of(node, reference).content = std::move(content);
    return Value::unit();
  }

  static RefObject& place_of(const Expr& at, const Value& value) {
    auto* reference = value.object_as<RefObject>();
    if (!reference) fail(at, "internal: the value is no reference");
    return *reference;
  }

  Value scan(const IntrinsicExpr& node, Frame& frame) {
    const Value step = evaluate(node.args[0], frame);
    Value carry = evaluate(node.args[1], frame);
    const Value rows = evaluate(node.args[2], frame);
    const int64_t count = dim_value(row_count(node.args[2]->type), frame).value_or(0);
    Value made = empty(node, node.type->args[1], frame);
    for (int64_t i = 0; i < count; ++i) {
      if (is_interrupted()) fail(node, kInterrupted);
      const int64_t k = node.texts.empty() ? i : count - 1 - i;
      Frame called;
      ExprPtr body = enter(node, step, {carry, row_of(rows, k)}, called);
      const Value both = run_called(node, body, std::move(called));
      carry = (*both.fields())[0];
      put_row(made, k, (*both.fields())[1]);
    }
    return Value::tuple({std::move(carry), std::move(made)});
  }

  /// Tensors of a type, whose elements are not written yet.
  Value empty(const Expr& at, Type type, const Frame& frame) {
    if (!type->is_tensor()) {
      std::vector<Value> parts;
      for (Type part : type->args) parts.push_back(empty(at, part, frame));
      return Value::tuple(std::move(parts));
    }
    Shape shape;
    for (Dim dim : type->dims) shape.push_back(dim_value(dim, frame).value_or(0));
    return Value::tensor(make_tensor(at, type->dtype, std::move(shape)));
  }

  Value value_of(const IntrinsicExpr& node, Frame& frame) {
    if (node.intrinsic == IntrinsicKind::ScanOver) return scan(node, frame);
    if (node.intrinsic >= IntrinsicKind::Checkpoint || node.intrinsic == IntrinsicKind::ToDevice)
      return evaluate(node.args[0], frame);
    std::vector<Value> args = evaluate_all(node.args, frame);
    switch (node.intrinsic) {
      case IntrinsicKind::Print: host_.print(format_print(node, args, host_.style())); break;
      case IntrinsicKind::Load: {
        Result<Value> loaded = host_.load(file_name_of(node, args), node.texts.back(), node.type);
        if (!loaded) fail(node, loaded.error().message, FailureKind::File);
        fit(node, node.type, *loaded, frame.dims);
        return std::move(loaded).value();
      }
      case IntrinsicKind::Save: {
        Result<Done> saved =
            host_.save(file_name_of(node, args), node.texts.back(), args.back(), node.args.back()->type);
        if (!saved) fail(node, saved.error().message, FailureKind::File);
        break;
      }
      case IntrinsicKind::Restore: {
        Result<std::optional<Value>> restored = host_.restore(file_name_of(node, args), node.type);
        if (!restored) fail(node, restored.error().message, FailureKind::File);
        if (!*restored) return args.back();
        fit(node, node.type, **restored, frame.dims);
        return **std::move(restored);
      }
      case IntrinsicKind::NextKey: return host_.next_key();
      case IntrinsicKind::Progress: report_progress(host_, node, args); break;
      case IntrinsicKind::Clock: return clock_value();
      case IntrinsicKind::Assert:
        if (std::string problem = check_assertion(node, args); !problem.empty()) fail(node, problem);
        break;
      default:
        fail(node,
             "the function that is derived here is known only now that the program runs: pass it by its "
             "name, or as `fn (…) { … }`");
    }
    return Value::unit();
  }

  Value value_of(const CheckDimsExpr& node, Frame& frame) {
    Value value = node.value ? evaluate(node.value, frame) : Value::unit();
    if (!node.opened.empty()) fit(node, node.type, value, frame.dims);
    for (const DimCondition& condition : node.conditions) {
      std::optional<int64_t> left = dim_value(condition.left, frame),
                             right = dim_value(condition.right, frame);
      if (left && right && holds(condition.relation, *left, *right)) continue;
      throw Stop{broken(condition, left, right)};
    }
    return value;
  }

  Value value_of(const ExternExpr& node, Frame& frame) {
    std::vector<Value> args = evaluate_all(node.args, frame);
    ExternKernel kernel = find_extern_kernel(node.kernel);
    if (!kernel) fail(node, fmt::format("internal: there is no kernel {}", node.kernel));
    Result<Value> result = kernel(args, *node.attributes);
    if (!result) fail(node, result.error().message);
    fit(node, node.type, *result, frame.dims);
    return std::move(result).value();
  }

  Value value_of(const ViewExpr& node, Frame& frame) {
    TensorPtr tensor = evaluate(node.tensor, frame).as_tensor();
    if (!tensor) fail(node, "internal: a view of what is no tensor");
    Shape shape;
    for (Dim dim : node.type->dims) {
      std::optional<int64_t> extent = dim_value(dim, frame);
      if (!extent) fail(node, fmt::format("the extent {} has no value here", to_string(dim)));
      if (*extent < 0) fail(node, fmt::format("the extent {} is negative: {}", to_string(dim), *extent));
      shape.push_back(*extent);
    }
    std::string wanted = type_to_string(tensor->dtype(), shape);
    if (!fits_memory(tensor->dtype(), shape)) fail(node, fmt::format("{} is too large", wanted));
    if (int64_t count = element_count(shape); count != tensor->size())
      fail(node, fmt::format("a tensor of {} elements cannot be viewed as {}, which has {}", tensor->size(),
                             wanted, count));
    return Value::tensor(HostTensor::view(std::move(tensor), std::move(shape)));
  }

  Value value_of(const ComprehensionExpr& node, Frame& frame) {
    if (!observer_) return run_index(node, frame);
    Environment values;
    std::vector<Value> operands;
    for (const Variable* variable : free_variables(&node)) {
      operands.push_back(lookup(node, variable, frame));
      values.emplace(variable, operands.back());
    }
    std::optional<Value> quick = observer_->evaluate(&node, values);
    Value value = quick ? *quick : run_index(node, frame);
    tell_computed(node, operands, value);
    return value;
  }
  Value value_of(const DimValueExpr& node, Frame& frame) { return run_index(node, frame); }
  Value value_of(const ScalarExpr& node, Frame& frame) { return run_index(node, frame); }
  Value value_of(const ReduceExpr& node, Frame& frame) { return run_index(node, frame); }
  Value value_of(const ScanExpr& node, Frame& frame) { return run_index(node, frame); }
  Value value_of(const ScatterExpr& node, Frame&) {
    fail(node, "internal: a scatter stands outside of a comprehension");
  }
  Value value_of(const ReadExpr& node, Frame& frame) { return run_index(node, frame); }

  Value value_of(const ErrorExpr& node, Frame&) { fail(node, "this expression has errors"); }

  const Environment& environment_;
  FunctionSource& functions_;
  Host& host_;
  Observer* const observer_;  ///< or null
  std::vector<OpenCall> calls_;
  std::unordered_map<const FnExpr*, std::vector<const Variable*>> captures_;
  std::unordered_map<ExprPtr, std::unique_ptr<IndexProgram>> programs_;
};

}  // namespace

}  // namespace interpreter

EvaluationResult interpret(ExprPtr expr, const Environment& environment, FunctionSource& functions,
                           Host& host, Observer* observer) {
  return interpreter::Interpreter(environment, functions, host, observer).interpret(expr);
}

}  // namespace quern
