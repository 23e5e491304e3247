#include "jupyter/html.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/value/scalar.h"
#include "ir/value/tensor.h"

namespace quern::jupyter {

namespace {

/// The positions along an axis that are shown; `nullopt` marks a gap.
std::vector<std::optional<int64_t>> shown(int64_t extent, int64_t most) {
  std::vector<std::optional<int64_t>> places;
  const bool is_long = extent > most;
  for (int64_t i = 0; i < (is_long ? most / 2 : extent); ++i) places.emplace_back(i);
  if (!is_long) return places;
  places.emplace_back();
  for (int64_t i = extent - most / 2; i < extent; ++i) places.emplace_back(i);
  return places;
}

std::string element(const HostTensor& tensor, int64_t offset) {
  const DType dtype = tensor.dtype();
  return to_string(dtype.is_float() ? Scalar::from_double(dtype, element_as_double(tensor, offset))
                                    : Scalar::from_int(dtype, element_as_int(tensor, offset)));
}

}  // namespace

std::string html_of(const Value& value) {
  // A value whose text is complete needs no table.
  constexpr int64_t kLeast = 65, kMostRows = 20, kMostColumns = 16;
  const TensorPtr tensor = value.as_tensor();
  if (!tensor || tensor->shape().size() != 2 || tensor->size() < kLeast || tensor->dtype().lanes != 1)
    return "";
  const int64_t width = tensor->shape()[1];
  const auto rows = shown(tensor->shape()[0], kMostRows), columns = shown(width, kMostColumns);
  std::string html = "<table>\n<thead><tr><th></th>";
  for (const auto& column : columns) html += column ? fmt::format("<th>{}</th>", *column) : "<th>…</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    html += row ? fmt::format("<tr><th>{}</th>", *row) : "<tr><th>…</th>";
    for (const auto& column : columns)
      html +=
          row && column ? fmt::format("<td>{}</td>", element(*tensor, *row * width + *column)) : "<td>…</td>";
    html += "</tr>\n";
  }
  return html + fmt::format("</tbody>\n</table>\n<p><code>Tensor[({}, {}), {}]</code></p>",
                            tensor->shape()[0], width, to_string(tensor->dtype()));
}

}  // namespace quern::jupyter
