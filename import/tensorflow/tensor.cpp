#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "import/tensorflow/proto.h"

namespace quern::tensorflow {

namespace {

using format::TensorProto;

/// The shape, where its elements fit into memory.
Result<Shape> shape_of(const TensorProto& tensor, DType dtype) {
  Shape shape;
  int64_t bytes = static_cast<int64_t>(dtype.bytes());
  for (const auto& dim : tensor.tensor_shape().dim()) {
    if (dim.size() < 0) return Failure{fmt::format("has the negative extent {}", dim.size())};
    // An extent of 0 does not make the others small.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dim.size(), 1), &bytes))
      return Failure{"has more elements than can be addressed"};
    shape.push_back(dim.size());
  }
  if (shape.size() > 64) return Failure{"has more than 64 axes"};
  return shape;
}

Result<TensorPtr> from_content(const std::string& content, std::shared_ptr<const void> owner, DType dtype,
                               Shape shape) {
  if (content.size() != static_cast<size_t>(element_count(shape)) * dtype.bytes())
    return Failure{
        fmt::format("has {} bytes for the shape of {}", content.size(), type_to_string(dtype, shape))};
  const auto* data = reinterpret_cast<const std::byte*>(content.data());
  if (reinterpret_cast<uintptr_t>(data) % dtype.bytes() == 0 && !dtype.is_bool())
    return HostTensor::over(std::move(owner), data, dtype, std::move(shape));
  TensorPtr copy = HostTensor::make(dtype, std::move(shape));
  if (copy->bytes() > 0) std::memcpy(copy->data(), data, copy->bytes());
  if (dtype.is_bool())
    for (std::byte& element : std::span(copy->data(), copy->bytes()))
      element = std::byte(element != std::byte(0));
  return copy;
}

/// Elements from a list, the last of which fills the rest of the shape; without one they are 0. A short list is allowed to stand
/// for elements that a file could as well have in full.
template <class T, class List>
Result<TensorPtr> from_list(const List& list, DType dtype, Shape shape) {
  constexpr int64_t kMostRepeated = int64_t{1} << 28;
  const int64_t count = element_count(shape);
  if (list.size() > count || (list.size() < count && count > kMostRepeated))
    return Failure{
        fmt::format("has {} elements for the shape of {}", list.size(), type_to_string(dtype, shape))};
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  auto* to = reinterpret_cast<T*>(tensor->data());
  for (const auto& element : list) *to++ = static_cast<T>(element);
  const T last = list.empty() ? T() : static_cast<T>(*list.rbegin());
  std::fill_n(to, count - list.size(), last);
  return tensor;
}

Result<TensorPtr> listed_tensor(const TensorProto& tensor, DType dtype, Shape shape) {
  switch (tensor.dtype()) {
    case format::DT_FLOAT: return from_list<float>(tensor.float_val(), dtype, std::move(shape));
    case format::DT_DOUBLE: return from_list<double>(tensor.double_val(), dtype, std::move(shape));
    case format::DT_INT64: return from_list<int64_t>(tensor.int64_val(), dtype, std::move(shape));
    case format::DT_UINT64: return from_list<uint64_t>(tensor.uint64_val(), dtype, std::move(shape));
    case format::DT_UINT32: return from_list<uint32_t>(tensor.uint32_val(), dtype, std::move(shape));
    case format::DT_INT32: return from_list<int32_t>(tensor.int_val(), dtype, std::move(shape));
    case format::DT_INT16: return from_list<int16_t>(tensor.int_val(), dtype, std::move(shape));
    case format::DT_UINT16: return from_list<uint16_t>(tensor.int_val(), dtype, std::move(shape));
    case format::DT_INT8: return from_list<int8_t>(tensor.int_val(), dtype, std::move(shape));
    case format::DT_UINT8: return from_list<uint8_t>(tensor.int_val(), dtype, std::move(shape));
    case format::DT_BOOL: return from_list<bool>(tensor.bool_val(), dtype, std::move(shape));
    // The bits of 16-bit floats.
    default: return from_list<uint16_t>(tensor.half_val(), dtype, std::move(shape));
  }
}

}  // namespace

std::optional<DType> dtype_of(int64_t code) {
  switch (code) {
    case format::DT_FLOAT: return DType::float32();
    case format::DT_DOUBLE: return DType::float64();
    case format::DT_HALF: return DType::float16();
    case format::DT_BFLOAT16: return DType::bfloat16();
    case format::DT_BOOL: return DType::boolean();
    case format::DT_INT8: return DType::int8();
    case format::DT_INT16: return DType{DTypeCode::Int, 16};
    case format::DT_INT32: return DType::int32();
    case format::DT_INT64: return DType::int64();
    case format::DT_UINT8: return DType::uint8();
    case format::DT_UINT16: return DType{DTypeCode::UInt, 16};
    case format::DT_UINT32: return DType{DTypeCode::UInt, 32};
    case format::DT_UINT64: return DType{DTypeCode::UInt, 64};
    default: return std::nullopt;
  }
}

std::string dtype_name(int64_t code) {
  const auto number = static_cast<int>(code);
  return format::DataType_IsValid(number) ? format::DataType_Name(format::DataType(number))
                                          : std::to_string(code);
}

Result<TensorPtr> tensor_of(const TensorProto& tensor, const std::shared_ptr<const void>& owner) {
  const auto dtype = dtype_of(tensor.dtype());
  if (!dtype) return TensorPtr();
  auto shape = shape_of(tensor, *dtype);
  if (!shape) return shape.error();
  if (!tensor.tensor_content().empty())
    return from_content(tensor.tensor_content(), owner, *dtype, std::move(*shape));
  return listed_tensor(tensor, *dtype, std::move(*shape));
}

}  // namespace quern::tensorflow
