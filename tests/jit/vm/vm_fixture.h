#pragma once
// Programs in the virtual machine, with the interpreter as its kernels and as its oracle.

#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/base/internal_failure.h"
#include "ir/base/interrupt.h"
#include "ir/interpret/interpreter.h"
#include "jit/plan/storage.h"
#include "jit/vm/vm.h"
#include "tests/dtypes.h"
#include "tests/ir/expr/ir_builder.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {

// --- kernels without a compiler

/// A "kernel" that interprets its primitive function on the buffers.
class InterpretedKernel final : public CompiledKernel {
 public:
  explicit InterpretedKernel(const FnExpr& fn) : fn_(fn) {
    std::unordered_set<Dim> bound;
    find_dims(fn.body, bound);
    for (const Variable* param : fn.params)
      for_each_dim_var(param->type, [&](Dim var) { add_dim(var, bound); });
    for (Dim dim : fn.body->type->dims) for_each_var(dim, [&](Dim var) { add_dim(var, bound); });
  }
  std::vector<Dim> dims;

  int32_t run(void* const* buffers, const int64_t* values) {
    Arena arena;
    ExprSubstitution known;
    for (size_t i = 0; i < dims.size(); ++i) known.types.dims[dims[i]] = dim_const(values[i]);
    Environment environment;
    size_t at = 0;
    for (const Variable* param : fn_.params) {
      Type type = quern::substitute(param->type, known.types);
      TensorPtr tensor = HostTensor::make(type->dtype, shape_of(type));
      std::memcpy(tensor->data(), buffers[at++], tensor->bytes());
      const Variable* given = make_variable(arena, param->name, type);
      environment[given] = Value::tensor(std::move(tensor));
      known.variables[param] = arena.make<VarExpr>(Expr{ExprKind::Var, type, {}}, given);
    }
    struct None final : FunctionSource {
      const Definition* function(uint32_t, std::string_view) override { return nullptr; }
    } none;
    struct Silent final : Host {
      void print(std::string_view) override {}
      Result<Value> load(std::string_view, std::string_view, Type) override { return Failure{""}; }
      Result<Done> save(std::string_view, std::string_view, const Value&, Type) override { return Done(); }
      Result<std::optional<Value>> restore(std::string_view, Type) override { return Failure{"no files"}; }
    } silent;
    EvaluationResult result = interpret(quern::substitute(arena, fn_.body, known), environment, none, silent);
    if (!result) return 2;
    TensorPtr tensor = result.value().as_tensor();
    std::memcpy(buffers[at], tensor->data(), tensor->bytes());
    return 0;
  }

 private:
  static Shape shape_of(Type type) {
    Shape shape;
    for (Dim dim : type->dims) shape.push_back(as_const(dim).value());
    return shape;
  }
  void add_dim(Dim var, const std::unordered_set<Dim>& bound) {
    if (!bound.contains(var) && std::find(dims.begin(), dims.end(), var) == dims.end()) dims.push_back(var);
  }
  void find_dims(ExprPtr expr, std::unordered_set<Dim>& bound) {
    auto enter = [&](const auto& node) {
      bound.insert(node.vars.begin(), node.vars.end());
      for (Dim extent : node.extents) for_each_var(extent, [&](Dim var) { add_dim(var, bound); });
    };
    if (auto* comprehension = as<ComprehensionExpr>(expr)) enter(*comprehension);
    if (auto* reduce = as<ReduceExpr>(expr)) enter(*reduce);
    if (auto* value = as<DimValueExpr>(expr)) for_each_var(value->dim, [&](Dim var) { add_dim(var, bound); });
    for_each_child(expr, [&](ExprPtr child) { find_dims(child, bound); });
  }

  const FnExpr& fn_;
};

/// Entries are plain functions: each of these stands for the kernel of its number.
inline constexpr size_t kMostKernels = 16;
inline std::array<InterpretedKernel*, kMostKernels> kernels_in_use = {};
template <size_t... I>
constexpr std::array<KernelEntry, sizeof...(I)> make_entries(std::index_sequence<I...>) {
  return {[](void* const* buffers, const int64_t* dims) { return kernels_in_use[I]->run(buffers, dims); }...};
}
inline constexpr auto kEntries = make_entries(std::make_index_sequence<kMostKernels>());

class InterpretingKernelSource final : public KernelSource {
 public:
  std::string failure;
  KernelEntry entry = nullptr;  ///< of every kernel, where it is given
  std::atomic<size_t> fetched = 0;
  Result<KernelCode> kernel(const FnExpr& primitive) override {
    if (!failure.empty()) return Failure{failure};
    auto kernel = std::make_shared<InterpretedKernel>(primitive);
    size_t number = fetched++;
    kernels_in_use.at(number) = kernel.get();
    kernel->entry = entry ? entry : kEntries.at(number);
    KernelCode code{kernel, kernel->dims};
    code.name = "kernel_" + std::to_string(number);
    return code;
  }
  PrepackedForms& forms() override { return forms_; }
  MachineOptions machine_options{.poisons_memory = true};
  const MachineOptions& options() const override { return machine_options; }

 private:
  PrepackedForms forms_;
};

// --- fixture

/// Definitions for both evaluators.
class Definitions final : public FunctionSource, public ProgramSource {
 public:
  std::map<std::string, Definition, std::less<>> definitions;
  size_t asked = 0;
  const Definition* function(uint32_t, std::string_view name) override {
    auto found = definitions.find(name);
    return found == definitions.end() ? nullptr : &found->second;
  }
  std::shared_ptr<const Program> program(const GlobalName& name) override {
    ++asked;
    auto found = definitions.find(name.name);
    if (found == definitions.end()) return nullptr;
    auto& program = programs_[found->first];
    if (!program) program = planned_program(found->second.body, {}, found->second.arena);
    return program;
  }

 private:
  std::map<std::string, std::shared_ptr<const Program>, std::less<>> programs_;
};

inline std::string text_of(const EvaluationResult& result) {
  return result ? to_string(result.value()) : "error: " + result.error().message;
}

class VmTest : public ::testing::Test {
 protected:
  IrBuilder b;
  Definitions functions;
  RecordingHost host;
  InterpretingKernelSource kernels;
  std::vector<std::pair<const Variable*, Value>> inputs;
  Dim n = dim_var("n"), m = dim_var("m"), i = dim_var("i"), j = dim_var("j");
  Type number = scalar_type(kFloat), integer = scalar_type(kInt);

  static Dim c(int64_t value) { return dim_const(value); }
  static Type tensor_of(std::vector<Dim> dims, DType dtype = kFloat) { return tensor_type(dims, dtype); }
  static Type fn_type(std::vector<Type> params, Type result) { return function_type(params, result); }
  static Value floats(Shape shape, std::vector<float> elements) {
    return Value::tensor(HostTensor::from<float>(kFloat, std::move(shape), std::span<const float>(elements)));
  }
  static Value int_value(int64_t value, DType dtype = kInt) { return Scalar::from_int(dtype, value); }

  ExprPtr given(std::string_view name, Type type, Value value) {
    const Variable* v = b.variable(name, type);
    inputs.emplace_back(v, std::move(value));
    return b.var(v);
  }
  ExprPtr boolean(bool value) { return b.scalar(Scalar::from_int(kBool, value)); }
  ExprPtr index(int64_t value) { return b.scalar(Scalar::from_int(kIndex, value)); }

  std::shared_ptr<const Program> compile(ExprPtr expr) {
    std::vector<const Variable*> variables;
    for (auto& [variable, value] : inputs) variables.push_back(variable);
    return planned_program(expr, variables, nullptr);
  }
  EvaluationResult run(ExprPtr expr) {
    std::vector<Value> arguments;
    for (auto& [variable, value] : inputs) arguments.push_back(value);
    return execute(compile(expr), std::move(arguments), functions, kernels, host);
  }
  std::string text(ExprPtr expr) { return text_of(run(expr)); }
  std::string interpreted(ExprPtr expr) {
    return text_of(interpret(expr, Environment(inputs.begin(), inputs.end()), functions, host));
  }
  void expect_same(ExprPtr expr, const std::string& wanted) {
    EXPECT_EQ(text(expr), wanted);
    EXPECT_EQ(interpreted(expr), wanted);
  }

  void define(const std::string& name, ExprPtr body, std::vector<Dim> dim_vars = {}) {
    functions.definitions[name] = {name, {dim_vars, {}, body->type}, body, b.arena};
  }
  void TearDown() override { functions.definitions.clear(); }

  const FnExpr* primitive(const std::vector<const Variable*>& params, ExprPtr body) {
    FnExpr fn = *b.fn(params, body);
    fn.primitive = true;
    return b.arena->make<FnExpr>(fn);
  }
  /// A primitive function of rank 0 applied to numbers, as lowering makes it of `x + y`.
  ExprPtr scalar(ScalarOp op, const std::vector<ExprPtr>& args) {
    std::vector<const Variable*> params;
    std::vector<ExprPtr> reads;
    for (ExprPtr arg : args) {
      params.push_back(b.variable("x", arg->type));
      reads.push_back(b.read(b.var(params.back()), {}));
    }
    return b.call(primitive(params, b.comprehension({}, {}, b.op(op, reads))), args);
  }
  ExprPtr add(ExprPtr x, ExprPtr y) { return scalar(ScalarOp::Add, {x, y}); }
  ExprPtr sub(ExprPtr x, ExprPtr y) { return scalar(ScalarOp::Sub, {x, y}); }
  /// x + 1 on the elements of a vector.
  ExprPtr increment(ExprPtr x) {
    const Variable* p = b.variable("p", x->type);
    Dim at = dim_var("at");
    ExprPtr body = b.op(ScalarOp::Add, {b.read(b.var(p), {b.dim(at)}), b.f32(1)});
    return b.call(primitive({p}, b.comprehension({at}, {x->type->dims[0]}, body)), {x});
  }
  ExprPtr total(ExprPtr x) {
    const Variable* p = b.variable("p", x->type);
    Dim at = dim_var("at");
    ExprPtr sum = b.reduce(ReduceKind::Sum, {at}, {x->type->dims[0]}, b.read(b.var(p), {b.dim(at)}));
    return b.call(primitive({p}, b.comprehension({}, {}, sum)), {x});
  }
};

}  // namespace quern
