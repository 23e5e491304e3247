#pragma once
// What a C++ library is asked for.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/peer/server.h"
#include "ir/value/tensor.h"

namespace quern::bench {

struct Request {
  std::string kind;
  std::map<std::string, std::vector<int64_t>> numbers;
  std::vector<TensorPtr> inputs;

  const std::vector<int64_t>& list(const std::string& name) const { return numbers.at(name); }
  int64_t number(const std::string& name) const { return numbers.at(name).front(); }
};

/// All ways that a library has; none where it has no such work. `why` then says more.
using Library = std::function<std::vector<Variant>(const Request& request, std::string& why)>;

std::vector<Variant> onednn_variants(const Request& request, std::string& why);
std::vector<Variant> openblas_variants(const Request& request, std::string& why);

}  // namespace quern::bench
