#include "session/db/data_files.h"

#include <map>

#include "session/db/database.h"

namespace quern {

FileStamp stamp_of(const std::string& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error) return std::nullopt;
  const auto size = std::filesystem::file_size(path, error);
  return std::pair(written, error ? 0 : size);
}

DataFile read_data_file(const std::string& path) {
  // Take the stamp first: a file written meanwhile is then reread at the next check.
  const FileStamp stamp = stamp_of(path);
  return {stamp, std::make_shared<const Result<Entries<TensorHeader>>>(read_tensor_headers(path))};
}

std::string constants_file(const std::string& text_file) {
  return std::filesystem::path(text_file).replace_extension(".safetensors").string();
}

std::string constant_entry(size_t k, DType dtype) {
  return "relay.Constant." + std::to_string(k) + (dtype.is_vector() ? ":" + to_string(dtype) : "");
}

StoredConstants read_constants(const std::string& path) {
  StoredConstants stored{stamp_of(path), nullptr};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return stored;
  auto entries = read_tensors(path);
  if (!entries) return stored;
  Metadata metadata;
  metadata.readable = true;
  auto& constants = metadata.entries["relay.Constant"];
  std::map<std::string, TensorPtr> by_name;
  for (const auto& [name, tensor] : *entries) {
    const size_t colon = name.find(':');
    auto vector = colon == std::string::npos ? std::nullopt : parse_dtype(name.substr(colon + 1));
    by_name.emplace(name.substr(0, colon), vector ? HostTensor::vectors_of(tensor, *vector) : tensor);
  }
  auto entry_of_next = [&] { return by_name.find(constant_entry(constants.size(), DType())); };
  for (auto found = entry_of_next(); found != by_name.end() && found->second; found = entry_of_next())
    constants.push_back({found->second, {}});
  stored.metadata = std::make_shared<Metadata>(std::move(metadata));
  return stored;
}

void Database::reread_data_files() {
  auto reread = [](auto& files, const auto& read) {
    for (const std::string& path : files.keys())
      if (stamp_of(path) != files.peek(path).stamp) files.set(path, read(path));
  };
  reread(data_file, read_data_file);
  reread(stored_constants, read_constants);
}

}  // namespace quern
