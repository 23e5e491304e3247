// Operators of single elements.

#include <fmt/format.h>

#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;

void cast(Call& call) {
  const DType dtype = dtype_in(call, "DstT", DType::float32());
  const Term& data = call.in(0);
  if (data.dtype() == dtype) return call.set(0, data);
  if (data.dims && dtype.is_int()) return call.set(0, dims_term(*data.dims, dtype, data.rank()));
  call.result(fmt::format("cast($0, dtype=\"{}\")", to_string(dtype)), {data});
}

void clip(Call& call) {
  const auto low = call.number_in(1), high = call.number_in(2);
  if (low && high && call.in(0).dtype().is_float())
    return call.result(fmt::format("clip($0, {}, {})", float_attribute(*low), float_attribute(*high)),
                       {call.in(0)});
  call.result("minimum(maximum($0, $1), $2)", {call.in(0), call.in(1), call.in(2)});
}

/// A quotient that is 0 where the divisor is.
void quotient_or_zero(Call& call) {
  call.result(fmt::format("where($1 == {0}, {0}, $0 / $1)", literal(0, call.in(0).dtype())),
              {call.in(0), call.in(1)});
}

/// `x * f(y)`, which is 0 where x is.
template <const char* kExpression>
void zero_times(Call& call) {
  call.result(fmt::format(fmt::runtime(kExpression), literal(0, call.in(0).dtype())),
              {call.in(0), call.in(1)});
}
constexpr char kDivided[] = "where($0 == {0}, {0}, $0 / $1)",
               kLogarithm[] = "where($0 == {0}, {0}, $0 * log($1))";

/// What sizes are divided by is known, and both are not negative.
void floor_divide(Call& call) {
  if (dims_of(call.in(0)) && dims_of(call.in(1)) && call.in(0).dtype().is_int())
    return write_as(call, "Div", {0, 1});
  call.result("floor_divide($0, $1)", {call.in(0), call.in(1)});
}

/// `Select`, whose condition may be for rows.
void select(Call& call) {
  const Term &condition = call.in(0), &then = call.in(1);
  if (condition.rank() != 1 || then.rank() < 2)
    return call.result("where($0, $1, $2)", {condition, then, call.in(2)});
  call.result(fmt::format("where(expand_dims($0, axis=1, num_newaxis={}), $1, $2)", then.rank() - 1),
              {condition, then, call.in(2)});
}

void identities(Call& call) {
  for (size_t i = 0; i < call.output_count(); ++i) call.set(i, call.in(i));
}

void half_square_sum(Call& call) {
  call.result(fmt::format("sum(square($0)) / {}", literal(2, call.in(0).dtype())), {call.in(0)});
}

}  // namespace

std::span<const Operator> elementwise_operators() {
  static const Operator kRows[] = {
      {"Atan2", "atan2($0, $1)"},
      {"BitwiseAnd", "bitwise_and($0, $1)"},
      {"BitwiseOr", "bitwise_or($0, $1)"},
      {"BitwiseXor", "bitwise_xor($0, $1)"},
      {"Cast", "", cast},
      {"ClipByValue", "", clip},
      {"DivNoNan", "", quotient_or_zero},
      {"Erfc", "",
       [](Call& call) {
         call.result(fmt::format("{} - erf($0)", literal(1, call.in(0).dtype())), {call.in(0)});
       }},
      {"Expm1", "expm1($0)"},
      {"FloorDiv", "", floor_divide},
      {"FloorMod", "floor_mod($0, $1)"},
      {"IdentityN", "", identities},
      {"IsFinite", "isfinite($0)"},
      {"L2Loss", "", half_square_sum},
      {"Log1p", "log1p($0)"},
      {"LogicalXor", "logical_xor($0, $1)"},
      {"Mod", "trunc_mod($0, $1)"},
      {"NotEqual", "$0 != $1"},
      {"OnesLike", "ones_like($0)"},
      {"Relu6", "clip($0, 0.0, 6.0)"},
      {"Rsqrt", "rsqrt($0)"},
      {"Select", "", select},
      {"Square", "square($0)"},
      {"SquaredDifference", "square($0 - $1)"},
      {"TruncateDiv", "trunc_divide($0, $1)"},
      {"TruncateMod", "trunc_mod($0, $1)"},
      {"Xdivy", "", zero_times<kDivided>},
      {"Xlogy", "", zero_times<kLogarithm>},
      {"ZerosLike", "zeros_like($0)"},
  };
  return kRows;
}

}  // namespace quern::tensorflow
