// Random numbers, each node's by a key of its own.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/dtypes.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// By the seed; without one by the node's place, below 0 where a seed hardly is.
std::string key_of(Call& call) {
  if (!call.place()) throw Refusal("draws in a loop, where each turn would have the same numbers");
  auto seed = -static_cast<int64_t>(*call.place());
  if (call.has_attribute("seed")) {
    const double given = call.number("seed", 0);
    if (!(std::abs(given) < 0x1p63)) throw Refusal(fmt::format("has the seed {}", given));
    seed = static_cast<int64_t>(given);
  }
  return fmt::format("random.threefry_key({})", seed);
}

/// The dtype of the results, `otherwise` where the node does not say it.
DType result_dtype(Call& call, DType otherwise) {
  const int64_t code = call.integer("dtype", 0);
  if (!call.has_attribute("dtype")) return otherwise;
  const auto dtype = dtype_of(static_cast<int32_t>(code));
  if (!dtype) throw Refusal(fmt::format("its `dtype` is {}, which has no counterpart", dtype_name(code)));
  return *dtype;
}

/// Extents as a list, with those that only a run knows as elements of `$0`.
struct Extents {
  std::string list;
  std::vector<Term> operands;
};

Extents extents_of(Call& call) {
  const Term& data = call.in(0);
  std::vector<std::string> extents;
  bool is_open = false;
  for (size_t i = 0; i < data.rank(); ++i) {
    const Dim extent = data.extent(i);
    is_open = is_open || extent->has_any;
    extents.push_back(extent->has_any ? fmt::format("$0[{}]", i) : to_string(extent));
  }
  Extents result{fmt::format("[{}]", fmt::join(extents, ", ")), {}};
  if (is_open) result.operands = {call.step("extents", "shape_of($0)", {data})};
  return result;
}

Extents given_extents(Call& call) {
  const auto shape = call.integers("shape");
  if (!shape) throw Refusal("lacks its attribute `shape`");
  if (std::ranges::any_of(*shape, [](int64_t extent) { return extent < 0; }))
    throw Refusal(fmt::format("draws a tensor of the shape {}", list_of(*shape)));
  return {list_of(*shape), {}};
}

/// `random.normal(key, mean, scale, …)` or the like.
void draw(Call& call, std::string_view function, double first, double second, DType dtype,
          const Extents& extents) {
  if (!dtype.is_float()) throw Refusal(fmt::format("draws numbers of the dtype {}", to_string(dtype)));
  call.result(
      fmt::format("{}({}, {}, {}, out_shape={}{}).1", function, key_of(call), float_attribute(first),
                  float_attribute(second), extents.list,
                  dtype == DType::float32() ? "" : fmt::format(", out_dtype=\"{}\"", to_string(dtype))),
      extents.operands);
}

void normal(Call& call, DType dtype, const Extents& extents) {
  const double mean = call.number("mean", 0), scale = call.number("scale", 1);
  if (!std::isfinite(mean) || !std::isfinite(scale) || scale < 0)
    throw Refusal(fmt::format("has the mean {} and the standard deviation {}", mean, scale));
  draw(call, "random.normal", mean, scale, dtype, extents);
}

void uniform(Call& call, DType dtype, const Extents& extents) {
  const double low = call.number("low", 0), high = call.number("high", 1);
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw Refusal(fmt::format("draws from {} up to {}", low, high));
  draw(call, "random.uniform", low, high, dtype, extents);
}

template <auto kDraw>
void of_a_shape(Call& call) {
  kDraw(call, result_dtype(call, DType::float32()), given_extents(call));
}

template <auto kDraw>
void like(Call& call) {
  kDraw(call, result_dtype(call, call.in(0).dtype()), extents_of(call));
}

void bernoulli(Call& call) {
  const DType dtype = result_dtype(call, call.in(0).dtype());
  const std::string drawn = fmt::format("random.bernoulli({}, $0).1", key_of(call));
  call.result(dtype.is_bool() ? drawn : fmt::format("cast({}, dtype=\"{}\")", drawn, to_string(dtype)),
              {call.in(0)});
}

void multinomial(Call& call) {
  const DType dtype = result_dtype(call, DType::int32());
  const int64_t count = call.integer("sample_size", 1);
  if (dtype != DType::int32() && dtype != DType::int64())
    throw Refusal(fmt::format("draws classes of the dtype {}", to_string(dtype)));
  if (count < 1) throw Refusal(fmt::format("draws {} samples", count));
  if (call.rank(0) != 2) throw Refusal("its input is not a batch of logarithms of probabilities");
  const std::string drawn = fmt::format("random.multinomial({}, nn.softmax($0){}).1", key_of(call),
                                        count == 1 ? "" : fmt::format(", num_samples={}", count));
  call.result(dtype == DType::int32() ? drawn : fmt::format("cast({}, dtype=\"int64\")", drawn),
              {call.in(0)});
}

}  // namespace

std::span<const Operator> random_operators() {
  static const Operator kRows[] = {
      {"Bernoulli", "", bernoulli},
      {"Multinomial", "", multinomial},
      {"RandomNormal", "", of_a_shape<normal>},
      {"RandomNormalLike", "", like<normal>},
      {"RandomUniform", "", of_a_shape<uniform>},
      {"RandomUniformLike", "", like<uniform>},
  };
  return kRows;
}

}  // namespace quern::onnx
