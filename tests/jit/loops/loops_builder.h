#pragma once
// Short names for building loop nests in tests.

#include <string>
#include <utility>
#include <vector>

#include "jit/loops/build.h"
#include "jit/loops/kernel.h"

namespace quern::loops::build {

inline Dim num(int64_t value) { return dim_const(value); }

using loops::apply;
using loops::constant;
using loops::declare;
using loops::make;
using loops::select;

inline ValuePtr constant(DType dtype, double value) { return constant(Scalar::from_double(dtype, value)); }
inline ValuePtr index(Dim dim) { return index_value(dim); }
inline LoadValue load_value(int buffer, DType dtype, Dim offset) { return {dtype, buffer, offset}; }
inline ValuePtr load(int buffer, DType dtype, Dim offset) { return make(load_value(buffer, dtype, offset)); }
/// A load that gives `otherwise` where a check fails.
inline ValuePtr load_or(LoadValue load, std::vector<BoundsCheck> checks, ValuePtr otherwise) {
  load.checks = std::move(checks);
  load.otherwise = std::move(otherwise);
  return make(std::move(load));
}
/// A load that stops the kernel where a check fails.
inline ValuePtr load_trap(LoadValue load, std::vector<BoundsCheck> checks, int trap) {
  load.checks = std::move(checks);
  load.trap = trap;
  return make(std::move(load));
}
/// A load from offset + index*stride.
inline LoadValue gather_value(int buffer, DType dtype, Dim offset, ValuePtr index, Dim stride) {
  LoadValue v = load_value(buffer, dtype, offset);
  v.computed = {{std::move(index), stride}};
  return v;
}
inline ValuePtr cast(DType dtype, ValuePtr value) { return make(CastValue{dtype, std::move(value)}); }
inline ValuePtr local(int index, DType dtype) { return value_of(index, dtype); }

inline StmtPtr loop(Dim var, Dim extent, Block body) { return serial_loop(var, extent, std::move(body)); }
inline StmtPtr vectorize(Dim var, Dim extent, int width, Block body) {
  return vector_loop(var, extent, width, std::move(body));
}
/// A serial loop for width 1.
inline StmtPtr loop_of(Dim var, Dim extent, int width, Block body) {
  return width == 1 ? loop(var, extent, std::move(body)) : vectorize(var, extent, width, std::move(body));
}
inline StmtPtr reduce(ReduceKind kind, int local, ValuePtr value) {
  return make(Reduce{.local = local, .reduce = kind, .value = std::move(value)});
}
inline StmtPtr arg_reduce(ReduceKind kind, int local, int index_local, ValuePtr value, ValuePtr index_value) {
  return make(Reduce{.local = local,
                     .reduce = kind,
                     .value = std::move(value),
                     .index_local = index_local,
                     .index_value = std::move(index_value)});
}
inline StmtPtr store(int buffer, Dim offset, ValuePtr value) {
  return make(Store{.buffer = buffer, .offset = offset, .value = std::move(value)});
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
