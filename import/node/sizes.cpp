#include "import/node/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quern::onnx {

using namespace import_text;

size_t length_in(Call& call, size_t input) {
  const Term& term = call.in(input);
  const auto length = term.rank() == 1 ? as_const(term.extent(0)) : std::nullopt;
  if (!length || *length > 64)
    throw Refusal(fmt::format("how many integers `{}` has, has to be known", call.node().inputs[input]));
  return static_cast<size_t>(*length);
}

Sizes sizes_of(const Term& term, size_t first) {
  if (const auto dims = dims_of(term);
      dims && std::ranges::none_of(*dims, [](Dim dim) { return dim->has_any; }))
    return {{}, list_of(*dims)};
  std::vector<std::string> elements;
  for (int64_t i = 0; i < as_const(term.extent(0)).value_or(0); ++i)
    elements.push_back(fmt::format("${}[{}]", first, i));
  return {{term}, fmt::format("[{}]", fmt::join(elements, ", "))};
}

Sizes sizes_in(Call& call, size_t input, size_t first) {
  if (!dims_of(call.in(input))) length_in(call, input);
  return sizes_of(call.in(input), first);
}

Term shape_term(const Term& tensor) {
  return dims_term({tensor.type->dims.begin(), tensor.type->dims.end()}, DType::int64());
}

}  // namespace quern::onnx
