// Files and the endings of their names; each format is in a file of its own.

#include "ir/io/data_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <optional>
#include <set>
#include <system_error>

#include "ir/base/counted_work.h"
#include "ir/base/interrupt.h"
#include "ir/io/data_formats.h"
#include "ir/io/picture_files.h"

namespace quern {

namespace data_detail {

Failure ByteSource::failure(std::string_view what) const {
  return Failure{fmt::format("Cannot read {}: {}.", where_, what)};
}

Result<Done> ByteSource::read(std::span<std::byte> out, std::string_view part) {
  if (out.size() > remaining_)
    return failure(fmt::format("it ends within {} ({} of {} bytes are there)", part, remaining_, out.size()));
  // In pieces, so that who looks on sees how far it is, and that an interrupt stops it.
  constexpr size_t kMostAtOnce = size_t{1} << 22;
  while (!out.empty()) {
    if (is_interrupted()) return Failure{kInterrupted};
    int64_t count = read_some(out.data(), std::min(out.size(), kMostAtOnce));
    if (count < 0) return failure(fmt::format("{} cannot be read: its data are damaged", part));
    if (count == 0) return failure(fmt::format("it ends within {} ({} bytes are missing)", part, out.size()));
    out = out.subspan(static_cast<size_t>(count));
    remaining_ -= static_cast<uint64_t>(count);
    CountedWork::advance_bytes(static_cast<uint64_t>(count));
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

Result<Done> FileSource::move_to(uint64_t offset) {
  QUERN_CHECK(offset <= size_);
  if (::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0)
    return failure(std::generic_category().message(errno));
  set_remaining(size_ - offset);
  return Done{};
}

TensorPtr FileSource::mapped(uint64_t offset, const TensorHeader& header) {
  constexpr uint64_t kLeast = 1 << 20;  // below, reading is as fast, and no later change of the file shows
  const Result<uint64_t> bytes = checked_bytes(header.dtype, header.shape);
  if (!bytes || *bytes < kLeast || header.dtype.is_bool() || offset % header.dtype.bytes() != 0 ||
      offset > size_ || *bytes > size_ - offset)
    return nullptr;
  std::shared_ptr<const MappedFile> file = mapping_.lock();
  if (!file) mapping_ = file = MappedFile::map(descriptor(), size_, where());
  if (!file) return nullptr;
  const std::byte* data = file->data() + offset;
  return HostTensor::over(std::move(file), data, header.dtype, header.shape, true);
}

int64_t FileSource::read_some(void* out, size_t size) {
  size_t count = std::fread(out, 1, size, file_.get());
  return count == 0 && std::ferror(file_.get()) ? -1 : static_cast<int64_t>(count);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> counter = 0;
  temporary_ = fmt::format("{}.{}.{}.tmp", path_, ::getpid(), counter++);
  // The umask determines the mode, as for any new file; mkstemp would make it private.
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

/// Reads a byte of each page: what a mapped file has lost is told by a read (ir/io/mapped_file.h), and not by a call of
/// the system.
static void touch(std::span<const std::byte> bytes) {
  constexpr size_t kPage = 4096;
  for (size_t at = 0; at < bytes.size() && !is_interrupted(); at += kPage)
    static_cast<void>(*const_cast<const volatile std::byte*>(&bytes[at]));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (error_ == 0 && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) error_ = errno;
  if (error_ == EFAULT) touch(bytes);
}

Result<Done> AtomicFile::commit() {
  // What was read of a mapped file may not be its own (ir/io/mapped_file.h).
  if (is_interrupted()) return Failure{kInterrupted};
  // Synced before the rename, so that a system crash leaves either the old file or the new one.
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

struct Format {
  std::string_view ending;
  OpenedFile (*open)(const std::string& path, std::unique_ptr<FileSource> source);
  Result<Done> (*write)(const std::string& path,
                        const Entries<TensorPtr>& entries);    ///< null: it is only read
  std::string (*fault)(const std::string& name, DType dtype);  ///< null as `write`
  bool has_names;                                              ///< without, it holds one tensor
};

constexpr Format kFormats[] = {
    {".npy", open_npy, write_npy, npy_fault, false},
    {".npz", open_npz, write_npz, npy_fault, true},
    {".safetensors", open_safetensors, write_safetensors, safetensors_fault, true},
    {".csv", open_csv, write_csv, csv_fault, false},
    {".params", open_params, write_params, params_fault, true},
    {".txt", open_text, write_text, text_fault, false},
    {".png", open_png, write_png, png_fault, false},
    {".jpg", open_jpeg, write_jpeg, jpeg_fault, false},
    {".jpeg", open_jpeg, write_jpeg, jpeg_fault, false},
    {"-ubyte", open_idx, nullptr, nullptr, false},
    {"-ubyte.gz", open_idx_gz, nullptr, nullptr, false},
    {".idx", open_idx, nullptr, nullptr, false},
    {".idx.gz", open_idx_gz, nullptr, nullptr, false},
    {".bin", open_cifar, nullptr, nullptr, true},
};

/// The message of the Failure is a clause, which lists what there is for the use.
Result<const Format*> format_of(std::string_view path, DataUse use = DataUse::Read) {
  for (const Format& format : kFormats)
    if (path.ends_with(format.ending)) return &format;
  if (is_picture_file(path)) return Failure{"it is a picture, and holds no numbers"};
  return Failure{fmt::format("its ending is none of {}", listed_data_endings("and", use))};
}

/// A valid file may exceed memory, which is not a bug.
template <class Read>
auto within_memory(const std::string& path, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    return Failure{fmt::format("Cannot read '{}': there is not enough memory for it.", path)};
  }
}

OpenedFile open_file(const std::string& path) {
  Result<const Format*> format = format_of(path);
  if (!format) return Failure{fmt::format("Cannot read '{}': {}.", path, format.error().message)};
  auto source = FileSource::open(path);
  if (!source) return source.error();
  return (*format)->open(path, std::move(*source));
}

/// Identifies a file's state, to detect replacement or change.
struct FileState {
  dev_t device;
  ino_t inode;
  off_t size;
  int64_t seconds, nanoseconds;  ///< modification time
  friend bool operator==(const FileState&, const FileState&) = default;
};

std::optional<FileState> state_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileState{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

/// Whether another change would show in the modification time, whose clock ticks every few milliseconds.
bool is_settled(const FileState& state) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  constexpr int64_t kTick = 50'000'000;  // nanoseconds
  return (now.tv_sec - state.seconds) * 1'000'000'000 + now.tv_nsec - state.nanoseconds > kTick;
}

/// The most recently opened files. An open file keeps its inode, so no other file can reuse it.
class RecentFiles {
 public:
  static RecentFiles& of_process() {
    static RecentFiles files;
    return files;
  }
  std::shared_ptr<TensorFile> find(const std::string& path, const FileState& state) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        recent_, [&](const Recent& recent) { return recent.path == path && recent.state == state; });
    if (found == recent_.end()) return nullptr;
    std::rotate(recent_.begin(), found, found + 1);
    return recent_.front().file;
  }
  void keep(const std::string& path, const FileState& state, const std::shared_ptr<TensorFile>& file) {
    forget(path);
    const std::lock_guard lock(mutex_);
    if (recent_.size() == kMost) recent_.pop_back();
    recent_.insert(recent_.begin(), Recent{path, state, file});
  }
  void forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    std::erase_if(recent_, [&](const Recent& recent) { return recent.path == path; });
  }

 private:
  static constexpr size_t kMost = 8;
  struct Recent {
    std::string path;
    FileState state;
    std::shared_ptr<TensorFile> file;
  };
  std::mutex mutex_;
  std::vector<Recent> recent_;  ///< most recent first
};

/// The message of the Failure is a clause.
Result<Done> check_entry(const Format& format, const std::string& name, DType dtype) {
  const std::string fault = format.fault(name, dtype);
  if (fault.empty()) return Done{};
  return Failure{name.empty() ? fault : fmt::format("entry '{}': {}", name, fault)};
}

template <class T, class Read>
Result<Entries<T>> read_all(const std::string& path, const Read& read) {
  auto file = open_tensor_file(path);
  if (!file) return file.error();
  Entries<T> entries;
  for (size_t i = 0; i < (*file)->names().size(); ++i) {
    Result<T> entry = read(**file, i);
    if (!entry) return entry.error();
    entries.emplace_back((*file)->names()[i], std::move(*entry));
  }
  return entries;
}

}  // namespace

}  // namespace data_detail

using namespace data_detail;

TensorFile::TensorFile(std::string path, std::vector<std::string> names)
    : path_(std::move(path)), names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], i);
}

std::optional<size_t> TensorFile::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

Result<TensorHeader> TensorFile::header(size_t entry) {
  const std::lock_guard lock(mutex_);
  return within_memory(path_, [&] { return read_header(entry); });
}

Result<TensorPtr> TensorFile::tensor(size_t entry) {
  const std::lock_guard lock(mutex_);
  return within_memory(path_, [&] { return read_tensor(entry); });
}

Result<TensorPtr> TensorFile::tensor_as(size_t entry, DType dtype, size_t rank) {
  const std::lock_guard lock(mutex_);
  return within_memory(path_, [&] { return read_as(entry, dtype, rank); });
}

Result<TensorPtr> TensorFile::read_as(size_t entry, DType, size_t) { return read_tensor(entry); }

std::string listed_data_endings(std::string_view conjunction, DataUse use) {
  std::vector<std::string_view> endings;
  for (const Format& format : kFormats)
    if (use == DataUse::Read || format.write) endings.push_back(format.ending);
  const std::string_view last = endings.back();
  endings.pop_back();
  return fmt::format("{} {} {}", fmt::join(endings, ", "), conjunction, last);
}

bool is_text_file(std::string_view path) { return path.ends_with(".txt"); }

bool is_data_file(std::string_view path) { return static_cast<bool>(format_of(path)); }

Result<std::shared_ptr<TensorFile>> open_tensor_file(const std::string& path) {
  RecentFiles& recent = RecentFiles::of_process();
  const std::optional<FileState> state = state_of(path);
  if (state)
    if (auto file = recent.find(path, *state)) return file;
  auto opened = within_memory(path, [&] { return open_file(path); });
  if (opened && state && is_settled(*state) && state == state_of(path)) recent.keep(path, *state, *opened);
  return opened;
}

Result<Entries<TensorHeader>> read_tensor_headers(const std::string& path) {
  return read_all<TensorHeader>(path, [](TensorFile& file, size_t i) { return file.header(i); });
}

Result<Entries<TensorPtr>> read_tensors(const std::string& path) {
  return read_all<TensorPtr>(path, [](TensorFile& file, size_t i) { return file.tensor(i); });
}

Result<Done> check_entries(const std::string& path, const Entries<DType>& entries) {
  Result<const Format*> format = format_of(path, DataUse::Written);
  if (!format) return write_failure(path, format.error().message);
  if (!(*format)->write) return write_failure(path, fmt::format("a {} is only read", (*format)->ending));
  if (!(*format)->has_names && entries.size() != 1)
    return write_failure(path,
                         fmt::format("a {} holds one tensor, not {}", (*format)->ending, entries.size()));
  std::set<std::string_view> names;
  for (const auto& [name, dtype] : entries) {
    if (!names.insert(name).second)
      return write_failure(path, fmt::format("two entries are named '{}'", name));
    if (auto entry = check_entry(**format, name, dtype.lane()); !entry)
      return write_failure(path, entry.error().message);
  }
  return Done{};
}

Result<Done> write_tensors(const std::string& path, const Entries<TensorPtr>& entries) {
  Entries<DType> dtypes;
  Entries<TensorPtr> written;
  for (const auto& [name, tensor] : entries) {
    QUERN_CHECK(tensor != nullptr);
    dtypes.emplace_back(name, tensor->dtype());
    written.emplace_back(name, HostTensor::lanes_of(tensor));
  }
  if (auto checked = check_entries(path, dtypes); !checked) return checked;
  RecentFiles::of_process().forget(path);
  return (*format_of(path))->write(path, written);
}

}  // namespace quern
