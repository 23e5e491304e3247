#include "import/text/term.h"

namespace quern::import_text {

namespace {

/// Longer ones are data, not sizes.
constexpr int64_t kLongest = 1024;

}  // namespace

Term dims_term(std::vector<Dim> dims, DType dtype, size_t rank) {
  Term value;
  const Dim count = dim_const(static_cast<int64_t>(dims.size()));
  value.type = rank == 0 ? scalar_type(dtype) : tensor_type(std::span(&count, 1), dtype);
  value.dims = std::move(dims);
  return value;
}

Term constant_term(TensorPtr constant, std::string name) {
  Term value;
  std::vector<Dim> dims;
  for (int64_t extent : constant->shape()) dims.push_back(dim_const(extent));
  value.type = tensor_type(dims, constant->dtype());
  value.constant = std::move(constant);
  value.name = std::move(name);
  return value;
}

std::optional<std::vector<int64_t>> integers_of(const Term& value) {
  std::vector<int64_t> integers;
  if (value.dims) {
    for (Dim dim : *value.dims) {
      const auto known = as_const(dim);
      if (!known) return std::nullopt;
      integers.push_back(*known);
    }
    return integers;
  }
  if (!value.constant || value.rank() > 1 || value.constant->size() > kLongest) return std::nullopt;
  if (!value.dtype().is_int() && !value.dtype().is_bool()) return std::nullopt;
  for (int64_t i = 0; i < value.constant->size(); ++i) integers.push_back(element_as_int(*value.constant, i));
  return integers;
}

std::optional<std::vector<Dim>> dims_of(const Term& value) {
  if (value.dims) return value.dims;
  const auto integers = integers_of(value);
  if (!integers) return std::nullopt;
  std::vector<Dim> dims;
  for (int64_t integer : *integers) dims.push_back(dim_const(integer));
  return dims;
}

std::optional<double> number_of(const Term& value) {
  if (value.constant && value.constant->size() == 1) return element_as_double(*value.constant, 0);
  if (value.dims && value.dims->size() == 1)
    if (const auto known = as_const(value.dims->front())) return static_cast<double>(*known);
  return std::nullopt;
}

}  // namespace quern::import_text
