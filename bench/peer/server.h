#pragma once
// A C++ library as a process that a bench times (bench/harness/peer_process.h has the lines that it reads and writes).

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/result.h"
#include "ir/value/tensor.h"

namespace quern::bench {

/// One way to do a work, its operands already as the library likes them.
struct Variant {
  std::string name;
  std::function<void()> run;
  std::function<TensorPtr()> result;  ///< of the last run, row-major
};

/// What a request says, in its order: keys and values.
using Fields = std::vector<std::pair<std::string, std::string>>;
/// All ways to do what a request wants, at least one; a Failure says why there is none.
using Prepare = std::function<Result<std::vector<Variant>>(const Fields& fields)>;

/// Answers requests until there are no more. Of the ways to do a work the fastest is timed, and its result goes to
/// the file that the field `result` names.
void serve(int threads, const Prepare& prepare);

}  // namespace quern::bench
