#include "ir/type/dtype.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <iterator>
#include <mutex>

#include "ir/base/result.h"
#include "ir/base/series.h"

namespace quern {

namespace {

struct Row {
  std::string_view name;
  DTypeCode code;
  uint8_t bits;
  FloatFormat format = {};
};

constexpr Row kDTypes[] = {
#define QUERN_INTEGER(name, code, bits) {name, DTypeCode::code, bits},
#define QUERN_FLOAT(name, code, bits, exponent, fraction) {name, DTypeCode::code, bits, {exponent, fraction}},
#include "ir/type/dtypes.def"
#undef QUERN_FLOAT
#undef QUERN_INTEGER
};

const Row& row_of(DType dtype) {
  const auto row = std::ranges::find_if(
      kDTypes, [&](const Row& r) { return r.code == dtype.code && r.bits == dtype.bits; });
  QUERN_CHECK(row != std::end(kDTypes));
  return *row;
}

/// The row whose name a text is, ignoring lanes.
const Row* find_row(std::string_view name) {
  const auto row = std::ranges::find_if(kDTypes, [&](const Row& r) {
    return name.starts_with(r.name[0]) && name.starts_with(r.name) &&
           (name.size() == r.name.size() || name[r.name.size()] == 'x');
  });
  return row == std::end(kDTypes) ? nullptr : row;
}

// The names of the rigid variables of the process, by id.
class DTypeNames {
 public:
  static DTypeNames& get() {
    static auto* const names = new DTypeNames;
    return *names;
  }
  struct Entry {
    std::string name;
    uint32_t id;
  };
  const Entry* add(std::string_view name) {
    std::lock_guard lock(mutex_);
    entries_.push_back({std::string(name), static_cast<uint32_t>(entries_.size())});
    return &entries_.back();
  }
  std::string at(uint32_t id) {
    std::lock_guard lock(mutex_);
    return entries_[id].name;
  }

 private:
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace

DType dtype_var(std::string_view name) {
  const auto* entry = Series::next(Series::Kind::DType, name, [&] { return DTypeNames::get().add(name); });
  return {DTypeCode::Var, 0, 1, entry->id};
}

FloatFormat float_format(DType dtype) { return row_of(dtype).format; }

double largest_number(DType dtype) {
  const FloatFormat format = float_format(dtype);
  const int exponent = (1 << (format.exponent_bits - 1)) - 1;
  return std::ldexp(2 - std::ldexp(1.0, -format.fraction_bits), exponent);
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Row& row : kDTypes) names.emplace_back(row.name);
  return names;
}

std::string to_string(DType dtype) {
  if (dtype.is_index()) return "index";
  if (dtype.is_infer()) return "_";
  if (dtype.is_var()) return DTypeNames::get().at(dtype.id);
  std::string text(row_of(dtype).name);
  if (dtype.lanes != 1) text += "x" + std::to_string(dtype.lanes);
  return text;
}

std::optional<DType> parse_dtype(std::string_view name) {
  // Relay's short names.
  if (name == "int" || name == "uint" || name == "float") return parse_dtype(std::string(name) + "32");
  const Row* row = find_row(name);
  if (!row) return std::nullopt;
  int lanes = 1;
  if (std::string_view rest = name.substr(row->name.size()); !rest.empty()) {
    if (row->code == DTypeCode::Bool) return std::nullopt;
    const char* last = rest.data() + rest.size();
    auto [end, error] = std::from_chars(rest.data() + 1, last, lanes);
    if (error != std::errc() || end != last || lanes < 1 || lanes > 65535) return std::nullopt;
  }
  return DType{row->code, row->bits, static_cast<uint16_t>(lanes)};
}

}  // namespace quern
