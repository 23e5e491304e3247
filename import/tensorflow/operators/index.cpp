// Operators that read and write elements at places.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "import/node/sizes.h"
#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;

void gather_along(Call& call, int64_t axis) {
  const int64_t batches = call.integer("batch_dims", 0);
  if (batches == 0) return write_as(call, "Gather", {0, 1}, {{"axis", axis}});
  const int64_t count = onnx::from_front(batches, call.rank(1) + 1);
  call.result(fmt::format("take($0, $1, axis={}, batch_dims={})", axis, count), {call.in(0), call.in(1)});
}

void gather(Call& call) { gather_along(call, 0); }
void gather_v2(Call& call) { gather_along(call, axis_in(call, 2, call.rank(0))); }

/// Values that are added up in zeros of a given shape.
void scatter_nd(Call& call) {
  const onnx::Sizes extents = onnx::sizes_in(call, 2, 0);
  const Term zeros =
      call.step("zeros", fmt::format("zeros({}, dtype=\"{}\")", extents.text, to_string(call.in(1).dtype())),
                extents.operands);
  write_terms_as(call, "ScatterND", {zeros, call.in(0), call.in(1)}, {{"reduction", std::string("add")}});
}

void one_hot(Call& call) {
  const int64_t depth = integer_in(call, 1),
                axis = onnx::from_front(call.integer("axis", -1), call.rank(0) + 1);
  call.result(fmt::format("one_hot($0, $1, $2, depth={}, axis={}, dtype=\"{}\")", depth, axis,
                          to_string(call.in(2).dtype())),
              {call.in(0), call.in(2), call.in(3)});
}

void top(Call& call, int64_t count) {
  const auto parts =
      call.writer().let_parts({call.wants(0) ? call.hint(0) : "", call.wants(1) ? call.hint(1) : ""},
                              fmt::format("topk($0, k={}, dtype=\"int32\")", count), {call.in(0)});
  call.set(0, parts[0]);
  call.set(1, parts[1]);
}

void top_k(Call& call) { top(call, call.integer("k")); }
void top_k_v2(Call& call) { top(call, integer_in(call, 1)); }

template <const char* kReduction>
void reduce_place(Call& call) {
  const int64_t axis = axis_in(call, 1, call.rank(0));
  call.result(fmt::format("cast({}($0, axis=[{}]), dtype=\"{}\")", kReduction, axis,
                          to_string(dtype_in(call, "output_type", DType::int64()))),
              {call.in(0)});
}
constexpr char kArgMax[] = "argmax", kArgMin[] = "argmin";

void reverse(Call& call) {
  const auto axes = call.integers_in(1);
  if (!axes) throw Refusal("lacks its axes");
  std::string expression = "$0";
  for (const int64_t axis : onnx::from_front(*axes, call.rank(0)))
    expression = fmt::format("reverse({}, axis={})", expression, axis);
  if (axes->empty()) return call.set(0, call.in(0));
  call.result(expression, {call.in(0)});
}

void reverse_sequence(Call& call) {
  call.result(fmt::format("reverse_sequence($0, $1, seq_axis={}, batch_axis={})", call.integer("seq_dim"),
                          call.integer("batch_dim", 0)),
              {call.in(0), call.in(1)});
}

void running_product(Call& call) {
  const int64_t axis = axis_in(call, 1, call.rank(0));
  const bool is_reversed = call.flag("reverse", false);
  const std::string product =
      fmt::format("cumprod({}, axis={}{})", is_reversed ? fmt::format("reverse($0, axis={})", axis) : "$0",
                  axis, call.flag("exclusive", false) ? ", exclusive=True" : "");
  call.result(is_reversed ? fmt::format("reverse({}, axis={})", product, axis) : product, {call.in(0)});
}

/// Where a condition holds.
void where(Call& call) { call.result("cast(argwhere($0), dtype=\"int64\")", {call.in(0)}); }

void invert_permutation(Call& call) {
  call.result(fmt::format("argsort($0, dtype=\"{}\")", to_string(call.in(0).dtype())), {call.in(0)});
}

/// Matrices with what is below or above so many diagonals 0; -1 stands for all.
void matrix_band(Call& call) {
  const int64_t below = integer_in(call, 1), above = integer_in(call, 2);
  std::string expression = "$0";
  if (above >= 0) expression = fmt::format("tril({}, k={})", expression, above);
  if (below >= 0) expression = fmt::format("triu({}, k={})", expression, -below);
  if (expression == "$0") return call.set(0, call.in(0));
  call.result(expression, {call.in(0)});
}

}  // namespace

std::span<const Operator> index_operators() {
  static const Operator kRows[] = {
      {"ArgMax", "", reduce_place<kArgMax>},
      {"ArgMin", "", reduce_place<kArgMin>},
      {"Cumprod", "", running_product},
      {"Gather", "", gather},
      {"GatherV2", "", gather_v2},
      {"InvertPermutation", "", invert_permutation},
      {"MatrixBandPart", "", matrix_band},
      {"OneHot", "", one_hot},
      {"ReverseSequence", "", reverse_sequence},
      {"ReverseV2", "", reverse},
      {"ScatterNd", "", scatter_nd},
      {"TopK", "", top_k},
      {"TopKV2", "", top_k_v2},
      {"Where", "", where},
  };
  return kRows;
}

}  // namespace quern::tensorflow
