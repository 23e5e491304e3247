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

/// Values printed of one text, at most: a list may be a million long.
constexpr size_t kMaxShown = 1000;

/// The two writers go over a value with a stack of their own: a list is as deep as it is long.
class Writer {
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

 protected:
  ~Writer() = default;
  virtual void one(const Value& value) = 0;

  void put(std::string_view text) { out_ += text; }
  size_t position() const { return rest_.size(); }
  void push(const Value& value) { rest_.push_back({&value, {}}); }
  void push(std::string text) { rest_.push_back({nullptr, std::move(text)}); }
  /// What was pushed since `position` comes in the order in which it was pushed.
  void in_order(size_t position) {
    std::reverse(rest_.begin() + static_cast<ptrdiff_t>(position), rest_.end());
  }
  /// Whether the reference has been written already: it may be reached from itself.
  bool seen(const RefObject* reference) { return !references_.insert(reference).second; }

 private:
  struct Step {
    const Value* value;
    std::string text;
  };
  std::string out_;
  std::vector<Step> rest_;  ///< the next is the last
  std::unordered_set<const RefObject*> references_;
};

class TextWriter final : public Writer {
 public:
  explicit TextWriter(int64_t limit) : limit_(limit) {}

 private:
  void one(const Value& value) override {
    if (shown_++ == kMaxShown) put("…");
    if (shown_ > kMaxShown) return;
    if (const std::vector<Value>* fields = value.fields()) return all(value.object_as<DataObject>(), *fields);
    if (auto* reference = value.object_as<RefObject>()) return one(*reference);
    if (auto* closure = value.object_as<ClosureObject>()) return put(to_string(closure->type));
    put(value.is_empty() ? "<empty>" : to_string(*value.as_tensor(), limit_));
  }

  void one(const RefObject& reference) {
    if (seen(&reference)) return put("ref(…)");
    put("ref(");
    push(")");
    push(reference.content);
  }

  void all(const DataObject* data, const std::vector<Value>& fields) {
    if (data) put(data->constructor.name);
    if (fields.empty()) return put(data ? "" : "()");
    size_t start = position();
    for (size_t i = 0; i < fields.size(); ++i) {
      std::string_view name = data ? data->constructor.fields[i] : "";
      std::string before = i == 0 ? "(" : ", ";
      push(name.empty() ? std::move(before) : before + std::string(name) + "=");
      push(fields[i]);
    }
    push(!data && fields.size() == 1 ? ",)" : ")");
    in_order(start);
  }

  int64_t limit_;
  size_t shown_ = 0;
};

class JsonWriter final : public Writer {
  void one(const Value& value) override {
    if (const std::vector<Value>* fields = value.fields()) return all(value.object_as<DataObject>(), *fields);
    if (auto* reference = value.object_as<RefObject>()) return one(*reference);
    TensorPtr tensor = value.as_tensor();
    put(tensor ? to_json(*tensor) : "null");
  }

  void one(const RefObject& reference) {
    if (seen(&reference)) return put("null");
    put("{\"ref\": ");
    push("}");
    push(reference.content);
  }

  void all(const DataObject* data, const std::vector<Value>& fields) {
    if (data) put("{\"ctor\": \"" + std::string(data->constructor.name) + "\", \"fields\": ");
    put("[");
    size_t start = position();
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) push(std::string(", "));
      push(fields[i]);
    }
    push(data ? "]}" : "]");
    in_order(start);
  }
};

}  // namespace

std::string to_string(const Value& value, int64_t limit) { return TextWriter(limit).write(value); }

std::string to_json(const Value& value) { return JsonWriter().write(value); }

}  // namespace quern
