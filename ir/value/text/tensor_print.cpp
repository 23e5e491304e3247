// Tensors as text: elided for display, and complete as JSON.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "ir/value/text/number_text.h"
#include "ir/value/text/tensor_text.h"

namespace quern {

namespace {

std::string plain_element(const HostTensor& tensor, int64_t offset, const ValueStyle& style) {
  return number_text(tensor, offset, style);
}

std::string json_element(const HostTensor& tensor, int64_t offset, const ValueStyle&) {
  if (tensor.dtype().is_bool()) return element_as_int(tensor, offset) ? "true" : "false";
  std::string text = number_text(tensor, offset);
  if (!tensor.dtype().is_float()) return text;
  if (!std::isfinite(element_as_double(tensor, offset))) return "\"" + text + "\"";
  // The point lets JSON readers that distinguish integers from floats see a float.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// The shape, with the lanes of vectors as a last axis.
Shape shape_in_lanes(const HostTensor& tensor) {
  Shape shape = tensor.shape();
  if (tensor.dtype().is_vector()) shape.push_back(tensor.dtype().lanes);
  return shape;
}

/// Writes nested lists, depth first, up to `most` bytes.
struct ListWriter {
  const HostTensor& tensor;
  std::string (*element)(const HostTensor&, int64_t, const ValueStyle&);
  std::string_view vector_brackets;
  const ValueStyle& style;
  bool elide;
  size_t most = SIZE_MAX;
  std::string out = {};
  Shape shape = shape_in_lanes(tensor);

  /// The elements below the first `axis` indices; `offset` counts the lists of this depth, row-major.
  void write(size_t axis, int64_t offset) {
    if (axis == shape.size()) {
      out += element(tensor, offset, style);
      return;
    }
    const int64_t extent = shape[axis], edge = style.edge_items;
    std::string_view brackets = axis < tensor.shape().size() ? "[]" : vector_brackets;
    out += brackets[0];
    for (int64_t i = 0; i < extent && out.size() <= most; ++i) {
      if (i > 0) out += ", ";
      if (elide && extent > 2 * edge && i == edge) {
        out += "…, ";
        i = extent - edge;
      }
      write(axis + 1, offset * extent + i);
    }
    out += brackets[1];
  }
};

ListWriter people_writer(const HostTensor& tensor, const ValueStyle& style) {
  return {tensor, plain_element, "<>", style, is_elided(tensor, style)};
}

struct Unusual {
  int64_t nans = 0, infinities = 0;
};

/// `exponent`: the bits of a float that are all ones in NaN and infinity. Counts in blocks, which compilers
/// vectorise.
template <class Bits>
Unusual count_unusual(const HostTensor& tensor, Bits exponent) {
  constexpr size_t kBlock = 1024;
  const auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const std::span<const Bits> bits = tensor.elements<Bits>();
  Unusual found;
  const auto count = [&](std::span<const Bits> block) {
    Bits nans = 0, infinities = 0;  // a block is too small to overflow these
    for (const Bits element : block) {
      const auto size = static_cast<Bits>(element & ~sign);
      nans = static_cast<Bits>(nans + (size > exponent));
      infinities = static_cast<Bits>(infinities + (size == exponent));
    }
    found.nans += static_cast<int64_t>(nans);
    found.infinities += static_cast<int64_t>(infinities);
  };
  size_t at = 0;
  for (; at + kBlock <= bits.size(); at += kBlock)
    count(std::span<const Bits, kBlock>(bits.data() + at, kBlock));
  count(bits.subspan(at));
  return found;
}

Unusual unusual_of(const HostTensor& tensor) {
  const DType dtype = tensor.dtype();
  if (!dtype.is_float()) return {};
  const FloatFormat format = float_format(dtype.lane());
  const uint64_t exponent = ((uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
  if (dtype.bits == 64) return count_unusual<uint64_t>(tensor, exponent);
  if (dtype.bits == 32) return count_unusual<uint32_t>(tensor, static_cast<uint32_t>(exponent));
  return count_unusual<uint16_t>(tensor, static_cast<uint16_t>(exponent));
}

}  // namespace

std::string type_to_string(DType dtype, std::span<const int64_t> shape) {
  if (shape.empty()) return to_string(dtype);
  return fmt::format("Tensor[({}{}), {}]", fmt::join(shape, ", "), shape.size() == 1 ? "," : "",
                     to_string(dtype));
}

bool is_elided(const HostTensor& tensor, const ValueStyle& style) {
  if (style.whole) return false;
  // For an empty tensor, the maximal number of lists in its full text.
  int64_t count = 1;
  for (int64_t extent : shape_in_lanes(tensor))
    if (extent != 0 && __builtin_mul_overflow(count, extent, &count)) return true;
  return count > style.threshold;
}

std::string element_text(const HostTensor& tensor, int64_t element, const ValueStyle& style) {
  if (!tensor.dtype().is_vector()) return plain_element(tensor, element, style);
  ListWriter writer = people_writer(tensor, style);
  writer.write(tensor.shape().size(), element);
  return std::move(writer.out);
}

std::string tensor_heading(const HostTensor& tensor) {
  std::string text = type_to_string(tensor.dtype(), tensor.shape());
  if (tensor.lane_count() == 1) return text;
  const Unusual unusual = unusual_of(tensor);
  std::vector<std::string> notes;
  if (unusual.nans) notes.push_back(fmt::format("{} NaN", unusual.nans));
  if (unusual.infinities) notes.push_back(fmt::format("{} Inf", unusual.infinities));
  return notes.empty() ? text : fmt::format("{} ({})", text, fmt::join(notes, ", "));
}

std::optional<std::string> tensor_line(const HostTensor& tensor, const ValueStyle& style, int columns) {
  constexpr size_t kMostBytes = 4;  // per column
  if (columns < 0) return std::nullopt;
  ListWriter writer = people_writer(tensor, style);
  writer.most = kMostBytes * static_cast<size_t>(columns);
  writer.write(0, 0);
  if (writer.out.size() > writer.most || columns_of(writer.out) > columns) return std::nullopt;
  return std::move(writer.out);
}

std::string to_json(const HostTensor& tensor) {
  const ValueStyle style;
  ListWriter writer{tensor, json_element, "[]", style, false};
  writer.write(0, 0);
  return std::move(writer.out);
}

}  // namespace quern
