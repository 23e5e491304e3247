// .safetensors: the length of a JSON header (8 bytes), the header, and one buffer that the tensors fill
// without gaps.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "ir/io/data_formats.h"

namespace quern::data_detail {

namespace {

using nlohmann::json;

constexpr uint64_t kMaxTensorsHeader = 100'000'000;  // the format's bound
constexpr std::string_view kMetadata = "__metadata__";

struct TensorDType {
  std::string_view name;
  DType dtype;
};

constexpr TensorDType kTensorDTypes[] = {
    {"F16", {DTypeCode::Float, 16}}, {"BF16", {DTypeCode::BFloat, 16}}, {"F32", {DTypeCode::Float, 32}},
    {"F64", {DTypeCode::Float, 64}}, {"I8", {DTypeCode::Int, 8}},       {"I16", {DTypeCode::Int, 16}},
    {"I32", {DTypeCode::Int, 32}},   {"I64", {DTypeCode::Int, 64}},     {"U8", {DTypeCode::UInt, 8}},
    {"U16", {DTypeCode::UInt, 16}},  {"U32", {DTypeCode::UInt, 32}},    {"U64", {DTypeCode::UInt, 64}},
    {"BOOL", {DTypeCode::Bool, 8}},
};

struct Slot {
  std::string name;
  TensorHeader tensor;
  uint64_t begin = 0, end = 0;  ///< within the buffer
};

std::optional<uint64_t> as_natural(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<uint64_t>();
}

/// Reads the header's object for `slot.name`; returns what is wrong with it, or "".
std::string read_slot(const json& fields, Slot& slot) {
  if (!fields.is_object()) return "it is not an object";
  auto dtype = fields.find("dtype"), shape = fields.find("shape"), offsets = fields.find("data_offsets");
  if (dtype == fields.end() || shape == fields.end() || offsets == fields.end())
    return "it lacks one of 'dtype', 'shape' and 'data_offsets'";
  if (!dtype->is_string()) return "its dtype is not a string";
  const std::string& dtype_name = dtype->get_ref<const std::string&>();
  const TensorDType* row = std::find_if(std::begin(kTensorDTypes), std::end(kTensorDTypes),
                                        [&](const TensorDType& r) { return r.name == dtype_name; });
  if (row == std::end(kTensorDTypes)) return fmt::format("its dtype '{}' is not supported", dtype_name);
  slot.tensor.dtype = row->dtype;
  if (!shape->is_array()) return "its shape is not a list";
  for (const json& extent : *shape) {
    if (!extent.is_number_integer())
      return fmt::format("extent {} of its shape is not an integer", extent.dump());
    if (extent.is_number_unsigned() && extent.get<uint64_t>() > INT64_MAX)
      return "an extent of its shape takes more than 64 bits";
    slot.tensor.shape.push_back(extent.get<int64_t>());
  }
  std::optional<uint64_t> begin, end;
  if (offsets->is_array() && offsets->size() == 2)
    begin = as_natural((*offsets)[0]), end = as_natural((*offsets)[1]);
  if (!begin || !end) return "its data_offsets are not two natural numbers";
  slot.begin = *begin;
  slot.end = *end;
  return "";
}

/// Checks that the bytes of `slot` lie in a buffer of `buffer` bytes and match its type's size.
std::string extent_fault(const Slot& slot, uint64_t buffer) {
  Result<uint64_t> bytes = checked_bytes(slot.tensor.dtype, slot.tensor.shape);
  if (!bytes) return bytes.error().message;
  if (slot.begin > slot.end || slot.end > buffer)
    return fmt::format("its data_offsets {} to {} lie outside of the {} bytes of data", slot.begin, slot.end,
                       buffer);
  if (slot.end - slot.begin == *bytes) return "";
  return fmt::format("{} takes {} bytes, and its data_offsets span {}",
                     type_to_string(slot.tensor.dtype, slot.tensor.shape), *bytes, slot.end - slot.begin);
}

/// Indices of the slots in buffer order.
std::vector<size_t> buffer_order(const std::vector<Slot>& slots) {
  std::vector<size_t> order(slots.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(slots[a].begin, slots[a].end) < std::pair(slots[b].begin, slots[b].end);
  });
  return order;
}

Failure entry_failure(const ByteSource& source, std::string_view name, std::string_view what) {
  return Failure{fmt::format("Cannot read {}, entry '{}': {}.", source.where(), name, what)};
}

/// The tensors must cover the buffer exactly, without overlaps or gaps.
Result<Done> check_cover(const FileSource& source, const std::vector<Slot>& slots, uint64_t buffer) {
  uint64_t end = 0;
  for (size_t i : buffer_order(slots)) {
    if (slots[i].begin < end)
      return entry_failure(source, slots[i].name, "its data overlap those of another entry");
    if (slots[i].begin > end)
      return source.failure(
          fmt::format("bytes {} to {} of its data belong to no entry", end, slots[i].begin));
    end = slots[i].end;
  }
  if (end != buffer)
    return source.failure(fmt::format("bytes {} to {} of its data belong to no entry", end, buffer));
  return Done{};
}

/// The header as JSON, and its keys in file order, which `json` does not preserve.
Result<json> read_header(FileSource& source, std::vector<std::string>& keys) {
  uint64_t length = 0;
  auto done = source.read(std::as_writable_bytes(std::span(&length, 1)), "the length of the header");
  if (!done) return done.error();
  if (length > kMaxTensorsHeader || length > source.remaining())
    return source.failure(
        fmt::format("its header claims {} bytes, and {} bytes follow", length, source.remaining()));
  std::string text(length, '\0');
  done = source.read(std::as_writable_bytes(std::span(text)), "the header");
  if (!done) return done.error();
  auto keep_keys = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key) keys.push_back(parsed.get<std::string>());
    return true;
  };
  json header = json::parse(text, keep_keys, /*allow_exceptions=*/false);
  if (!header.is_object()) return source.failure("its header is not a JSON object");
  if (keys.size() != header.size()) return source.failure("its header names an entry twice");
  return header;
}

/// Reads and checks the header; `source` is then at the buffer.
Result<std::vector<Slot>> read_slots(FileSource& source) {
  std::vector<std::string> keys;
  Result<json> header = read_header(source, keys);
  if (!header) return header.error();
  uint64_t buffer = source.remaining();
  std::vector<Slot> slots;
  for (const std::string& key : keys) {
    if (key == kMetadata) continue;
    Slot slot{key, {}};
    std::string fault = read_slot((*header)[key], slot);
    if (fault.empty()) fault = extent_fault(slot, buffer);
    if (!fault.empty()) return entry_failure(source, key, fault);
    slots.push_back(std::move(slot));
  }
  if (auto done = check_cover(source, slots, buffer); !done) return done.error();
  return slots;
}

class SafetensorsFile final : public TensorFile {
 public:
  SafetensorsFile(const std::string& path, std::vector<std::string> names, std::vector<Slot> slots,
                  std::unique_ptr<FileSource> source)
      : TensorFile(path, std::move(names)),
        slots_(std::move(slots)),
        source_(std::move(source)),
        buffer_(source_->size() - source_->remaining()) {}

 protected:
  Result<TensorHeader> read_header(size_t entry) override { return slots_[entry].tensor; }
  Result<TensorPtr> read_tensor(size_t entry) override {
    const Slot& slot = slots_[entry];
    if (TensorPtr mapped = source_->mapped(buffer_ + slot.begin, slot.tensor)) return mapped;
    TensorPtr tensor = HostTensor::make(slot.tensor.dtype, slot.tensor.shape);
    if (auto done = source_->move_to(buffer_ + slot.begin); !done) return done.error();
    auto done = source_->read({tensor->data(), tensor->bytes()}, fmt::format("entry '{}'", slot.name));
    if (!done) return done.error();
    normalise_bools(*tensor);
    return tensor;
  }

 private:
  const std::vector<Slot> slots_;
  const std::unique_ptr<FileSource> source_;
  const uint64_t buffer_;  ///< start of the data
};

/// The order of the data in the file: widest elements first, so that each tensor is aligned for its elements.
std::vector<size_t> writing_order(const Entries<TensorPtr>& entries) {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return entries[a].second->dtype().bytes() > entries[b].second->dtype().bytes();
  });
  return order;
}

/// The header of `entries`, in their order, with the data laid out in the order `order`.
Result<std::string> header_text(const std::string& path, const Entries<TensorPtr>& entries,
                                const std::vector<size_t>& order) {
  std::vector<uint64_t> begins(entries.size());
  uint64_t offset = 0;
  for (size_t i : order) {
    begins[i] = offset;
    offset += entries[i].second->bytes();
  }
  std::string text = "{";
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string& name = entries[i].first;
    const TensorPtr& tensor = entries[i].second;
    const TensorDType* row = std::ranges::find(kTensorDTypes, tensor->dtype(), &TensorDType::dtype);
    try {
      text += (i > 0 ? "," : "") + json(name).dump();
    } catch (const json::type_error&) {
      return write_failure(path, fmt::format("the name of entry {} is not UTF-8", i));
    }
    text += fmt::format(R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", row->name,
                        fmt::join(tensor->shape(), ","), begins[i], begins[i] + tensor->bytes());
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxTensorsHeader) return write_failure(path, "its header takes more than 100 MB");
  return text;
}

}  // namespace

std::string safetensors_fault(const std::string& name, DType dtype) {
  if (std::ranges::find(kTensorDTypes, dtype, &TensorDType::dtype) == std::end(kTensorDTypes))
    return fmt::format(".safetensors has no dtype {}", to_string(dtype));
  return name == kMetadata ? "no entry may have this name" : "";
}

OpenedFile open_safetensors(const std::string& path, std::unique_ptr<FileSource> source) {
  Result<std::vector<Slot>> slots = read_slots(*source);
  if (!slots) return slots.error();
  std::vector<std::string> names;
  names.reserve(slots->size());
  for (const Slot& slot : *slots) names.push_back(slot.name);
  return std::shared_ptr<TensorFile>(
      std::make_shared<SafetensorsFile>(path, std::move(names), std::move(*slots), std::move(source)));
}

Result<Done> write_safetensors(const std::string& path, const Entries<TensorPtr>& entries) {
  std::vector<size_t> order = writing_order(entries);
  Result<std::string> header = header_text(path, entries, order);
  if (!header) return header.error();
  AtomicFile file(path);
  uint64_t length = header->size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(*header);
  for (size_t i : order) file.write({entries[i].second->data(), entries[i].second->bytes()});
  return file.commit();
}

}  // namespace quern::data_detail
