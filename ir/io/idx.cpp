// MNIST's IDX: two zeros, a byte for the dtype, a byte for the rank, the extents as 4 bytes each, and the elements; the
// highest byte of a number comes first (http://yann.lecun.com/exdb/mnist/). Such files are often compressed by gzip.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ir/io/gzip.h"

namespace quern::data_detail {

namespace {

std::optional<DType> dtype_of(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08: return DType::uint8();
    case 0x09: return DType::int8();
    case 0x0B: return DType{DTypeCode::Int, 16};
    case 0x0C: return DType::int32();
    case 0x0D: return DType::float32();
    case 0x0E: return DType::float64();
  }
  return std::nullopt;
}

/// Reads up to the elements, which the source has to have.
Result<TensorHeader> read_idx_header(ByteSource& source, bool is_compressed) {
  std::array<std::byte, 4> begin{};
  if (auto done = source.read(begin, "its header"); !done) return done.error();
  const auto dtype = dtype_of(begin[2]);
  if (begin[0] != std::byte{0} || begin[1] != std::byte{0} || !dtype)
    return source.failure("it does not begin as an IDX file does");
  TensorHeader header{*dtype, {}};
  for (int k = std::to_integer<int>(begin[3]); k > 0; --k) {
    std::array<std::byte, 4> extent{};
    if (auto done = source.read(extent, "its header"); !done) return done.error();
    int64_t value = 0;
    for (const std::byte digit : extent) value = value * 256 + std::to_integer<int64_t>(digit);
    header.shape.push_back(value);
  }
  const Result<uint64_t> bytes = checked_bytes(header.dtype, header.shape);
  if (!bytes) return source.failure(bytes.error().message);
  if (is_compressed ? *bytes > source.remaining() : *bytes != source.remaining())
    return source.failure(fmt::format("its header claims {} bytes, and {}{} follow", *bytes,
                                      is_compressed ? "at most " : "", source.remaining()));
  source.set_remaining(*bytes);
  return header;
}

Result<TensorPtr> read_idx(ByteSource& source, bool is_compressed) {
  const Result<TensorHeader> header = read_idx_header(source, is_compressed);
  if (!header) return header.error();
  TensorPtr tensor = HostTensor::make(header->dtype, header->shape);
  const std::span<std::byte> bytes(tensor->data(), tensor->bytes());
  if (auto done = source.read(bytes, "its elements"); !done) return done.error();
  if (auto done = source.finish(); !done) return done.error();
  for (size_t size = header->dtype.bytes(), at = 0; size > 1 && at < bytes.size(); at += size)
    std::ranges::reverse(bytes.subspan(at, size));
  return tensor;
}

}  // namespace

OpenedFile open_idx(const std::string& path, std::unique_ptr<FileSource> source) {
  return open_one_tensor(path, std::move(source),
                         {[](FileSource& file) { return read_idx_header(file, false); },
                          [](FileSource& file) { return read_idx(file, false); }});
}

OpenedFile open_idx_gz(const std::string& path, std::unique_ptr<FileSource> source) {
  return open_one_tensor(path, std::move(source),
                         {[](FileSource& file) { return read_idx_header(*gunzipped(file), true); },
                          [](FileSource& file) { return read_idx(*gunzipped(file), true); }});
}

}  // namespace quern::data_detail
