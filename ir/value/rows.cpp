#include "ir/value/rows.h"

#include <cstring>

namespace quern {

namespace {

Shape row_shape(const HostTensor& rows) { return {rows.shape().begin() + 1, rows.shape().end()}; }

size_t row_bytes(const HostTensor& rows) {
  return static_cast<size_t>(element_count(row_shape(rows))) * rows.dtype().bytes();
}

}  // namespace

Value row_of(const Value& rows, int64_t k) {
  if (const std::vector<Value>* fields = rows.fields()) {
    std::vector<Value> row;
    row.reserve(fields->size());
    for (const Value& field : *fields) row.push_back(row_of(field, k));
    return Value::tuple(std::move(row));
  }
  const TensorPtr tensor = rows.as_tensor();
  TensorPtr row = HostTensor::make(tensor->dtype(), row_shape(*tensor));
  const size_t bytes = row_bytes(*tensor);
  if (bytes > 0) std::memcpy(row->data(), tensor->data() + static_cast<size_t>(k) * bytes, bytes);
  return Value::tensor(std::move(row));
}

void put_row(const Value& rows, int64_t k, const Value& row) {
  if (const std::vector<Value>* fields = rows.fields()) {
    for (size_t i = 0; i < fields->size(); ++i) put_row((*fields)[i], k, (*row.fields())[i]);
    return;
  }
  HostTensor& tensor = *rows.object_as<TensorObject>()->tensor;
  const size_t bytes = row_bytes(tensor);
  if (bytes > 0) std::memcpy(tensor.data() + static_cast<size_t>(k) * bytes, row.as_tensor()->data(), bytes);
}

Value with_row(Value rows, int64_t k, const Value& row) {
  auto* object = rows.object_as<TensorObject>();
  if (!object->unique() || object->tensor.use_count() > 1 || !object->tensor->is_own()) {
    TensorPtr copy = HostTensor::make(object->tensor->dtype(), object->tensor->shape());
    if (copy->bytes() > 0) std::memcpy(copy->data(), object->tensor->data(), copy->bytes());
    rows = Value::tensor(std::move(copy));
  }
  put_row(rows, k, row);
  return rows;
}

}  // namespace quern
