#pragma once
// What a row compares: Quern, and libraries in processes of their own.

#include <cstdint>
#include <string>

#include "bench/harness/stopwatch.h"
#include "ir/base/result.h"

namespace quern::bench {

class Contender {
 public:
  virtual ~Contender() = default;
  /// Who it is, with what it chose for the work at hand.
  virtual std::string label() const = 0;
  /// What `count` calls in a row take, after one that is not counted where `warm`.
  virtual Result<Sample> run(int64_t count, bool warm) = 0;
};

}  // namespace quern::bench
