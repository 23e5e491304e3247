// Values as text for display: on one line if that fits, otherwise with their parts beneath each other.

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <unordered_map>

#include "ir/value/prelude_values.h"
#include "ir/value/text/number_text.h"
#include "ir/value/text/tensor_text.h"
#include "ir/value/value.h"

namespace quern {

namespace {

constexpr int kMostParts = 1000;    ///< values shown on separate lines
constexpr int kMostLevels = 32;     ///< values nested deeper are elided
constexpr int kMostOfWhole = 1000;  ///< the same if nothing else is elided
constexpr int kStep = 2;            ///< columns of indentation per level

// --- headings for the elements of lists and trees -------------------------------------

/// How many parts are examined to find the elements' common type.
constexpr size_t kMostLookedAt = 10'000;

using Values = std::vector<const Value*>;

/// The values' common type as far as visible, "" if there are no values; nothing if it is not visible or
/// shapes differ: then each value shows its own.
class CommonType {
 public:
  std::optional<std::string> of(const Values& values) {
    if (values.empty()) return "";
    looked_at_ += values.size();
    if (looked_at_ > kMostLookedAt) return std::nullopt;
    if (values[0]->is_scalar() || values[0]->object_as<TensorObject>()) return of_tensors(values);
    if (list_of(*values[0], 0, 1)) return of_lists(values);
    if (auto* tuple = values[0]->object_as<TupleObject>()) return of_tuples(tuple->fields.size(), values);
    return std::nullopt;
  }

 private:
  static std::optional<std::string> of_tensors(const Values& values) {
    static const Shape kScalar;
    const auto shape_of = [](const Value& value) -> const Shape& {
      auto* boxed = value.object_as<TensorObject>();
      return boxed ? boxed->tensor->shape() : kScalar;
    };
    const auto dtype_of = [](const Value& value) -> std::optional<DType> {
      if (value.is_scalar()) return value.scalar().dtype;
      auto* boxed = value.object_as<TensorObject>();
      return boxed ? std::optional(boxed->tensor->dtype()) : std::nullopt;
    };
    const Value& first = *values[0];
    for (const Value* value : values)
      if (dtype_of(*value) != dtype_of(first) || shape_of(*value) != shape_of(first)) return std::nullopt;
    return type_to_string(*dtype_of(first), shape_of(first));
  }

  std::optional<std::string> of_lists(const Values& values) {
    Values inner;
    for (const Value* value : values) {
      auto list = list_of(*value, kMostLookedAt, 1);
      if (!list || list->has_gap()) return std::nullopt;
      inner.insert(inner.end(), list->front.begin(), list->front.end());
    }
    auto type = of(inner);
    if (type) type = type->empty() ? "List" : fmt::format("List[{}]", *type);
    return type;
  }

  std::optional<std::string> of_tuples(size_t size, const Values& values) {
    std::vector<std::string> types;
    for (size_t i = 0; i < size; ++i) {
      Values fields;
      for (const Value* value : values) {
        auto* tuple = value->object_as<TupleObject>();
        if (!tuple || tuple->fields.size() != size) return std::nullopt;
        fields.push_back(&tuple->fields[i]);
      }
      auto type = of(fields);
      if (!type) return type;
      types.push_back(*type);
    }
    return fmt::format("({}{})", fmt::join(types, ", "), size == 1 ? "," : "");
  }

  size_t looked_at_ = 0;
};

/// "List[int32]", " (3 elements)", and whether the first gives the type of all elements.
struct Heading {
  std::string type, count;
  bool says_type = false;
  std::string text() const { return type + count; }
};

Heading heading_of(std::string_view name, const Values& values, int64_t count, std::string_view unit,
                   std::string_view before_count = "") {
  auto type = CommonType().of(values);
  Heading heading{std::string(name), "", type.has_value()};
  if (type && !type->empty()) heading.type += fmt::format("[{}]", *type);
  heading.count = fmt::format(" ({}{} {}{})", before_count, count, unit, count == 1 ? "" : "s");
  return heading;
}

Values shown_of(const ListView& list) {
  Values shown = list.front;
  shown.insert(shown.end(), list.back.begin(), list.back.end());
  return shown;
}

bool are_numbers(const Values& values) {
  return std::ranges::all_of(values, [](const Value* value) { return value->is_scalar(); });
}

// --- one value ----------------------------------------------------------------------------------

/// A line that grows up to a limit.
struct Line {
  int limit;
  std::string text = {};
  int columns = 0;

  bool put(std::string_view more) {
    columns += columns_of(more);
    text += more;
    return columns <= limit;
  }
};

class ValueWriter {
 public:
  ValueWriter(const ValueStyle& style, int column) : style_(style), column_(column) {
    if (style_.whole) style_.threshold = INT64_MAX;
  }

  std::string write(const Value& value) {
    show(value, {.heading = style_.heading});
    return std::move(out_);
  }

 private:
  /// The context of a value: the column of its continuation lines, the columns needed after its last line,
  /// whether it has a heading, and its nesting depth.
  struct Place {
    int indent = 0, after = 0;
    bool heading = true;
    int level = 0;
    /// The place of a part on a separate line.
    Place part(bool with_heading) const { return {indent + kStep, 1, with_heading, level + 1}; }
    /// The place of a sole part, which continues its parent's line.
    Place only_part() const { return {indent, after + 1, heading, level + 1}; }
    /// The column of rows of numbers beneath a heading.
    int rows() const { return level == 0 ? indent : indent + kStep; }
  };

  void put(std::string_view text) {
    out_ += text;
    const size_t line = text.rfind('\n');
    column_ = line == std::string_view::npos ? column_ + columns_of(text) : columns_of(text.substr(line + 1));
  }
  void new_line(int indent) { put("\n" + std::string(static_cast<size_t>(indent), ' ')); }

  bool is_left_out(const Place& place) {
    if (style_.whole) return place.level > kMostOfWhole;
    return parts_++ >= kMostParts || place.level > kMostLevels;
  }

  void show(const Value& value, const Place& place) {
    if (is_left_out(place)) return put(kElided);
    if (std::optional<std::string> line = line_of(value, place.heading, style_.width - column_ - place.after))
      return put(*line);
    if (auto* reference = value.object_as<RefObject>()) {
      path_.push_back(reference);
      put("ref(");
      show(reference->content, place.only_part());
      put(")");
      return path_.pop_back();
    }
    if (!style_.as_built) {
      if (const DataObject* node = tree_node(value)) return show_tree(*node, place);
      if (auto list = elements_of(value)) return show_list(value, *list, place);
    }
    if (auto* fields = value.fields(); fields && !fields->empty())
      return show_fields(value.object_as<DataObject>(), *fields, place);
    if (auto* tensor = value.object_as<TensorObject>(); tensor && !tensor->tensor->shape().empty())
      return show_tensor(*tensor->tensor, place);
    put(*line_of(value, place.heading, INT_MAX));
  }

  /// Writes a heading and begins the rows beneath it; returns their column.
  int begin_rows(const std::string& heading, const Place& place) {
    if (place.heading)
      put(heading);
    else if (column_ <= place.indent)
      return place.indent;
    new_line(place.rows());
    return place.rows();
  }

  void show_tensor(const HostTensor& tensor, const Place& place) {
    const int indent = begin_rows(place.heading ? tensor_heading(tensor) : "", place);
    put(tensor_rows(tensor, style_, indent, place.after));
  }

  void show_fields(const DataObject* data, const std::vector<Value>& fields, const Place& place) {
    if (data) put(data->constructor.name);
    put("(");
    const bool is_only = data && fields.size() == 1;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!is_only) new_line(place.indent + kStep);
      put(field_name(data, i));
      show(fields[i], is_only ? place.only_part() : place.part(place.heading));
      if (i + 1 < fields.size() || (!data && fields.size() == 1)) put(",");
    }
    if (!is_only) new_line(place.indent);
    put(")");
  }

  static std::string field_name(const DataObject* data, size_t index) {
    const std::string_view name = data ? data->constructor.fields[index] : "";
    return name.empty() ? "" : std::string(name) + "=";
  }

  /// The shown elements of a list. A long list is walked only once.
  std::optional<ListView> elements_of(const Value& value) {
    if (auto known = long_lists_.find(value.object()); known != long_lists_.end()) return known->second;
    auto list = list_of(value, style_.threshold, style_.edge_items);
    if (list && list->has_gap()) long_lists_.emplace(value.object(), *list);
    return list;
  }

  void show_list(const Value& value, ListView list, const Place& place) {
    const Heading heading = list_heading(value, list);
    if (are_numbers(shown_of(list)) && (heading.says_type || !place.heading)) {
      std::vector<std::string> texts;
      for (const Value* element : shown_of(list)) texts.push_back(number_text(element->scalar(), style_));
      const auto gap = list.has_gap() ? std::optional(list.front.size()) : std::nullopt;
      const int indent = begin_rows(heading.text(), place);
      return put(wrapped_list(std::move(texts), gap, style_, indent, place.after));
    }
    if (place.heading) put(heading.text() + " ");
    const Place part = place.part(place.heading && !heading.says_type);
    // If elements take many lines each, show fewer.
    if (!style_.whole && !list.has_gap() && list.length > 2 * style_.edge_items &&
        !line_of(*list.front[0], part.heading, style_.width - part.indent - part.after))
      list = *list_of(value, 0, style_.edge_items);
    put("[");
    const Values shown = shown_of(list);
    for (size_t i = 0; i < shown.size(); ++i) {
      new_line(part.indent);
      if (list.has_gap() && i == list.front.size()) {
        put(kElided);
        put(",");
        new_line(part.indent);
      }
      show(*shown[i], part);
      if (i + 1 < shown.size() || list.is_open) put(",");
    }
    if (list.is_open) {
      new_line(part.indent);
      put(kElided);
    }
    new_line(place.indent);
    put("]");
  }

  /// Tensors must all be examined, since shapes may differ; elements of a type without such variation need
  /// not.
  static Heading list_heading(const Value& value, const ListView& list) {
    Values elements = shown_of(list);
    if (list.has_gap() && !are_numbers(elements)) {
      elements.clear();
      if (list.length <= static_cast<int64_t>(kMostLookedAt))
        elements = list_of(value, kMostLookedAt, 1)->front;
    }
    Heading heading = heading_of("List", elements, list.length, "element", list.is_open ? "more than " : "");
    if (elements.empty()) heading.says_type = list.length == 0;
    return heading;
  }

  // --- trees

  void show_tree(const DataObject& root, const Place& place) {
    const Heading heading = tree_heading(root);
    const int indent = begin_rows(heading.text(), place);
    nodes_left_ = style_.whole ? INT64_MAX : 2 * std::max<int64_t>(style_.threshold, 1);
    draw(root, std::string(static_cast<size_t>(indent), ' '), place.heading && !heading.says_type,
         place.level);
  }

  void draw(const DataObject& node, const std::string& prefix, bool heading, int level) {
    const int room = style_.whole ? INT_MAX : style_.width - columns_of(prefix);
    put(line_of(node.fields[0], heading, room).value_or(summary(node.fields[0])));
    const bool is_cut = --nodes_left_ <= 0 || level >= (style_.whole ? kMostOfWhole : kMostLevels);
    const auto subtrees = list_of(node.fields[1], is_cut ? 0 : style_.threshold, style_.edge_items);
    if (subtrees->length == 0) return;
    const auto begin = [&](bool is_last) { put("\n" + prefix + (is_last ? "└─ " : "├─ ")); };
    if (is_cut) {
      begin(true);
      return put(kElided);
    }
    const Values shown = shown_of(*subtrees);
    for (size_t i = 0; i < shown.size(); ++i) {
      if (subtrees->has_gap() && i == subtrees->front.size()) {
        begin(false);
        put(kElided);
      }
      const bool is_last = i + 1 == shown.size();
      begin(is_last);
      draw(*shown[i]->object_as<DataObject>(), prefix + (is_last ? "   " : "│  "), heading, level + 1);
    }
  }

  static std::string summary(const Value& value) {
    TensorPtr tensor = value.as_tensor();
    return tensor ? tensor_heading(*tensor) + " […]" : std::string(kElided);
  }

  static Heading tree_heading(const DataObject& root) {
    Values held, rest;
    int64_t count = 0;
    std::vector<const DataObject*> open{&root};
    while (!open.empty()) {
      const DataObject& node = *open.back();
      open.pop_back();
      ++count;
      if (held.size() <= kMostLookedAt) held.push_back(node.fields.data());
      const auto subtrees = list_of(node.fields[1], INT64_MAX, 1);
      for (const Value* subtree : subtrees->front) open.push_back(subtree->object_as<DataObject>());
    }
    return heading_of("Tree", held, count, "node");
  }

  // --- on one line

  /// The value on one line; nothing if it takes more than `columns`.
  std::optional<std::string> line_of(const Value& value, bool heading, int columns) {
    Line line{columns};
    if (!add(line, value, heading)) return std::nullopt;
    return std::move(line.text);
  }

  /// Adds a value to a line; returns whether it fits.
  bool add(Line& line, const Value& value, bool heading) {
    if (line.columns > line.limit) return false;
    if (auto* reference = value.object_as<RefObject>()) return add_reference(line, *reference, heading);
    if (!style_.as_built) {
      if (const DataObject* node = tree_node(value)) return add_tree(line, *node, heading);
      if (auto list = elements_of(value)) return add_list(line, value, *list, heading);
    }
    if (const auto* fields = value.fields())
      return add_fields(line, value.object_as<DataObject>(), *fields, heading);
    if (auto* closure = value.object_as<ClosureObject>()) return line.put(to_string(closure->type));
    if (value.is_empty()) return line.put("<empty>");
    if (value.is_scalar()) {
      if (heading) line.put(to_string(value.scalar().dtype) + " ");
      return line.put(number_text(value.scalar(), style_));
    }
    return add_tensor(line, *value.as_tensor(), heading);
  }

  bool add_tensor(Line& line, const HostTensor& tensor, bool heading) const {
    // The elements come first: checking that they fit is faster than computing the heading of a large tensor.
    const int room = line.limit - line.columns;
    auto elements = tensor_line(tensor, style_, room);
    if (!elements) return false;
    return (!heading || line.put(tensor_heading(tensor) + " ")) && line.put(*elements);
  }

  // A reference may contain itself.
  bool add_reference(Line& line, const RefObject& reference, bool heading) {
    if (std::ranges::find(path_, &reference) != path_.end()) return line.put("ref(…)");
    path_.push_back(&reference);
    const bool fits = line.put("ref(") && add(line, reference.content, heading) && line.put(")");
    path_.pop_back();
    return fits;
  }

  bool add_fields(Line& line, const DataObject* data, const std::vector<Value>& fields, bool heading) {
    if (data && !line.put(data->constructor.name)) return false;
    if (fields.empty()) return line.put(data ? "" : "()");
    for (size_t i = 0; i < fields.size(); ++i)
      if (!line.put(i == 0 ? "(" : ", ") || !line.put(field_name(data, i)) || !add(line, fields[i], heading))
        return false;
    return line.put(!data && fields.size() == 1 ? ",)" : ")");
  }

  bool add_list(Line& line, const Value& value, const ListView& list, bool heading) {
    const Heading of_list = heading ? list_heading(value, list) : Heading{"", "", true};
    // If all elements are shown, their number is obvious.
    if (heading && !line.put((list.has_gap() ? of_list.text() : of_list.type) + " ")) return false;
    const Values shown = shown_of(list);
    line.put("[");
    for (size_t i = 0; i < shown.size(); ++i) {
      if (i > 0) line.put(", ");
      if (list.has_gap() && i == list.front.size()) line.put("…, ");
      if (!add(line, *shown[i], !of_list.says_type)) return false;
    }
    if (list.is_open) line.put(", …");
    return line.put("]");
  }

  /// A tree with branches is drawn.
  bool add_tree(Line& line, const DataObject& node, bool heading) {
    if (list_of(node.fields[1], 0, 1)->length > 0) return false;
    const Heading of_tree = heading ? tree_heading(node) : Heading{"", "", true};
    if (heading) line.put(of_tree.type + " ");
    return add(line, node.fields[0], !of_tree.says_type);
  }

  ValueStyle style_;
  int column_;  ///< of the next character
  std::string out_;
  std::vector<const RefObject*> path_;  ///< references being shown
  std::unordered_map<const Object*, ListView> long_lists_;
  int parts_ = 0;
  int64_t nodes_left_ = 0;  ///< remaining for a tree
};

}  // namespace

std::string to_string(const HostTensor& tensor, const ValueStyle& style) {
  // Non-owning: a value holds a tensor by a counted pointer.
  TensorPtr shared(TensorPtr(), const_cast<HostTensor*>(&tensor));
  return to_string(Value(new TensorObject(std::move(shared))), style);
}

std::string to_string(const Value& value, const ValueStyle& style, int column) {
  return ValueWriter(style, column).write(value);
}

}  // namespace quern
