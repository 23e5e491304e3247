// Elements beneath each other, aligned at the points of their numbers.

#include <algorithm>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "ir/value/text/number_text.h"
#include "ir/value/text/tensor_text.h"

namespace quern {

namespace {

constexpr int kSeparator = 2;  // ", "
constexpr int kGap = 3;        // "…, "

/// Columns before a number's point or exponent, and from it on. Non-numbers have all columns before it.
struct Span {
  int left = 0, right = 0;
  int columns() const { return left + right; }
  void widen(const Span& other) {
    left = std::max(left, other.left);
    right = std::max(right, other.right);
  }
};

Span span_of(std::string_view text) {
  const int columns = columns_of(text);
  const size_t first = text.find_first_not_of(" -");
  const bool is_number = first != std::string_view::npos && text[first] >= '0' && text[first] <= '9';
  const size_t point = is_number ? text.find_first_of(".e") : std::string_view::npos;
  const int left = point == std::string_view::npos ? columns : static_cast<int>(point);
  return {left, columns - left};
}

/// Adds a text at its position in a column; the last one of a list is not padded on the right.
void put_cell(std::string& out, std::string_view text, const Span& column, bool is_last) {
  const Span span = span_of(text);
  out.append(static_cast<size_t>(column.left - span.left), ' ');
  out += text;
  if (!is_last) out.append(",").append(static_cast<size_t>(column.right - span.right) + 1, ' ');
}

/// The indices of an axis that are shown: all, or those at its two ends.
struct Shown {
  int64_t extent = 0, front = 0, back = 0;
  static Shown all(int64_t extent) { return {extent, extent, 0}; }
  static Shown ends(int64_t extent, int64_t edge) {
    return extent > 2 * edge ? Shown{extent, edge, edge} : all(extent);
  }
  int64_t count() const { return front + back; }
  bool has_gap() const { return count() < extent; }
  /// The k-th shown index.
  int64_t index(int64_t k) const { return k < front ? k : extent - count() + k; }
};

class RowWriter {
 public:
  RowWriter(const HostTensor& tensor, const ValueStyle& style, int indent, int after)
      : tensor_(tensor), style_(style), indent_(indent), rank_(static_cast<int>(tensor.shape().size())) {
    room_ = style.width - indent - 2 * rank_ - std::max(after, 1);
    choose_rows();
    collect(0, 0);
    choose_columns();
  }

  std::string write() {
    block(0, 0);
    return std::move(out_);
  }

 private:
  /// If the outer axes have many indices, shows fewer of each.
  void choose_rows() {
    constexpr int64_t kMostRows = 200;
    const bool elide = is_elided(tensor_, style_);
    for (int64_t edge = std::max<int64_t>(1, style_.edge_items);; --edge) {
      int64_t rows = 1;
      axes_.clear();
      for (const int64_t extent : tensor_.shape())
        axes_.push_back(elide ? Shown::ends(extent, edge) : Shown::all(extent));
      for (int axis = 0; axis + 1 < rank_; ++axis) rows *= std::max<int64_t>(1, axes_[at(axis)].count());
      if (!elide || edge == 1 || rows <= kMostRows) return;
    }
  }

  void collect(int axis, int64_t offset) {
    if (axis + 1 == rank_) return starts_.push_back(offset * axes_.back().extent);
    const Shown& shown = axes_[at(axis)];
    for (int64_t k = 0; k < shown.count(); ++k) collect(axis + 1, offset * shown.extent + shown.index(k));
  }

  Span column(int64_t index) const {
    Span span;
    for (const int64_t start : starts_) span.widen(span_of(element_text(tensor_, start + index, style_)));
    return span;
  }

  void choose_columns() {
    const Shown most = axes_.back();
    if (!most.has_gap() && take(most.extent, 0, style_.whole ? INT_MAX : room_)) return;
    const int64_t half = most.extent / 2;
    take(std::min(most.front, most.extent - half), most.has_gap() ? most.back : half, room_ - kGap);
  }

  // Takes columns alternately from the front and the back while there is room, at least one of each; returns
  // whether these are all.
  bool take(int64_t most_front, int64_t most_back, int room) {
    constexpr int64_t kLeast = 2;
    Shown& taken = axes_.back();
    taken.front = taken.back = 0;
    std::vector<Span> front, back;
    while (taken.count() < most_front + most_back) {
      const bool is_front =
          taken.back == most_back || (taken.front <= taken.back && taken.front < most_front);
      const Span span = column(is_front ? taken.front : taken.extent - 1 - taken.back);
      room -= span.columns() + (taken.count() > 0 ? kSeparator : 0);
      if (room < 0 && (taken.count() >= kLeast || most_back == 0)) break;
      (is_front ? front : back).push_back(span);
      ++(is_front ? taken.front : taken.back);
    }
    columns_ = std::move(front);
    columns_.insert(columns_.end(), back.rbegin(), back.rend());
    return !taken.has_gap();
  }

  void block(int axis, int64_t offset) {
    const Shown& shown = axes_[at(axis)];
    const bool is_row = axis + 1 == rank_;
    out_ += '[';
    for (int64_t k = 0; k < shown.count(); ++k) {
      if (!is_row && k > 0) new_line(axis);
      if (shown.has_gap() && k == shown.front) {
        out_ += kElided;
        out_ += is_row ? ", " : ",";
        if (!is_row) new_line(axis);
      }
      const int64_t below = offset * shown.extent + shown.index(k);
      const bool is_last = k + 1 == shown.count();
      if (is_row) {
        put_cell(out_, element_text(tensor_, below, style_), columns_[at(k)], is_last);
      } else {
        block(axis + 1, below);
        if (!is_last) out_ += ',';
      }
    }
    out_ += ']';
  }

  // Matrices are separated by an empty line.
  void new_line(int axis) {
    out_.append(axis + 2 < rank_ ? 2 : 1, '\n')
        .append(static_cast<size_t>(indent_) + static_cast<size_t>(axis) + 1, ' ');
  }

  template <class Integer>
  static size_t at(Integer index) {
    return static_cast<size_t>(index);
  }

  const HostTensor& tensor_;
  const ValueStyle& style_;
  const int indent_, rank_;
  int room_;                     ///< for the columns of a row
  std::vector<Shown> axes_;      ///< for the last one, the columns
  std::vector<int64_t> starts_;  ///< the first element of each shown row
  std::vector<Span> columns_;
  std::string out_;
};

}  // namespace

std::string tensor_rows(const HostTensor& tensor, const ValueStyle& style, int indent, int after) {
  if (tensor.shape().size() > 1 || is_elided(tensor, style))
    return RowWriter(tensor, style, indent, after).write();
  std::vector<std::string> texts;
  for (int64_t i = 0; i < tensor.size(); ++i) texts.push_back(element_text(tensor, i, style));
  return wrapped_list(std::move(texts), std::nullopt, style, indent, after);
}

std::string wrapped_list(std::vector<std::string> texts, std::optional<size_t> gap, const ValueStyle& style,
                         int indent, int after) {
  if (gap) texts.insert(texts.begin() + static_cast<ptrdiff_t>(*gap), std::string(kElided));
  const int room = style.width - indent - 2 - after;
  Span widest;
  int together = 0;
  for (const std::string& text : texts) {
    widest.widen(span_of(text));
    together += columns_of(text) + kSeparator;
  }
  const bool is_line = together - kSeparator <= room;
  const auto of_a_line =
      static_cast<size_t>(std::max(1, (room + kSeparator) / (widest.columns() + kSeparator)));
  std::string out = "[";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!is_line && i > 0 && i % of_a_line == 0) {
      while (out.back() == ' ') out.pop_back();
      out.append("\n").append(static_cast<size_t>(indent) + 1, ' ');
    }
    put_cell(out, texts[i], is_line ? span_of(texts[i]) : widest, i + 1 == texts.size());
  }
  return out + "]";
}

}  // namespace quern
