// Rows of the operators on matrices (stdlib/matrix.relay), arrays (stdlib/array.relay) and texts (stdlib/text.relay).

#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kArrayNumbers = {DType::float32(), DType::float32(), DType::float64(),
                                          DType::int32(), DType::int8()};

TensorPtr integers(Random& random, const Shape& shape, int64_t low, int64_t high) {
  TensorPtr tensor = HostTensor::make(DType::int32(), shape);
  for (int32_t& index : tensor->elements<int32_t>()) index = static_cast<int32_t>(random.integer(low, high));
  return tensor;
}

Row of_matrices(const std::string& name, const std::string& attribute, int64_t most_rank = 4,
                int64_t least_rank = 2, Values values = Values::Any) {
  return {name, [=](Random& random) {
            Shape shape = random.shape(least_rank, most_rank);
            return Arguments{{random.tensor(random.pick(kArrayNumbers), shape, values)},
                             fmt::format("{}(%a, {}={})", name, attribute, random.integer(-3, 3))};
          }};
}

Arguments trilu(Random& random) {
  return {{random.tensor(random.pick(kArrayNumbers), random.shape(2, 4), Values::Any),
           integers(random, {}, -3, 3)},
          fmt::format("trilu(%a, %b, upper={})", random.chance(0.5) ? "True" : "False")};
}
Arguments eye(Random& random) {
  std::string columns = random.chance(0.5) ? "" : fmt::format(", {}", random.integer(0, 6));
  return {
      {},
      fmt::format("eye({}{}, k={}, dtype=\"int32\")", random.integer(0, 6), columns, random.integer(-3, 3))};
}
Arguments outer(Random& random) {
  DType dtype = random.pick(kArrayNumbers);
  return {{random.tensor(dtype, random.shape(1, 1), Values::Any),
           random.tensor(dtype, random.shape(1, 1), Values::Any)},
          "outer(%a, %b)"};
}
Arguments numpy_matmul(Random& random) {
  DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float32(), DType::float64(),
                                               DType::float16(), DType::int32(), DType::int8()});
  int64_t inner = random.extent();
  Shape batch = random.shape(0, 2), a = random.broadcastable(batch), b = random.broadcastable(batch);
  a.insert(a.end(), {random.extent(), inner});
  b.insert(b.end(), {inner, random.extent()});
  if (random.chance(0.2)) a = {inner};
  if (random.chance(0.2)) b = {inner};
  return {{random.tensor(dtype, a, Values::SmallIntegers), random.tensor(dtype, b, Values::SmallIntegers)},
          dtype == DType::int8() ? R"(matmul(%a, %b, out_dtype="int32"))" : "matmul(%a, %b)"};
}
Arguments cross(Random& random) {
  Shape shape = random.shape(1, 3);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1);
  shape[static_cast<size_t>(axis)] = 3;
  DType dtype = random.pick(kArrayNumbers);
  return {{random.tensor(dtype, shape, Values::SmallIntegers),
           random.tensor(dtype, shape, Values::SmallIntegers)},
          fmt::format("cross(%a, %b, axis={})", random.signed_axis(axis, rank))};
}
Arguments kron(Random& random) {
  int64_t rank = random.integer(1, 2);
  DType dtype = random.pick(kArrayNumbers);
  return {{random.tensor(dtype, random.shape(rank, rank), Values::Any),
           random.tensor(dtype, random.shape(rank, rank), Values::Any)},
          "kron(%a, %b)"};
}
Arguments matrix_set_diag(Random& random) {
  Shape shape = random.shape(2, 3, 1);
  int64_t n = shape[shape.size() - 2], m = shape.back();
  int64_t low = random.integer(1 - n, m - 1), high = random.integer(low, m - 1);
  auto length = [&](int64_t k) { return std::min(n + std::min<int64_t>(k, 0), m - std::max<int64_t>(k, 0)); };
  Shape diagonal(shape.begin(), shape.end() - 2);
  if (low < high) diagonal.push_back(high - low + 1);
  diagonal.push_back(length(low > 0 ? low : high < 0 ? high : 0));
  DType dtype = random.pick(kArrayNumbers);
  return {{random.tensor(dtype, shape, Values::Any), random.tensor(dtype, diagonal, Values::Any)},
          fmt::format("matrix_set_diag(%a, %b, k1={}, k2={}{}{})", low, high,
                      random.chance(0.3) ? ", super_diag_right_align=False" : "",
                      random.chance(0.3) ? ", sub_diag_right_align=True" : "")};
}

Arguments linspace(Random& random) {
  return {{},
          fmt::format("linspace({:.3f}, {:.3f}, num={}{}{})", random.real(-3, 3), random.real(-3, 3),
                      random.integer(0, 20), random.chance(0.3) ? ", endpoint=False" : "",
                      random.chance(0.4) ? ", dtype=\"float64\"" : "")};
}
Arguments flip(Random& random) {
  Shape shape = random.shape();
  std::string axes =
      random.chance(0.3) ? "" : ", axis=" + list_text(random.axes(static_cast<int64_t>(shape.size())));
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any)}, "flip(%a" + axes + ")"};
}
Arguments roll(Random& random) {
  Shape shape = random.shape();
  std::vector<int64_t> axes = random.axes(static_cast<int64_t>(shape.size())), shifts;
  bool flat = random.chance(0.3);
  for (size_t k = 0; k < (flat ? 1 : axes.size()); ++k) shifts.push_back(random.integer(-9, 9));
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any)},
          fmt::format("roll(%a, shift={}{})", list_text(shifts), flat ? "" : ", axis=" + list_text(axes))};
}
Arguments meshgrid(Random& random) {
  Arguments arguments;
  std::string names;
  DType dtype = random.pick(kArrayNumbers);
  int64_t count = random.integer(1, 3);
  for (int64_t k = 0; k < count; ++k) {
    arguments.tensors.push_back(random.tensor(dtype, {random.integer(0, 5)}, Values::Any));
    names += fmt::format("%{}, ", static_cast<char>('a' + k));
  }
  arguments.expression =
      fmt::format("meshgrid(({}){}).{}", names, random.chance(0.5) ? ", indexing=\"xy\"" : "",
                  random.integer(0, count - 1));
  return arguments;
}
Arguments reshape_like(Random& random) {
  Shape shape = random.shape(1, 3, 1), like = shape;
  random.shuffle(like);
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any),
           random.tensor(DType::float32(), like, Values::Any)},
          "reshape_like(%a, %b)"};
}
Arguments slice_like(Random& random) {
  Shape shape = random.shape(1, 3), like = shape;
  for (int64_t& extent : like) extent = random.integer(0, extent);
  std::vector<int64_t> axes = random.axes(static_cast<int64_t>(shape.size()), 1);
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any),
           random.tensor(DType::float32(), like, Values::Any)},
          random.chance(0.5) ? "slice_like(%a, %b)"
                             : fmt::format("slice_like(%a, %b, axes={})", list_text(axes))};
}
Arguments unravel_index(Random& random) {
  TensorPtr shape = integers(random, {random.integer(1, 3)}, 1, 4);
  int64_t count = 1;
  for (int32_t extent : shape->elements<int32_t>()) count *= extent;
  return {{integers(random, random.shape(0, 2), 0, count - 1), shape}, "unravel_index(%a, %b)"};
}
Arguments sliding_window(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1);
  std::vector<int64_t> window, strides;
  for (int64_t k = axis; k < rank; ++k) {
    window.push_back(random.integer(1, shape[static_cast<size_t>(k)]));
    strides.push_back(random.integer(1, 3));
  }
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any)},
          fmt::format("sliding_window(%a, axis={}, window_shape={}, strides={})",
                      random.signed_axis(axis, rank), list_text(window), list_text(strides))};
}
Arguments invert_permutation(Random& random) {
  std::vector<int32_t> order;
  for (int64_t k = 0, count = random.integer(0, 9); k < count; ++k) order.push_back(static_cast<int32_t>(k));
  random.shuffle(order);
  TensorPtr data = HostTensor::make(DType::int32(), {static_cast<int64_t>(order.size())});
  std::ranges::copy(order, data->elements<int32_t>().begin());
  return {{data}, "invert_permutation(%a)"};
}
Arguments sequence_mask(Random& random) {
  Shape shape = random.shape(2, 4);
  int64_t axis = random.integer(0, 1);
  return {
      {random.tensor(random.pick(kArrayNumbers), shape, Values::Any),
       integers(random, {shape[static_cast<size_t>(1 - axis)]}, -1, 9)},
      fmt::format("sequence_mask(%a, %b, axis={}{})", axis, random.chance(0.5) ? ", mask_value=-1.0" : "")};
}
Arguments reverse_sequence(Random& random) {
  Shape shape = random.shape(2, 4);
  int64_t along = random.integer(0, 1);
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any),
           integers(random, {shape[static_cast<size_t>(1 - along)]}, 0, shape[static_cast<size_t>(along)])},
          fmt::format("reverse_sequence(%a, %b, seq_axis={}, batch_axis={})", along, 1 - along)};
}
Arguments searchsorted(Random& random) {
  Shape values = random.shape(1, 3);
  Shape sequence = random.chance(0.5) ? Shape{} : Shape(values.begin(), values.end() - 1);
  sequence.push_back(random.integer(0, 9));
  DType dtype = random.pick(kArrayNumbers);
  return {{random.tensor(dtype, sequence, Values::SmallIntegers),
           random.tensor(dtype, values, Values::SmallIntegers)},
          fmt::format("searchsorted(%a, %b{}{})", random.chance(0.5) ? ", right=True" : "",
                      random.chance(0.3) ? ", dtype=\"int64\"" : "")};
}

/// A reduction of floats over axes.
Row measure(const std::string& name, const std::vector<std::string>& more, double absolute = 0) {
  return {name,
          [=](Random& random) {
            DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
            Shape shape = random.shape(1, 4, 1);
            std::string text =
                random.chance(0.2)
                    ? ""
                    : ", axis=" + list_text(random.axes(static_cast<int64_t>(shape.size()), 1));
            if (random.chance(0.4)) text += ", keepdims=True";
            return Arguments{{random.tensor(dtype, shape, Values::Moderate)},
                             fmt::format("{}(%a{}{})", name, text, random.pick(more))};
          },
          64, absolute};
}
Arguments median(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  auto rank = static_cast<int64_t>(shape.size());
  std::string text = random.chance(0.3)
                         ? ""
                         : fmt::format(", axis={}", random.signed_axis(random.integer(0, rank - 1), rank));
  if (random.chance(0.4)) text += ", keepdims=True";
  return {{random.tensor(random.pick(kArrayNumbers), shape, Values::Any)}, "median(%a" + text + ")"};
}

/// Few tokens, so that there is something to count.
Arguments ngram_counts(Random& random) {
  Shape tokens = random.shape(1, 2);
  tokens.back() = random.integer(0, 40);
  return {{integers(random, tokens, -1, 2), integers(random, {random.extent(), random.integer(1, 4)}, -1, 2)},
          fmt::format("text.ngram_counts(%a, %b{})",
                      random.chance(0.4) ? "" : fmt::format(", max_skips={}", random.integer(0, 50)))};
}

}  // namespace

std::vector<Row> array_rows() {
  return {
      {"trilu", trilu},
      of_matrices("tril", "k"),
      of_matrices("triu", "k"),
      {"eye", eye},
      of_matrices("diag", "k", 2, 1),
      of_matrices("trace", "k", 4, 2, Values::SmallIntegers),
      {"matmul", numpy_matmul},
      {"outer", outer},
      {"cross", cross},
      {"kron", kron},
      {"matrix_set_diag", matrix_set_diag},
      {"linspace", linspace},
      {"flip", flip},
      {"roll", roll},
      {"meshgrid", meshgrid},
      {"reshape_like", reshape_like},
      {"slice_like", slice_like},
      {"unravel_index", unravel_index},
      {"sliding_window", sliding_window},
      {"invert_permutation", invert_permutation},
      {"sequence_mask", sequence_mask},
      {"reverse_sequence", reverse_sequence},
      {"searchsorted", searchsorted},
      // Sums in another order; the logarithm of a sum near 1 cancels.
      measure("logsumexp", {""}, 1e-6),
      measure("norm", {"", ", p=1.0", ", p=3.0", ", p=inf", ", p=-inf", ", p=0.0"}),
      measure("std", {""}, 1e-6),
      {"median", median},
      {"text.ngram_counts", ngram_counts},
  };
}

}  // namespace quern::numeric
