// Quantised arithmetic.

#include <fmt/format.h>

#include "import/node/windows.h"
#include "import/onnx/dtypes.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// A scale or zero point, of which one alone may have an axis in ONNX.
Term parameter(Call& call, size_t input) {
  const Term& term = call.in(input);
  const bool is_single = term.rank() == 1 && is_const(term.extent(0), 1);
  if (!is_single) return term;
  if (!term.constant) return call.step("parameter", "reshape($0, newshape=[])", {term});
  return constant_term(HostTensor::view(term.constant, {}), term.name);
}

/// The same, or 0 of the dtype where it is left out.
Term zero_point(Call& call, size_t input, DType otherwise) {
  return call.has(input) ? parameter(call, input) : constant_term(HostTensor::zeros(otherwise, {}));
}

std::string axis_attribute(Call& call, const Term& scale) {
  return scale.rank() == 0 ? "" : fmt::format(", axis={}", call.axis("axis", 1, call.rank(0)));
}

void quantise(Call& call) {
  const Term scale = parameter(call, 1), zero = zero_point(call, 2, DType::uint8());
  DType dtype = zero.dtype();
  if (!call.has(2) && call.integer("output_dtype", 0) != 0) {
    const auto given = dtype_of(static_cast<int32_t>(call.integer("output_dtype")));
    if (!given) throw Refusal("its `output_dtype` has no counterpart");
    dtype = *given;
  }
  call.result(fmt::format("qnn.quantize($0, $1, $2{}, out_dtype=\"{}\", rounding=\"TOEVEN\")",
                          axis_attribute(call, scale), to_string(dtype)),
              {call.in(0), scale, zero});
}

void dequantise(Call& call) {
  const Term scale = parameter(call, 1), zero = zero_point(call, 2, call.in(0).dtype());
  const std::string dtype =
      scale.dtype() == DType::float32() ? "" : fmt::format(", out_dtype=\"{}\"", to_string(scale.dtype()));
  call.result(fmt::format("qnn.dequantize($0, $1, $2{}{})", axis_attribute(call, scale), dtype),
              {call.in(0), scale, zero});
}

void quantise_by_range(Call& call) {
  const auto parts = call.writer().let_parts({call.hint(0), call.hint(1), call.hint(2)},
                                             "qnn.dynamic_quantize($0)", {call.in(0)});
  for (size_t i = 0; i < parts.size(); ++i) call.set(i, parts[i]);
}

/// The product of `a - a_zero` and `b - b_zero` in int32.
Term product(Call& call, const Term& a, const Term& b, Term a_zero, const Term& b_zero) {
  if (a.rank() == 2 && b.rank() == 2 && a_zero.rank() == 0)
    return call.step("products", "qnn.dense($0, transpose($1), $2, $3, 1.0, 1.0)", {a, b, a_zero, b_zero});
  if (a.rank() == 3 && b.rank() == 3 && a_zero.rank() == 0 && b_zero.rank() == 0 &&
      a.extent(0) == b.extent(0))
    return call.step("products", "qnn.batch_matmul($0, $1, $2, $3, 1.0, 1.0, transpose_b=False)",
                     {a, b, a_zero, b_zero});
  // One zero point for each row of the first operand.
  if (a_zero.rank() == 1) a_zero = call.step("rows", "expand_dims($0, axis=1)", {a_zero});
  return call.step("products",
                   "matmul(cast($0, dtype=\"int32\") - cast($2, dtype=\"int32\"), cast($1, dtype=\"int32\") "
                   "- cast($3, dtype=\"int32\"))",
                   {a, b, a_zero, b_zero});
}

void integer_product(Call& call) {
  const Term &a = call.in(0), &b = call.in(1);
  call.set(0, product(call, a, b, zero_point(call, 2, a.dtype()), zero_point(call, 3, b.dtype())));
}

/// The convolution of `x - x_zero` with `w - w_zero` in int32.
Term convolution_sums(Call& call, const Term& x, const Term& w, const Term& x_zero, const Term& w_zero) {
  const Windows windows = windows_of(call, extents_from(w, 2, "a kernel"));
  if (windows.count != 2) throw Refusal("convolves integers over other than two axes");
  const int64_t groups = call.integer("group", 1);
  return call.step("sums",
                   fmt::format("qnn.conv2d($0, $1, $2, $3, 1.0, 1.0{}{})", windows.attributes(),
                               groups == 1 ? "" : fmt::format(", groups={}", groups)),
                   {x, w, x_zero, w_zero});
}

void integer_convolution(Call& call) {
  const Term &x = call.in(0), &w = call.in(1);
  call.set(0, convolution_sums(call, x, w, zero_point(call, 2, x.dtype()), zero_point(call, 3, w.dtype())));
}

/// Sums of the scale `a * b` as quantised numbers.
void requantise(Call& call, const Term& sums, const Term& a, const Term& b, const Term& scale,
                const Term& zero) {
  call.result(fmt::format("qnn.quantize(cast($0, dtype=\"float32\") * ($1 * $2), $3, $4, out_dtype=\"{}\", "
                          "rounding=\"TOEVEN\")",
                          to_string(zero.dtype())),
              {sums, a, b, scale, zero});
}

void quantised_convolution(Call& call) {
  const Term w_scale = parameter(call, 4);
  Term sums = convolution_sums(call, call.in(0), call.in(3), parameter(call, 2), parameter(call, 5));
  if (call.has(8)) sums = call.step("sums", "nn.bias_add($0, $1)", {sums, call.in(8)});
  const Term scales =
      w_scale.rank() == 0 ? w_scale : call.step("scales", "reshape($0, newshape=[-1, 1, 1])", {w_scale});
  requantise(call, sums, parameter(call, 1), scales, parameter(call, 6), parameter(call, 7));
}

void quantised_product(Call& call) {
  const Term sums = product(call, call.in(0), call.in(3), parameter(call, 2), parameter(call, 5));
  requantise(call, sums, parameter(call, 1), parameter(call, 4), parameter(call, 6), parameter(call, 7));
}

}  // namespace

std::span<const Operator> quantised_operators() {
  static const Operator kRows[] = {
      {"ConvInteger", "", integer_convolution},
      {"DequantizeLinear", "", dequantise},
      {"DynamicQuantizeLinear", "", quantise_by_range},
      {"MatMulInteger", "", integer_product},
      {"QLinearConv", "", quantised_convolution},
      {"QLinearMatMul", "", quantised_product},
      {"QuantizeLinear", "", quantise},
  };
  return kRows;
}

}  // namespace quern::onnx
