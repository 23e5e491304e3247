#include "repl/report/value_size.h"

#include <vector>

namespace quern {

// With a stack of its own: a list is as deep as it is long.
size_t ValueBytes::add(const Value& value) {
  size_t bytes = 0;
  std::vector<const Value*> rest{&value};
  while (!rest.empty()) {
    const Value& next = *rest.back();
    rest.pop_back();
    if (next.is_scalar()) bytes += next.scalar().dtype.bytes();
    const Object* object = next.object();
    if (!object) continue;
    auto* tensor = next.object_as<TensorObject>();
    const void* memory = tensor ? static_cast<const void*>(tensor->tensor->data()) : object;
    if (!seen_.insert(memory).second) continue;
    if (tensor) bytes += tensor->tensor->bytes();
    for (const Value& part : object->parts()) rest.push_back(&part);
  }
  return bytes;
}

}  // namespace quern
