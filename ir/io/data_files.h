#pragma once
// Tensors in files: NumPy's .npy and .npz, .safetensors, numbers as text (.csv), text, images, MNIST's and CIFAR's files.
// Readers never trust a length in a file: a
// truncated or inconsistent file is a Failure that names the file, the entry and the problem.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/base/result.h"
#include "ir/value/tensor.h"

namespace quern {

/// A file's description of one of its tensors, without the data.
struct TensorHeader {
  DType dtype;
  Shape shape;
};

/// The entries of a file by name, in the file's order; a .npy has one entry, named "".
template <class T>
using Entries = std::vector<std::pair<std::string, T>>;

/// A file of tensors whose directory has been read: loading a tensor reads only its own bytes. Entries are
/// numbered in file order. Thread-safe.
class TensorFile {
 public:
  virtual ~TensorFile() = default;
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  const std::vector<std::string>& names() const { return names_; }
  std::optional<size_t> find(std::string_view name) const;
  Result<TensorHeader> header(size_t entry);
  Result<TensorPtr> tensor(size_t entry);
  /// The same for who knows what it has to be: text says no dtype, and a column may be a vector. Any other file's
  /// tensors are as they are.
  Result<TensorPtr> tensor_as(size_t entry, DType dtype, size_t rank);

 protected:
  TensorFile(std::string path, std::vector<std::string> names);
  virtual Result<TensorHeader> read_header(size_t entry) = 0;
  virtual Result<TensorPtr> read_tensor(size_t entry) = 0;
  virtual Result<TensorPtr> read_as(size_t entry, DType dtype, size_t rank);

 private:
  const std::string path_;
  const std::vector<std::string> names_;  ///< distinct
  std::unordered_map<std::string_view, size_t> numbers_;
  std::mutex mutex_;
};

enum class DataUse : uint8_t { Read, Written };
/// How the names of files of data end, for messages, with a word before the last: ".npy, .npz and .csv".
std::string listed_data_endings(std::string_view conjunction, DataUse use);
/// Whether the name of a file ends as those of text do, whose bytes may be read as tokens: .txt.
bool is_text_file(std::string_view path);
/// Whether the name of a file ends as those of data do.
bool is_data_file(std::string_view path);
/// Opens a file; its extension determines the kind. The last few files stay open
/// and are reused while the file at `path` has the same size and modification time.
Result<std::shared_ptr<TensorFile>> open_tensor_file(const std::string& path);

/// Reads only the headers.
Result<Entries<TensorHeader>> read_tensor_headers(const std::string& path);
/// Reads everything.
Result<Entries<TensorPtr>> read_tensors(const std::string& path);
/// Whether a file of this name can hold entries of these names and dtypes.
Result<Done> check_entries(const std::string& path, const Entries<DType>& entries);
/// Writes atomically (a temporary file beside it, then rename). A .npy and a .csv hold exactly one entry. The formats
/// have no vectors: their lanes become a last axis of the lane dtype.
Result<Done> write_tensors(const std::string& path, const Entries<TensorPtr>& entries);

}  // namespace quern
