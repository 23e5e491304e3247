#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kDTypes = {DType::float32(), DType::float64(), DType::float16(), DType::int32(),
                                    DType::int64(),   DType::int8(),    DType::uint8()};

Arguments split(Random& random) {
  Shape shape = random.shape(1, 3);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1), sections = random.integer(1, 4);
  int64_t& extent = shape[static_cast<size_t>(axis)];
  std::string parts = std::to_string(sections);
  if (random.chance(0.5)) {
    extent *= sections;
  } else {
    std::vector<int64_t> bounds;
    for (int64_t k = 1; k < sections; ++k)
      bounds.push_back(random.integer(bounds.empty() ? 0 : bounds.back(), extent));
    parts = list_text(bounds);
    sections = static_cast<int64_t>(bounds.size()) + 1;
  }
  return {{random.tensor(random.pick(kDTypes), shape, Values::Any)},
          fmt::format("split(%a, indices_or_sections={}, axis={}).{}", parts, random.signed_axis(axis, rank),
                      random.integer(0, sections - 1))};
}

Row ordered(const std::string& name, const std::string& member) {
  return {name, [=](Random& random) {
            Shape shape = random.shape(1, 3, 1);
            auto rank = static_cast<int64_t>(shape.size());
            int64_t axis = random.signed_axis(random.integer(0, rank - 1), rank);
            std::string more = random.chance(0.5) ? ", is_ascend=True" : ", is_ascend=False";
            if (name == "topk") more += fmt::format(", k={}", random.integer(0, 5));
            return Arguments{{random.tensor(random.pick(kDTypes), shape, Values::SmallIntegers)},
                             fmt::format("{}(%a, axis={}{}){}", name, axis, more, member)};
          }};
}

Arguments unique(Random& random) {
  Shape shape = random.shape(1, 3);
  auto rank = static_cast<int64_t>(shape.size());
  std::string axis = random.chance(0.4)
                         ? ""
                         : fmt::format(", axis={}", random.signed_axis(random.integer(0, rank - 1), rank));
  return {{random.tensor(random.pick(kDTypes), shape, Values::SmallIntegers)},
          fmt::format("unique(%a, sorted={}, return_counts=True{}).{}", random.chance(0.5) ? "True" : "False",
                      axis, random.integer(0, 4))};
}

Arguments argwhere(Random& random) {
  return {{random.tensor(DType::boolean(), random.shape(1, 3), Values::Any)}, "argwhere(%a)"};
}

Arguments reinterpret(Random& random) {
  constexpr std::pair<const char*, const char*> kPairs[] = {{"int8", "uint8"},
                                                            {"uint16", "float16"},
                                                            {"int16", "bfloat16"},
                                                            {"int32", "float32"},
                                                            {"float64", "uint64"}};
  const auto [from, to] = kPairs[random.integer(0, std::ssize(kPairs) - 1)];
  return {{random.tensor(*parse_dtype(from), random.shape(0, 3), Values::SmallIntegers)},
          fmt::format("reinterpret(%a, dtype=\"{}\")", to)};
}

TensorPtr scalar_of(DType dtype, double value) {
  TensorPtr tensor = HostTensor::make(dtype, {});
  Scalar scalar = Scalar::from_double(dtype, value);
  std::copy_n(reinterpret_cast<const std::byte*>(&scalar.bits), dtype.bytes(), tensor->data());
  return tensor;
}

Arguments valid_counts(Random& random) {
  TensorPtr boxes =
      random.tensor(DType::float32(), {random.integer(1, 3), random.integer(0, 9), 6}, Values::SmallIntegers);
  return {{boxes, scalar_of(DType::float32(), 0.5)},
          fmt::format("vision.get_valid_counts(%a, %b).{}", random.integer(0, 2))};
}

Arguments suppression(Random& random) {
  int64_t batches = random.integer(1, 3), count = random.integer(0, 9);
  TensorPtr boxes = random.tensor(DType::float32(), {batches, count, 6}, Values::Moderate);
  TensorPtr counts = HostTensor::make(DType::int32(), {batches}),
            places = HostTensor::make(DType::int32(), {batches, count});
  for (int32_t& c : counts->elements<int32_t>()) c = static_cast<int32_t>(random.integer(0, count));
  for (int64_t k = 0; k < places->size(); ++k)
    places->elements<int32_t>()[static_cast<size_t>(k)] =
        static_cast<int32_t>(k % std::max<int64_t>(count, 1));
  std::string more = random.chance(0.5) ? ", force_suppress=True" : ", top_k=4, invalid_to_bottom=True";
  return {{boxes, counts, places, scalar_of(DType::int32(), static_cast<double>(random.integer(-1, 3))),
           scalar_of(DType::float32(), 0.25)},
          fmt::format("vision.non_max_suppression(%a, %b, %c, %d, %e{}, return_indices={}", more,
                      random.chance(0.5) ? "False)" : fmt::format("True).{}", random.integer(0, 1)))};
}

Arguments class_suppression(Random& random) {
  int64_t batches = random.integer(1, 3), classes = random.integer(0, 3), count = random.integer(0, 9);
  DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64(), DType::float16()});
  std::string more = random.chance(0.5)
                         ? fmt::format(", output_format=\"tensorflow\").{}", random.integer(0, 2))
                         : fmt::format(").{}", random.integer(0, 1));
  return {{random.tensor(dtype, {batches, count, 4}, Values::SmallIntegers),
           random.tensor(dtype, {batches, classes, count}, Values::SmallIntegers),
           scalar_of(DType::int64(), static_cast<double>(random.integer(-1, 3))), scalar_of(dtype, 0.25),
           scalar_of(dtype, static_cast<double>(random.integer(-2, 2)))},
          fmt::format("vision.all_class_non_max_suppression(%a, %b, %c, %d, %e{}{}",
                      random.chance(0.5) ? ", center_point_box=True" : "", more)};
}

}  // namespace

std::vector<Row> parts_rows() {
  return {{"split", split},
          ordered("sort", ""),
          ordered("argsort", ""),
          ordered("topk", ".1"),
          {"unique", unique},
          {"argwhere", argwhere},
          {"reinterpret", reinterpret},
          {"vision.get_valid_counts", valid_counts},
          {"vision.non_max_suppression", suppression},
          {"vision.all_class_non_max_suppression", class_suppression}};
}

}  // namespace quern::numeric
