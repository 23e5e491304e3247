#include "repl/report/value_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "frontend/text/source.h"
#include "ir/base/interrupt.h"
#include "ir/value/prelude_values.h"
#include "ir/value/scalar.h"

namespace quern {

namespace {

constexpr std::string_view kGap = "  ", kLeftOut = "…";

Scalar element(const HostTensor& tensor, int64_t offset) {
  const DType dtype = tensor.dtype();
  return dtype.is_float() ? Scalar::from_double(dtype, element_as_double(tensor, offset))
                          : Scalar::from_int(dtype, element_as_int(tensor, offset));
}

// --- what is a column ---------------------------------------------------------------------------

bool is_vector(const TensorPtr& tensor) {
  return tensor && tensor->shape().size() == 1 && !tensor->dtype().is_vector();
}

/// The elements of a list; nothing of other values.
std::optional<std::vector<const Value*>> elements_of(const Value& value) {
  auto list = list_of(value, INT64_MAX, 1);
  return list ? std::optional(std::move(list->front)) : std::nullopt;
}

/// The name of a field of a tuple or a record.
std::string field_name(const Value& value, size_t index) {
  const auto* data = value.object_as<DataObject>();
  const std::string_view name = data ? data->constructor.fields[index] : "";
  return name.empty() ? fmt::format(".{}", index) : std::string(name);
}

/// Whether values have the same fields as the first: tuples as long, or of the same constructor.
bool have_same_fields(const std::vector<const Value*>& values) {
  const auto constructor = [](const Value& value) {
    const auto* data = value.object_as<DataObject>();
    return data ? &data->constructor : nullptr;
  };
  const auto is_alike = [&](const Value* value) {
    return value->fields() && value->fields()->size() == values[0]->fields()->size() &&
           constructor(*value) == constructor(*values[0]) && !list_of(*value, 1, 1);
  };
  return !values.empty() && values[0]->fields() && !values[0]->fields()->empty() &&
         std::ranges::all_of(values, is_alike);
}

ValueTable of_list(std::vector<const Value*> elements) {
  ValueTable table{.rows = static_cast<int64_t>(elements.size())};
  if (!have_same_fields(elements)) {
    table.columns.push_back({.name = "value", .values = std::move(elements)});
    return table;
  }
  for (size_t i = 0; i < elements[0]->fields()->size(); ++i) {
    TableColumn column{.name = field_name(*elements[0], i)};
    for (const Value* row : elements) column.values.push_back(&(*row->fields())[i]);
    table.columns.push_back(std::move(column));
  }
  return table;
}

Result<ValueTable> of_fields(const Value& value) {
  const Failure wrong{
      "a matrix, vectors of one length in a record or a tuple, or a list of records or tuples"};
  ValueTable table;
  const std::vector<Value>* fields = value.fields();
  if (!fields || fields->empty()) return wrong;
  for (size_t i = 0; i < fields->size(); ++i) {
    TableColumn column{.name = field_name(value, i), .vector = (*fields)[i].as_tensor()};
    auto elements = column.vector ? std::nullopt : elements_of((*fields)[i]);
    if (!is_vector(column.vector) && !elements) return wrong;
    if (elements) column.values = std::move(*elements);
    const int64_t rows = column.vector ? column.vector->size() : static_cast<int64_t>(column.values.size());
    if (i > 0 && rows != table.rows)
      return Failure{fmt::format("columns of one length: `{}` has {} and `{}` has {}", table.columns[0].name,
                                 table.rows, column.name, rows)};
    table.rows = rows;
    table.columns.push_back(std::move(column));
  }
  return table;
}

// --- a screen -----------------------------------------------------------------------------------

/// Places along an axis: all, or those at its ends with nothing between them for what is left out.
std::vector<std::optional<size_t>> shown_places(size_t count, size_t first, size_t last) {
  std::vector<std::optional<size_t>> places;
  for (size_t i = 0; i < first; ++i) places.emplace_back(i);
  if (first + last < count) places.emplace_back();
  for (size_t i = count - last; i < count; ++i) places.emplace_back(i);
  return places;
}

/// A column as it is shown, the heading first; each text as wide as the others.
class ShownColumn {
 public:
  explicit ShownColumn(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (const std::string& text : texts_) width_ = std::max<size_t>(width_, count_code_points(text));
  }

  /// Numbers stand by their points, beneath a heading at the right.
  static ShownColumn of(const ValueTable& table, size_t column,
                        const std::vector<std::optional<size_t>>& rows, const ValueStyle& style) {
    std::vector<std::string> texts;
    size_t most_behind = 0;
    for (const auto& row : rows) {
      texts.push_back(row ? table.cell(static_cast<int64_t>(*row), column, style) : std::string(kLeftOut));
      most_behind = std::max(most_behind, behind_point(texts.back()));
    }
    for (std::string& text : texts)
      if (text != kLeftOut) text.append(most_behind - behind_point(text), ' ');
    texts.insert(texts.begin(), table.name(column));
    return ShownColumn(std::move(texts));
  }

  size_t width() const { return width_; }
  std::string at(size_t line) const {
    return std::string(width_ - count_code_points(texts_[line]), ' ') + texts_[line];
  }

 private:
  /// How many characters of a number are from its point on; 0 of other texts.
  static size_t behind_point(std::string_view text) {
    if (text.find_first_not_of("+-.0123456789e") != std::string_view::npos) return 0;
    const size_t point = text.find('.');
    return point == std::string_view::npos ? 0 : text.size() - point;
  }

  std::vector<std::string> texts_;
  size_t width_ = 0;
};

/// The columns for which there is room, from both ends, the first one at least.
std::vector<ShownColumn> fitting(const ValueTable& table, const std::vector<std::optional<size_t>>& rows,
                                 const ValueStyle& style, size_t room) {
  const size_t count = table.width();
  std::vector<ShownColumn> first, last;
  size_t used = 0;
  while (first.size() + last.size() < count) {
    const bool is_first = first.size() <= last.size();
    const size_t index = is_first ? first.size() : count - 1 - last.size();
    ShownColumn column = ShownColumn::of(table, index, rows, style);
    // Room for what stands for those that are left out, unless this is the last one.
    const bool is_last = first.size() + last.size() + 1 == count;
    const size_t wanted = used + kGap.size() + column.width();
    if (!first.empty() && wanted + (is_last ? 0 : kGap.size() + 1) > room && !style.whole) break;
    used = wanted;
    (is_first ? first : last).push_back(std::move(column));
  }
  if (first.size() + last.size() < count)
    first.emplace_back(std::vector<std::string>(rows.size() + 1, std::string(kLeftOut)));
  std::ranges::reverse(last);
  std::ranges::move(last, std::back_inserter(first));
  return first;
}

/// A field of CSV: between quotes where it has what ends one.
std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return "\"" + text + "\"";
}

}  // namespace

size_t ValueTable::width() const { return matrix ? static_cast<size_t>(matrix->shape()[1]) : columns.size(); }

std::string ValueTable::name(size_t column) const {
  return matrix ? std::to_string(column) : columns[column].name;
}

std::string ValueTable::cell(int64_t row, size_t column, const ValueStyle& style) const {
  ValueStyle of_cell = on_one_line(style.whole ? INT64_MAX : style.threshold);
  of_cell.precision = style.precision;
  of_cell.heading = false;
  if (matrix) {
    const int64_t at = row * matrix->shape()[1] + static_cast<int64_t>(column);
    return to_string(Value(element(*matrix, at)), of_cell);
  }
  const TableColumn& cells = columns[column];
  return cells.vector ? to_string(Value(element(*cells.vector, row)), of_cell)
                      : to_string(*cells.values[static_cast<size_t>(row)], of_cell);
}

Result<ValueTable> table_of(const Value& value) {
  if (const TensorPtr tensor = value.as_tensor(); tensor && !tensor->dtype().is_vector()) {
    if (tensor->shape().size() == 2) return ValueTable{.rows = tensor->shape()[0], .matrix = tensor};
    if (is_vector(tensor)) return ValueTable{{{.name = "value", .vector = tensor}}, tensor->size()};
  }
  if (auto elements = elements_of(value)) return of_list(std::move(*elements));
  return of_fields(value);
}

std::string to_text(const ValueTable& table, const ValueStyle& style, int64_t most) {
  const auto count = static_cast<size_t>(table.rows);
  const bool is_cut = !style.whole && table.rows > most;
  // One line marks the omitted rows.
  const size_t kept = is_cut ? static_cast<size_t>(std::max<int64_t>(2, most - 1)) : count;
  const auto rows = shown_places(count, is_cut ? kept - kept / 2 : count, is_cut ? kept / 2 : 0);
  std::vector<std::string> numbers{""};
  for (const auto& row : rows) numbers.push_back(row ? std::to_string(*row) : std::string(kLeftOut));
  const ShownColumn labels(std::move(numbers));
  const auto width = static_cast<size_t>(style.width);
  const auto columns = fitting(table, rows, style, width - std::min(width, labels.width()));
  std::string text;
  for (size_t line = 0; line <= rows.size(); ++line) {
    std::string shown = labels.at(line);
    for (const ShownColumn& column : columns) shown += std::string(kGap) + column.at(line);
    shown.resize(shown.find_last_not_of(' ') + 1);
    text += shown + "\n";
  }
  return text;
}

std::string to_csv(const ValueTable& table) {
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    for (size_t i = 0; i < table.width() && !is_interrupted(); ++i)
      text += (i == 0 ? "" : ",") + csv_field(cell_of(i));
    text += "\n";
  };
  if (table.has_names()) add_line([&](size_t column) { return table.name(column); });
  const ValueStyle whole{.whole = true};
  for (int64_t row = 0; row < table.rows && !is_interrupted(); ++row)
    add_line([&](size_t column) { return table.cell(row, column, whole); });
  return text;
}

}  // namespace quern
