#include "ir/value.h"

#include <cstring>

namespace quern {

Value Value::tensor(TensorPtr tensor) {
  // Elements of more than eight bytes (vectors such as float32x4) do not fit into a Value and stay boxed.
  if (!tensor->shape().empty() || tensor->dtype().bytes() > sizeof(uint64_t))
    return Value(new TensorObject(std::move(tensor)));
  Scalar scalar{tensor->dtype()};
  std::memcpy(&scalar.bits, tensor->data(), scalar.dtype.bytes());
  return scalar;
}

Value Value::tuple(std::vector<Value> fields) { return Value(new TupleObject(std::move(fields))); }

Value Value::data(std::string constructor, uint32_t tag, std::vector<Value> fields) {
  return Value(new DataObject(std::move(constructor), tag, std::move(fields)));
}

TensorPtr Value::as_tensor() const {
  if (is_scalar_) {
    TensorPtr tensor = HostTensor::make(scalar().dtype, {});
    std::memcpy(tensor->data(), &bits_, tensor->bytes());
    return tensor;
  }
  auto* boxed = object_as<TensorObject>();
  return boxed ? boxed->tensor : nullptr;
}

const std::vector<Value>* Value::fields() const {
  if (auto* tuple = object_as<TupleObject>()) return &tuple->fields;
  if (auto* data = object_as<DataObject>()) return &data->fields;
  return nullptr;
}

void drop(std::vector<Value>&& parts) {
  // The outermost call on a thread empties the queue; the destructors that this runs only add to it.
  thread_local std::vector<Value>* pending = nullptr;
  bool deep = false;
  for (const Value& part : parts) deep |= part.object() && part.object()->kind != ObjectKind::Tensor;
  if (!deep) return parts.clear();
  if (pending) {
    for (Value& part : parts) pending->push_back(std::move(part));
    return;
  }
  std::vector<Value> queue = std::move(parts);
  pending = &queue;
  while (!queue.empty()) {
    Value last = std::move(queue.back());
    queue.pop_back();
  }
  pending = nullptr;
}

namespace {

// A list is nested in its last field, so both writers go down last fields in a loop and keep what closes
// them.

void write_text(std::string& out, const Value& value, int64_t limit) {
  std::string closing;
  const Value* at = &value;
  while (true) {
    auto* data = at->object_as<DataObject>();
    if (data) out += data->constructor;
    const std::vector<Value>* fields = at->fields();
    if (!fields) break;
    if (fields->empty()) {
      if (!data) out += "()";
      at = nullptr;
      break;
    }
    out += "(";
    for (size_t i = 0; i + 1 < fields->size(); ++i) {
      write_text(out, (*fields)[i], limit);
      out += ", ";
    }
    closing += !data && fields->size() == 1 ? ")," : ")";
    at = &fields->back();
  }
  if (at) {
    if (at->is_empty())
      out += "<empty>";
    else if (at->object_as<ClosureObject>())
      out += "<function>";
    else
      out += to_string(*at->as_tensor(), limit);
  }
  out.append(closing.rbegin(), closing.rend());
}

void write_json(std::string& out, const Value& value) {
  std::string closing;
  const Value* at = &value;
  while (const std::vector<Value>* fields = at->fields()) {
    auto* data = at->object_as<DataObject>();
    if (data) out += "{\"ctor\": \"" + data->constructor + "\", \"fields\": ";
    closing += data ? "}]" : "]";
    out += "[";
    if (fields->empty()) {
      at = nullptr;
      break;
    }
    for (size_t i = 0; i + 1 < fields->size(); ++i) {
      write_json(out, (*fields)[i]);
      out += ", ";
    }
    at = &fields->back();
  }
  if (at) {
    TensorPtr tensor = at->as_tensor();
    out += tensor ? to_json(*tensor) : "null";
  }
  out.append(closing.rbegin(), closing.rend());
}

}  // namespace

std::string to_string(const Value& value, int64_t limit) {
  std::string out;
  write_text(out, value, limit);
  return out;
}

std::string to_json(const Value& value) {
  std::string out;
  write_json(out, value);
  return out;
}

}  // namespace quern
