#include <fmt/format.h>

#include "ir/value/threefry.h"
#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

constexpr uint64_t kTop = uint64_t{1} << 63;

// A key, often one whose counter or path is at its end, where it becomes another key.
TensorPtr worn_key(Random& random) {
  const std::vector<uint64_t> words = Threefry(static_cast<uint64_t>(random.integer(0, 1000000))).generate(6);
  std::vector<uint64_t> key(10);
  std::copy(words.begin(), words.end(), key.begin());
  key[7] = random.chance(0.5) ? UINT64_MAX - static_cast<uint64_t>(random.integer(0, 40)) : words[0];
  if (random.chance(0.7)) key[static_cast<size_t>(random.integer(8, 9))] = kTop >> random.integer(0, 63);
  return HostTensor::from<uint64_t>(*parse_dtype("uint64"), {10}, key);
}

// The text of a key: %a, or one that is made from the seed %a, which has no extent.
std::string random_key(Random& random, std::vector<TensorPtr>& tensors) {
  const bool worn = random.chance(0.4);
  tensors.push_back(worn ? worn_key(random) : random.tensor(DType::int64(), {}, Values::Any));
  return worn ? "%a" : "random.threefry_key(%a)";
}

// `rest` adds further arguments and returns what follows the key in the call.
template <class Rest>
Row keyed(const std::string& name, Rest rest) {
  return {name, [=](Random& random) {
            Arguments arguments;
            const std::string key = random_key(random, arguments.tensors), more = rest(random, arguments);
            const int part = random.chance(0.2) ? 0 : 1;
            arguments.expression = fmt::format("{}({}{}).{}", name, key, more, part);
            return arguments;
          }};
}

// A shape as an attribute.
std::string random_shape(Random& random) { return ", out_shape=" + shape_text(random.shape(0, 3)); }

// Often float64, of which differences tell a derivative.
const std::vector<DType> kDrawnFloats = {DType::float32(), DType::float64(), DType::float64(),
                                         DType::float16()};

// Two numbers, converted to a dtype, the shape, and the dtype.
Row between(const std::string& name, const std::vector<DType>& dtypes, Values values) {
  return keyed(name, [=](Random& random, Arguments& arguments) {
    const DType dtype = random.pick(dtypes);
    for (int k = 0; k < 2; ++k) arguments.tensors.push_back(random.tensor(dtype, {}, values));
    return fmt::format(", cast(%b, dtype=\"{0}\"), cast(%c, dtype=\"{0}\"){1}, out_dtype=\"{0}\"",
                       to_string(dtype), random_shape(random));
  });
}

Row initial_weights(const std::string& name) {
  return keyed(name, [](Random& random, Arguments&) {
    return fmt::format(", out_shape={}, out_dtype=\"{}\"", shape_text(random.shape(2, 4, 1)),
                       to_string(random.pick(kFloats)));
  });
}

// Rows of numbers to draw indices from.
Row picking(const std::string& name, Values values, const char* attribute) {
  return keyed(name, [=](Random& random, Arguments& arguments) {
    arguments.tensors.push_back(random.tensor(random.pick(kFloats), random.shape(1, 3, 1), values));
    return *attribute ? fmt::format(", %b, {}={}", attribute, random.integer(0, 6)) : std::string(", %b");
  });
}

}  // namespace

// To the bit: the numbers are the same in every evaluator.
std::vector<Row> random_rows() {
  const std::vector<DType> integers = {DType::int32(), DType::int64(), *parse_dtype("int8"),
                                       *parse_dtype("uint64")};
  return {
      {"random.threefry_key",
       [](Random& random) {
         return Arguments{{random.tensor(DType::int64(), {}, Values::Any)}, "random.threefry_key(%a)"};
       }},
      {"random.threefry4x64",
       [](Random& random) {
         Arguments arguments;
         const std::string key = random_key(random, arguments.tensors);
         arguments.expression = fmt::format("random.threefry4x64({}, count={})", key, random.integer(0, 30));
         return arguments;
       }},
      keyed("random.threefry_split", [](Random&, Arguments&) { return std::string(); }),
      keyed("random.threefry_generate", [](Random& random, Arguments&) { return random_shape(random); }),
      {"random.normal_quantile",
       [](Random& random) {
         return Arguments{{random.tensor(random.pick(kFloats), random.shape(0, 3), Values::Positive)},
                          "random.normal_quantile(%a / 4)"};
       }},
      between("random.uniform", kDrawnFloats, Values::SmallIntegers),
      between("random.normal", kDrawnFloats, Values::SmallIntegers),
      between("random.truncated_normal", kDrawnFloats, Values::SmallIntegers),
      between("random.randint", integers, Values::SmallIntegers),
      keyed("random.bernoulli",
            [](Random& random, Arguments& arguments) {
              const bool one = random.chance(0.5);
              const Shape shape = one ? Shape{} : random.shape(0, 3);
              arguments.tensors.push_back(random.tensor(random.pick(kFloats), shape, Values::Positive));
              return ", %b / 4" + (one ? random_shape(random) : "");
            }),
      keyed("random.dropout",
            [](Random& random, Arguments& arguments) {
              arguments.tensors.push_back(
                  random.tensor(random.pick(kDrawnFloats), random.shape(0, 3), Values::Moderate));
              return fmt::format(", %b, rate={}", random.pick(std::vector<double>{0, 0.25, 0.9}));
            }),
      keyed("random.permutation",
            [](Random& random, Arguments&) { return fmt::format(", count={}", random.integer(0, 30)); }),
      picking("random.multinomial", Values::SmallIntegers, "num_samples"),
      picking("random.categorical", Values::SmallIntegers, ""),
      initial_weights("random.xavier_uniform"),
      initial_weights("random.xavier_normal"),
      initial_weights("random.he_uniform"),
      initial_weights("random.he_normal"),
  };
}

}  // namespace quern::numeric
