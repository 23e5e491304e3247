// Calls of `print` and of what has files: labels and formatted values become format strings, between plain value arguments.

#include <fmt/format.h>

#include <climits>
#include <utility>

#include "frontend/print/printer_impl.h"
#include "frontend/text/format_string.h"
#include "ir/io/data_files.h"

namespace quern::printer_detail {

std::string Printer::aside(ExprPtr expr) {
  TextLayout layout = std::exchange(layout_, {});
  std::vector<Step> steps = std::exchange(steps_, {});
  LineOrigins* origins = std::exchange(origins_, nullptr);
  item(expr);
  print_queued();
  std::string out = layout_.render(INT_MAX);
  layout_ = std::move(layout);
  steps_ = std::move(steps);
  origins_ = origins;
  return out;
}

std::string Printer::in_string(const IntrinsicExpr& print, size_t part) {
  if (!print.args[part]) return with_double_braces(print.texts[part]);
  std::string value = aside(print.args[part]);
  // Two braces in a row would print one.
  if (value.starts_with('{')) value.insert(0, " ");
  const std::string_view format = print.texts[part];
  return fmt::format("{{{}{}}}", value, format == ":" ? "" : format);
}

void Printer::printed(const IntrinsicExpr& e) {
  const size_t count = e.args.size();
  const auto is_argument = [&](size_t i) { return i < count && e.args[i] && e.texts[i].empty(); };
  std::vector<std::pair<size_t, size_t>> arguments;  // parts [begin, end)
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    end = begin + 1;
    while (!is_argument(begin) && end < count && !is_argument(end)) ++end;
    const bool is_between = begin > 0 && end < count && end == begin + 1 && !e.args[begin];
    if (!is_between || e.texts[begin] != " ") arguments.emplace_back(begin, end);
  }
  // The numbers of `progress` have no blank behind them.
  const size_t first = e.intrinsic == IntrinsicKind::Progress ? 2 : 0;
  const auto print_string = [this, &e, count, first](size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) text += in_string(e, i);
    // The blank between arguments is implicit.
    if (begin > first && text.starts_with(' ')) text.erase(0, 1);
    if (end < count && text.ends_with(' ')) text.pop_back();
    this->text(to_string(StaticValue(std::move(text))));
  };
  list(
      fmt::format("{}(", to_string(e.intrinsic)), arguments.size(),
      [&](size_t k) {
        const size_t begin = arguments[k].first, end = arguments[k].second;
        if (is_argument(begin)) return item(e.args[begin]);
        run([=] { print_string(begin, end); });
      },
      ")");
}

void Printer::of_file(const IntrinsicExpr& e) {
  const size_t last = e.args.size() - 1;
  const auto name = [last, this, &e] {
    std::string words;
    for (size_t i = 0; i < last; ++i) words += in_string(e, i);
    text(to_string(StaticValue(std::move(words))));
  };
  const auto entry = [last, this, &e] { text(to_string(StaticValue(with_double_braces(e.texts[last])))); };
  const bool is_text = !e.args[last - 1] && is_text_file(e.texts[last - 1]);
  const size_t values = e.args[last] ? 2 : 1;
  list(
      fmt::format("{}(", to_string(e.intrinsic)), values + (e.texts[last].empty() ? 0 : 1),
      [&](size_t i) {
        if (i == 1 && e.args[last]) return item(e.args[last]);
        run([=, this] {
          if (i > 0 && is_text) text("tokens=");
          i == 0 ? name() : entry();
        });
      },
      ")");
}

}  // namespace quern::printer_detail
