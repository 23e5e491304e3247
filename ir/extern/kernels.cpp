#include "ir/extern/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "ir/base/interrupt.h"
#include "ir/extern/boxes.h"
#include "ir/value/rows.h"

namespace quern {

const StaticValue& ExternAttributes::operator[](std::string_view name) const {
  static const StaticValue none;
  for (const auto& [known, value] : values_)
    if (known == name) return value;
  return none;
}

double ExternAttributes::real(std::string_view name) const {
  const StaticValue& value = (*this)[name];
  return value.as_float() ? *value.as_float() : static_cast<double>(value.as_int().value_or(0));
}

namespace {

using Attributes = const ExternAttributes&;
using Args = std::span<Value>;

/// A tensor as lines along one axis: line (o, i) has its elements at (o*extent + k)*inner + i.
struct Lines {
  int64_t outer = 1, extent = 1, inner = 1;

  Lines(const Shape& shape, int64_t axis) {
    auto rank = static_cast<int64_t>(shape.size());
    if (axis < 0) axis += rank;
    for (int64_t k = 0; k < rank; ++k) {
      int64_t& part = k < axis ? outer : k == axis ? extent : inner;
      part *= shape[static_cast<size_t>(k)];
    }
  }
  int64_t at(int64_t line, int64_t k) const { return (line / inner * extent + k) * inner + line % inner; }
  int64_t count() const { return outer * inner; }
};

/// Whether one element comes before another in ascending order; NaN counts as the largest.
class Order {
 public:
  explicit Order(const HostTensor& tensor) : tensor_(tensor) {}

  bool less(int64_t a, int64_t b) const {
    stop_where_interrupted();
    if (tensor_.dtype().is_float()) {
      double x = element_as_double(tensor_, a), y = element_as_double(tensor_, b);
      return x < y || (x == x && y != y);
    }
    int64_t x = element_as_int(tensor_, a), y = element_as_int(tensor_, b);
    if (tensor_.dtype().is_signed()) return x < y;
    return static_cast<uint64_t>(x) < static_cast<uint64_t>(y);
  }

 private:
  const HostTensor& tensor_;
};

/// Positions of a line's elements in sorted order; stable for equal elements.
std::vector<int64_t> sorted_positions(const HostTensor& data, const Lines& lines, int64_t line,
                                      bool ascending) {
  std::vector<int64_t> order(static_cast<size_t>(lines.extent));
  std::iota(order.begin(), order.end(), int64_t{0});
  Order compare(data);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    int64_t x = lines.at(line, a), y = lines.at(line, b);
    return ascending ? compare.less(x, y) : compare.less(y, x);
  });
  return order;
}

void copy_element(const HostTensor& from, int64_t at, HostTensor& to, int64_t place) {
  size_t bytes = from.dtype().bytes();
  std::memcpy(to.data() + static_cast<size_t>(place) * bytes, from.data() + static_cast<size_t>(at) * bytes,
              bytes);
}

void put_number(HostTensor& to, int64_t place, int64_t number) {
  Scalar scalar = Scalar::from_int(to.dtype(), number);
  std::memcpy(to.data() + static_cast<size_t>(place) * to.dtype().bytes(), &scalar.bits, to.dtype().bytes());
}

/// The first `count` elements of each line in sorted order, and their positions.
std::pair<TensorPtr, TensorPtr> top(const HostTensor& data, int64_t axis, int64_t count, bool ascending,
                                    DType position_dtype) {
  Lines lines(data.shape(), axis);
  Shape shape = data.shape();
  if (!shape.empty())
    shape[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis)] = count;
  TensorPtr values = HostTensor::make(data.dtype(), shape),
            positions = HostTensor::make(position_dtype, shape);
  Lines result(shape, axis);
  for (int64_t line = 0; line < lines.count(); ++line) {
    std::vector<int64_t> order = sorted_positions(data, lines, line, ascending);
    for (int64_t k = 0; k < count; ++k) {
      int64_t from = order[static_cast<size_t>(k)];
      copy_element(data, lines.at(line, from), *values, result.at(line, k));
      put_number(*positions, result.at(line, k), from);
    }
  }
  return {values, positions};
}

int64_t axis_extent(const HostTensor& data, int64_t axis) { return Lines(data.shape(), axis).extent; }

Result<Value> sort(Args args, Attributes attributes) {
  TensorPtr data = args[0].as_tensor();
  int64_t axis = attributes.integer("axis");
  return Value::tensor(
      top(*data, axis, axis_extent(*data, axis), attributes.boolean("is_ascend"), DType::int32()).first);
}

Result<Value> argsort(Args args, Attributes attributes) {
  TensorPtr data = args[0].as_tensor();
  int64_t axis = attributes.integer("axis");
  return Value::tensor(top(*data, axis, axis_extent(*data, axis), attributes.boolean("is_ascend"),
                           attributes.dtype("dtype", DType::int32()))
                           .second);
}

/// How many is an attribute, or the second operand.
Result<Value> topk(Args args, Attributes attributes) {
  TensorPtr data = args[0].as_tensor();
  int64_t axis = attributes.integer("axis"), extent = axis_extent(*data, axis),
          count = args.size() > 1 ? args[1].scalar().as_int() : attributes.integer("k");
  if (count < 1) count = extent;
  count = std::min(count, extent);
  auto [values, positions] =
      top(*data, axis, count, attributes.boolean("is_ascend"), attributes.dtype("dtype", DType::int32()));
  const std::string* wanted = attributes["ret_type"].as_string();
  if (wanted && *wanted == "values") return Value::tensor(values);
  if (wanted && *wanted == "indices") return Value::tensor(positions);
  return Value::tuple({Value::tensor(values), Value::tensor(positions)});
}

/// The slices along an axis, in lexicographic order: slice k has the elements k of all lines.
class SliceOrder {
 public:
  SliceOrder(const HostTensor& data, const Lines& lines) : compare_(data), lines_(lines) {}

  bool less(int64_t a, int64_t b) const {
    for (int64_t line = 0; line < lines_.count(); ++line) {
      const int64_t x = lines_.at(line, a), y = lines_.at(line, b);
      if (compare_.less(x, y)) return true;
      if (compare_.less(y, x)) return false;
    }
    return false;
  }

 private:
  Order compare_;
  const Lines& lines_;
};

/// The positions of equal slices, one group for each different one, ascending within a group. The groups are in
/// ascending order of their slices or in order of first occurrence.
std::vector<std::vector<int64_t>> groups_of(const HostTensor& data, const Lines& lines, bool sorted) {
  SliceOrder compare(data, lines);
  std::vector<int64_t> order(static_cast<size_t>(lines.extent));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare.less(a, b); });
  std::vector<std::vector<int64_t>> groups;
  for (int64_t at : order) {
    if (groups.empty() || compare.less(groups.back()[0], at)) groups.emplace_back();
    groups.back().push_back(at);
  }
  if (!sorted)
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
  return groups;
}

/// The distinct elements, or slices along an axis, in ascending order or in order of first occurrence. Shapes are
/// Relay's: as long as the operand, with the number of valid elements as a separate result.
Result<Value> unique(Args args, Attributes attributes) {
  TensorPtr data = args[0].as_tensor();
  const std::optional<int64_t> axis = attributes["axis"].as_int();
  const Shape shape = axis ? data->shape() : Shape{data->size()};
  const Lines lines(shape, axis.value_or(0));
  const std::vector<std::vector<int64_t>> groups = groups_of(*data, lines, attributes.boolean("sorted"));
  const int64_t size = lines.extent;
  TensorPtr values = HostTensor::zeros(data->dtype(), shape),
            first = HostTensor::zeros(DType::int32(), {size});
  TensorPtr inverse = HostTensor::zeros(DType::int32(), {size}),
            counts = HostTensor::zeros(DType::int32(), {size});
  TensorPtr number = HostTensor::zeros(DType::int32(), {1});
  put_number(*number, 0, static_cast<int64_t>(groups.size()));
  for (size_t g = 0; g < groups.size(); ++g) {
    auto place = static_cast<int64_t>(g);
    for (int64_t line = 0; line < lines.count(); ++line)
      copy_element(*data, lines.at(line, groups[g][0]), *values, lines.at(line, place));
    put_number(*first, place, groups[g][0]);
    put_number(*counts, place, static_cast<int64_t>(groups[g].size()));
    for (int64_t at : groups[g]) put_number(*inverse, at, place);
  }
  std::vector<Value> fields = {Value::tensor(values), Value::tensor(first), Value::tensor(inverse),
                               Value::tensor(number)};
  if (attributes.boolean("return_counts")) fields.push_back(Value::tensor(counts));
  return Value::tuple(std::move(fields));
}

/// Indices of the elements that are not 0, in row-major order.
Result<Value> argwhere(Args args, Attributes) {
  TensorPtr condition = args[0].as_tensor();
  const Shape& shape = condition->shape();
  std::vector<int64_t> places;
  for (int64_t at = 0; at < condition->size(); ++at)
    if (element_as_double(*condition, at) != 0) places.push_back(at);
  auto rank = static_cast<int64_t>(shape.size());
  TensorPtr result = HostTensor::make(DType::int32(), {static_cast<int64_t>(places.size()), rank});
  for (size_t p = 0; p < places.size(); ++p) {
    int64_t rest = places[p];
    for (int64_t axis = rank; axis-- > 0;) {
      put_number(*result, static_cast<int64_t>(p) * rank + axis, rest % shape[static_cast<size_t>(axis)]);
      rest /= shape[static_cast<size_t>(axis)];
    }
  }
  return Value::tensor(result);
}

/// The same bytes as elements of another dtype.
Result<Value> reinterpret(Args args, Attributes attributes) {
  TensorPtr data = args[0].as_tensor();
  TensorPtr result = HostTensor::make(attributes.dtype("dtype", data->dtype()), data->shape());
  std::copy_n(data->data(), data->bytes(), result->data());
  return Value::tensor(result);
}

/// Rank-0 integers as the shape of an empty tensor (negative ones as 0): how values become dims.
Result<Value> extents(Args args, Attributes) {
  Shape shape;
  for (const Value& value : args) shape.push_back(std::max<int64_t>(0, value.scalar().as_int()));
  shape.push_back(0);
  return Value::tensor(HostTensor::make(DType::boolean(), shape));
}

/// The same for an extent that is written in ordinary code.
Result<Value> extent(Args args, Attributes attributes) {
  const int64_t written = args[0].scalar().as_int();
  if (written >= 0) return extents(args, attributes);
  return Failure{fmt::format("an extent is 0 or more, and this is {}", written)};
}

/// Rows, a position and a row: the rows with that one replaced (passes/lower_scans.h).
Result<Value> replace_row(Args args, Attributes) {
  return with_row(std::move(args[0]), args[1].scalar().as_int(), args[2]);
}

template <ExternKernel kKernel>
Result<Value> interruptible(Args args, Attributes attributes) {
  try {
    return kKernel(args, attributes);
  } catch (const Interrupted&) {
    return Failure{kInterrupted};
  }
}

struct Row {
  std::string_view name;
  ExternKernel kernel;
};
constexpr Row kKernels[] = {
    {"sort", interruptible<sort>},
    {"argsort", interruptible<argsort>},
    {"topk", interruptible<topk>},
    {"dyn.topk", interruptible<topk>},
    {"unique", interruptible<unique>},
    {"argwhere", interruptible<argwhere>},
    {"reinterpret", reinterpret},
    {"extent", interruptible<extent>},
    {"extents", interruptible<extents>},
    {"with_row", replace_row},
    {"vision.get_valid_counts", interruptible<get_valid_counts>},
    {"vision.non_max_suppression", interruptible<non_max_suppression>},
    {"vision.all_class_non_max_suppression", interruptible<all_class_non_max_suppression>},
};

}  // namespace

ExternKernel find_extern_kernel(std::string_view name) {
  for (const Row& row : kKernels)
    if (row.name == name) return row.kernel;
  return nullptr;
}

}  // namespace quern
