#pragma once
// What a C++ library is asked for, and how its program answers (bench/harness/peer_process.h has the lines).

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/value/tensor.h"

namespace quern::bench {

struct Request {
  std::string kind;
  std::map<std::string, std::vector<int64_t>> numbers;
  std::vector<TensorPtr> inputs;

  const std::vector<int64_t>& list(const std::string& name) const { return numbers.at(name); }
  int64_t number(const std::string& name) const { return numbers.at(name).front(); }
};

/// One way to do what a request wants, its operands already as the library likes them.
struct Variant {
  std::string name;
  std::function<void()> run;
  std::function<TensorPtr()> result;  ///< of the last run, row-major
};

/// All ways that a library has; none where it has no such work. `why` then says more.
using Library = std::function<std::vector<Variant>(const Request& request, std::string& why)>;

std::vector<Variant> onednn_variants(const Request& request, std::string& why);
std::vector<Variant> openblas_variants(const Request& request, std::string& why);

}  // namespace quern::bench
