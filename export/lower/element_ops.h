#pragma once
// Functions of single elements, and reductions, as nodes.

#include <span>
#include <vector>

#include "export/graph/graph_writer.h"
#include "ir/dim/dim.h"
#include "ir/value/scalar.h"

namespace quern::onnx {

/// ONNX's number of a dtype; an index is an int64. Throws a Refusal for one that it lacks.
int64_t code_of(DType dtype);
Name cast_to(GraphWriter& graph, const Name& value, DType from, DType to);
/// A scalar function of operands of one dtype. Throws a Refusal for one that ONNX lacks.
Name element_op(GraphWriter& graph, ScalarOp op, const std::vector<Name>& args, DType dtype);
/// Arithmetic of dims on int64: `kind` is that of a sum, a product, a quotient, …
Name integer_op(GraphWriter& graph, DimKind kind, const Name& a, const Name& b);
/// Over axes, which go.
Name reduction(GraphWriter& graph, ReduceKind kind, const Name& value, const std::vector<int64_t>& axes,
               DType dtype);

}  // namespace quern::onnx
