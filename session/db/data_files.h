#pragma once
// Files with tensors as inputs, each with a stamp that tells its contents apart.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontend/static/metadata.h"
#include "ir/io/data_files.h"

namespace quern {

/// Of a file that is not there, nothing.
using FileStamp = std::optional<std::pair<std::filesystem::file_time_type, uintmax_t>>;
FileStamp stamp_of(const std::string& path);

/// What the header of a file says of its tensors, as it was found.
struct DataFile {
  FileStamp stamp;
  std::shared_ptr<const Result<Entries<TensorHeader>>> headers;
  friend bool operator==(const DataFile& a, const DataFile& b) { return a.stamp == b.stamp; }
};
DataFile read_data_file(const std::string& path);

// --- The tensors that a text calls `meta[relay.Constant][k]`, unless it has a `#[metadata]` section: entries of
// a `.safetensors` beside its file.

/// The file beside a text.
std::string constants_file(const std::string& text_file);
/// The name of its entry k. Files have no vectors: that of one ends with its dtype, as in
/// `relay.Constant.3:int8x4`.
std::string constant_entry(size_t k, DType dtype);

struct StoredConstants {
  FileStamp stamp;
  std::shared_ptr<const Metadata> metadata;  ///< null where there is no such file, or none that can be read
  friend bool operator==(const StoredConstants& a, const StoredConstants& b) { return a.stamp == b.stamp; }
};
StoredConstants read_constants(const std::string& path);

}  // namespace quern
