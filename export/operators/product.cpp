// Products of matrices.

#include <numeric>

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

/// Whether operands and result have one dtype of ONNX's products.
bool is_plain(const OperatorCall& call) {
  const DType dtype = call.result()->dtype;
  return dtype.is_float() && call.type(0)->dtype == dtype && call.type(1)->dtype == dtype;
}

/// The last two axes exchanged.
Name with_swapped(OperatorCall& call, const Name& tensor, size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return call.transposed(tensor, axes);
}

Converted dense(const Row&, OperatorCall& call) {
  if (!is_plain(call)) return std::nullopt;
  if (call.rank(0) == 2) return one(call.node("Gemm", {call.in(0), call.in(1)}, {{"transB", int64_t{1}}}));
  return one(call.node("MatMul", {call.in(0), with_swapped(call, call.in(1), 2)}));
}

Converted with_transposes(const Row&, OperatorCall& call) {
  if (!is_plain(call)) return std::nullopt;
  const bool a = call.flag("transpose_a"), b = call.flag("transpose_b");
  const size_t rank = call.rank(0);
  if (rank == 2 && (a || b))
    return one(call.node("Gemm", {call.in(0), call.in(1)},
                         {{"transA", static_cast<int64_t>(a)}, {"transB", static_cast<int64_t>(b)}}));
  const Name left = a ? with_swapped(call, call.in(0), rank) : call.in(0);
  return one(call.node("MatMul", {left, b ? with_swapped(call, call.in(1), rank) : call.in(1)}));
}

Converted matmul(const Row&, OperatorCall& call) {
  if (!is_plain(call)) return std::nullopt;
  return one(call.node("MatMul", {call.in(0), call.in(1)}));
}

/// ONNX's equation is NumPy's; here a letter that stands twice in one operand, its diagonal, and blanks are too.
Converted einsum(const Row&, OperatorCall& call) {
  if (!call.result()->dtype.is_float()) return std::nullopt;
  return one(call.node("Einsum", call.parts(0), {{"equation", call.text("equation")}}));
}

}  // namespace

std::span<const Row> product_rows() {
  static constexpr Row kRows[] = {
      {"einsum", einsum},
      {"matmul", matmul},
      {"nn.batch_matmul", with_transposes},
      {"nn.dense", dense},
      {"nn.matmul", with_transposes},
  };
  return kRows;
}

}  // namespace quern::onnx
