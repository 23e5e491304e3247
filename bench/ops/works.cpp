#include <fmt/format.h>

#include <algorithm>

#include "bench/ops/work.h"

namespace quern::bench {

std::vector<Work> all_works(Layout layout) {
  std::vector<Work> works;
  add_products(works);
  add_convolutions(works, layout);
  add_memory_bound(works);
  add_capsules(works);
  add_random_convolutions(works, layout);
  add_random_products(works);
  add_common_operators(works);
  return works;
}

std::string operand_type(const Input& input) {
  Shape shape = input.shape;
  for (size_t k = 0; k < input.quern_axes.size(); ++k) shape[k] = input.shape[input.quern_axes[k]];
  return type_to_string(input.values == Values::Indices ? DType::int32() : input.dtype, shape);
}

void set_dtype(Work& work, DType dtype) {
  for (Input& input : work.inputs) {
    input.dtype = dtype;
    if (dtype.is_int()) input.values = Values::Bytes;
  }
  if (dtype.is_int()) work.tolerance = 0;
  work.onednn->numbers["bits"] = {dtype.bits};
  work.openblas = {};
  work.torch.clear();
  work.torch_module.clear();
}

std::string sums_attribute(DType dtype) {
  if (dtype == DType::float32()) return "";
  return fmt::format(", out_dtype=\"{}\"", dtype.is_int() ? "int32" : "float32");
}

std::string main_of(const std::vector<Input>& inputs, const std::string& body) {
  std::string parameters;
  for (size_t i = 0; i < inputs.size(); ++i)
    parameters +=
        fmt::format("{}%{}: {}", i ? ", " : "", static_cast<char>('a' + i), operand_type(inputs[i]));
  return fmt::format("def @main({}) {{\n  {}\n}}\n", parameters, body);
}

std::string list_text(const std::vector<int64_t>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

uint64_t Draw::bits() {
  // SplitMix64 (Steele et al. 2014).
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t Draw::integer(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
}

int64_t Draw::pick(const std::vector<int64_t>& from) {
  return from[static_cast<size_t>(integer(0, static_cast<int64_t>(from.size()) - 1))];
}

}  // namespace quern::bench
