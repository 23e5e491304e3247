#include "import/operators/fold_dims.h"

#include <algorithm>
#include <functional>
#include <map>

namespace quern::onnx {

namespace {

using namespace import_text;
using Dims = std::vector<Dim>;

/// Longer lists of integers are data.
constexpr size_t kLongest = 64;

bool is_any(Dim dim) { return dim->has_any; }

/// The elements of all inputs, where each is known.
std::optional<std::vector<Dims>> elements_of(const Call& call) {
  std::vector<Dims> elements;
  for (size_t i = 0; i < call.input_count(); ++i) {
    if (!call.has(i) || call.rank(i) > 1) return std::nullopt;
    auto dims = dims_of(call.in(i));
    if (!dims || dims->size() > kLongest || std::ranges::any_of(*dims, is_any)) return std::nullopt;
    elements.push_back(std::move(*dims));
  }
  return elements;
}

bool is_integer(const Term& term) { return term.dtype() == DType::int64() || term.dtype() == DType::int32(); }

void set(Call& call, Dims dims, DType dtype, size_t rank) {
  call.set(0, dims_term(std::move(dims), dtype, rank));
}

/// The shape of the input, or a part of it.
bool fold_shape(Call& call) {
  const auto& shape = call.in(0).type->dims;
  if (std::ranges::any_of(shape, is_any)) return false;
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [&](std::string_view name, int64_t otherwise) {
    const int64_t given = call.integer(name, otherwise);
    return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const int64_t start = place("start", 0), end = std::max(start, place("end", rank));
  set(call, Dims(shape.begin() + start, shape.begin() + end), DType::int64(), 1);
  return true;
}

bool fold_size(Call& call) {
  const Dim count = dim_product(call.in(0).type->dims);
  if (is_any(count)) return false;
  set(call, {count}, DType::int64(), 0);
  return true;
}

/// Elements of a list at known places.
bool fold_gather(Call& call, const std::vector<Dims>& in) {
  if (call.rank(0) != 1) return false;
  Dims result;
  for (Dim index : in[1]) {
    const auto known = as_const(index);
    const auto count = static_cast<int64_t>(in[0].size());
    if (!known || *known < -count || *known >= count) return false;
    result.push_back(in[0][static_cast<size_t>(*known < 0 ? *known + count : *known)]);
  }
  set(call, std::move(result), call.in(0).dtype(), call.rank(1));
  return true;
}

bool fold_concat(Call& call, const std::vector<Dims>& in) {
  Dims result;
  for (const Dims& part : in) result.insert(result.end(), part.begin(), part.end());
  if (call.rank(0) != 1) return false;
  set(call, std::move(result), call.in(0).dtype(), 1);
  return true;
}

bool fold_slice(Call& call, const std::vector<Dims>& in) {
  if (call.rank(0) != 1) return false;
  const auto single = [&](std::string_view name, size_t input, int64_t otherwise) -> std::optional<int64_t> {
    if (const auto given = call.integers(name))
      return given->size() == 1 ? std::optional(given->front()) : std::nullopt;
    if (input >= in.size()) return otherwise;
    return in[input].size() == 1 ? as_const(in[input].front()) : std::nullopt;
  };
  const auto count = static_cast<int64_t>(in[0].size());
  const auto start = single("starts", 1, 0), end = single("ends", 2, count), step = single("steps", 4, 1);
  if (!start || !end || step != 1) return false;
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count); };
  const int64_t from = place(*start), to = std::max(from, place(*end));
  set(call, Dims(in[0].begin() + from, in[0].begin() + to), call.in(0).dtype(), 1);
  return true;
}

/// Between a number and a list of one, or one list and another.
bool fold_rank(Call& call, const std::vector<Dims>& in) {
  const std::string& op = call.node().op;
  if (op == "Unsqueeze" && call.rank(0) != 0) return false;
  if (op == "Squeeze" && in[0].size() != 1) return false;
  if (op == "Reshape" && in[1].size() > 1) return false;
  const size_t rank = op == "Squeeze" || (op == "Reshape" && in[1].empty()) ? 0 : 1;
  set(call, in[0], call.in(0).dtype(), rank);
  return true;
}

Dim quotient(Dim a, Dim b) { return dim_floordiv(a, b); }

bool fold_arithmetic(Call& call, const std::vector<Dims>& in) {
  static const std::map<std::string_view, Dim (*)(Dim, Dim)> kFunctions = {
      {"Add", dim_add},  {"Sub", dim_sub}, {"Mul", dim_mul},
      {"Div", quotient}, {"Min", dim_min}, {"Max", dim_max}};
  const auto function = kFunctions.at(call.node().op);
  if (in.size() != 2 || in[0].empty() || in[1].empty()) return false;
  const size_t count = std::max(in[0].size(), in[1].size());
  if ((in[0].size() != 1 && in[0].size() != count) || (in[1].size() != 1 && in[1].size() != count))
    return false;
  Dims result;
  for (size_t i = 0; i < count; ++i) {
    const Dim a = in[0][in[0].size() == 1 ? 0 : i], b = in[1][in[1].size() == 1 ? 0 : i];
    // Division of ONNX truncates, that of dims floors: the same for sizes.
    if (call.node().op == "Div" && (as_const(b).value_or(0) <= 0 || as_const(a).value_or(0) < 0))
      return false;
    result.push_back(function(a, b));
  }
  set(call, std::move(result), call.in(0).dtype(), std::max(call.rank(0), call.rank(1)));
  return true;
}

bool fold_fill(Call& call, const std::vector<Dims>& in) {
  const TensorPtr value = call.tensor("value");
  if (!value || value->size() != 1 || value->dtype() != DType::int64() || in[0].size() > 1) return false;
  const auto count = in[0].empty() ? std::optional<int64_t>(1) : as_const(in[0].front());
  if (!count || *count < 0 || *count > static_cast<int64_t>(kLongest)) return false;
  set(call, Dims(static_cast<size_t>(*count), dim_const(element_as_int(*value, 0))), DType::int64(),
      in[0].size());
  return true;
}

/// Whether two sizes are equal, where that is the same for all of them.
std::optional<bool> equal(Dim a, Dim b) {
  if (a == b) return true;
  const auto x = as_const(a), y = as_const(b);
  if (x && y) return false;
  if ((x && *x < 0) || (y && *y < 0)) return false;
  return std::nullopt;
}

bool fold_equal(Call& call, const std::vector<Dims>& in) {
  if (in[0].size() != in[1].size()) return false;
  Dims result;
  for (size_t i = 0; i < in[0].size(); ++i) {
    const auto is_equal = equal(in[0][i], in[1][i]);
    if (!is_equal) return false;
    result.push_back(dim_const(*is_equal ? 1 : 0));
  }
  set(call, std::move(result), DType::boolean(), call.rank(0));
  return true;
}

bool fold_where(Call& call, const std::vector<Dims>& in) {
  if (in[0].size() != in[1].size() || in[1].size() != in[2].size()) return false;
  Dims result;
  for (size_t i = 0; i < in[0].size(); ++i) {
    const auto chosen = as_const(in[0][i]);
    if (!chosen) return false;
    result.push_back(in[*chosen != 0 ? 1 : 2][i]);
  }
  set(call, std::move(result), call.in(1).dtype(), call.rank(1));
  return true;
}

bool fold_product(Call& call, const std::vector<Dims>& in) {
  if (call.flag("keepdims", true) || call.rank(0) != 1) return false;
  set(call, {dim_product(in[0])}, call.in(0).dtype(), 0);
  return true;
}

using Fold = bool (*)(Call&, const std::vector<Dims>&);
const std::map<std::string_view, Fold> kFolds = {
    {"Gather", fold_gather},        {"Concat", fold_concat},  {"Slice", fold_slice},
    {"Unsqueeze", fold_rank},       {"Squeeze", fold_rank},   {"Reshape", fold_rank},
    {"Add", fold_arithmetic},       {"Sub", fold_arithmetic}, {"Mul", fold_arithmetic},
    {"Div", fold_arithmetic},       {"Min", fold_arithmetic}, {"Max", fold_arithmetic},
    {"Equal", fold_equal},          {"Where", fold_where},    {"ReduceProd", fold_product},
    {"ConstantOfShape", fold_fill},
};

}  // namespace

bool fold_dims(Call& call) {
  const std::string& op = call.node().op;
  if (!call.has(0)) return false;
  if (op == "Shape") return fold_shape(call);
  if (op == "Size") return fold_size(call);
  auto fold = kFolds.find(op);
  if (fold == kFolds.end()) return false;
  for (size_t i = 0; i < call.input_count(); ++i)
    if (call.has(i) && !is_integer(call.in(i)) && !call.in(i).dtype().is_bool()) return false;
  const auto elements = elements_of(call);
  return elements && fold->second(call, *elements);
}

}  // namespace quern::onnx
