#include "ir/interpret/nodes.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "ir/interpret/plain_arithmetic.h"

namespace quern::interpreter {

// --- dims --------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void overflows(const DimCode& code, const Expr& at) {
  fail(at, fmt::format("{} has no value here: it overflows", to_string(code.dim)));
}

// The message of compiled code: passes rename index variables.
[[noreturn]] void divides_by_zero(const Expr& at) { fail(at, "index arithmetic divides by zero"); }

int64_t floor_div(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t run_product(const DimCode& code, const int64_t* slots, const Expr& at) {
  int64_t product = code.value;
  for (const DimCode& arg : code.args)
    if (__builtin_mul_overflow(product, run(arg, slots, at), &product)) overflows(code, at);
  return product;
}

int64_t run_sum(const DimCode& code, const int64_t* slots, const Expr& at) {
  int64_t sum = 0;
  for (const DimCode& arg : code.args)
    if (__builtin_add_overflow(sum, run(arg, slots, at), &sum)) overflows(code, at);
  return sum;
}

int64_t run_division(const DimCode& code, const int64_t* slots, const Expr& at) {
  int64_t a = run(code.args[0], slots, at), b = run(code.args[1], slots, at);
  if (b == 0) divides_by_zero(at);
  if (a == INT64_MIN && b == -1) overflows(code, at);
  int64_t quotient = floor_div(a, b);
  return code.kind == DimKind::FloorDiv ? quotient : a - quotient * b;
}

int64_t run_extreme(const DimCode& code, const int64_t* slots, const Expr& at) {
  int64_t best = run(code.args[0], slots, at);
  for (size_t i = 1; i < code.args.size(); ++i) {
    int64_t next = run(code.args[i], slots, at);
    best = code.kind == DimKind::Min ? std::min(best, next) : std::max(best, next);
  }
  return best;
}

int64_t run_broadcast(const DimCode& code, const int64_t* slots, const Expr& at) {
  int64_t a = run(code.args[0], slots, at), b = run(code.args[1], slots, at);
  if (a != b && a != 1 && b != 1)
    fail(at, fmt::format("extents {} and {} do not broadcast", a, b), FailureKind::Dims);
  return a == 1 ? b : a;
}

}  // namespace

int64_t run(const DimCode& code, const int64_t* slots, const Expr& at) {
  switch (code.kind) {
    case DimKind::Const: return code.value;
    case DimKind::Var: return slots[code.slot];
    case DimKind::Sum: return run_sum(code, slots, at);
    case DimKind::Product: return run_product(code, slots, at);
    case DimKind::FloorDiv:
    case DimKind::FloorMod: return run_division(code, slots, at);
    case DimKind::Min:
    case DimKind::Max: return run_extreme(code, slots, at);
    case DimKind::Broadcast: return run_broadcast(code, slots, at);
    case DimKind::Any:
    case DimKind::Infer: break;
  }
  fail(at, fmt::format("internal: the extent {} is not known", to_string(code.dim)));
}

int64_t run_extent(const DimCode& code, const int64_t* slots, const Expr& at) {
  int64_t extent = run(code, slots, at);
  if (extent < 0) fail(at, fmt::format("the extent {} is negative: {}", to_string(code.dim), extent));
  return extent;
}

void fail_too_long(const Expr& at) { fail(at, "the number of points of the range overflows 64 bits"); }

// --- values of the graph level -----------------------------------------------------------------------

Value Escape::run(Machine& machine) const {
  for (auto [dim, slot] : dims) machine.frame.dims[dim] = machine.slots[slot];
  for (const Local& local : locals)
    machine.frame.values[local.variable] =
        Scalar{local.variable->type->dtype.lane(), machine.locals[local.slot]};
  return machine.evaluator.evaluate(expr, machine.frame);
}

const Value& hoisted_value(Machine& machine, size_t slot, ExprPtr expr) {
  Hoisted& hoisted = machine.hoisted[slot];
  if (!hoisted.ready) {
    hoisted.value = machine.evaluator.evaluate(expr, machine.frame);
    hoisted.ready = true;
  }
  return hoisted.value;
}

// --- elements ----------------------------------------------------------------------------------------------

namespace {

/// Loads an element, or one lane of it. A vector that the result does not depend on may have fewer lanes.
uint64_t load(const HostTensor& tensor, int64_t offset, size_t lane) {
  const DType dtype = tensor.dtype();
  auto at = static_cast<size_t>(offset);
  if (dtype.is_vector()) at = at * dtype.lanes + std::min<size_t>(lane, dtype.lanes - 1);
  const size_t bytes = dtype.lane().bytes();
  const std::byte* address = tensor.data() + at * bytes;
  uint64_t bits = 0;
  switch (bytes) {
    case 1: return std::to_integer<uint64_t>(*address);
    case 4: std::memcpy(&bits, address, 4); return bits;
    case 8: std::memcpy(&bits, address, 8); return bits;
    default: std::memcpy(&bits, address, bytes); return bits;
  }
}

uint64_t element_of(const Value& value, size_t lane, const Expr& at) {
  if (value.is_scalar()) return value.scalar().bits;
  auto* boxed = value.object_as<TensorObject>();
  if (!boxed || !boxed->tensor->shape().empty()) fail(at, "internal: an element is wanted, and this is none");
  return load(*boxed->tensor, 0, lane);
}

struct ConstantNode final : Node {
  uint64_t bits;
  explicit ConstantNode(uint64_t b) : bits(b) {}
  uint64_t run(Machine&) const override { return bits; }
};

struct VectorNode final : Node {
  std::shared_ptr<const HostTensor> vector;
  explicit VectorNode(std::shared_ptr<const HostTensor> v) : vector(std::move(v)) {}
  uint64_t run(Machine& machine) const override { return load(*vector, 0, machine.lane); }
};

struct LocalNode final : Node {
  size_t slot;
  explicit LocalNode(size_t s) : slot(s) {}
  uint64_t run(Machine& machine) const override { return machine.locals[slot]; }
};

struct DimValueNode final : Node {
  const Expr& at;
  DimCode code;
  DimValueNode(const Expr& a, DimCode c) : at(a), code(std::move(c)) {}
  uint64_t run(Machine& machine) const override {
    return static_cast<uint64_t>(interpreter::run(code, machine.slots.data(), at));
  }
};

struct HoistedNode final : Node {
  ExprPtr expr;
  size_t slot;
  HoistedNode(ExprPtr e, size_t s) : expr(e), slot(s) {}
  uint64_t run(Machine& machine) const override {
    return element_of(hoisted_value(machine, slot, expr), machine.lane, *expr);
  }
};

struct EscapeNode final : Node {
  Escape escape;
  explicit EscapeNode(Escape e) : escape(std::move(e)) {}
  uint64_t run(Machine& machine) const override {
    return element_of(escape.run(machine), machine.lane, *escape.expr);
  }
};

struct IfNode final : Node {
  NodePtr condition, then_arm, else_arm;
  IfNode(NodePtr c, NodePtr t, NodePtr e)
      : condition(std::move(c)), then_arm(std::move(t)), else_arm(std::move(e)) {}
  uint64_t run(Machine& machine) const override {
    return condition->run(machine) != 0 ? then_arm->run(machine) : else_arm->run(machine);
  }
};

struct BlockNode final : Node {
  std::vector<Store> stores;
  NodePtr result;
  BlockNode(std::vector<Store> s, NodePtr r) : stores(std::move(s)), result(std::move(r)) {}
  uint64_t run(Machine& machine) const override {
    for (const Store& store : stores) {
      if (store.node) {
        machine.locals[store.slot] = store.node->run(machine);
        continue;
      }
      Value value = store.escape->run(machine);
      if (store.variable) machine.frame.values[store.variable] = std::move(value);
    }
    return result->run(machine);
  }
};

// --- arithmetic --------------------------------------------------------------------------------------------

/// Common arithmetic, equal to `apply` but without its dispatch on operation and dtype.
template <class T, class Op>
struct BinaryNode final : Node {
  NodePtr a, b;
  BinaryNode(NodePtr x, NodePtr y) : a(std::move(x)), b(std::move(y)) {}
  uint64_t run(Machine& machine) const override {
    T x = value_of<T>(a->run(machine)), y = value_of<T>(b->run(machine));
    return bits_of<T>(Op()(x, y));
  }
};

struct ApplyNode final : Node {
  ScalarOp op;
  DType operand;
  std::vector<NodePtr> args;
  ApplyNode(ScalarOp o, DType d, std::vector<NodePtr> a) : op(o), operand(d), args(std::move(a)) {}
  uint64_t run(Machine& machine) const override {
    std::array<Scalar, 2> operands;
    for (size_t i = 0; i < args.size(); ++i) operands[i] = {operand, args[i]->run(machine)};
    return quern::apply(op, std::span<const Scalar>(operands.data(), args.size())).bits;
  }
};

/// The second operand of `and` and `or` is evaluated only if the first does not decide.
struct LogicNode final : Node {
  bool is_and;
  NodePtr a, b;
  LogicNode(bool i, NodePtr x, NodePtr y) : is_and(i), a(std::move(x)), b(std::move(y)) {}
  uint64_t run(Machine& machine) const override {
    const uint64_t first = a->run(machine);
    return (first != 0) == is_and ? b->run(machine) : first;
  }
};

struct IndexDivisionNode final : Node {
  const Expr& at;
  ScalarOp op;
  NodePtr dividend, divisor;
  IndexDivisionNode(const Expr& e, ScalarOp o, NodePtr a, NodePtr b)
      : at(e), op(o), dividend(std::move(a)), divisor(std::move(b)) {}
  uint64_t run(Machine& machine) const override {
    const Scalar a{DType::index(), dividend->run(machine)}, b{DType::index(), divisor->run(machine)};
    if (b.bits == 0) divides_by_zero(at);
    return quern::apply(op, std::array{a, b}).bits;
  }
};

struct CastNode final : Node {
  DType from, to;
  NodePtr arg;
  CastNode(DType f, DType t, NodePtr a) : from(f), to(t), arg(std::move(a)) {}
  uint64_t run(Machine& machine) const override { return quern::cast({from, arg->run(machine)}, to).bits; }
};

template <class T>
NodePtr binary_node(ScalarOp op, std::vector<NodePtr>& args) {
  if (op == ScalarOp::Add)
    return std::make_unique<BinaryNode<T, AddOp>>(std::move(args[0]), std::move(args[1]));
  if (op == ScalarOp::Sub)
    return std::make_unique<BinaryNode<T, SubOp>>(std::move(args[0]), std::move(args[1]));
  if (op == ScalarOp::Mul)
    return std::make_unique<BinaryNode<T, MulOp>>(std::move(args[0]), std::move(args[1]));
  return nullptr;
}

// --- reads -------------------------------------------------------------------------------------------------

struct ReadNode final : Node {
  const ReadExpr& read;
  TensorSource source;
  std::vector<IndexCode> indices;
  NodePtr otherwise;
  ReadNode(const ReadExpr& r, TensorSource t, std::vector<IndexCode> i, NodePtr o)
      : read(r), source(std::move(t)), indices(std::move(i)), otherwise(std::move(o)) {}

  uint64_t run(Machine& machine) const override {
    if (!source.escape) return element(machine, hoisted_value(machine, source.hoisted, source.expr));
    Value value = source.escape->run(machine);
    return element(machine, value);
  }

 private:
  uint64_t element(Machine& machine, const Value& value) const {
    if (indices.empty()) return element_of(value, machine.lane, read);
    auto* boxed = value.object_as<TensorObject>();
    if (!boxed || boxed->tensor->shape().size() != indices.size())
      fail(read, fmt::format("internal: a tensor of rank {} is wanted here", indices.size()));
    const HostTensor& tensor = *boxed->tensor;
    int64_t offset = 0, first_outside = 0;
    size_t outside_axis = indices.size();
    // Evaluate all indices before testing any.
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const int64_t index = index_at(machine, axis), extent = tensor.shape()[axis];
      const bool is_outside = static_cast<uint64_t>(index) >= static_cast<uint64_t>(extent);
      if (is_outside && outside_axis == indices.size()) outside_axis = axis, first_outside = index;
      if (outside_axis == indices.size()) offset = offset * extent + index;
    }
    if (outside_axis < indices.size())
      return outside(machine, outside_axis, first_outside, tensor.shape()[outside_axis]);
    return load(tensor, offset, machine.lane);
  }

  int64_t index_at(Machine& machine, size_t axis) const {
    const IndexCode& index = indices[axis];
    if (index.node) return static_cast<int64_t>(index.node->run(machine));
    return interpreter::run(index.dim, machine.slots.data(), read);
  }

  uint64_t outside(Machine& machine, size_t axis, int64_t index, int64_t extent) const {
    bool checked = axis < read.checked.size() && read.checked[axis];
    if (checked && otherwise) return otherwise->run(machine);
    std::string what =
        fmt::format("index {} is out of bounds for axis {} with extent {}", index, axis, extent);
    fail(read, checked ? what : "internal: unproved read: " + what, FailureKind::Index);
  }
};

struct AbsentNode final : Node {
  uint64_t run(Machine& machine) const override {
    machine.absent = true;
    return 0;
  }
};

}  // namespace

// --- construction ------------------------------------------------------------------------------------------

NodePtr constant_node(std::shared_ptr<const HostTensor> element) {
  if (element->dtype().is_vector()) return std::make_unique<VectorNode>(std::move(element));
  return std::make_unique<ConstantNode>(load(*element, 0, 0));
}

NodePtr local_node(size_t slot) { return std::make_unique<LocalNode>(slot); }

NodePtr dim_node(const Expr& at, DimCode code) { return std::make_unique<DimValueNode>(at, std::move(code)); }

NodePtr hoisted_node(ExprPtr expr, size_t slot) { return std::make_unique<HoistedNode>(expr, slot); }

NodePtr escape_node(Escape escape) { return std::make_unique<EscapeNode>(std::move(escape)); }

NodePtr absent_node() { return std::make_unique<AbsentNode>(); }

NodePtr scalar_node(ScalarOp op, DType operand, std::vector<NodePtr> args) {
  if (is_lazy(op))
    return std::make_unique<LogicNode>(op == ScalarOp::And, std::move(args[0]), std::move(args[1]));
  NodePtr plain = with_plain_type(operand, [&]<class T>(T) { return binary_node<T>(op, args); });
  return plain ? std::move(plain) : std::make_unique<ApplyNode>(op, operand, std::move(args));
}

NodePtr index_division_node(const Expr& at, ScalarOp op, NodePtr dividend, NodePtr divisor) {
  return std::make_unique<IndexDivisionNode>(at, op, std::move(dividend), std::move(divisor));
}

NodePtr cast_node(DType from, DType to, NodePtr arg) {
  return std::make_unique<CastNode>(from, to, std::move(arg));
}

NodePtr if_node(NodePtr condition, NodePtr then_arm, NodePtr else_arm) {
  return std::make_unique<IfNode>(std::move(condition), std::move(then_arm), std::move(else_arm));
}

NodePtr block_node(std::vector<Store> stores, NodePtr result) {
  return std::make_unique<BlockNode>(std::move(stores), std::move(result));
}

NodePtr read_node(const ReadExpr& read, TensorSource tensor, std::vector<IndexCode> indices,
                  NodePtr otherwise) {
  return std::make_unique<ReadNode>(read, std::move(tensor), std::move(indices), std::move(otherwise));
}

}  // namespace quern::interpreter
