#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

/// Random `axis`, `keepdims` and `exclude` as text; all axes where it is "".
std::string reduction_attributes(Random& random, int64_t rank) {
  std::string text;
  if (!random.chance(0.2)) {
    text += ", axis=" + list_text(random.axes(rank));
    if (random.chance(0.2)) text += ", exclude=True";
  }
  if (random.chance(0.4)) text += ", keepdims=True";
  return text;
}

Row reduction(const std::string& name, const std::vector<DType>& dtypes, Values values,
              int64_t least_extent = 0) {
  return {name, [=](Random& random) {
            TensorPtr a = random.tensor(random.pick(dtypes), random.shape(0, 4, least_extent), values);
            auto rank = static_cast<int64_t>(a->shape().size());
            std::string text = reduction_attributes(random, rank);
            if (name.starts_with("arg") && random.chance(0.4)) text += ", select_last_index=True";
            return Arguments{{a}, name + "(%a" + text + ")"};
          }};
}

}  // namespace

std::vector<Row> reduction_rows() {
  const std::vector<DType> numbers = {DType::float32(), DType::float32(), DType::float64(), DType::float16(),
                                      DType::int32(),   DType::int64(),   DType::int8()};
  const std::vector<DType> bools = {DType::boolean()};
  return {
      reduction("sum", numbers, Values::SmallIntegers),
      reduction("prod", numbers, Values::PowersOfTwo),
      reduction("mean", numbers, Values::SmallIntegers),
      reduction("max", numbers, Values::Any),
      reduction("min", numbers, Values::Any),
      // Nothing has no largest element, so no extent is 0; small integers have many ties.
      reduction("argmax", numbers, Values::SmallIntegers, 1),
      reduction("argmin", numbers, Values::Any, 1),
      reduction("any", bools, Values::Any),
      reduction("all", bools, Values::Any),
  };
}

}  // namespace quern::numeric
