// Products of matrices.

#include <fmt/format.h>

#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

void matmul(Call& call) {
  const bool turns_a = call.flag("transpose_a", false), turns_b = call.flag("transpose_b", false);
  if (turns_b && !turns_a) return call.result("nn.dense($0, $1)", {call.in(0), call.in(1)});
  call.result(fmt::format("nn.matmul($0, $1{}{})", turns_a ? ", transpose_a=True" : "",
                          turns_b ? ", transpose_b=True" : ""),
              {call.in(0), call.in(1)});
}

/// The last two axes exchanged.
std::string turned(std::string_view operand, size_t rank) {
  std::string axes;
  for (size_t i = 0; i + 2 < rank; ++i) axes += fmt::format("{}, ", i);
  return fmt::format("transpose({}, axes=[{}{}, {}])", operand, axes, rank - 1, rank - 2);
}

void batch_matmul(Call& call) {
  const Term &a = call.in(0), &b = call.in(1);
  const bool turns_a = call.flag("adj_x", false), turns_b = call.flag("adj_y", false);
  if (a.rank() < 2 || b.rank() < 2) throw Refusal("its operands are no matrices");
  if (a.rank() == 3 && b.rank() == 3 && a.extent(0) == b.extent(0))
    return call.result(fmt::format("nn.batch_matmul($0, $1{}{})", turns_a ? ", transpose_a=True" : "",
                                   turns_b ? "" : ", transpose_b=False"),
                       {a, b});
  call.result(fmt::format("matmul({}, {})", turns_a ? turned("$0", a.rank()) : "$0",
                          turns_b ? turned("$1", b.rank()) : "$1"),
              {a, b});
}

}  // namespace

std::span<const Operator> product_operators() {
  static const Operator kRows[] = {
      {"BatchMatMul", "", batch_matmul},
      {"BatchMatMulV2", "", batch_matmul},
      {"BatchMatMulV3", "", batch_matmul},
      {"MatMul", "", matmul},
  };
  return kRows;
}

}  // namespace quern::tensorflow
