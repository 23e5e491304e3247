#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kScannedNumbers = {DType::float32(), DType::float64(), DType::float16(),
                                            DType::int32(),   DType::int64(),   DType::int8()};

Row running(const std::string& name, Values values) {
  return {name, [=](Random& random) {
            Shape shape = random.shape(0, 3);
            auto rank = static_cast<int64_t>(shape.size());
            std::string text = name + "(%a";
            if (rank > 0 && random.chance(0.7))
              text += fmt::format(", axis={}", random.signed_axis(random.integer(0, rank - 1), rank));
            if (random.chance(0.3)) text += ", dtype=\"float64\"";
            if (random.chance(0.4)) text += ", exclusive=True";
            return Arguments{{random.tensor(random.pick(kScannedNumbers), shape, values)}, text + ")"};
          }};
}

std::string picked_reduction(Random& random, const char* attribute) {
  if (random.chance(0.2)) return "";
  const std::vector<const char*> kinds = {"update", "add", "mul", "max", "min"};
  return fmt::format(", {}=\"{}\"", attribute, random.pick(kinds));
}

TensorPtr positions(Random& random, const Shape& shape, int64_t low, int64_t high) {
  TensorPtr tensor = HostTensor::make(DType::int32(), shape);
  for (int32_t& index : tensor->elements<int32_t>()) index = static_cast<int32_t>(random.integer(low, high));
  return tensor;
}

Arguments scatter_elements(Random& random) {
  Shape shape = random.shape(1, 3, 1), part = shape;
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1), extent = shape[static_cast<size_t>(axis)];
  for (int64_t& e : part) e = random.integer(0, e);
  part[static_cast<size_t>(axis)] = random.integer(0, 2 * extent);
  DType dtype = random.pick(kScannedNumbers);
  return {{random.tensor(dtype, shape, Values::SmallIntegers), positions(random, part, -extent, extent - 1),
           random.tensor(dtype, part, Values::SmallIntegers)},
          fmt::format("scatter_elements(%a, %b, %c, axis={}{})", random.signed_axis(axis, rank),
                      picked_reduction(random, "reduction"))};
}

Arguments scatter_nd(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t depth = random.integer(1, rank);
  int64_t least = shape[0];
  for (int64_t k = 0; k < depth; ++k) least = std::min(least, shape[static_cast<size_t>(k)]);
  Shape places = random.chance(0.3) ? Shape{} : Shape{random.integer(0, 6)};
  Shape at = {depth}, updates = places;
  at.insert(at.end(), places.begin(), places.end());
  updates.insert(updates.end(), shape.begin() + depth, shape.end());
  DType dtype = random.pick(kScannedNumbers);
  return {{random.tensor(dtype, shape, Values::SmallIntegers), positions(random, at, 0, least - 1),
           random.tensor(dtype, updates, Values::SmallIntegers)},
          fmt::format("scatter_nd(%a, %b, %c{})", picked_reduction(random, "mode"))};
}

}  // namespace

std::vector<Row> scan_rows() {
  return {running("cumsum", Values::SmallIntegers),
          running("cumprod", Values::PowersOfTwo),
          {"scatter_elements", scatter_elements},
          {"scatter_nd", scatter_nd}};
}

}  // namespace quern::numeric
