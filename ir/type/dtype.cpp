#include "ir/type/dtype.h"

#include <charconv>
#include <mutex>
#include <vector>

namespace quern {

namespace {

struct Prefix {
  std::string_view prefix;
  DTypeCode code;
};

// The longest prefix that fits comes first, so that `uint8` is not taken for an `int8`.
constexpr Prefix kPrefixes[] = {{"bfloat", DTypeCode::BFloat},
                                {"float", DTypeCode::Float},
                                {"uint", DTypeCode::UInt},
                                {"int", DTypeCode::Int}};

std::string_view prefix_of(DTypeCode code) {
  for (const Prefix& row : kPrefixes)
    if (row.code == code) return row.prefix;
  return "";
}

bool bits_allowed(DTypeCode code, int bits) {
  switch (code) {
    case DTypeCode::Int:
    case DTypeCode::UInt: return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    case DTypeCode::Float: return bits == 16 || bits == 32 || bits == 64;
    case DTypeCode::BFloat: return bits == 16;
    case DTypeCode::Bool:
    case DTypeCode::Index:
    case DTypeCode::Infer:
    case DTypeCode::Var: return false;
  }
  return false;
}

// The names of the rigid variables of the process, by id.
class DTypeNames {
 public:
  static DTypeNames& get() {
    static auto* const names = new DTypeNames;
    return *names;
  }
  uint32_t add(std::string_view name) {
    std::lock_guard lock(mutex_);
    names_.emplace_back(name);
    return static_cast<uint32_t>(names_.size() - 1);
  }
  std::string at(uint32_t id) {
    std::lock_guard lock(mutex_);
    return names_[id];
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};

}  // namespace

DType dtype_var(std::string_view name) { return {DTypeCode::Var, 0, 1, DTypeNames::get().add(name)}; }

std::string to_string(DType dtype) {
  std::string text;
  switch (dtype.code) {
    case DTypeCode::Int:
    case DTypeCode::UInt:
    case DTypeCode::Float:
    case DTypeCode::BFloat: text = std::string(prefix_of(dtype.code)) + std::to_string(dtype.bits); break;
    case DTypeCode::Bool: text = "bool"; break;
    case DTypeCode::Index: return "index";
    case DTypeCode::Infer: return "_";
    case DTypeCode::Var: return DTypeNames::get().at(dtype.id);
  }
  if (dtype.lanes != 1) text += "x" + std::to_string(dtype.lanes);
  return text;
}

std::optional<DType> parse_dtype(std::string_view name) {
  if (name == "bool") return DType::boolean();
  // Relay's short names.
  if (name == "int" || name == "uint" || name == "float") return parse_dtype(std::string(name) + "32");
  for (const Prefix& row : kPrefixes) {
    if (!name.starts_with(row.prefix)) continue;
    const char* first = name.data() + row.prefix.size();
    const char* last = name.data() + name.size();
    int bits = 0;
    auto [after_bits, error] = std::from_chars(first, last, bits);
    if (error != std::errc() || !bits_allowed(row.code, bits)) return std::nullopt;
    int lanes = 1;
    if (after_bits != last) {
      if (*after_bits != 'x') return std::nullopt;
      auto [after_lanes, lane_error] = std::from_chars(after_bits + 1, last, lanes);
      if (lane_error != std::errc() || after_lanes != last || lanes < 1 || lanes > 65535) return std::nullopt;
    }
    return DType{row.code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  }
  return std::nullopt;
}

}  // namespace quern
