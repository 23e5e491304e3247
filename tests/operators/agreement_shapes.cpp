// Rows of the operators that count elements, read and write them at positions, and follow another shape or layout.

#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kNumbers = {DType::float32(), DType::float32(), DType::float64(), DType::int32()};
const std::vector<DType> kReals = {DType::float32(), DType::float64()};

TensorPtr integers(Random& random, const Shape& shape, int64_t low, int64_t high) {
  TensorPtr tensor = HostTensor::make(DType::int32(), shape);
  for (int32_t& element : tensor->elements<int32_t>())
    element = static_cast<int32_t>(random.integer(low, high));
  return tensor;
}
TensorPtr list_of(const std::vector<int64_t>& values) {
  TensorPtr tensor = HostTensor::make(DType::int32(), {static_cast<int64_t>(values.size())});
  std::ranges::transform(values, tensor->elements<int32_t>().begin(),
                         [](int64_t value) { return static_cast<int32_t>(value); });
  return tensor;
}

Arguments quantile(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  DType dtype = random.pick(kReals);
  std::string text =
      random.pick(std::vector<std::string>{"", ", interpolation=\"lower\"", ", interpolation=\"higher\"",
                                           ", interpolation=\"nearest\"", ", interpolation=\"midpoint\""});
  if (random.chance(0.7))
    text += fmt::format(", axis={}", random.integer(0, static_cast<int64_t>(shape.size()) - 1));
  if (random.chance(0.3)) text += ", keepdims=True";
  std::string levels = random.chance(0.5) ? fmt::format("{:.3f}", random.real(0, 1))
                                          : fmt::format("[0.0, {:.3f}, 1.0]", random.real(0, 1));
  return {{random.tensor(dtype, shape, Values::Moderate)},
          fmt::format("quantile(%a, cast({}, dtype=\"float32\"){})", levels, text)};
}
Arguments histogram(Random& random) {
  std::string bounds = random.chance(0.5) ? ", range=[-1.0, 2.0]" : "";
  return {{random.tensor(random.pick(kReals), random.shape(0, 3, 1),
                         random.chance(0.5) ? Values::Moderate : Values::SmallIntegers)},
          fmt::format("histogram(%a, bins={}{}).{}", random.integer(1, 6), bounds, random.integer(0, 1))};
}
Arguments bincount(Random& random) {
  return {{integers(random, {random.integer(0, 9)}, 0, 9)},
          fmt::format("bincount(%a, minlength={})", random.integer(0, 6))};
}
Row closeness(const std::string& name) {
  return {name, [=](Random& random) {
            DType dtype = random.pick(kReals);
            Shape shape = random.shape();
            return Arguments{{random.tensor(dtype, shape, Values::SmallIntegers),
                              random.tensor(dtype, random.broadcastable(shape), Values::SmallIntegers)},
                             fmt::format("{}(%a, %b, rtol={}{})", name, random.chance(0.5) ? "0.5" : "1e-5",
                                         random.chance(0.3) ? ", equal_nan=True" : "")};
          }};
}
Arguments nonzero(Random& random) {
  return {{random.tensor(DType::boolean(), random.shape(1, 3), Values::Any)}, "nonzero(%a)"};
}

/// An operator of a tensor's shape alone.
Row of_shape(const std::string& name) {
  return {name, [=](Random& random) {
            return Arguments{{random.tensor(random.pick(kNumbers), random.shape(), Values::Any)},
                             fmt::format("{}(%a{})", name, random.chance(0.5) ? ", dtype=\"int64\"" : "")};
          }};
}
/// An operator of a tensor and one whose shape it broadcasts to, or that broadcasts to its.
Row of_like(const std::string& name, bool larger_first) {
  return {name, [=](Random& random) {
            Shape shape = random.shape(0, 4, 1);
            TensorPtr large = random.tensor(random.pick(kNumbers), shape, Values::SmallIntegers);
            TensorPtr small =
                random.tensor(random.pick(kNumbers), random.broadcastable(shape), Values::SmallIntegers);
            if (!larger_first) std::swap(large, small);
            return Arguments{{large, small}, name + "(%a, %b)"};
          }};
}
Arguments collapse_sum_to(Random& random) {
  Shape shape = random.shape(0, 4, 1);
  return {{random.tensor(random.pick(kNumbers), shape, Values::SmallIntegers)},
          fmt::format("collapse_sum_to(%a, shape={})", list_text(random.broadcastable(shape)))};
}

Arguments adv_index(Random& random) {
  Shape shape = random.shape(1, 3, 1), places = random.shape(0, 2);
  Arguments arguments{{random.tensor(random.pick(kNumbers), shape, Values::Any)}, "%a"};
  for (int64_t k = 0, count = random.integer(1, static_cast<int64_t>(shape.size())); k < count; ++k) {
    arguments.tensors.push_back(
        integers(random, random.broadcastable(places), 0, shape[static_cast<size_t>(k)] - 1));
    arguments.expression += fmt::format(", %{}", static_cast<char>('b' + k));
  }
  arguments.expression = fmt::format("adv_index(({}))", arguments.expression);
  return arguments;
}
Arguments strided_set(Random& random) {
  Shape shape = random.shape(1, 3, 1), values = shape;
  std::vector<int64_t> begin, end, strides;
  for (int64_t k = 0, count = random.integer(1, static_cast<int64_t>(shape.size())); k < count; ++k) {
    int64_t extent = shape[static_cast<size_t>(k)], step = random.integer(1, 3);
    int64_t from = random.integer(0, extent - 1), to = random.integer(from, extent);
    values[static_cast<size_t>(k)] = (to - from + step - 1) / step;
    begin.push_back(random.chance(0.5) ? from : from - extent);
    end.push_back(to);
    strides.push_back(step);
  }
  DType dtype = random.pick(kNumbers);
  return {{random.tensor(dtype, shape, Values::Any), random.tensor(dtype, values, Values::Any),
           list_of(begin), list_of(end), list_of(strides)},
          fmt::format("strided_set(%a, %b, %c, %d, %e, axes={})", begin.size())};
}
Arguments layout_transform(Random& random) {
  Shape shape = {random.integer(1, 2), 4 * random.integer(1, 2), random.integer(1, 3)};
  bool blocked = random.chance(0.4);
  if (blocked) shape.push_back(2);
  return {{random.tensor(random.pick(kNumbers), shape, Values::Any)},
          fmt::format(R"(layout_transform(%a, src_layout="{}", dst_layout="{}"))", blocked ? "NCW2c" : "NCW",
                      random.pick(std::vector<std::string>{"NWC", "WNC", "NCW4c", "NC4cW"}))};
}

}  // namespace

std::vector<Row> shape_rows() {
  return {
      {"quantile", quantile, 4, 1e-6},
      {"histogram", histogram},
      {"bincount", bincount},
      closeness("isclose"),
      closeness("allclose"),
      {"nonzero", nonzero},
      of_shape("ndarray_size"),
      of_shape("shape_of"),
      of_like("broadcast_to_like", false),
      of_like("collapse_sum_like", true),
      {"collapse_sum_to", collapse_sum_to},
      {"adv_index", adv_index},
      {"strided_set", strided_set},
      {"layout_transform", layout_transform, 0, 0, {{2, 4}, {}}},
  };
}

}  // namespace quern::numeric
