// Products of matrices.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

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
  std::string product = fmt::format("nn.matmul($0, $1{}{})", turns_a ? ", transpose_a=True" : "",
                                    turns_b ? ", transpose_b=True" : "");
  if (turns_b && !turns_a) product = "nn.dense($0, $1)";
  product = times(product, call.number("alpha", 1), a.dtype());
  if (!call.has(2) || call.number("beta", 1) == 0) return call.result(product, {a, b});
  call.result(fmt::format("{} + {}", product, times("$2", call.number("beta", 1), a.dtype())),
              {a, b, call.in(2)});
}

/// The equation with letters in place of `...`, which stands for the axes that an operand's letters leave.
std::string without_ellipses(Call& call, std::string equation) {
  std::erase(equation, ' ');
  std::string unused;
  for (char c = 'Z'; c >= 'A'; --c)
    if (equation.find(c) == std::string::npos) unused += c;
  size_t most = 0, operand = 0;
  std::string result;
  const auto letters = [&](size_t count) {
    if (count > unused.size()) throw Refusal("its equation has too many axes");
    // Aligned at their ends.
    return std::string(unused.rend() - static_cast<ptrdiff_t>(count), unused.rend());
  };
  const auto count_of = [&](size_t at) {
    const size_t begin = at == 0 ? 0 : equation.find_last_of(",>", at - 1) + 1,
                 end = std::min(equation.find_first_of(",-", at), equation.size());
    const size_t named = end - begin - 3, rank = call.rank(operand);
    if (begin > at || named > rank) throw Refusal("its equation does not fit its operands");
    return rank - named;
  };
  bool is_result = false;
  for (size_t i = 0; i < equation.size(); ++i) {
    if (equation.compare(i, 3, "...") == 0) {
      const size_t count = is_result ? most : count_of(i);
      most = std::max(most, count);
      result += letters(count);
      i += 2;
      continue;
    }
    if (equation[i] == ',') ++operand;
    if (equation[i] == '>') is_result = true;
    result += equation[i];
  }
  return result;
}

void einsum(Call& call) {
  std::vector<Term> operands;
  std::vector<std::string> names;
  for (size_t i = 0; i < call.input_count(); ++i) {
    operands.push_back(call.in(i));
    names.push_back(fmt::format("${}", i));
  }
  const std::string equation = without_ellipses(call, call.string("equation", ""));
  for (char c : equation)
    if (!std::isalpha(static_cast<unsigned char>(c)) &&
        std::string_view(",->").find(c) == std::string_view::npos)
      throw Refusal(fmt::format("its equation has the character `{}`", c));
  call.result(fmt::format("einsum(({}{}), equation=\"{}\")", fmt::join(names, ", "),
                          names.size() == 1 ? "," : "", equation),
              operands);
}

}  // namespace

std::span<const Operator> product_operators() {
  static const Operator kRows[] = {
      {"Det", "linalg.det($0)"},
      {"Einsum", "", einsum},
      {"Gemm", "", gemm},
      {"MatMul", "", matmul},
  };
  return kRows;
}

}  // namespace quern::onnx
