#include "repl/picture/picture_files.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ir/base/interrupt.h"
#include "repl/command_files.h"

namespace quern {

Result<Done> write_picture(const std::string& path, const picture::Picture& picture) {
  const auto bytes = path.ends_with(".svg") ? picture::to_svg(picture) : picture::to_png(picture);
  if (!bytes) return bytes.error();
  if (is_interrupted()) return Failure{kInterrupted};
  return write_file(path, *bytes);
}

Result<Done> draw_curves(const std::string& path, const Entries<TensorPtr>& curves) {
  std::vector<picture::Curve> drawn;
  for (const auto& [name, tensor] : curves) {
    const bool is_matrix = tensor->shape().size() == 2;
    const int64_t rows = is_matrix ? tensor->shape()[0] : 1, columns = tensor->shape().back();
    for (int64_t row = 0; row < rows && !is_interrupted(); ++row) {
      picture::Curve& curve = drawn.emplace_back();
      curve.name = is_matrix ? fmt::format("{}", row) : name;
      for (int64_t i = 0; i < columns && !is_interrupted(); ++i) {
        curve.x.push_back(static_cast<double>(i));
        curve.y.push_back(element_as_double(*tensor, row * columns + i));
      }
    }
  }
  const auto plot = picture::plot_of(std::move(drawn));
  if (is_interrupted()) return Failure{kInterrupted};
  if (!plot) return Failure{fmt::format("Cannot draw '{}': there is no finite number.", path)};
  return write_picture(path, *plot);
}

}  // namespace quern
