#pragma once
// Tensor files as inputs, each with a stamp that identifies its contents.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontend/static/metadata.h"
#include "ir/io/data_files.h"

namespace quern {

/// Nothing for a missing file.
using FileStamp = std::optional<std::pair<std::filesystem::file_time_type, uintmax_t>>;
FileStamp stamp_of(const std::string& path);

/// The headers of a file's tensors, as last read.
struct DataFile {
  FileStamp stamp;
  std::shared_ptr<const Result<Entries<TensorHeader>>> headers;
  friend bool operator==(const DataFile& a, const DataFile& b) { return a.stamp == b.stamp; }
};
DataFile read_data_file(const std::string& path);

// --- The tensors that a text without a `#[metadata]` section calls `meta[relay.Constant][k]`: entries of a
// `.safetensors` beside its file.

/// The file beside the text's.
std::string constants_file(const std::string& text_file);
/// The name of its entry k. Files have no vectors: the name of a vector ends with its dtype, as in
/// `relay.Constant.3:int8x4`.
std::string constant_entry(size_t k, DType dtype);

struct StoredConstants {
  FileStamp stamp;
  std::shared_ptr<const Metadata> metadata;  ///< null if the file is missing or unreadable
  friend bool operator==(const StoredConstants& a, const StoredConstants& b) { return a.stamp == b.stamp; }
};
StoredConstants read_constants(const std::string& path);

}  // namespace quern
