// Products of matrices.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

void matmul(Call& call) {
  const Term &a = call.in(0), &b = call.in(1);
  if (a.rank() == 2 && b.rank() == 2) return call.result("nn.matmul($0, $1)", {a, b});
  if (a.rank() == 3 && b.rank() == 3 && a.extent(0) == b.extent(0))
    return call.result("nn.batch_matmul($0, $1, transpose_b=False)", {a, b});
  call.result("matmul($0, $1)", {a, b});
}

std::string times(const std::string& expression, double factor, DType dtype) {
  return factor == 1 ? expression : fmt::format("{} * {}", expression, literal(factor, dtype));
}

void gemm(Call& call) {
  const Term &a = call.in(0), &b = call.in(1);
  const bool turns_a = call.flag("transA", false), turns_b = call.flag("transB", false);
  std::string product = fmt::format("nn.matmul($0, $1{}{})", turns_a ? ", transpose_a=True" : "", turns_b ? ", transpose_b=True" : "");
  if (turns_b && !turns_a) product = "nn.dense($0, $1)";
  product = times(product, call.number("alpha", 1), a.dtype());
  if (!call.has(2) || call.number("beta", 1) == 0) return call.result(product, {a, b});
  call.result(fmt::format("{} + {}", product, times("$2", call.number("beta", 1), a.dtype())), {a, b, call.in(2)});
}

void einsum(Call& call) {
  std::vector<Term> operands;
  std::vector<std::string> names;
  for (size_t i = 0; i < call.input_count(); ++i) {
    operands.push_back(call.in(i));
    names.push_back(fmt::format("${}", i));
  }
  std::string equation = call.string("equation", "");
  std::erase(equation, ' ');
  if (equation.find('"') != std::string::npos || equation.find('\\') != std::string::npos) throw Refusal("its equation is none");
  call.result(fmt::format("einsum(({}{}), equation=\"{}\")", fmt::join(names, ", "), names.size() == 1 ? "," : "", equation), operands);
}

}  // namespace

std::span<const Operator> product_operators() {
  static const Operator kRows[] = {
      {"Einsum", "", einsum},
      {"Gemm", "", gemm},
      {"MatMul", "", matmul},
  };
  return kRows;
}

}  // namespace quern::onnx
