// Tensors as text: for people (elided) and as JSON (whole).

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

#include "ir/base/result.h"
#include "ir/value/scalar.h"
#include "ir/value/tensor.h"

namespace quern {

namespace {

/// The fewest digits that read back as the value, for narrow floats, which fmt does not know.
std::string shortest_narrow(DType dtype, double value) {
  constexpr int kEnoughDigits = 5;  // ceil(1 + 11 log10 2): float16 needs the most
  for (int digits = 1;; ++digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (digits == kEnoughDigits || Scalar::from_double(dtype, back).as_double() == value)
      return fmt::format("{}", back);
  }
}

std::string float_text(const HostTensor& tensor, int64_t offset) {
  double value = element_as_double(tensor, offset);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  DType dtype = tensor.dtype().lane();
  if (dtype.bits == 64) return fmt::format("{}", value);
  if (dtype.bits == 32) return fmt::format("{}", static_cast<float>(value));
  return shortest_narrow(dtype, value);
}

std::string int_text(const HostTensor& tensor, int64_t offset) {
  int64_t value = element_as_int(tensor, offset);
  return tensor.dtype().code == DTypeCode::UInt ? std::to_string(static_cast<uint64_t>(value))
                                                : std::to_string(value);
}

std::string plain_element(const HostTensor& tensor, int64_t offset) {
  if (tensor.dtype().is_float()) return float_text(tensor, offset);
  if (tensor.dtype().is_bool()) return element_as_int(tensor, offset) ? "True" : "False";
  return int_text(tensor, offset);
}

std::string json_element(const HostTensor& tensor, int64_t offset) {
  if (tensor.dtype().is_bool()) return element_as_int(tensor, offset) ? "true" : "false";
  if (!tensor.dtype().is_float()) return int_text(tensor, offset);
  std::string text = float_text(tensor, offset);
  if (!std::isfinite(element_as_double(tensor, offset))) return "\"" + text + "\"";
  // The point lets readers of JSON that tell integers from floats see a float.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// The shape, with the lanes of vectors as a last axis.
Shape shape_in_lanes(const HostTensor& tensor) {
  Shape shape = tensor.shape();
  if (tensor.dtype().is_vector()) shape.push_back(tensor.dtype().lanes);
  return shape;
}

/// Writes nested lists, depth first.
struct ListWriter {
  static constexpr int64_t kEdge = 3;  ///< elements kept at either end of an elided axis

  const HostTensor& tensor;
  std::string (*element)(const HostTensor&, int64_t);
  std::string_view vector_brackets;
  bool elide;
  std::string out = {};
  Shape shape = shape_in_lanes(tensor);

  /// The elements below the first `axis` indices; `offset` counts the lists of this depth, row-major.
  void write(size_t axis, int64_t offset) {
    if (axis == shape.size()) {
      out += element(tensor, offset);
      return;
    }
    int64_t extent = shape[axis];
    std::string_view brackets = axis < tensor.shape().size() ? "[]" : vector_brackets;
    out += brackets[0];
    for (int64_t i = 0; i < extent; ++i) {
      if (i > 0) out += ", ";
      if (elide && extent > 2 * kEdge && i == kEdge) {
        out += "…, ";
        i = extent - kEdge;
      }
      write(axis + 1, offset * extent + i);
    }
    out += brackets[1];
  }
};

/// Elements, or for an empty tensor the lists that printing it whole would take at most.
bool longer_than(const HostTensor& tensor, int64_t limit) {
  int64_t count = 1;
  for (int64_t extent : shape_in_lanes(tensor))
    if (extent != 0) count *= extent;
  return count > limit;
}

}  // namespace

std::string type_to_string(DType dtype, std::span<const int64_t> shape) {
  if (shape.empty()) return to_string(dtype);
  return fmt::format("Tensor[({}{}), {}]", fmt::join(shape, ", "), shape.size() == 1 ? "," : "",
                     to_string(dtype));
}

std::string to_string(const HostTensor& tensor, int64_t limit) {
  ListWriter writer{tensor, plain_element, "<>", longer_than(tensor, limit)};
  writer.write(0, 0);
  return type_to_string(tensor.dtype(), tensor.shape()) + " " + writer.out;
}

std::string to_json(const HostTensor& tensor) {
  ListWriter writer{tensor, json_element, "[]", false};
  writer.write(0, 0);
  return std::move(writer.out);
}

}  // namespace quern
