#include "tests/models/library/formula.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace quern::library_models {

namespace {

/// FNV-1a.
uint64_t hash_of(const std::string& path) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// SplitMix64 (Steele, Lea and Flood 2014).
uint64_t bits_at(uint64_t hash, uint64_t index) {
  uint64_t z = hash + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Elements are `middle` ± `spread`.
struct Range {
  double middle, spread;
};

Range range_of(const std::string& path, const Shape& shape) {
  if (shape.size() >= 2) {
    double row = 1;
    for (size_t i = 1; i < shape.size(); ++i) row *= static_cast<double>(shape[i]);
    return {0, std::sqrt(6 / row)};
  }
  const std::string part = path.substr(path.rfind('.') + 1);
  if (part == "weight") return {1, 0.1};
  if (part == "running_var") return {1, 0.5};
  return {0, 0.1};
}

TensorPtr filled(const std::string& path, Type type, Range range) {
  Shape shape;
  for (const Dim d : type->dims) shape.push_back(as_const(d).value());
  TensorPtr tensor = HostTensor::make(type->dtype, shape);
  const uint64_t hash = hash_of(path);
  const auto fill = [&](auto elements, const auto& element) {
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = element(bits_at(hash, i));
  };
  if (type->dtype == DType::float32())
    fill(tensor->elements<float>(), [&](uint64_t bits) {
      return static_cast<float>(range.middle +
                                range.spread * (static_cast<double>(bits >> 40) / 8388608 - 1));
    });
  else if (type->dtype == DType::int32())
    fill(tensor->elements<int32_t>(), [](uint64_t bits) { return static_cast<int32_t>((bits >> 40) % 10); });
  else
    ADD_FAILURE() << path << " is neither of float32 nor of int32";
  return tensor;
}

}  // namespace

Value weights(const std::string& path, Type type, const DataLookup& lookup) {
  std::vector<Value> parts;
  if (type->kind == TypeKind::Tuple) {
    for (size_t i = 0; i < type->args.size(); ++i)
      parts.push_back(weights(part_name(path, "", i), type->args[i], lookup));
    return Value::tuple(std::move(parts));
  }
  if (type->is_tensor()) {
    Shape shape;
    for (const Dim d : type->dims) shape.push_back(as_const(d).value());
    return Value::tensor(filled(path, type, range_of(path, shape)));
  }
  const DataDefinition& data = *lookup(type);
  const DataConstructor& constructor = data.constructors[0];
  const std::vector<Type> types = field_types(data, constructor, type);
  for (size_t i = 0; i < types.size(); ++i)
    parts.push_back(weights(part_name(path, constructor.interned->fields[i], i), types[i], lookup));
  return Value::data(*constructor.interned, std::move(parts));
}

TensorPtr input(const std::string& name, int number, Type type) {
  return filled(fmt::format("{} {}", name, number), type, {0, 1});
}

}  // namespace quern::library_models
