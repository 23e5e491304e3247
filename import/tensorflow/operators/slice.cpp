// Slices and padding.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/node/sizes.h"
#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;

/// What one entry of a `StridedSlice` says, in the order in which its masks win
/// (tensorflow/core/util/strided_slice_op.cc).
enum class Kind : uint8_t { Ellipsis, NewAxis, Shrink, Range };

class StridedSlice {
 public:
  explicit StridedSlice(Call& call) : call_(call), operands_{call.in(0)} {
    count_ = onnx::length_in(call, 1);
    if (onnx::length_in(call, 2) != count_) throw Refusal("has another number of ends than of begins");
    begins_ = dims_of(call.in(1));
    ends_ = dims_of(call.in(2));
    const auto strides = call.integers_in(3);
    if (!strides || strides->size() != count_) throw Refusal("has another number of strides than of begins");
    strides_ = *strides;
  }

  void write() {
    if (write_known()) return;
    size_t own = 0;  // axes that are named
    for (size_t i = 0; i < count_; ++i) own += kind(i) == Kind::Shrink || kind(i) == Kind::Range ? 1 : 0;
    const size_t rank = call_.rank(0);
    if (own > rank) throw Refusal(fmt::format("names {} axes of a tensor of rank {}", own, rank));
    for (size_t i = 0; i < count_; ++i) add(i, rank - own);
    while (!parts_.empty() && parts_.back() == ":") parts_.pop_back();
    std::string expression = parts_.empty() ? "$0" : fmt::format("$0[{}]", fmt::join(parts_, ", "));
    for (const size_t axis : new_axes_)
      expression = fmt::format("expand_dims({}, axis={})", expression, axis);
    if (expression == "$0") return call_.set(0, call_.in(0));
    call_.result(expression, operands_);
  }

 private:
  bool has(std::string_view mask, size_t entry) const {
    return entry < 64 && (static_cast<uint64_t>(call_.integer(mask, 0)) >> entry & 1) != 0;
  }

  Kind kind(size_t entry) const {
    if (has("ellipsis_mask", entry)) return Kind::Ellipsis;
    if (has("new_axis_mask", entry)) return Kind::NewAxis;
    return has("shrink_axis_mask", entry) ? Kind::Shrink : Kind::Range;
  }

  /// An entry of the begins or ends: a number, a dim, or an element that a run knows.
  std::string bound(size_t input, const std::optional<std::vector<Dim>>& known, size_t entry) {
    if (known && !(*known)[entry]->has_any) return to_string((*known)[entry]);
    const auto place = std::ranges::find(places_, input);
    const auto operand = static_cast<size_t>(place - places_.begin()) + 1;
    if (place == places_.end()) {
      places_.push_back(input);
      operands_.push_back(call_.in(input));
    }
    return fmt::format("${}[{}]", operand, entry);
  }

  void add(size_t entry, size_t left) {
    switch (kind(entry)) {
      case Kind::Ellipsis:
        parts_.insert(parts_.end(), left, ":");
        axis_ += left;
        return;
      case Kind::NewAxis: new_axes_.push_back(axis_++); return;
      case Kind::Shrink: parts_.push_back(bound(1, begins_, entry)); return;
      case Kind::Range: parts_.push_back(range(entry)); ++axis_;
    }
  }

  std::string range(size_t entry) {
    const int64_t stride = strides_[entry];
    if (stride == 0) throw Refusal("has the stride 0");
    std::string begin = has("begin_mask", entry) ? "" : bound(1, begins_, entry),
                end = has("end_mask", entry) ? "" : bound(2, ends_, entry);
    if (begin == "0" && stride > 0) begin = "";
    if (end == fmt::format("{}", INT32_MAX) && stride > 0) end = "";
    return begin + ":" + end + (stride == 1 ? "" : fmt::format(":{}", stride));
  }

  /// A part of a list of sizes.
  bool write_known() {
    const Term& data = call_.in(0);
    const auto elements = data.rank() == 1 ? dims_of(data) : std::nullopt;
    if (!elements || count_ != 1 || !begins_ || !ends_ || data.dtype().is_float()) return false;
    const auto count = static_cast<int64_t>(elements->size());
    const auto at = [&](const std::vector<Dim>& list) { return as_const(list[0]); };
    const auto begin = at(*begins_), end = at(*ends_);
    if (kind(0) == Kind::Shrink) {
      const int64_t index = begin ? (*begin < 0 ? *begin + count : *begin) : -1;
      if (index < 0 || index >= count) return false;
      const Dim chosen = (*elements)[static_cast<size_t>(index)];
      if (chosen->has_any) return false;
      call_.set(0, dims_term({chosen}, data.dtype(), 0));
      return true;
    }
    if (kind(0) != Kind::Range || strides_[0] != 1 || !begin || !end) return false;
    const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + count : i, 0, count); };
    const int64_t from = has("begin_mask", 0) ? 0 : clamped(*begin),
                  to = std::max(from, has("end_mask", 0) ? count : clamped(*end));
    std::vector<Dim> chosen(elements->begin() + from, elements->begin() + to);
    if (std::ranges::any_of(chosen, [](Dim dim) { return dim->has_any; })) return false;
    call_.set(0, dims_term(std::move(chosen), data.dtype()));
    return true;
  }

  Call& call_;
  size_t count_ = 0, axis_ = 0;  ///< entries; the axis of the result
  std::optional<std::vector<Dim>> begins_, ends_;
  std::vector<int64_t> strides_;
  std::vector<std::string> parts_;
  std::vector<Term> operands_;
  std::vector<size_t> places_, new_axes_;  ///< inputs among the operands
};

void strided_slice(Call& call) { StridedSlice(call).write(); }

/// From places on, as many elements as sizes say, -1 for all that are left.
void slice(Call& call) {
  const Term& data = call.in(0);
  const auto begins = dims_of(call.in(1));
  const auto sizes = call.integers_in(2);
  if (!sizes || sizes->size() != data.rank() || onnx::length_in(call, 1) != data.rank())
    throw Refusal("has not a begin and a size for each axis");
  std::vector<std::string> parts;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t size = (*sizes)[i];
    const auto begin = begins ? as_const((*begins)[i]) : std::nullopt;
    if (begin && size >= 0)
      parts.push_back(fmt::format("{}:{}", *begin == 0 ? "" : std::to_string(*begin), *begin + size));
    else if (begin)
      parts.push_back(*begin == 0 ? ":" : fmt::format("{}:", *begin));
    else if (size == -1)
      parts.push_back(fmt::format("$1[{}]:", i));
    else
      parts.push_back(
          fmt::format("$1[{0}]:$1[{0}] + {1}", i, literal(static_cast<double>(size), call.in(1).dtype())));
  }
  const auto elements = data.rank() == 1 ? dims_of(data) : std::nullopt;
  if (const auto from = begins ? as_const(begins->front()) : std::nullopt; elements && from && *from >= 0) {
    const auto count = static_cast<int64_t>(elements->size());
    const int64_t to = sizes->front() < 0 ? count : *from + sizes->front();
    if (to <= count && *from <= to)
      return call.set(0, dims_term({elements->begin() + *from, elements->begin() + to}, data.dtype()));
  }
  while (!parts.empty() && parts.back() == ":") parts.pop_back();
  if (parts.empty()) return call.set(0, data);
  const bool is_known = fmt::format("{}", fmt::join(parts, "")).find('$') == std::string::npos;
  call.result(fmt::format("$0[{}]", fmt::join(parts, ", ")),
              is_known ? std::vector<Term>{data} : std::vector<Term>{data, call.in(1)});
}

void pad(Call& call) {
  const std::string widths = pairs_text(pairs_in(call, 1));
  if (call.has(2))
    return call.result(fmt::format("nn.pad($0, $1, pad_width={})", widths), {call.in(0), call.in(2)});
  call.result(fmt::format("nn.pad($0, {}, pad_width={})", literal(0, call.in(0).dtype()), widths),
              {call.in(0)});
}

void mirror_pad(Call& call) {
  const std::string mode = call.string("mode", "");
  if (mode != "REFLECT" && mode != "SYMMETRIC") throw Refusal(fmt::format("pads with the mode `{}`", mode));
  call.result(fmt::format("nn.mirror_pad($0, pad_width={}{})", pairs_text(pairs_in(call, 1)),
                          mode == "SYMMETRIC" ? "" : ", mode=\"REFLECT\""),
              {call.in(0)});
}

}  // namespace

std::span<const Operator> slice_operators() {
  static const Operator kRows[] = {
      {"MirrorPad", "", mirror_pad},       {"Pad", "", pad}, {"PadV2", "", pad}, {"Slice", "", slice},
      {"StridedSlice", "", strided_slice},
  };
  return kRows;
}

}  // namespace quern::tensorflow
