// Text: its bytes.

#include <fmt/format.h>

#include "ir/io/data_formats.h"

namespace quern::data_detail {

namespace {

Result<TensorHeader> read_text_header(FileSource& source) {
  return TensorHeader{DType::uint8(), {static_cast<int64_t>(source.size())}};
}

Result<TensorPtr> read_text(FileSource& source) {
  const TensorHeader header{DType::uint8(), {static_cast<int64_t>(source.size())}};
  if (TensorPtr mapped = source.mapped(0, header)) return mapped;
  TensorPtr tensor = HostTensor::make(header.dtype, header.shape);
  if (auto done = source.read({tensor->data(), tensor->bytes()}, "the text"); !done) return done.error();
  return tensor;
}

}  // namespace

OpenedFile open_text(const std::string& path, std::unique_ptr<FileSource> source) {
  return open_one_tensor(path, std::move(source), {read_text_header, read_text});
}

std::string text_fault(const std::string&, DType dtype) {
  return dtype == DType::uint8() ? "" : fmt::format("a .txt holds bytes, uint8, not {}", to_string(dtype));
}

Result<Done> write_text(const std::string& path, const Entries<TensorPtr>& entries) {
  const HostTensor& tensor = *entries.front().second;
  if (tensor.shape().size() != 1)
    return write_failure(path, fmt::format("a .txt holds a vector of bytes, and this is {}",
                                           type_to_string(tensor.dtype(), tensor.shape())));
  AtomicFile file(path);
  file.write({tensor.data(), tensor.bytes()});
  return file.commit();
}

}  // namespace quern::data_detail
