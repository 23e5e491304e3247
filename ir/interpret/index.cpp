#include "ir/interpret/index.h"

#include <array>
#include <cstring>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/expr/effects.h"
#include "ir/expr/fields.h"
#include "ir/interpret/nodes.h"

namespace quern::interpreter {

/// The updates of a scatter, after its init.
struct ScatterCode {
  const ScatterExpr& expr;
  std::vector<Axis> axes;
  std::vector<IndexCode> indices;
  NodePtr value;
};

/// A tensor that the program reads and that is invariant over the points.
struct Operand {
  ExprPtr tensor;
  size_t hoisted;
};

struct IndexProgram::Impl {
  const Expr* expr = nullptr;
  std::vector<Operand> operands;  ///< in evaluation order; all are evaluated before the first point
  std::vector<Axis> axes;         ///< of a Comprehension
  NodePtr body;                   ///< for a scatter: its init
  std::unique_ptr<ScatterCode> scatter;
  std::vector<std::pair<Dim, size_t>> imports;  ///< dims of the frame and their slots
  size_t slot_count = 0, local_count = 0, hoisted_count = 0;
};

namespace {

class Compiler {
 public:
  explicit Compiler(IndexProgram::Impl& program) : program_(program) {}

  void compile(ExprPtr expr) {
    program_.expr = expr;
    if (auto* comprehension = as<ComprehensionExpr>(expr)) {
      program_.axes = enter_axes(*comprehension);
      auto* scatter = as<ScatterExpr>(comprehension->body);
      program_.body = node(scatter ? scatter->init : comprehension->body);
      if (scatter) {
        leave_axes(*comprehension);
        std::vector<Axis> axes = enter_axes(*scatter);
        std::vector<IndexCode> indices = index_codes(scatter->indices);
        program_.scatter = std::make_unique<ScatterCode>(
            ScatterCode{*scatter, std::move(axes), std::move(indices), node(scatter->value)});
      }
    } else {
      program_.body = node(expr);
    }
  }

 private:
  NodePtr node(ExprPtr expr) {
    return visit(expr, [this](const auto& e) { return make(e); });
  }

  // --- elements
  NodePtr make(const ConstExpr& e) {
    if (!e.value->shape().empty()) fail(e, "internal: an element is wanted, and this is none");
    return constant_node(e.value);
  }

  NodePtr make(const VarExpr& e) {
    auto local = locals_.find(e.variable);
    return local == locals_.end() ? graph_node(e) : local_node(local->second);
  }

  NodePtr make(const DimValueExpr& e) { return dim_node(e, code(e.dim)); }

  NodePtr make(const ScalarExpr& e) {
    std::vector<NodePtr> args;
    for (ExprPtr arg : e.args) args.push_back(node(arg));
    DType operand = e.args[0]->type->dtype.lane();
    if (e.is_cast) return cast_node(operand, e.type->dtype.lane(), std::move(args[0]));
    if (is_division(e.op) && operand.is_index())
      return index_division_node(e, e.op, std::move(args[0]), std::move(args[1]));
    return scalar_node(e.op, operand, std::move(args));
  }

  NodePtr make(const IfExpr& e) {
    NodePtr condition = node(e.condition);
    NodePtr then_arm = node(e.then_arm);
    return if_node(std::move(condition), std::move(then_arm), node(e.else_arm));
  }

  NodePtr make(const ReduceExpr& e) {
    std::vector<Axis> axes = enter_axes(e);
    if (e.reduce == ReduceKind::Sum) collect_padded_factors(e.body, false);
    NodePtr body = node(e.body);
    leave_axes(e);
    return reduce_node(e, e.reduce, e.body->type->dtype.lane(), std::move(axes), std::move(body));
  }

  // Collects reads with `else 0` that are factors of a sum's terms.
  void collect_padded_factors(ExprPtr expr, bool in_product) {
    auto* scalar = as<ScalarExpr>(expr);
    const bool is_product = scalar && !scalar->is_cast && scalar->op == ScalarOp::Mul;
    if (scalar && (scalar->is_cast || is_product))
      for (ExprPtr arg : scalar->args) collect_padded_factors(arg, in_product || is_product);
    auto* read = as<ReadExpr>(expr);
    auto* zero = read ? as<ConstExpr>(read->otherwise) : nullptr;
    if (in_product && zero && zero->value->lane_count() == 1 && element_as_double(*zero->value, 0) == 0)
      padded_factors_.insert(read);
  }

  // By definition: recomputed from the start for each position.
  NodePtr make(const ScanExpr& e) {
    std::vector<Axis> axes = enter_axes(e);
    NodePtr body = node(e.body);
    leave_axes(e);
    return reduce_node(e, e.reduce, e.body->type->dtype.lane(), std::move(axes), std::move(body));
  }

  NodePtr make(const ScatterExpr& e) { fail(e, "internal: a scatter is no element"); }

  NodePtr make(const ReadExpr& e) {
    TensorSource source{e.tensor, 0, nullptr};
    if (is_fixed(e.tensor)) {
      source.hoisted = hoist(e.tensor);
      program_.operands.push_back({e.tensor, source.hoisted});
    } else {
      source.escape = std::make_unique<Escape>(escape(e.tensor));
    }
    std::vector<IndexCode> indices = index_codes(e.indices);
    NodePtr otherwise = padded_factors_.contains(&e) ? absent_node()
                        : e.otherwise                ? node(e.otherwise)
                                                     : nullptr;
    return read_node(e, std::move(source), std::move(indices), std::move(otherwise));
  }

  std::vector<IndexCode> index_codes(std::span<const ExprPtr> indices) {
    std::vector<IndexCode> codes;
    for (ExprPtr index : indices) {
      if (auto* dim = as<DimValueExpr>(index))
        codes.push_back({code(dim->dim), nullptr});
      else
        codes.push_back({{}, node(index)});
    }
    return codes;
  }

  NodePtr make(const BlockExpr& e) {
    std::vector<Store> stores;
    for (const Binding& binding : e.bindings) {
      Store store{.variable = binding.variable};
      if (binding.variable && binding.variable->type->is_scalar()) {
        store.node = node(binding.value);
        store.slot = program_.local_count++;
        locals_[binding.variable] = store.slot;
      } else {
        store.escape = std::make_unique<Escape>(escape(binding.value));
        if (binding.variable) in_frame_.insert(binding.variable);
      }
      stores.push_back(std::move(store));
    }
    return block_node(std::move(stores), node(e.result));
  }

  // --- the graph level inside an index expression
  NodePtr make(const GraphNode auto& e) { return graph_node(e); }

  NodePtr graph_node(const Expr& e) {
    return is_invariant(&e) ? hoisted_node(&e, hoist(&e)) : escape_node(escape(&e));
  }

  size_t hoist(ExprPtr expr) {
    auto* var = as<VarExpr>(expr);
    if (!var) return program_.hoisted_count++;
    auto [entry, added] = hoisted_.try_emplace(var->variable, program_.hoisted_count);
    if (added) ++program_.hoisted_count;
    return entry->second;
  }

  Escape escape(ExprPtr expr) {
    Escape escape{.expr = expr};
    for (auto [dim, slot] : index_slots_) escape.dims.emplace_back(dim, slot);
    for (auto [variable, slot] : locals_) escape.locals.push_back({variable, slot});
    return escape;
  }

  /// Whether `expr` uses nothing bound by the program: no index variable, no local.
  bool is_fixed(ExprPtr expr) {
    if (auto* var = as<VarExpr>(expr))
      return !locals_.contains(var->variable) && !in_frame_.contains(var->variable);
    bool fixed = !varies(expr);
    for_each_child(expr, [&](ExprPtr child) { fixed = fixed && is_fixed(child); });
    return fixed;
  }

  /// Whether `expr` has the same value at every point of the program, and no effect.
  bool is_invariant(ExprPtr expr) { return !has_effects(expr) && is_fixed(expr); }

  bool has_effects(ExprPtr expr) {
    if (expr->kind == ExprKind::Call || expr->kind == ExprKind::Intrinsic) return true;
    if (own_effects(expr).uses_references()) return true;
    bool found = false;
    for_each_child(expr, [&](ExprPtr child) { found = found || has_effects(child); });
    return found;
  }

  /// Whether this node's own dims mention an index variable of the program.
  bool varies(ExprPtr expr) {
    bool found = false;
    auto look = [&](Dim var) { found = found || index_slots_.contains(var); };
    auto field = overloaded{[&](role::Dims, Dim dim) { for_each_var(dim, look); },
                            [&](role::Dims, std::span<const Dim> dims) {
                              for (Dim dim : dims) for_each_var(dim, look);
                            },
                            [&](role::Conditions, std::span<const DimCondition> conditions) {
                              for (const DimCondition& condition : conditions)
                                for (Dim side : {condition.left, condition.right}) for_each_var(side, look);
                            },
                            [](auto, const auto&) {}};
    for_each_dim_var(expr->type, look);
    visit(expr, [&](const auto& node) { for_each_field(field, node); });
    return found;
  }

  // --- dims
  template <class Node>
  std::vector<Axis> enter_axes(const Node& node) {
    std::vector<Axis> axes;
    for (Dim extent : node.extents) axes.push_back({0, program_.slot_count++, code(extent)});
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i].position = program_.slot_count++;
      index_slots_[node.vars[i]] = axes[i].position;
    }
    return axes;
  }

  template <class Node>
  void leave_axes(const Node& node) {
    for (Dim var : node.vars) index_slots_.erase(var);
  }

  size_t slot_of(Dim var) {
    if (auto index = index_slots_.find(var); index != index_slots_.end()) return index->second;
    auto [entry, added] = import_slots_.try_emplace(var, program_.slot_count);
    if (added) program_.imports.emplace_back(var, program_.slot_count++);
    return entry->second;
  }

  DimCode code(Dim dim) {
    DimCode code{.kind = dim->kind, .value = dim->value, .dim = dim};
    if (dim->kind == DimKind::Var) code.slot = slot_of(dim);
    for (Dim arg : dim->args) code.args.push_back(this->code(arg));
    return code;
  }

  IndexProgram::Impl& program_;
  std::unordered_map<Dim, size_t> index_slots_;   ///< index variables in scope
  std::unordered_map<Dim, size_t> import_slots_;  ///< dims of the frame
  std::unordered_map<const Variable*, size_t> locals_;
  std::unordered_set<const ReadExpr*> padded_factors_;
  std::unordered_map<const Variable*, size_t> hoisted_;
  std::unordered_set<const Variable*> in_frame_;  ///< bound inside to non-elements
};

/// Writes elements in row-major order, lane by lane, to a new tensor, whose shape is known only once the
/// extents are.
Value run_comprehension(const std::vector<Axis>& axes, const Node& body, const Expr& expr, Machine& machine) {
  DType dtype = expr.type->dtype;
  Shape shape;
  for (const Axis& axis : axes) shape.push_back(run_extent(axis.code, machine.slots.data(), expr));
  TensorPtr tensor = make_tensor(expr, dtype, std::move(shape));
  std::byte* next = tensor->data();
  const size_t bytes = dtype.lane().bytes();
  for_each_point(axes, machine.slots.data(), expr, [&] {
    for (machine.lane = 0; machine.lane < dtype.lanes; ++machine.lane) {
      uint64_t bits = body.run(machine);
      std::memcpy(next, &bits, bytes);
      next += bytes;
    }
  });
  return Value::tensor(std::move(tensor));
}

void run_scatter(const ScatterCode& code, HostTensor& tensor, Machine& machine) {
  const ScatterExpr& expr = code.expr;
  const DType lane_dtype = tensor.dtype().lane();
  const size_t bytes = lane_dtype.bytes();
  const std::optional<ScalarOp> op = scatter_op(expr.scatter);
  for_each_point(code.axes, machine.slots.data(), expr, [&] {
    int64_t offset = 0;
    for (size_t axis = 0; axis < code.indices.size(); ++axis) {
      const IndexCode& index = code.indices[axis];
      int64_t at = index.node ? static_cast<int64_t>(index.node->run(machine))
                              : run(index.dim, machine.slots.data(), expr);
      int64_t extent = tensor.shape()[axis];
      if (at < 0 || at >= extent)
        fail(expr, fmt::format("index {} is out of bounds for axis {} with extent {}", at, axis, extent),
             FailureKind::Index);
      offset = offset * extent + at;
    }
    std::byte* address = tensor.data() + static_cast<size_t>(offset) * tensor.dtype().bytes();
    for (machine.lane = 0; machine.lane < tensor.dtype().lanes; ++machine.lane, address += bytes) {
      Scalar element{lane_dtype, code.value->run(machine)};
      if (op) {
        Scalar old{lane_dtype};
        std::memcpy(&old.bits, address, bytes);
        element = quern::apply(*op, std::array{old, element});
      }
      std::memcpy(address, &element.bits, bytes);
    }
  });
}

}  // namespace

IndexProgram::IndexProgram(ExprPtr expr) : impl_(std::make_unique<Impl>()) { Compiler(*impl_).compile(expr); }

IndexProgram::~IndexProgram() = default;

Value IndexProgram::run(Evaluator& evaluator, Frame& frame) const {
  const Impl& program = *impl_;
  Machine machine{evaluator, frame, std::vector<int64_t>(program.slot_count),
                  std::vector<uint64_t>(program.local_count), std::vector<Hoisted>(program.hoisted_count)};
  // As in compiled code: unconditionally, even if there are no points. They may open dims.
  for (const Operand& operand : program.operands) hoisted_value(machine, operand.hoisted, operand.tensor);
  for (auto [dim, slot] : program.imports) {
    auto found = frame.dims.find(dim);
    if (found == frame.dims.end())
      fail(*program.expr, fmt::format("internal: the dim {} has no value", to_string(dim)));
    machine.slots[slot] = found->second;
  }
  DType dtype = program.expr->type->dtype;
  bool one_element =
      (program.expr->kind != ExprKind::Comprehension || program.axes.empty()) && !dtype.is_vector();
  if (one_element && !program.scatter) return Scalar{dtype, program.body->run(machine)};
  Value value = run_comprehension(program.axes, *program.body, *program.expr, machine);
  if (!program.scatter) return value;
  TensorPtr tensor = value.as_tensor();
  run_scatter(*program.scatter, *tensor, machine);
  return Value::tensor(std::move(tensor));
}

}  // namespace quern::interpreter
