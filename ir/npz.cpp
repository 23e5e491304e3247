// NumPy's .npz: a zip archive with one .npy per array.

#include <fmt/format.h>
#include <zip.h>

#include <deque>
#include <set>

#include "ir/data_formats.h"
#include "ir/npy.h"

namespace quern::data_detail {

namespace {

constexpr std::string_view kEnding = ".npy";

struct DiscardZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardZip>;

struct CloseZipFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using ZipFile = std::unique_ptr<zip_file_t, CloseZipFile>;

/// Null with `message` set where libzip does not open `path`.
Archive open_archive(const std::string& path, int flags, std::string& message) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  message = zip_error_strerror(&error);
  zip_error_fini(&error);
  return nullptr;
}

class ZipEntrySource final : public ByteSource {
 public:
  ZipEntrySource(std::string where, uint64_t size, ZipFile file)
      : ByteSource(std::move(where), size), file_(std::move(file)) {}

 protected:
  int64_t read_some(void* out, size_t size) override { return zip_fread(file_.get(), out, size); }

 private:
  ZipFile file_;
};

/// What is wrong with the entry as the directory of the archive states it, or nothing. It bounds what a lying
/// size can make the reader allocate.
std::string entry_fault(const zip_stat_t& stat, uint64_t archive_size) {
  constexpr uint64_t kMaxDeflateRatio = 1032;  // 258 bytes from 2 bits, the most that deflate can do
  constexpr uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) return "the archive does not state its size";
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE)
    return "it is encrypted";
  if (!std::string_view(stat.name).ends_with(kEnding)) return "it is not a .npy";
  if (stat.comp_size > archive_size) return "it claims more bytes than the archive has";
  switch (stat.comp_method) {
    case ZIP_CM_STORE: return stat.size == stat.comp_size ? "" : "it is stored, and its two sizes differ";
    case ZIP_CM_DEFLATE:
      return stat.size / kMaxDeflateRatio <= stat.comp_size ? ""
                                                            : "it claims more bytes than its data can hold";
  }
  return fmt::format("compression method {} is neither stored nor deflated", stat.comp_method);
}

Result<std::unique_ptr<ZipEntrySource>> open_entry(zip_t* archive, uint64_t index, const std::string& path,
                                                   uint64_t archive_size) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  bool has_stat = zip_stat_index(archive, index, 0, &stat) == 0;
  std::string where = fmt::format("'{}', entry '{}'", path, has_stat ? stat.name : fmt::format("#{}", index));
  auto failed = [&](std::string_view what) {
    return Failure{fmt::format("Cannot read {}: {}.", where, what)};
  };
  if (!has_stat) return failed(zip_strerror(archive));
  if (std::string fault = entry_fault(stat, archive_size); !fault.empty()) return failed(fault);
  ZipFile file(zip_fopen_index(archive, index, 0));
  if (!file) return failed(zip_strerror(archive));
  return std::make_unique<ZipEntrySource>(where, stat.size, std::move(file));
}

/// Applies `read` to the entries in the order of the archive.
template <class T, class Read>
Result<Entries<T>> read_entries(const std::string& path, Read read) {
  // Opened by ourselves first for the plain failures; libzip says less about them.
  auto whole = FileSource::open(path);
  if (!whole) return whole.error();
  std::string message;
  Archive archive = open_archive(path, ZIP_RDONLY, message);
  if (!archive) return (*whole)->failure("it is not a whole zip archive: " + message);
  Entries<T> entries;
  std::set<std::string> names;
  int64_t count = zip_get_num_entries(archive.get(), 0);
  for (int64_t i = 0; i < count; ++i) {
    auto source = open_entry(archive.get(), static_cast<uint64_t>(i), path, (*whole)->remaining());
    if (!source) return source.error();
    std::string name = zip_get_name(archive.get(), static_cast<uint64_t>(i), 0);
    name.resize(name.size() - kEnding.size());
    if (!names.insert(name).second) return (*source)->failure("another entry has the same name");
    Result<T> entry = read(**source);
    if (!entry) return entry.error();
    entries.emplace_back(std::move(name), std::move(*entry));
  }
  return entries;
}

/// Adds one entry whose bytes stay the caller's; what is wrong, or nothing.
std::string add_entry(zip_t* archive, const std::string& name, const std::string& preamble,
                      HostTensor& tensor) {
  zip_buffer_fragment_t fragments[2] = {
      {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(preamble.data())), preamble.size()},
      {reinterpret_cast<zip_uint8_t*>(tensor.data()), tensor.bytes()}};
  zip_source_t* source = zip_source_buffer_fragment(archive, fragments, 2, 0);
  if (source == nullptr) return zip_strerror(archive);
  std::string file_name = name + std::string(kEnding);
  int64_t index = zip_file_add(archive, file_name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return zip_strerror(archive);
  }
  constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01, zip's origin: equal tensors make equal files
  bool stored = zip_set_file_compression(archive, static_cast<uint64_t>(index), ZIP_CM_STORE, 0) == 0 &&
                zip_file_set_dostime(archive, static_cast<uint64_t>(index), 0, kFirstDay, 0) == 0;
  return stored ? "" : zip_strerror(archive);
}

/// libzip writes no archive without entries, so its end record is written here.
Result<Done> write_empty_archive(const std::string& path) {
  AtomicFile file(path);
  std::string record = "PK\5\6";
  record.resize(22, '\0');
  file.write(record);
  return file.commit();
}

}  // namespace

Result<Entries<TensorHeader>> read_npz_headers(const std::string& path) {
  return read_entries<TensorHeader>(path, [](ByteSource& source) -> Result<TensorHeader> {
    Result<NpyHeader> header = read_npy_header(source);
    if (!header) return header.error();
    return header->tensor;
  });
}

Result<Entries<TensorPtr>> read_npz(const std::string& path) {
  return read_entries<TensorPtr>(path, read_npy);
}

Result<Done> write_npz(const std::string& path, const Entries<TensorPtr>& entries) {
  if (entries.empty()) return write_empty_archive(path);
  std::string message;
  // libzip writes to a temporary file of its own beside `path` and renames it when closed.
  Archive archive = open_archive(path, ZIP_CREATE | ZIP_TRUNCATE, message);
  if (!archive) return write_failure(path, message);
  std::deque<std::string> preambles;
  for (const auto& [name, tensor] : entries) {
    Result<std::string> preamble = npy_preamble(*tensor);
    if (!preamble) return write_failure(path, fmt::format("entry '{}': {}", name, preamble.error().message));
    preambles.push_back(*preamble);
    std::string fault = add_entry(archive.get(), name, preambles.back(), *tensor);
    if (!fault.empty()) return write_failure(path, fmt::format("entry '{}': {}", name, fault));
  }
  if (zip_close(archive.get()) != 0) return write_failure(path, zip_strerror(archive.get()));
  archive.release();  // closed
  return Done{};
}

}  // namespace quern::data_detail
