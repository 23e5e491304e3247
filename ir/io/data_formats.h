#pragma once
// Shared by the readers and writers of tensor files. ir/io/data_files.h is the public interface.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/base/result.h"
#include "ir/io/data_files.h"
#include "ir/io/mapped_file.h"
#include "ir/value/tensor.h"

namespace quern::data_detail {

/// A forward-only byte stream: a file, or one entry of an archive.
class ByteSource {
 public:
  /// `where` names the file and the entry in messages; `size` is the size stated by the container.
  ByteSource(std::string where, uint64_t size) : where_(std::move(where)), remaining_(size) {}
  virtual ~ByteSource() = default;

  uint64_t remaining() const { return remaining_; }
  const std::string& where() const { return where_; }
  /// "Cannot read 'a.npz', entry 'x': <what>."
  Failure failure(std::string_view what) const;
  /// Fills all of `out`, or fails; `part` names the part being read in the message.
  Result<Done> read(std::span<std::byte> out, std::string_view part);
  /// Fails unless everything was read and the source agrees (an archive checks its checksum here).
  Result<Done> finish();
  /// For a size that the content says, after one that was a bound.
  void set_remaining(uint64_t bytes) { remaining_ = bytes; }

 protected:
  /// Bytes read, at most `size`; 0 at the end; negative on an error of the source.
  virtual int64_t read_some(void* out, size_t size) = 0;

 private:
  std::string where_;
  uint64_t remaining_;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class FileSource final : public ByteSource {
 public:
  /// Fails if it is missing, is not a regular file or may not be read.
  static Result<std::unique_ptr<FileSource>> open(const std::string& path);
  FileSource(std::string where, uint64_t size, File file)
      : ByteSource(std::move(where), size), size_(size), file_(std::move(file)) {}

  /// Continues at this byte, which must not be beyond the end.
  Result<Done> move_to(uint64_t offset);
  /// A tensor over the file's own bytes from `offset` on, which are read when they are touched. Null where they have
  /// to be read now: a few bytes, elements that are not aligned, bools (`normalise_bools`).
  TensorPtr mapped(uint64_t offset, const TensorHeader& header);
  int descriptor() const { return ::fileno(file_.get()); }
  uint64_t size() const { return size_; }

 protected:
  int64_t read_some(void* out, size_t size) override;

 private:
  const uint64_t size_;
  File file_;
  std::weak_ptr<const MappedFile> mapping_;  ///< kept by its tensors
};

/// A file that appears under its name only when complete. Write errors are kept and reported by commit().
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  Result<Done> commit();

 private:
  std::string path_;
  std::string temporary_;
  File file_;
  int error_ = 0;  ///< errno of the first error
};

/// "Cannot write 'path': <what>."
Failure write_failure(const std::string& path, std::string_view what);

/// The bytes of a tensor that a file describes; the message of the Failure is a clause such as "extent -3 is
/// negative". Extents that are not 0 must have a representable product even where another is 0, so that
/// strides never overflow.
Result<uint64_t> checked_bytes(DType dtype, const Shape& shape);

/// Files may hold any byte for a bool; tensors hold only 0 and 1.
void normalise_bools(HostTensor& tensor);

using OpenedFile = Result<std::shared_ptr<TensorFile>>;

/// How a file of one tensor is read, each time from its begin.
struct OneTensor {
  Result<TensorHeader> (*header)(FileSource& source);
  Result<TensorPtr> (*tensor)(FileSource& source);
};
OpenedFile open_one_tensor(const std::string& path, std::unique_ptr<FileSource> source, OneTensor reader);

/// Each takes over the opened file.
OpenedFile open_cifar(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_csv(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_idx(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_idx_gz(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_jpeg(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_npy(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_npz(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_png(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_safetensors(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_params(const std::string& path, std::unique_ptr<FileSource> source);
OpenedFile open_text(const std::string& path, std::unique_ptr<FileSource> source);

/// Why the format cannot hold such an entry, as a clause, or nothing.
std::string csv_fault(const std::string& name, DType dtype);
std::string jpeg_fault(const std::string& name, DType dtype);
std::string npy_fault(const std::string& name, DType dtype);
std::string png_fault(const std::string& name, DType dtype);
std::string safetensors_fault(const std::string& name, DType dtype);
std::string params_fault(const std::string& name, DType dtype);
std::string text_fault(const std::string& name, DType dtype);

/// The entries must have been checked; there is one.
Result<Done> write_csv(const std::string& path, const Entries<TensorPtr>& entries);
Result<Done> write_jpeg(const std::string& path, const Entries<TensorPtr>& entries);
Result<Done> write_npy(const std::string& path, const Entries<TensorPtr>& entries);
/// Stored, not deflated: trained weights hardly compress. The entries must have been checked.
Result<Done> write_npz(const std::string& path, const Entries<TensorPtr>& entries);
Result<Done> write_png(const std::string& path, const Entries<TensorPtr>& entries);
Result<Done> write_text(const std::string& path, const Entries<TensorPtr>& entries);
/// Checks the entries.
Result<Done> write_safetensors(const std::string& path, const Entries<TensorPtr>& entries);
/// The entries must have been checked.
Result<Done> write_params(const std::string& path, const Entries<TensorPtr>& entries);

}  // namespace quern::data_detail
