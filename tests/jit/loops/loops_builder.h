#pragma once
// Short names for building loop nests in tests.

#include <string>
#include <utility>
#include <vector>

#include "jit/loops/loops.h"

namespace quern::loops::build {

inline Dim num(int64_t value) { return dim_const(value); }

inline ValuePtr make(Value value) { return std::make_shared<const Value>(std::move(value)); }
inline StmtPtr make(Stmt stmt) { return std::make_shared<const Stmt>(std::move(stmt)); }

inline ValuePtr constant(Scalar scalar) {
  return make(Value{.kind = ValueKind::Const, .dtype = scalar.dtype, .constant = scalar});
}
inline ValuePtr constant(DType dtype, double value) { return constant(Scalar::from_double(dtype, value)); }
inline ValuePtr index(Dim dim) {
  return make(Value{.kind = ValueKind::Index, .dtype = DType::index(), .dim = dim});
}
inline Value load_value(int buffer, DType dtype, Dim offset) {
  return Value{.kind = ValueKind::Load, .dtype = dtype, .dim = offset, .buffer = buffer};
}
inline ValuePtr load(int buffer, DType dtype, Dim offset) { return make(load_value(buffer, dtype, offset)); }
/// A load that gives `otherwise` where a check fails.
inline ValuePtr load_or(Value load, std::vector<BoundsCheck> checks, ValuePtr otherwise) {
  load.checks = std::move(checks);
  load.otherwise = std::move(otherwise);
  return make(std::move(load));
}
/// A load that stops the kernel where a check fails.
inline ValuePtr load_trap(Value load, std::vector<BoundsCheck> checks, int trap) {
  load.checks = std::move(checks);
  load.trap = trap;
  return make(std::move(load));
}
/// A load from offset + index*stride.
inline Value gather_value(int buffer, DType dtype, Dim offset, ValuePtr index, Dim stride) {
  Value v = load_value(buffer, dtype, offset);
  v.computed = {{std::move(index), stride}};
  return v;
}
inline ValuePtr apply(ScalarOp op, std::vector<ValuePtr> args) {
  const DType dtype = result_dtype(op, args[0]->dtype);
  return make(Value{.kind = ValueKind::Apply, .dtype = dtype, .op = op, .args = std::move(args)});
}
inline ValuePtr cast(DType dtype, ValuePtr value) {
  return make(Value{.kind = ValueKind::Cast, .dtype = dtype, .args = {std::move(value)}});
}
inline ValuePtr select(ValuePtr condition, ValuePtr then, ValuePtr otherwise) {
  const DType dtype = then->dtype;
  return make(Value{.kind = ValueKind::Select,
                    .dtype = dtype,
                    .args = {std::move(condition), std::move(then), std::move(otherwise)}});
}
inline ValuePtr local(int index, DType dtype) {
  return make(Value{.kind = ValueKind::Local, .dtype = dtype, .local = index});
}

inline StmtPtr loop(Dim var, Dim extent, Block body) {
  return make(Stmt{.kind = StmtKind::For, .var = var, .extent = extent, .body = std::move(body)});
}
inline StmtPtr vectorize(Dim var, Dim extent, int width, Block body) {
  return make(Stmt{.kind = StmtKind::For,
                   .var = var,
                   .extent = extent,
                   .loop = LoopKind::Vectorize,
                   .width = width,
                   .body = std::move(body)});
}
/// A serial loop for width 1.
inline StmtPtr loop_of(Dim var, Dim extent, int width, Block body) {
  return width == 1 ? loop(var, extent, std::move(body)) : vectorize(var, extent, width, std::move(body));
}
inline StmtPtr declare(int local, DType dtype, ValuePtr value) {
  return make(Stmt{.kind = StmtKind::Declare, .local = local, .dtype = dtype, .value = std::move(value)});
}
inline StmtPtr reduce(ReduceKind kind, int local, ValuePtr value) {
  return make(Stmt{.kind = StmtKind::Reduce, .local = local, .reduce = kind, .value = std::move(value)});
}
inline StmtPtr arg_reduce(ReduceKind kind, int local, int index_local, ValuePtr value, ValuePtr index_value) {
  return make(Stmt{.kind = StmtKind::Reduce,
                   .local = local,
                   .reduce = kind,
                   .index_local = index_local,
                   .index_value = std::move(index_value),
                   .value = std::move(value)});
}
inline StmtPtr store(int buffer, Dim offset, ValuePtr value) {
  return make(Stmt{.kind = StmtKind::Store, .value = std::move(value), .buffer = buffer, .offset = offset});
}

inline Kernel kernel(std::string name, std::vector<Buffer> buffers, std::vector<Dim> dims, Block body,
                     int locals = 0) {
  Kernel k;
  k.name = std::move(name);
  k.buffers = std::move(buffers);
  k.dims = std::move(dims);
  k.body = std::move(body);
  k.locals = locals;
  return k;
}

}  // namespace quern::loops::build
