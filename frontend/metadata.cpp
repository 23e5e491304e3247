#include "frontend/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "frontend/scope.h"

namespace quern {

namespace {

using nlohmann::json;

constexpr uint64_t kNDArrayMagic = 0xDD5E40F096B4A13F;
constexpr int32_t kMostDims = 64;

// DLPack's type codes.
std::optional<DType> dtype_of(uint8_t code, uint8_t bits, uint16_t lanes) {
  std::string name;
  switch (code) {
    case 0: name = fmt::format("int{}", bits); break;
    case 1: name = bits == 1 ? "bool" : fmt::format("uint{}", bits); break;
    case 2: name = fmt::format("float{}", bits); break;
    case 4: name = fmt::format("bfloat{}", bits); break;
    case 6: name = "bool"; break;
    default: return std::nullopt;
  }
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || lanes == 0 || (dtype->is_bool() && lanes > 1)) return std::nullopt;
  dtype->lanes = lanes;
  return dtype;
}

/// Reads values off the front of bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  std::optional<T> take() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  static const std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values;
    values.fill(-1);
    std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < alphabet.size(); ++i)
      values[static_cast<uint8_t>(alphabet[i])] = static_cast<int8_t>(i);
    return values;
  }();
  size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  if ((text.size() + padding) % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    int8_t value = kValues[static_cast<uint8_t>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

Result<TensorPtr> decode_ndarray(std::string_view bytes) {
  ByteReader reader(bytes);
  auto magic = reader.take<uint64_t>();
  if (magic && *magic != kNDArrayMagic) return Failure{"it does not begin as an NDArray does"};
  reader.take<uint64_t>();  // reserved
  reader.take<int32_t>();   // device type
  reader.take<int32_t>();   // device id
  auto rank = reader.take<int32_t>();
  auto code = reader.take<uint8_t>();
  auto bits = reader.take<uint8_t>();
  auto lanes = reader.take<uint16_t>();
  if (!lanes) return Failure{fmt::format("it ends in its header, after {} bytes", bytes.size())};
  if (*rank < 0 || *rank > kMostDims) return Failure{fmt::format("its rank is {}", *rank)};
  auto dtype = dtype_of(*code, *bits, *lanes);
  if (!dtype)
    return Failure{fmt::format("its dtype is not known (code {}, {} bits, {} lanes)", *code, *bits, *lanes)};
  Shape shape;
  int64_t wanted = static_cast<int64_t>(dtype->bytes());
  for (int32_t k = 0; k < *rank; ++k) {
    auto extent = reader.take<int64_t>();
    if (!extent) return Failure{fmt::format("it ends in its shape, after {} bytes", bytes.size())};
    if (*extent < 0) return Failure{fmt::format("extent {} of its shape is negative", *extent)};
    shape.push_back(*extent);
    if (__builtin_mul_overflow(wanted, *extent, &wanted)) return Failure{"its shape is too large"};
  }
  auto stated = reader.take<int64_t>();
  if (!stated) return Failure{fmt::format("it ends in its header, after {} bytes", bytes.size())};
  std::string type = type_to_string(*dtype, shape);
  if (*stated != wanted)
    return Failure{fmt::format("it states {} bytes of data where {} has {}", *stated, type, wanted)};
  if (reader.rest().size() != static_cast<size_t>(wanted))
    return Failure{
        fmt::format("it has {} bytes of data where {} has {}", reader.rest().size(), type, wanted)};
  TensorPtr tensor = HostTensor::make(*dtype, shape);
  std::memcpy(tensor->data(), reader.rest().data(), static_cast<size_t>(wanted));
  if (dtype->is_bool())
    for (int64_t i = 0; i < tensor->size(); ++i)
      tensor->data()[i] = tensor->data()[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  return tensor;
}

namespace {

/// The places of the strings of the list under `key`, quotes included. (Base64 has no escapes.)
std::vector<Range> strings_of(std::string_view text, std::string_view key) {
  std::vector<Range> ranges;
  size_t at = text.find("\"" + std::string(key) + "\"");
  at = at == std::string_view::npos ? at : text.find('[', at);
  size_t end = at == std::string_view::npos ? at : text.find(']', at);
  while (at < end && end != std::string_view::npos) {
    size_t open = text.find('"', at),
           close = open == std::string_view::npos ? open : text.find('"', open + 1);
    if (close == std::string_view::npos || open > end) break;
    ranges.push_back({static_cast<uint32_t>(open), static_cast<uint32_t>(close + 1)});
    at = close + 1;
  }
  return ranges;
}

class Reader {
 public:
  Reader(std::string_view text, Metadata& metadata) : text_(text), metadata_(metadata) {}

  void run() {
    json document;
    try {
      document = json::parse(text_);
    } catch (const json::parse_error& error) {
      auto at = static_cast<uint32_t>(std::min(error.byte > 0 ? error.byte - 1 : 0, text_.size()));
      return report({at, std::min(at + 1, static_cast<uint32_t>(text_.size()))},
                    "the metadata is not JSON from here on");
    }
    try {
      objects(document);
      metadata_.readable = true;
    } catch (const std::exception&) {
      // A member is missing or is of another kind than TVM writes.
      report(first_line(),
             "the metadata is JSON, but not an object graph as TVM writes it (root, nodes, b64ndarrays)");
    }
  }

 private:
  void report(Range range, std::string message) {
    metadata_.problems.push_back({DiagnosticKind::MetadataProblem, range, std::move(message)});
  }
  Range first_line() const {
    size_t begin = std::min(text_.find_first_not_of(" \t\r\n"), text_.size());
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(std::min(begin + 1, text_.size()))};
  }

  void objects(const json& document) {
    const json& nodes = document.at("nodes");
    if (document.contains("b64ndarrays")) read_arrays(document.at("b64ndarrays"));
    const json& root = nodes.at(document.at("root").get<size_t>());
    const json& keys = root.at("keys");
    for (size_t i = 0; i < keys.size(); ++i) {
      auto& list = metadata_.entries[keys.at(i).get<std::string>()];
      for (const json& item : nodes.at(root.at("data").at(i).get<size_t>()).value("data", json::array()))
        list.push_back(constant(nodes.at(item.get<size_t>())));
    }
  }
  std::shared_ptr<const HostTensor> constant(const json& node) {
    if (node.at("type_key") != "relay.Constant") return nullptr;
    size_t index = std::stoul(node.at("attrs").at("data").get<std::string>());
    if (index < arrays_.size()) return arrays_[index];
    report(first_line(),
           fmt::format("a constant of the metadata names array {} of {}", index, arrays_.size()));
    return nullptr;
  }
  void read_arrays(const json& list) {
    std::vector<Range> places = strings_of(text_, "b64ndarrays");
    for (size_t i = 0; i < list.size(); ++i) {
      auto bytes = decode_base64(list.at(i).get<std::string>());
      Result<TensorPtr> tensor =
          bytes ? decode_ndarray(*bytes) : Result<TensorPtr>(Failure{"it is not base64"});
      arrays_.push_back(tensor ? *tensor : nullptr);
      if (tensor) continue;
      Range place = i < places.size() ? places[i] : first_line();
      constexpr uint32_t kShown = 24;
      place.end = std::min(place.end, place.begin + kShown);
      report(place, fmt::format("array {} of the metadata cannot be read: {}", i, tensor.error().message));
    }
  }

  std::string_view text_;
  Metadata& metadata_;
  std::vector<std::shared_ptr<const HostTensor>> arrays_;
};

}  // namespace

Metadata read_metadata(std::string_view text) {
  Metadata metadata;
  Reader(text, metadata).run();
  return metadata;
}

std::shared_ptr<const HostTensor> meta_constant(SyntaxPtr meta, Scope& scope, uint32_t declaration,
                                                Diagnostics& diagnostics) {
  auto report = [&](DiagnosticKind kind, std::string message) {
    diagnostics.push_back({kind, {{declaration, meta->id}, {}}, std::move(message), {}});
    return nullptr;
  };
  size_t bracket = meta->text.find('[');
  std::string_view kind = meta->text.substr(0, bracket);
  size_t index = std::strtoull(std::string(meta->text.substr(bracket + 1)).c_str(), nullptr, 10);
  const Metadata* metadata = scope.metadata(declaration);
  if (!metadata)
    return report(DiagnosticKind::NoSuchMetadata,
                  fmt::format("this file has no `#[metadata]` section, where `meta[{}]` would be", kind));
  if (!metadata->readable) return nullptr;
  auto found = metadata->entries.find(kind);
  if (found == metadata->entries.end()) {
    std::vector<std::string> known;
    for (auto& [name, _] : metadata->entries) known.push_back("`" + name + "`");
    return report(DiagnosticKind::NoSuchMetadata,
                  fmt::format("the metadata have no `{}`; they have {}", kind,
                              known.empty() ? "nothing" : fmt::format("{}", fmt::join(known, ", "))));
  }
  if (index >= found->second.size())
    return report(DiagnosticKind::NoSuchMetadata,
                  fmt::format("the metadata have {} `{}`, counted from 0", found->second.size(), kind));
  if (kind != "relay.Constant")
    return report(
        DiagnosticKind::UnsupportedMetadata,
        fmt::format("`meta[{}]` is no constant: only constants are read from metadata; write its attributes "
                    "at the call",
                    kind));
  return found->second[index];
}

}  // namespace quern
