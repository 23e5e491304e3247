#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "import/onnx/proto.h"
#include "ir/io/mapped_file.h"

namespace quern::onnx {

namespace {

using ::onnx::TensorProto;

Failure failure(const TensorProto& tensor, std::string_view what) {
  return {fmt::format("the tensor `{}` {}", tensor.name(), what)};
}

/// The shape, where its elements fit into memory.
Result<Shape> shape_of(const TensorProto& tensor, DType dtype) {
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  int64_t bytes = static_cast<int64_t>(dtype.bytes());
  for (int64_t extent : shape) {
    if (extent < 0) return failure(tensor, fmt::format("has the negative extent {}", extent));
    // An extent of 0 does not make the others small.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      return failure(tensor, "has more elements than can be addressed");
  }
  if (shape.size() > 64) return failure(tensor, "has more than 64 axes");
  return shape;
}

/// Elements over memory, or a copy of them where they are not aligned.
TensorPtr elements_at(const std::byte* data, std::shared_ptr<const void> owner, DType dtype, Shape shape) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(data) % dtype.bytes() == 0;
  if (is_aligned && !dtype.is_bool())
    return HostTensor::over(std::move(owner), data, dtype, std::move(shape));
  TensorPtr copy = HostTensor::make(dtype, std::move(shape));
  if (copy->bytes() > 0) std::memcpy(copy->data(), data, copy->bytes());
  if (dtype.is_bool())
    for (std::byte& element : std::span(copy->data(), copy->bytes()))
      element = std::byte(element != std::byte(0));
  return copy;
}

struct External {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

std::optional<int64_t> number_of(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < 0) return std::nullopt;
  return value;
}

Result<External> external_of(const TensorProto& tensor) {
  External external;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") external.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto value = number_of(entry.value());
    if (!value)
      return failure(tensor, fmt::format("has the {} `{}` in its file", entry.key(), entry.value()));
    if (entry.key() == "offset") external.offset = *value;
    if (entry.key() == "length") external.length = *value;
  }
  const std::filesystem::path location(external.location);
  bool leaves = external.location.empty() || location.is_absolute();
  for (const auto& part : location) leaves = leaves || part == "..";
  if (leaves)
    return failure(tensor, fmt::format("is in the file `{}`: only files in the model's folder are read",
                                       external.location));
  return external;
}

/// The elements of a tensor in a file of its own, which is mapped.
Result<TensorPtr> external_tensor(const TensorProto& tensor, DType dtype, Shape shape,
                                  const std::filesystem::path& folder) {
  const auto external = external_of(tensor);
  if (!external) return external.error();
  const std::filesystem::path path = folder / external->location;
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  const auto root = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, error);
  if (error || std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first != root.end())
    return failure(tensor, fmt::format("is in the file `{}`, which leads out of the model's folder",
                                       external->location));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (descriptor >= 0) ::close(descriptor);
    return failure(tensor, fmt::format("is in the file `{}`, which cannot be read", path.string()));
  }
  const int64_t bytes = element_count(shape) * static_cast<int64_t>(dtype.bytes());
  const bool fits = external->offset <= status.st_size && bytes <= status.st_size - external->offset &&
                    external->length.value_or(bytes) == bytes;
  std::shared_ptr<const MappedFile> mapped;
  if (fits && bytes > 0)
    mapped = MappedFile::map(descriptor, static_cast<uint64_t>(status.st_size), path.string());
  ::close(descriptor);
  if (!fits)
    return failure(tensor, fmt::format("has {} bytes, which are not at byte {} of the file `{}`", bytes,
                                       external->offset, path.string()));
  if (bytes == 0) return HostTensor::make(dtype, std::move(shape));
  if (!mapped)
    return failure(tensor, fmt::format("is in the file `{}`, which cannot be mapped", path.string()));
  const std::byte* data = mapped->data() + external->offset;
  return elements_at(data, mapped, dtype, std::move(shape));
}

/// Elements from a list of the message, each converted to `T`.
template <class T, class List>
TensorPtr converted(const List& list, DType dtype, Shape shape) {
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  auto to = reinterpret_cast<T*>(tensor->data());
  for (const auto& element : list) *to++ = static_cast<T>(element);
  return tensor;
}

/// Elements from the list of the message that is for their dtype (`TensorProto.data_type` in onnx.proto).
Result<TensorPtr> listed_tensor(const TensorProto& tensor, DType dtype, Shape shape) {
  const auto wants = [&](int count) { return count == element_count(shape); };
  const auto wrong = [&] { return failure(tensor, "has another number of elements than its shape"); };
  const auto make = [&]<class T>(T, const auto& list) -> Result<TensorPtr> {
    if (!wants(list.size())) return wrong();
    return converted<T>(list, dtype, std::move(shape));
  };
  switch (tensor.data_type()) {
    case TensorProto::FLOAT: return make(float(), tensor.float_data());
    case TensorProto::DOUBLE: return make(double(), tensor.double_data());
    case TensorProto::INT64: return make(int64_t(), tensor.int64_data());
    case TensorProto::UINT64: return make(uint64_t(), tensor.uint64_data());
    case TensorProto::UINT32: return make(uint32_t(), tensor.uint64_data());
    case TensorProto::INT32: return make(int32_t(), tensor.int32_data());
    case TensorProto::INT16: return make(int16_t(), tensor.int32_data());
    case TensorProto::INT8: return make(int8_t(), tensor.int32_data());
    case TensorProto::UINT8: return make(uint8_t(), tensor.int32_data());
    case TensorProto::BOOL: return make(bool(), tensor.int32_data());
    // The bits of 16-bit floats.
    default: return make(uint16_t(), tensor.int32_data());
  }
}

}  // namespace

std::optional<DType> dtype_of(int32_t code) {
  switch (code) {
    case TensorProto::FLOAT: return DType::float32();
    case TensorProto::DOUBLE: return DType::float64();
    case TensorProto::FLOAT16: return DType::float16();
    case TensorProto::BFLOAT16: return DType::bfloat16();
    case TensorProto::BOOL: return DType::boolean();
    case TensorProto::INT8: return DType::int8();
    case TensorProto::INT16: return DType{DTypeCode::Int, 16};
    case TensorProto::INT32: return DType::int32();
    case TensorProto::INT64: return DType::int64();
    case TensorProto::UINT8: return DType::uint8();
    case TensorProto::UINT16: return DType{DTypeCode::UInt, 16};
    case TensorProto::UINT32: return DType{DTypeCode::UInt, 32};
    case TensorProto::UINT64: return DType{DTypeCode::UInt, 64};
    default: return std::nullopt;
  }
}

std::string dtype_name(int64_t code) {
  const auto number = static_cast<int>(code);
  return TensorProto::DataType_IsValid(number) ? TensorProto::DataType_Name(TensorProto::DataType(number))
                                               : std::to_string(code);
}

namespace {

struct Header {
  DType dtype;
  Shape shape;
};

Result<Header> header_of(const TensorProto& tensor) {
  const auto dtype = dtype_of(tensor.data_type());
  if (!dtype)
    return failure(tensor, fmt::format("has elements of the dtype {}, which has no counterpart",
                                       dtype_name(tensor.data_type())));
  auto shape = shape_of(tensor, *dtype);
  if (!shape) return shape.error();
  return Header{*dtype, std::move(*shape)};
}

Result<TensorPtr> raw_tensor(const TensorProto& tensor, Header header, std::shared_ptr<const void> owner,
                             const std::byte* bytes, size_t size) {
  if (size != static_cast<size_t>(element_count(header.shape)) * header.dtype.bytes())
    return failure(tensor, fmt::format("has {} bytes for the shape of {}", size,
                                       type_to_string(header.dtype, header.shape)));
  return elements_at(bytes, std::move(owner), header.dtype, std::move(header.shape));
}

}  // namespace

Result<TensorPtr> tensor_of(const TensorProto& tensor, const std::shared_ptr<const void>& owner,
                            const std::filesystem::path& folder) {
  auto header = header_of(tensor);
  if (!header) return header.error();
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return external_tensor(tensor, header->dtype, std::move(header->shape), folder);
  if (!tensor.has_raw_data()) return listed_tensor(tensor, header->dtype, std::move(header->shape));
  const std::string& raw = tensor.raw_data();
  return raw_tensor(tensor, std::move(*header), owner, reinterpret_cast<const std::byte*>(raw.data()),
                    raw.size());
}

Result<TensorPtr> tensor_over(const TensorProto& tensor, const std::shared_ptr<const std::byte>& bytes,
                              size_t size) {
  auto header = header_of(tensor);
  if (!header) return header.error();
  return raw_tensor(tensor, std::move(*header), bytes, bytes.get(), size);
}

}  // namespace quern::onnx
