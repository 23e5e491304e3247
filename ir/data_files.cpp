// Files and what their endings say; the formats are in npy.cpp, npz.cpp and safetensors.cpp.

#include "ir/data_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <set>
#include <system_error>

#include "ir/data_formats.h"
#include "ir/npy.h"

namespace quern {

namespace data_detail {

Failure ByteSource::failure(std::string_view what) const {
  return Failure{fmt::format("Cannot read {}: {}.", where_, what)};
}

Result<Done> ByteSource::read(std::span<std::byte> out, std::string_view part) {
  if (out.size() > remaining_)
    return failure(fmt::format("it ends within {} ({} of {} bytes are there)", part, remaining_, out.size()));
  while (!out.empty()) {
    int64_t count = read_some(out.data(), out.size());
    if (count < 0) return failure(fmt::format("{} cannot be read: its data are damaged", part));
    if (count == 0) return failure(fmt::format("it ends within {} ({} bytes are missing)", part, out.size()));
    out = out.subspan(static_cast<size_t>(count));
    remaining_ -= static_cast<uint64_t>(count);
  }
  return Done{};
}

Result<Done> ByteSource::finish() {
  std::byte beyond{};
  int64_t count = remaining_ == 0 ? read_some(&beyond, 1) : 1;
  if (count < 0) return failure("its data are damaged: the checksum does not agree");
  if (count > 0) return failure("it goes on after the last element");
  return Done{};
}

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path) {
  auto failed = [&](std::string_view what) {
    return Failure{fmt::format("Cannot read '{}': {}.", path, what)};
  };
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return failed("there is no such file");
  if (error) return failed(error.message());
  if (status.type() == std::filesystem::file_type::directory) return failed("it is a directory");
  // A pipe or device has no size to check a header against.
  if (status.type() != std::filesystem::file_type::regular) return failed("it is not a regular file");
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return failed(std::generic_category().message(errno));
  uint64_t size = std::filesystem::file_size(path, error);
  if (error) return failed(error.message());
  return std::make_unique<FileSource>(fmt::format("'{}'", path), size, std::move(file));
}

int64_t FileSource::read_some(void* out, size_t size) {
  size_t count = std::fread(out, 1, size, file_.get());
  return count == 0 && std::ferror(file_.get()) ? -1 : static_cast<int64_t>(count);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> counter = 0;
  temporary_ = fmt::format("{}.{}.{}.tmp", path_, ::getpid(), counter++);
  // The mode goes by the umask, as for any new file; mkstemp would hide the result from others.
  int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    error_ = errno;
    return;
  }
  file_.reset(::fdopen(descriptor, "wb"));
  if (file_) return;
  error_ = errno;
  ::close(descriptor);
  ::unlink(temporary_.c_str());
}

AtomicFile::~AtomicFile() {
  if (file_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (error_ == 0 && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) error_ = errno;
}

Result<Done> AtomicFile::commit() {
  // Synced before the rename, so that a crash of the machine leaves the old file or the new one.
  if (error_ == 0 && (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0)) error_ = errno;
  if (error_ == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) return write_failure(path_, std::generic_category().message(error_));
  file_.reset();
  return Done{};
}

Failure write_failure(const std::string& path, std::string_view what) {
  return Failure{fmt::format("Cannot write '{}': {}.", path, what)};
}

Result<uint64_t> checked_bytes(DType dtype, const Shape& shape) {
  constexpr size_t kMaxRank = 64;  // NumPy's bound; printing and odometers recurse and allocate by rank
  if (shape.size() > kMaxRank) return Failure{fmt::format("its rank {} is over {}", shape.size(), kMaxRank)};
  int64_t bytes = static_cast<int64_t>(dtype.bytes());
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) return Failure{fmt::format("extent {} of its shape is negative", extent)};
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes))
      return Failure{fmt::format("its shape ({}) overflows 64 bits", fmt::join(shape, ", "))};
  }
  return empty ? uint64_t{0} : static_cast<uint64_t>(bytes);
}

void normalise_bools(HostTensor& tensor) {
  if (!tensor.dtype().is_bool()) return;
  for (uint8_t& element : tensor.elements<uint8_t>()) element = element != 0;
}

namespace {

enum class Format { Npy, Npz, Safetensors };

/// The message of the Failure is a clause.
Result<Format> format_of(const std::string& path) {
  if (path.ends_with(".npy")) return Format::Npy;
  if (path.ends_with(".npz")) return Format::Npz;
  if (path.ends_with(".safetensors")) return Format::Safetensors;
  return Failure{"its ending is none of .npy, .npz and .safetensors"};
}

Result<Entries<TensorHeader>> read_npy_file_header(const std::string& path) {
  auto source = FileSource::open(path);
  if (!source) return source.error();
  Result<NpyHeader> header = read_npy_header(**source);
  if (!header) return header.error();
  return Entries<TensorHeader>{{"", header->tensor}};
}

Result<Entries<TensorPtr>> read_npy_file(const std::string& path) {
  auto source = FileSource::open(path);
  if (!source) return source.error();
  Result<TensorPtr> tensor = read_npy(**source);
  if (!tensor) return tensor.error();
  return Entries<TensorPtr>{{"", *tensor}};
}

Result<Done> write_npy_file(const std::string& path, const Entries<TensorPtr>& entries) {
  if (entries.size() != 1)
    return write_failure(path, fmt::format("a .npy holds one tensor, not {}", entries.size()));
  const HostTensor& tensor = *entries.front().second;
  Result<std::string> preamble = npy_preamble(tensor);
  if (!preamble) return write_failure(path, preamble.error().message);
  AtomicFile file(path);
  file.write(*preamble);
  file.write({tensor.data(), tensor.bytes()});
  return file.commit();
}

/// Calls the reader of the format. A file may honestly hold more than the memory does, which is no bug.
template <class T>
Result<Entries<T>> dispatch(const std::string& path, Result<Entries<T>> (*npy)(const std::string&),
                            Result<Entries<T>> (*npz)(const std::string&),
                            Result<Entries<T>> (*safetensors)(const std::string&)) {
  Result<Format> format = format_of(path);
  if (!format) return Failure{fmt::format("Cannot read '{}': {}.", path, format.error().message)};
  try {
    switch (*format) {
      case Format::Npy: return npy(path);
      case Format::Npz: return npz(path);
      case Format::Safetensors: return safetensors(path);
    }
  } catch (const std::bad_alloc&) {
    return Failure{fmt::format("Cannot read '{}': there is not enough memory for it.", path)};
  }
  bug("a format of files", __FILE__, __LINE__);
}

}  // namespace

}  // namespace data_detail

using namespace data_detail;

Result<Entries<TensorHeader>> read_tensor_headers(const std::string& path) {
  return dispatch<TensorHeader>(path, read_npy_file_header, read_npz_headers, read_safetensors_headers);
}

Result<Entries<TensorPtr>> read_tensors(const std::string& path) {
  return dispatch<TensorPtr>(path, read_npy_file, read_npz, read_safetensors);
}

Result<Done> write_tensors(const std::string& path, const Entries<TensorPtr>& entries) {
  Result<Format> format = format_of(path);
  if (!format) return write_failure(path, format.error().message);
  std::set<std::string_view> names;
  Entries<TensorPtr> written;
  for (const auto& [name, tensor] : entries) {
    QUERN_CHECK(tensor != nullptr);
    if (!names.insert(name).second)
      return write_failure(path, fmt::format("two entries are named '{}'", name));
    written.emplace_back(name, HostTensor::lanes_of(tensor));
  }
  switch (*format) {
    case Format::Npy: return write_npy_file(path, written);
    case Format::Npz: return write_npz(path, written);
    case Format::Safetensors: return write_safetensors(path, written);
  }
  bug("a format of files", __FILE__, __LINE__);
}

}  // namespace quern
