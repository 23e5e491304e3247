#pragma once
// A model's first call in a process of its own, as `quern run` makes it.

#include <string>

#include "ir/base/result.h"

namespace quern::bench {

struct FirstCalls {
  double cold_seconds = 0;  ///< from the process's start to its result, all code compiled
  double warm_seconds = 0;  ///< the same with the code in a cache
  double peak_bytes = 0;    ///< the most memory of a cold process
};

/// Of the program in a file. `arguments` are options of `quern run` that give it its arguments; the cache is a
/// file that is not yet there.
Result<FirstCalls> measure_first_calls(const std::string& program, const std::string& arguments,
                                       const std::string& cache, int threads);

}  // namespace quern::bench
