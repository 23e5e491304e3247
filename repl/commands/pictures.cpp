// `:plot`, `:hist` and `:image`.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/value/prelude_values.h"
#include "repl/command_files.h"
#include "repl/commands/asked_value.h"
#include "repl/commands/parts.h"
#include "repl/picture/picture.h"
#include "repl/picture/picture_files.h"
#include "repl/pixels/terminal_pixels.h"
#include "repl/report/command_text.h"
#include "repl/report/summary.h"
#include "repl/workspace.h"

namespace quern {

namespace {

/// As large as fits on the screen with the prompt.
picture::Size picture_size(const Workspace& workspace, int most_columns, int most_rows) {
  const auto terminal = terminal_size(stdout);
  const int rows = terminal ? rows_beside_prompt(terminal->rows) : most_rows;
  return {std::min(workspace.style().width, most_columns), std::min(rows, most_rows)};
}

/// The elements of a tensor of rank 1 or of a list of numbers; nothing for other values. Some of them, or nothing, after
/// an interrupt.
std::optional<std::vector<double>> numbers_of(const Value& value) {
  std::vector<double> numbers;
  if (const auto list = list_of(value, INT64_MAX, 1)) {
    for (const Value* element : list->front) {
      if (is_interrupted()) break;
      const TensorPtr tensor = element->as_tensor();
      if (!tensor || tensor->lane_count() != 1) return std::nullopt;
      numbers.push_back(element_as_double(*tensor, 0));
    }
    return numbers;
  }
  const TensorPtr tensor = value.as_tensor();
  if (!tensor || tensor->shape().size() != 1 || tensor->dtype().is_vector()) return std::nullopt;
  numbers.reserve(static_cast<size_t>(tensor->size()));
  for (int64_t i = 0; i < tensor->size() && !is_interrupted(); ++i)
    numbers.push_back(element_as_double(*tensor, i));
  return numbers;
}

/// The curve of a vector over its indices, or of a pair of vectors.
std::optional<picture::Curve> curve_of(const Value& value) {
  picture::Curve curve;
  auto* pair = value.object_as<TupleObject>();
  if (pair && pair->fields.size() == 2) {
    auto x = numbers_of(pair->fields[0]), y = numbers_of(pair->fields[1]);
    if (!x || !y) return std::nullopt;
    return picture::Curve{std::move(*x), std::move(*y)};
  }
  auto y = numbers_of(value);
  if (!y) return std::nullopt;
  curve.y = std::move(*y);
  curve.x.reserve(curve.y.size());
  for (size_t i = 0; i < curve.y.size() && !is_interrupted(); ++i) curve.x.push_back(static_cast<double>(i));
  return curve;
}

std::string left_out(size_t count, size_t all, std::string_view things) {
  return count == 0 ? "" : fmt::format("{} of {} {} left out: not finite\n", count, all, things);
}

picture::Ink ink_of(Workspace& workspace) {
  if (!workspace.settings().colour || isatty(STDOUT_FILENO) == 0) return picture::Ink::Text;
  const char* colours = std::getenv("COLORTERM");
  const std::string_view depth = colours ? colours : "";
  return depth == "truecolor" || depth == "24bit" ? picture::Ink::True : picture::Ink::Palette;
}

constexpr std::array<std::string_view, 2> kFiles{".svg", ".png"};

/// Shows a picture or writes it to a file, then prints `remark`.
bool present(Workspace& workspace, const picture::Picture& shown, const std::string& file,
             const picture::Size& most, const std::string& remark) {
  if (file.empty() && workspace.options().show_picture) {
    workspace.options().show_picture(shown, picture::to_text(shown, most, picture::Ink::Text));
  } else if (file.empty()) {
    const std::string pixels = terminal_pixels(workspace.settings().pictures, shown);
    const std::string text = pixels.empty() ? picture::to_text(shown, most, ink_of(workspace)) : pixels;
    if (!is_interrupted()) fmt::print("{}", text);
  } else {
    if (const auto written = write_picture(file, shown); !written)
      return workspace.complain(written.error().message);
  }
  if (is_interrupted()) return workspace.complain(kInterrupted);
  fmt::print("{}", remark);
  return true;
}

/// Adds the curve of an expression.
bool add_curve(Workspace& workspace, const std::string& expression, std::vector<picture::Curve>& curves) {
  return with_value(workspace, expression, "`:plot`", [&](const StatementResult& result) {
    auto curve = curve_of(*result.value);
    if (is_interrupted()) return workspace.complain(kInterrupted);
    if (!curve)
      return workspace.complain(
          fmt::format("`:plot` takes a vector, a list of numbers, or a pair `(x, y)` of these, not {}",
                      to_string(result.type)));
    if (curve->x.size() != curve->y.size())
      return workspace.complain(
          fmt::format("`:plot` takes as many x as y, not {} and {}", curve->x.size(), curve->y.size()));
    curve->name = shortened(expression);
    curves.push_back(std::move(*curve));
    return true;
  });
}

bool plot_values(Workspace& workspace, const std::string& request) {
  const auto asked = asked_for(workspace, request, ":plot", kFiles);
  if (!asked) return false;
  std::vector<picture::Curve> curves;
  for (const std::string& expression : split_at_commas(asked->expressions)) {
    if (expression.empty())
      return workspace.complain("an expression is missing beside a comma; write `:plot A, B`");
    if (!add_curve(workspace, expression, curves)) return false;
  }
  size_t points = 0, lost = 0;
  for (const picture::Curve& curve : curves) {
    points += curve.x.size();
    for (size_t i = 0; i < curve.x.size() && !is_interrupted(); ++i) lost += curve.has_point(i) ? 0U : 1U;
  }
  const auto plot = picture::plot_of(std::move(curves));
  if (is_interrupted()) return workspace.complain(kInterrupted);
  if (!plot) return workspace.complain("there is no finite number to plot");
  return present(workspace, *plot, asked->file, picture_size(workspace, 120, 20),
                 left_out(lost, points, "points"));
}

bool show_histogram(Workspace& workspace, const std::string& request) {
  const auto asked = asked_for(workspace, request, ":hist", kFiles);
  if (!asked) return false;
  return with_value(workspace, asked->expressions, "`:hist`", [&](const StatementResult& result) {
    std::vector<double> numbers;
    bool are_whole = true;
    size_t all = 0;
    const auto tensors = tensors_in(*result.value, SIZE_MAX);
    for (const auto& [name, tensor] : tensors) all += static_cast<size_t>(tensor->lane_count());
    numbers.reserve(all);
    for (const auto& [name, tensor] : tensors) {
      are_whole = are_whole && !tensor->dtype().is_float();
      for (int64_t i = 0; i < tensor->lane_count() && !is_interrupted(); ++i)
        if (const double number = element_as_double(*tensor, i); std::isfinite(number))
          numbers.push_back(number);
    }
    if (is_interrupted()) return workspace.complain(kInterrupted);
    if (tensors.empty())
      return workspace.complain(
          fmt::format("`:hist` takes a value that has numbers, not {}", to_string(result.type)));
    if (numbers.empty()) return workspace.complain("there is no finite number to count");
    const picture::Size size = picture_size(workspace, 100, 20);
    const picture::Histogram histogram = picture::histogram_of(numbers, are_whole, size.rows);
    if (is_interrupted()) return workspace.complain(kInterrupted);
    return present(workspace, histogram, asked->file, size, left_out(all - numbers.size(), all, "numbers"));
  });
}

bool show_image(Workspace& workspace, const std::string& request) {
  const auto asked = asked_for(workspace, request, ":image", kFiles);
  if (!asked) return false;
  return with_value(workspace, asked->expressions, "`:image`", [&](const StatementResult& result) {
    const TensorPtr tensor = result.value->as_tensor();
    const auto image = tensor ? picture::image_of(*tensor) : std::nullopt;
    if (is_interrupted()) return workspace.complain(kInterrupted);
    if (!image)
      return workspace.complain(
          fmt::format("`:image` takes a matrix, or a tensor of 1, 3 or 4 channels before or behind height "
                      "and width, not {}",
                      to_string(result.type)));
    return present(workspace, *image, asked->file, picture_size(workspace, 160, 50),
                   fmt::format("{} x {}, black is {:g}, white {:g}\n", image->height, image->width,
                               image->black, image->white));
  });
}

}  // namespace

std::span<const ReplCommand> commands_of_pictures() {
  static constexpr ReplCommand kRows[] = {
      {":plot", "A, B [> FILE]", Takes::Expression, About::Pictures,
       "vectors or lists of numbers over their indices, or pairs `(x, y)` of these, as curves; into an "
       "`.svg` or a `.png`",
       as_command<plot_values>},
      {":hist", "EXPR [> FILE]", Takes::Expression, About::Pictures,
       "how the numbers of a value are distributed; into an `.svg` or a `.png`", as_command<show_histogram>},
      {":image", "EXPR [> FILE]", Takes::Expression, About::Pictures,
       "a matrix, or a tensor of channels, height and width, as an image; into a `.png`",
       as_command<show_image>},
  };
  return kRows;
}

}  // namespace quern
