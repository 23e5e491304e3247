#include "frontend/static/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "frontend/static/scope.h"
#include "ir/io/ndarray.h"

namespace quern {

namespace {

using nlohmann::json;

/// Reads values from the front of a byte sequence.
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
  if (*rank < 0 || *rank > kMostNDArrayDims) return Failure{fmt::format("its rank is {}", *rank)};
  auto dtype = ndarray_dtype(*code, *bits, *lanes);
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

/// The ranges of the strings in the list under `key`, including quotes. (Base64 has no escapes.)
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
      // A member is missing or has another kind than TVM writes.
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
    if (document.contains("attrs")) metadata_.tvm = version(document.at("attrs").value("tvm_version", ""));
    if (document.contains("b64ndarrays")) read_arrays(document.at("b64ndarrays"));
    const json& root = nodes.at(document.at("root").get<size_t>());
    const json& keys = root.at("keys");
    for (size_t i = 0; i < keys.size(); ++i) {
      auto& list = metadata_.entries[keys.at(i).get<std::string>()];
      for (const json& item : nodes.at(root.at("data").at(i).get<size_t>()).value("data", json::array())) {
        const json& node = nodes.at(item.get<size_t>());
        list.push_back({constant(node), members(nodes, node)});
      }
    }
  }
  // The number after the first point: 8 of "0.8.0" and of "0.8.dev0".
  static std::optional<int> version(const std::string& text) {
    int minor = 0;
    if (!text.starts_with("0.") ||
        std::from_chars(text.data() + 2, text.data() + text.size(), minor).ec != std::errc())
      return std::nullopt;
    return minor;
  }
  std::map<std::string, MetadataMember, std::less<>> members(const json& nodes, const json& node) {
    std::map<std::string, MetadataMember, std::less<>> found;
    if (node.at("type_key") == "relay.Constant" || !node.contains("attrs")) return found;
    for (const auto& [name, value] : node.at("attrs").items()) {
      auto text = value.get<std::string>();
      size_t number = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      bool is_number = error == std::errc() && end == text.data() + text.size();
      found.emplace(name, MetadataMember{text, is_number ? object(nodes, number, 0) : std::nullopt});
    }
    return found;
  }
  /// The value of a node; nothing if no attribute has such a value.
  std::optional<StaticValue> object(const json& nodes, size_t number, int depth) {
    if (number >= nodes.size() || depth > kMostNested || ++objects_ > kMostObjects) return std::nullopt;
    const json& node = nodes.at(number);
    auto kind = node.at("type_key").get<std::string>();
    if (kind.empty()) return StaticValue();
    if (kind == "tir.Any") return StaticValue(dim_any());
    if (kind == "runtime.String") return StaticValue(node.value("repr_str", ""));  // TVM leaves out ""
    if (kind == "relay.Constant") {
      auto tensor = constant(node);
      return tensor ? numbers_of(*tensor) : std::nullopt;
    }
    if (kind == "FloatImm") return StaticValue(std::stod(node.at("attrs").at("value").get<std::string>()));
    if (kind == "IntImm") {
      int64_t value = std::stoll(node.at("attrs").at("value").get<std::string>());
      return node.at("attrs").at("dtype") == "bool" ? StaticValue(value != 0) : StaticValue::integer(value);
    }
    if (kind != "Array") return std::nullopt;
    StaticList items;
    for (const json& item : node.value("data", json::array())) {
      auto value = object(nodes, item.get<size_t>(), depth + 1);
      if (!value) return std::nullopt;
      items.push_back(std::move(*value));
    }
    return StaticValue::list(std::move(items));
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
  static constexpr int kMostNested = 8;
  static constexpr size_t kMostObjects = 1'000'000;

  Metadata& metadata_;
  std::vector<std::shared_ptr<const HostTensor>> arrays_;
  size_t objects_ = 0;  ///< read so far
};

}  // namespace

Metadata read_metadata(std::string_view text) {
  Metadata metadata;
  Reader(text, metadata).run();
  return metadata;
}

namespace {

std::string_view kind_of(SyntaxPtr meta) { return meta->text.substr(0, meta->text.find('[')); }

/// The entry that `meta[kind][i]` names; null after a diagnostic (or if the metadata are reported).
const MetadataEntry* meta_entry(SyntaxPtr meta, Scope& scope, uint32_t declaration,
                                Diagnostics& diagnostics) {
  auto report = [&](std::string message) {
    diagnostics.push_back(
        {DiagnosticKind::NoSuchMetadata, {{declaration, meta->id}, {}}, std::move(message), {}});
    return nullptr;
  };
  std::string_view kind = kind_of(meta);
  size_t index = std::strtoull(std::string(meta->text.substr(kind.size() + 1)).c_str(), nullptr, 10);
  const Metadata* metadata = scope.metadata(declaration);
  if (!metadata)
    return report(fmt::format("this file has no `#[metadata]` section, where `meta[{}]` would be", kind));
  if (!metadata->readable) return nullptr;
  auto found = metadata->entries.find(kind);
  if (found == metadata->entries.end()) {
    std::vector<std::string> known;
    for (auto& [name, _] : metadata->entries) known.push_back("`" + name + "`");
    return report(fmt::format("the metadata have no `{}`; they have {}", kind,
                              known.empty() ? "nothing" : fmt::format("{}", fmt::join(known, ", "))));
  }
  if (index >= found->second.size())
    return report(fmt::format("the metadata have {} `{}`, counted from 0", found->second.size(), kind));
  return &found->second[index];
}

/// Members that are objects in C++ but whose attributes are single numbers here.
bool is_object(std::string_view structure, std::string_view member, std::string_view kind) {
  if (kind.ends_with("?")) kind.remove_suffix(1);
  if (kind.ends_with("[]") || kind == "shape" || kind == "any") return true;
  constexpr std::string_view kMembers[] = {
      "channels", "units",    "batch_dims", "index_rank", "repeats",
      "k",        "seq_axis", "batch_axis", "exclusive",  "score_threshold"};
  if (std::ranges::find(kMembers, member) != std::end(kMembers)) return true;
  constexpr std::string_view kAxes[] = {"Take",    "Gather",     "Repeat",          "Stack",  "Reverse",
                                        "Scatter", "ScatterAdd", "ScatterElements", "Scanop", "Cumsum"};
  return member == "axis" && std::ranges::any_of(kAxes, [&](std::string_view name) {
           return structure == fmt::format("relay.attrs.{}Attrs", name);
         });
}

/// The value of a member for an attribute of this kind; nothing if it is not one.
std::optional<StaticValue> value_of(const MetadataMember& member, bool object, std::string_view kind) {
  if (object) return member.object;
  if (member.object && member.object->as_string()) return member.object;
  if (kind.ends_with("?")) kind.remove_suffix(1);
  const std::string& text = member.text;
  if (kind == "bool") return StaticValue(text != "0");
  if (kind == "string") return StaticValue(text);
  if (kind == "dtype") return StaticValue(parse_dtype(text) ? text : "");
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return kind == "float" ? StaticValue(number) : StaticValue::integer(static_cast<int64_t>(number));
}

/// Whether a member that the operator lacks can be ignored.
bool means_nothing(const MetadataMember& member) {
  if (member.text.empty() || member.text == "0") return true;
  const auto& object = member.object;
  return object &&
         (object->is_none() || object->as_int() == 0 || (object->as_bool() && !*object->as_bool()) ||
          (object->as_list() && object->as_list()->empty()) ||
          (object->as_string() && object->as_string()->empty()));
}

}  // namespace

std::shared_ptr<const HostTensor> meta_constant(SyntaxPtr meta, Scope& scope, uint32_t declaration,
                                                Diagnostics& diagnostics) {
  const MetadataEntry* entry = meta_entry(meta, scope, declaration, diagnostics);
  if (!entry) return nullptr;
  if (kind_of(meta) == "relay.Constant") return entry->constant;
  diagnostics.push_back({DiagnosticKind::UnsupportedMetadata,
                         {{declaration, meta->id}, {}},
                         fmt::format("`meta[{}]` is no constant: it has no value here", kind_of(meta)),
                         {}});
  return nullptr;
}

bool is_attribute_struct(SyntaxPtr meta) {
  return meta->is(SyntaxKind::Meta) && meta->text.starts_with("relay.attrs.");
}

std::optional<std::vector<std::pair<std::string, StaticValue>>> meta_attributes(
    SyntaxPtr meta, const Declaration& op, Scope& scope, uint32_t declaration, Diagnostics& diagnostics) {
  const MetadataEntry* entry = meta_entry(meta, scope, declaration, diagnostics);
  if (!entry) return std::nullopt;
  std::vector<std::pair<std::string, StaticValue>> values;
  for (const auto& [name, member] : entry->members) {
    SyntaxPtr declared = nullptr;
    for (SyntaxPtr p : op.syntax->child(1)->children)
      if (p->is(SyntaxKind::AttributeParam) && p->text == name) declared = p;
    std::string_view kind = declared && declared->child(0) ? declared->child(0)->text : "int";
    auto value = declared ? value_of(member, is_object(kind_of(meta), name, kind), kind) : std::nullopt;
    bool absent = value && value->is_none() && !kind.ends_with("?");
    if (absent || (!declared && means_nothing(member))) continue;
    if (!value) {
      diagnostics.push_back({DiagnosticKind::UnsupportedMetadata,
                             {{declaration, meta->id}, {}},
                             fmt::format("`{}` has no attribute `{}` of the kind that `{}` gives it", op.name,
                                         name, kind_of(meta)),
                             {}});
      return std::nullopt;
    }
    values.emplace_back(name, std::move(*value));
  }
  return values;
}

bool is_dim_variable(SyntaxPtr meta) {
  return meta->is(SyntaxKind::Meta) && (kind_of(meta) == "tir.SizeVar" || kind_of(meta) == "tir.Var");
}

std::string name_of_dim(SyntaxPtr meta, const Metadata* metadata) {
  std::string_view kind = kind_of(meta);
  std::string number(meta->text.substr(kind.size() + 1, meta->text.size() - kind.size() - 2));
  std::string name = "n";
  auto found = metadata ? metadata->entries.find(kind) : decltype(metadata->entries.end()){};
  size_t index = std::strtoull(number.c_str(), nullptr, 10);
  if (metadata && found != metadata->entries.end() && index < found->second.size())
    if (auto member = found->second[index].members.find("name"); member != found->second[index].members.end())
      name = member->second.object && member->second.object->as_string() ? *member->second.object->as_string()
                                                                         : member->second.text;
  return number == "0" ? name : name + number;
}

std::optional<StaticValue> numbers_of(const HostTensor& tensor) {
  if (tensor.shape().size() > 1 || tensor.dtype().is_vector()) return std::nullopt;
  StaticList items;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.dtype().is_float())
      items.emplace_back(element_as_double(tensor, i));
    else
      items.push_back(StaticValue::integer(element_as_int(tensor, i)));
  }
  return tensor.shape().empty() ? items[0] : StaticValue::list(std::move(items));
}

}  // namespace quern
