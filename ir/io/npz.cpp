// NumPy's .npz: a zip archive with one .npy per array.

#include <fmt/format.h>
#include <unistd.h>

#include <deque>
#include <set>

#include "ir/io/data_formats.h"
#include "ir/io/libzip.h"
#include "ir/io/npy.h"

namespace quern::data_detail {

namespace {

constexpr std::string_view kEnding = ".npy";

/// libzip; requires an open archive.
const Libzip& zip() { return **libzip(); }

struct DiscardZip {
  void operator()(zip_t* archive) const { zip().zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardZip>;

struct CloseZipFile {
  void operator()(zip_file_t* file) const { zip().zip_fclose(file); }
};
using ZipFile = std::unique_ptr<zip_file_t, CloseZipFile>;

/// The message of a libzip error.
std::string message_of(int code) {
  zip_error_t error;
  zip().zip_error_init_with_code(&error, code);
  std::string message = zip().zip_error_strerror(&error);
  zip().zip_error_fini(&error);
  return message;
}

class ZipEntrySource final : public ByteSource {
 public:
  ZipEntrySource(std::string where, uint64_t size, ZipFile file)
      : ByteSource(std::move(where), size), file_(std::move(file)) {}

 protected:
  int64_t read_some(void* out, size_t size) override { return zip().zip_fread(file_.get(), out, size); }

 private:
  ZipFile file_;
};

/// What is wrong with an entry according to the archive's directory, or "". Bounds what a false size can make
/// the reader allocate.
std::string entry_fault(const zip_stat_t& stat, uint64_t archive_size) {
  constexpr uint64_t kMaxDeflateRatio = 1032;  // 258 bytes from 2 bits, deflate's maximum
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

/// Entries are read by their number in the archive.
class NpzFile final : public TensorFile {
 public:
  NpzFile(const std::string& path, std::vector<std::string> names, Archive archive)
      : TensorFile(path, std::move(names)), path_(path), archive_(std::move(archive)) {}

 protected:
  Result<TensorHeader> read_header(size_t entry) override {
    auto source = open_entry(entry);
    if (!source) return source.error();
    Result<NpyHeader> header = read_npy_header(**source);
    if (!header) return header.error();
    return header->tensor;
  }
  Result<TensorPtr> read_tensor(size_t entry) override {
    auto source = open_entry(entry);
    if (!source) return source.error();
    return read_npy(**source);
  }

 private:
  Result<std::unique_ptr<ZipEntrySource>> open_entry(size_t entry) {
    zip_stat_t stat;
    QUERN_CHECK(zip().zip_stat_index(archive_.get(), entry, 0, &stat) == 0);
    std::string where = fmt::format("'{}', entry '{}'", path_, stat.name);
    ZipFile file(zip().zip_fopen_index(archive_.get(), entry, 0));
    if (!file) return Failure{fmt::format("Cannot read {}: {}.", where, zip().zip_strerror(archive_.get()))};
    return std::make_unique<ZipEntrySource>(where, stat.size, std::move(file));
  }

  const std::string path_;
  Archive archive_;
};

/// The name of an entry that is readable according to the archive's directory.
Result<std::string> entry_name(zip_t* archive, uint64_t index, const FileSource& whole) {
  zip_stat_t stat;
  zip().zip_stat_init(&stat);
  const bool has_stat = zip().zip_stat_index(archive, index, 0, &stat) == 0;
  const std::string fault = has_stat ? entry_fault(stat, whole.size()) : zip().zip_strerror(archive);
  std::string name = has_stat ? stat.name : fmt::format("#{}", index);
  if (!fault.empty())
    return Failure{fmt::format("Cannot read {}, entry '{}': {}.", whole.where(), name, fault)};
  name.resize(name.size() - kEnding.size());
  return name;
}

/// Adds one entry whose bytes the caller keeps alive; returns what went wrong, or "".
std::string add_entry(zip_t* archive, const std::string& name, const std::string& preamble,
                      HostTensor& tensor) {
  zip_buffer_fragment_t fragments[2] = {
      {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(preamble.data())), preamble.size()},
      {reinterpret_cast<zip_uint8_t*>(tensor.data()), tensor.bytes()}};
  zip_source_t* source = zip().zip_source_buffer_fragment(archive, fragments, 2, 0);
  if (source == nullptr) return zip().zip_strerror(archive);
  std::string file_name = name + std::string(kEnding);
  int64_t index = zip().zip_file_add(archive, file_name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip().zip_source_free(source);
    return zip().zip_strerror(archive);
  }
  constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01, zip's origin: equal tensors make equal files
  bool stored = zip().zip_set_file_compression(archive, static_cast<uint64_t>(index), ZIP_CM_STORE, 0) == 0 &&
                zip().zip_file_set_dostime(archive, static_cast<uint64_t>(index), 0, kFirstDay, 0) == 0;
  return stored ? "" : zip().zip_strerror(archive);
}

/// libzip does not write empty archives, so this writes the end record.
Result<Done> write_empty_archive(const std::string& path) {
  AtomicFile file(path);
  std::string record = "PK\5\6";
  record.resize(22, '\0');
  file.write(record);
  return file.commit();
}

}  // namespace

OpenedFile open_npz(const std::string& path, std::unique_ptr<FileSource> source) {
  if (auto loaded = libzip(); !loaded) return source->failure(loaded.error().message);
  int code = 0;
  const int descriptor = ::dup(source->descriptor());
  Archive archive(zip().zip_fdopen(descriptor, 0, &code));
  if (!archive) {
    ::close(descriptor);
    return source->failure("it is not a whole zip archive: " + message_of(code));
  }
  std::vector<std::string> names;
  std::set<std::string> known;
  const int64_t count = zip().zip_get_num_entries(archive.get(), 0);
  for (int64_t i = 0; i < count; ++i) {
    auto name = entry_name(archive.get(), static_cast<uint64_t>(i), *source);
    if (!name) return name.error();
    if (!known.insert(*name).second)
      return Failure{fmt::format("Cannot read {}, entry '{}{}': another entry has the same name.",
                                 source->where(), *name, kEnding)};
    names.push_back(std::move(*name));
  }
  return std::shared_ptr<TensorFile>(std::make_shared<NpzFile>(path, std::move(names), std::move(archive)));
}

Result<Done> write_npz(const std::string& path, const Entries<TensorPtr>& entries) {
  if (entries.empty()) return write_empty_archive(path);
  if (auto loaded = libzip(); !loaded) return write_failure(path, loaded.error().message);
  int code = 0;
  // libzip writes to its own temporary file beside `path` and renames it on close.
  Archive archive(zip().zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) return write_failure(path, message_of(code));
  std::deque<std::string> preambles;
  for (const auto& [name, tensor] : entries) {
    Result<std::string> preamble = npy_preamble(*tensor);
    if (!preamble) return write_failure(path, fmt::format("entry '{}': {}", name, preamble.error().message));
    preambles.push_back(*preamble);
    std::string fault = add_entry(archive.get(), name, preambles.back(), *tensor);
    if (!fault.empty()) return write_failure(path, fmt::format("entry '{}': {}", name, fault));
  }
  if (zip().zip_close(archive.get()) != 0) return write_failure(path, zip().zip_strerror(archive.get()));
  (void)archive.release();  // closed
  return Done{};
}

}  // namespace quern::data_detail
