#include "ir/value/value.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace quern {

Value Value::tensor(TensorPtr tensor) {
  if (!tensor->shape().empty() || tensor->dtype().is_vector())
    return Value(new TensorObject(std::move(tensor)));
  Scalar scalar{tensor->dtype()};
  std::memcpy(&scalar.bits, tensor->data(), scalar.dtype.bytes());
  return scalar;
}

Value Value::tuple(std::vector<Value> fields) { return Value(new TupleObject(std::move(fields))); }

Value Value::data(const Constructor& constructor, std::vector<Value> fields) {
  return Value(new DataObject(constructor, std::move(fields)));
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

void drop(Value&& part) {
  std::vector<Value> parts;
  parts.push_back(std::move(part));
  drop(std::move(parts));
}

namespace {

/// Traverses a value with an explicit stack: a list is as deep as it is long.
class JsonWriter {
 public:
  std::string write(const Value& value) {
    push(value);
    while (!rest_.empty()) {
      Step step = std::move(rest_.back());
      rest_.pop_back();
      out_ += step.text;
      if (step.value) one(*step.value);
    }
    return std::move(out_);
  }

 private:
  struct Step {
    const Value* value;
    std::string text;
  };

  void push(const Value& value) { rest_.push_back({&value, {}}); }
  void push(std::string text) { rest_.push_back({nullptr, std::move(text)}); }

  void one(const Value& value) {
    if (const std::vector<Value>* fields = value.fields()) return all(value.object_as<DataObject>(), *fields);
    if (auto* reference = value.object_as<RefObject>()) return one(*reference);
    TensorPtr tensor = value.as_tensor();
    out_ += tensor ? to_json(*tensor) : "null";
  }

  // It may contain itself.
  void one(const RefObject& reference) {
    if (!references_.insert(&reference).second) {
      out_ += "null";
      return;
    }
    out_ += "{\"ref\": ";
    push("}");
    push(reference.content);
  }

  void all(const DataObject* data, const std::vector<Value>& fields) {
    if (data) out_ += "{\"ctor\": \"" + std::string(data->constructor.name) + "\", \"fields\": ";
    out_ += "[";
    const auto start = static_cast<ptrdiff_t>(rest_.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) push(std::string(", "));
      push(fields[i]);
    }
    push(data ? "]}" : "]");
    std::reverse(rest_.begin() + start, rest_.end());
  }

  std::string out_;
  std::vector<Step> rest_;  ///< the next is last
  std::unordered_set<const RefObject*> references_;
};

}  // namespace

std::string to_json(const Value& value) { return JsonWriter().write(value); }

}  // namespace quern
